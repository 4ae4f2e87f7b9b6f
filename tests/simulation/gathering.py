"""One look at the simulated world, in the order of §6 and with what the real `processes.evidence` would make of it.

The stages are steps of their own, and others act between them. `test_contracts` puts the same situations before this and
before the real one, on real files and processes, and compares what they say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from actum.model.evidence import ClaimSeen, Evidence, HostSeen, Member, OutcomeSeen, PackageSeen, TreeSeen
from actum.model.facts import FactName
from actum.model.identity import ProcessIdentity
from actum.model.run import AttemptRow
from actum.supervise import events

from tests.simulation.files import Folder
from tests.simulation.ports import DEADLINE_CAUSES

if TYPE_CHECKING:
    from tests.simulation.driver import App


@dataclass(slots=True)
class Gathering:
    """One look. Attributes: stage (how far it has come), and what was seen so far."""

    app: App
    row: AttemptRow
    package: bool
    stage: int = 0
    identity: ProcessIdentity | None = None
    place: str = "same"
    host: HostSeen = HostSeen.UNKNOWN
    host_method: str = ""
    lock: str = "unknown"
    outcome: OutcomeSeen = OutcomeSeen.UNKNOWN
    document: Any = None
    tree: TreeSeen = TreeSeen.UNKNOWN
    method: str = ""
    members: tuple[Member, ...] = ()
    why: dict[str, str] | None = None

    @property
    def folder(self) -> Folder:
        return self.app.world.folders[self.row.attempt]

    def step(self) -> bool:
        (self._host, self._outcome, self._tree, self._answer)[self.stage]()
        self.stage += 1
        return self.stage == 4

    def _unknown(self, what: str, why: str) -> None:
        self.why = {**(self.why or {}), what: why}

    def _host(self) -> None:
        machine, claim = self.app.world.machine, self.folder.claim if self.folder.readable else None
        document = (claim or {}).get("identity") or self.row.host_identity
        self.identity = ProcessIdentity.from_json(document) if document else None
        self.place = self._place(self.identity)
        if self.folder.readable:
            self.lock = "held" if self.folder.alive_held_by else "free"
        if self.place == "machine":
            self.host_method = "machine"
            self._unknown("host", "It was started on another machine.")
        elif self.place == "boot" and self.lock == "held":
            self.host_method = "alive_lock"
            self._unknown("host", "It is said to be of an earlier start of this machine, and its lock is held.")
        elif self.place == "boot":
            self.host, self.host_method = HostSeen.GONE, "boot"
        elif self.identity is not None and self.place == "same":
            self.host = HostSeen.ALIVE if machine.find(self.identity) else HostSeen.GONE
            self.host_method = "identity"
        elif self.lock != "unknown":
            self.host = HostSeen.ALIVE if self.lock == "held" else HostSeen.GONE
            self.host_method = "alive_lock"
        else:
            self.host_method = "alive_lock"
            self._unknown("host", "Its alive file is missing or cannot be opened.")

    def _place(self, identity: ProcessIdentity | None) -> str:
        """Where the identity is from, as this instance sees it."""
        if identity is None:
            return "same"
        if self.app.place == "machine" or identity.machine != "here":
            return "machine"
        if identity.boot != f"boot-{self.app.world.machine.boot}":
            return "boot"
        return "namespace" if self.app.place == "namespace" else "same"

    def _outcome(self) -> None:
        if not self.folder.readable:
            self._unknown("outcome", "The disk is not there.")
            return
        self.document = self.folder.outcome
        if self.document is None:
            self.outcome = OutcomeSeen.NONE
            self.app.world.outcome_read_s[self.row.attempt] = self.app.world.active_s(self.row.attempt)
        elif self.document["session"] != self.row.session:
            self.document = None
            self._unknown("outcome", "outcome.json is of another session.")
        elif self.document["kind"] == "stopped" and self.document["cause"] in DEADLINE_CAUSES:
            self.outcome = OutcomeSeen.DEADLINE
        else:
            self.outcome = OutcomeSeen(self.document["kind"])

    def _tree(self) -> None:
        machine = self.app.world.machine
        confirmed = str((self.document or {}).get("tree", {}).get("method", "")).startswith("subreaper")
        if self.place == "boot" and self.host is HostSeen.UNKNOWN:
            self._unknown("tree", "Its lock is held.")
        elif self.place == "boot":
            self.tree, self.method = TreeSeen.CLEAR, "boot"
        elif self.place != "same" or self.app.place != "here":
            self._unknown("tree", "Its processes cannot be told from here.")
        elif confirmed and self.host is HostSeen.GONE and self.lock == "free":
            self.tree, self.method = TreeSeen.CLEAR, "subreaper"
        else:
            found = [each for each in machine.living(self.row.attempt, "host", "work", "daemon") if self._finds(each)]
            self._take_host_out(found)
            self.members = tuple(Member(each.identity, each.role, "recorded") for each in found)
            self.method = "lock + scan"
            if found:
                self.tree = TreeSeen.LEFT
            elif not self.folder.readable:
                self._unknown("tree", "tree.json cannot be read.")
            else:
                self.tree = TreeSeen.CLEAR

    def _finds(self, process: Any) -> bool:
        """By its cookie, or because tree.json names it; the host itself is no part of the tree of the work."""
        recorded = self.folder.readable and process.identity in self.folder.tree
        return process.identity != self.identity and (process.shows_cookie or recorded)

    def _take_host_out(self, found: list[Any]) -> None:
        """A host that has no lock yet carries the cookie too: it lives, and is no part of the tree of the work."""
        host = next((each for each in found if each.role == "host"), None)
        if host is not None and self.identity is None:
            self.host, self.host_method, self.identity = HostSeen.ALIVE, "cookie", host.identity
            self.why = {what: why for what, why in (self.why or {}).items() if what != "host"}
            found.remove(host)

    def _answer(self) -> None:
        claim = self.folder.claim if self.folder.readable else None
        by = {None: ClaimSeen.NONE, "host": ClaimSeen.HOST, "supervisor": ClaimSeen.REVOKED}[(claim or {}).get("by")]
        if not self.folder.readable:
            self._unknown("claim", "The disk is not there.")
        evidence = Evidence(
            at_us=self.app.world.clocks.utc_us,
            host=self.host,
            outcome=self.outcome,
            tree=self.tree,
            claim=by if self.folder.readable else ClaimSeen.UNKNOWN,
            package=self._package() if self.package else PackageSeen.UNKNOWN,
            tree_method=self.method,
            host_method=self.host_method,
            members=self.members,
            host_identity=self.identity,
            claim_document=claim or {},
            outcome_document=self.document or {},
            why=self.why or {},
            traces=() if by is ClaimSeen.HOST else self._traces(),
        )
        self.app.tell(f"look {self.row.attempt}", events.Looked(self.row.attempt, evidence))

    def _traces(self) -> tuple[str, ...]:
        """What only a host that has claimed makes."""
        made = {"state.json": self.folder.state, "tree.json": self.folder.tree, "spool/records.jsonl": self.folder.records}
        return tuple(name for name, there in made.items() if there and self.folder.readable)

    def _package(self) -> PackageSeen:
        if not self.folder.readable:
            return PackageSeen.UNKNOWN
        recorded = self.row.facts[FactName.CONTENT_VERIFIED]["recorded"]
        return package_seen(self.folder, recorded["manifest_sha256"])


def package_seen(folder: Folder, wanted: str) -> PackageSeen:
    """In which place the package is, by its digest; one in quarantine was found to differ."""
    if not folder.readable:
        return PackageSeen.UNKNOWN
    if folder.published is not None:
        return PackageSeen.RESULTS if folder.published == wanted else PackageSeen.DIFFERS
    if folder.package is not None:
        return PackageSeen.STAGING if folder.package == wanted else PackageSeen.DIFFERS
    return PackageSeen.NEITHER if folder.quarantined is None else PackageSeen.DIFFERS
