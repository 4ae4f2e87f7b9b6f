"""A service instance: the real supervisor, and a driver that does its effects on the simulated machine.

Each thing a driver does takes its own time: commits are answered later, looks are gathered step by step, helpers work on the
side, frames wait in buffers. The world decides what comes next, so every order that a real driver can show occurs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from actum.model.changes import Change, RecordRow, RefusalKind, Refused, Request, ResultRow
from actum.model.evidence import ClaimSeen, Evidence, HostSeen, Member, OutcomeSeen, PackageSeen, TreeSeen
from actum.model.facts import FactName
from actum.model.identity import ProcessIdentity
from actum.model.run import AttemptRow
from actum.model.status import Pair, Phase, Status
from actum.supervise import effects, events
from actum.supervise.supervisor import Supervisor

from tests.simulation.files import Folder
from tests.simulation.host import Channel

if TYPE_CHECKING:
    from tests.simulation.world import World

Job = Callable[[], bool]  # one step of something that takes time; True = done


@dataclass(slots=True)
class App:
    """Attributes: queues (of events to handle, by source), writes (to commit), jobs (under way), channels, watches, replies."""

    world: World
    epoch: int
    foreign: bool = False  # in another pid namespace: it can tell less
    supervisor: Supervisor = field(default_factory=Supervisor)
    alive: bool = True
    queues: dict[str, deque[events.Event]] = field(default_factory=dict)
    writes: deque[effects.Persist] = field(default_factory=deque)
    jobs: list[tuple[str, Job]] = field(default_factory=list)
    channels: list[Channel] = field(default_factory=list)
    current: dict[str, Channel] = field(default_factory=dict)
    watches: dict[str, ProcessIdentity] = field(default_factory=dict)
    replies: dict[int, effects.Reply] = field(default_factory=dict)
    asked: dict[int, Any] = field(default_factory=dict)

    def tell(self, source: str, event: events.Event) -> None:
        self.queues.setdefault(source, deque()).append(event)

    def handle(self, event: events.Event) -> None:
        """Let the supervisor handle one event, and begin its effects. The app may be killed between any two of them."""
        self.world.trace(f"app {self.epoch}: {self.world.short(event)}")
        wanted = self.supervisor.handle(event, self.world.now())
        for effect in wanted:
            if not self.alive:
                return
            self.world.trace(f"  → {self.world.short(effect)}")
            self.world.check_effect(self, effect)
            self.world.maybe_kill(self)
            if self.alive:
                getattr(self, f"_{_name(effect)}")(effect)

    def step_write(self) -> None:
        """Commit the oldest request; its answer may fail or get lost on the way."""
        effect = self.writes.popleft()
        fault = self.world.store_fault()
        if fault == "storage":
            self._answer(effect.token, Refused(RefusalKind.STORAGE, "no space is left"))
            return
        if fault == "lost before":
            self._answer(effect.token, Refused(RefusalKind.LOST, "the answer was lost"))
            return
        answer = self.world.store.submit(self.epoch, effect.request)
        self.world.trace(f"store: {type(answer).__name__} {getattr(answer, 'kind', '')} {self._asked_for(effect.request)}")
        if fault == "lost after":
            self.world.ledger.unsure.add(getattr(effect.request, "attempt", ""))
            answer = Refused(RefusalKind.LOST, "the answer was lost")
        self._answer(effect.token, answer)

    def _answer(self, token: int, answer: Any) -> None:
        self.tell("store", events.Committed(token, answer))

    @staticmethod
    def _asked_for(request: Request) -> str:
        if not isinstance(request, Change):
            return type(request).__name__
        arrow = f"{request.arrow.before} {request.arrow.event}" if request.arrow else ""
        return f"{request.run} {arrow} {[fact.name.value for fact in request.facts]} {[e.kind for e in request.journal]}"

    def tick(self) -> None:
        """Read the spool of what computes without a channel, then let time pass."""
        for m in list(self.supervisor.machines.values()):
            folder = self.world.folders.get(m.attempt)
            silent = m.attempt not in self.current and m.row.pair.phase in (Phase.COMPUTING, Phase.SEALING)
            if folder is None or not folder.readable or not silent or not self.alive:
                continue
            if folder.state is not None:
                self.handle(events.StateRead(m.attempt, folder.state))
            if self.alive and m.seen.outcome is None and folder.outcome is not None:
                self.handle(events.OutcomeFound(m.attempt))
        if self.alive:
            self.handle(events.Tick())

    def step_channel(self, channel: Channel) -> None:
        """Read one frame of a channel, or its end."""
        if channel.to_app:
            self._frame(channel, channel.to_app.popleft())
            return
        self.channels.remove(channel)
        if self.current.get(channel.attempt) is channel:
            del self.current[channel.attempt]
        self.handle(events.ChannelClosed(channel.attempt, channel.name, "closed by the host"))

    def _frame(self, channel: Channel, frame: dict[str, Any]) -> None:
        if channel.attempt not in self.supervisor.machines:
            channel.to_host.append({"type": "dismiss", "why": "the attempt is closed"})
        elif frame["type"] == "hello":
            self.current[channel.attempt] = channel
            self.handle(events.Hello(channel.attempt, channel.name, frame["identity"], frame["claimed"]))
        else:
            self.handle(events.Frame(channel.attempt, channel.name, frame["type"], frame))
            if self.alive and self.world.happens(0.02):
                self.handle(events.Violation(channel.attempt, channel.name, "seq 3 comes after 4", closed=False))

    def step_watch(self, attempt: str) -> None:
        del self.watches[attempt]
        free = self._folder(attempt).alive_held_by is None
        self.handle(events.HostGone(attempt, "pidfd", free))

    def _folder(self, attempt: str) -> Folder:
        return self.world.folders[attempt]

    # Effects that are done at once

    def _persist(self, effect: effects.Persist) -> None:
        self.writes.append(effect)

    def _launch(self, effect: effects.Launch) -> None:
        error = self.world.spawn(effect.row)
        self.tell("own", events.Spawned(effect.row.attempt, error, evidence={"method": "the spawn returned"}))

    def _watch(self, effect: effects.Watch) -> None:
        self.watches[effect.attempt] = effect.identity

    def _send(self, effect: effects.Send) -> None:
        channel = self.current.get(effect.attempt)
        if channel is not None and channel.open:
            channel.to_host.append({"type": effect.type, **effect.body})

    def _write_stop(self, effect: effects.WriteStop) -> None:
        folder = self._folder(effect.row.attempt)
        error = None if folder.readable else "the disk is not there"
        if error is None:
            folder.stop = {"level": effect.level, "cause": effect.cause}
        self.tell("own", events.StopWritten(effect.row.attempt, effect.level, error))

    def _revoke_claim(self, effect: effects.RevokeClaim) -> None:
        folder = self._folder(effect.row.attempt)
        if not folder.readable:
            self.tell("own", events.ClaimAnswered(effect.row.attempt, False, error="the disk is not there"))
            return
        revoked = folder.claim is None
        if revoked:
            folder.claim = {"v": 1, "by": "supervisor", "revoked": True, "epoch": self.epoch}
        self.tell("own", events.ClaimAnswered(effect.row.attempt, revoked, folder.claim or {}))

    def _end_tree(self, effect: effects.EndTree) -> None:
        members = [member.identity for member in effect.members if member.identity != effect.host]
        targets = members or ([effect.host] if effect.host is not None else [])
        results = tuple({"pid": each.pid, "result": self.world.signal(effect, each)} for each in targets)
        self.tell("own", events.Signalled(effect.attempt, effect.level, results))

    def _read_records(self, effect: effects.ReadRecords) -> None:
        folder, offset = self._folder(effect.row.attempt), effect.row.records_offset
        upto = min(folder.records, offset + 2) if folder.readable else offset
        records = tuple(RecordRow(seq, 0, "trade", {}) for seq in range(offset, upto))
        more = folder.readable and upto < folder.records
        error = None if folder.readable else "the disk is not there"
        self.tell("own", events.RecordsRead(effect.row.attempt, records, upto, more, error))

    def _quarantine(self, effect: effects.Quarantine) -> None:
        folder = self._folder(effect.row.attempt)
        if folder.readable:
            folder.published = folder.package = None
        self.tell("own", events.Quarantined(effect.row.attempt, error=None if folder.readable else "the disk is not there"))

    def _forget(self, effect: effects.Forget) -> None:
        self.watches.pop(effect.attempt, None)

    def _reply(self, effect: effects.Reply) -> None:
        self.replies[effect.command] = effect

    def _retire(self, effect: effects.Retire) -> None:
        self.world.retire(self)

    # Effects that take their time

    def _freeze(self, effect: effects.Freeze) -> None:
        def job() -> bool:
            code = self.world.freeze_fault()
            event = events.Frozen(effect.row.attempt, code=code, message="an input is gone", evidence={"method": "copied"})
            self.tell("helper", event)
            return True

        self.jobs.append(("freeze", job))

    def _prepare(self, effect: effects.Prepare) -> None:
        error = "the folder cannot be made" if self.world.freeze_fault() else None
        if error is None:
            self.world.folders[effect.row.attempt] = Folder(effect.row.attempt)
        self.tell("own", events.Prepared(effect.row.attempt, error))

    def _derive(self, effect: effects.Derive) -> None:
        def job() -> bool:
            crashed = self.world.helper_crashes()
            error = "a table contradicts its schema" if self.world.rejected(effect.row, 7) else None
            self.tell("own", events.Step(effect.row.attempt, "derive", 1, 2, "rows"))
            self.tell("helper", events.Derived(effect.row.attempt, crashed=crashed, error=None if crashed else error))
            return True

        self.jobs.append(("derive", job))

    def _verify(self, effect: effects.Verify) -> None:
        def job() -> bool:
            self.tell("helper", self._verdict(effect))
            return True

        self.jobs.append(("verify", job))

    def _verdict(self, effect: effects.Verify) -> events.Verified:
        row, folder = effect.row, self._folder(effect.row.attempt)
        if self.world.helper_crashes():
            return events.Verified(row.attempt, crashed=True)
        package = folder.published if effect.published else folder.package
        if self.world.rejected(row, 5):
            return events.Verified(row.attempt, error="a pinned input was changed", code="input_changed")
        if package != row.facts[FactName.SEALED].get("manifest_sha256"):
            return events.Verified(row.attempt, error="the package is not the one that was sealed")
        method = {"method": "simulated"}
        result = ResultRow(f"results/{row.run}/{row.n}", str(package), None, (), (), (), 0, 0)
        return events.Verified(row.attempt, method, method, {"manifest_sha256": package}, result)

    def _publish(self, effect: effects.Publish) -> None:
        """The durable steps around the one rename; each is a step of its own."""
        folder = self._folder(effect.row.attempt)
        wanted = effect.recorded["manifest_sha256"]

        def rename() -> bool:
            where = package_seen(folder, wanted)
            if where is PackageSeen.STAGING and not self.world.rename_fails():
                folder.published, folder.package, folder.published_durable = folder.package, None, False
            elif where is not PackageSeen.RESULTS:
                failure = {PackageSeen.DIFFERS: "differs", PackageSeen.NEITHER: "neither"}.get(where, "rename")
                self.tell("own", events.Published(effect.row.attempt, failure=failure, message="it did not work"))
                return True
            self.jobs.append(("publish", sync))
            return True

        def sync() -> bool:
            folder.published_durable = True
            self.tell("own", events.Published(effect.row.attempt, {"method": "renamed, durable"}))
            return True

        self.jobs.append(("publish", rename))

    def _look(self, effect: effects.Look) -> None:
        self.jobs.append(("look", Gathering(self, effect.row, effect.package).step))


@dataclass(slots=True)
class Gathering:
    """One look, gathered in the order of §6: host, then outcome, then tree, then claim, then package; others run between."""

    app: App
    row: AttemptRow
    package: bool
    stage: int = 0
    identity: ProcessIdentity | None = None
    host: HostSeen = HostSeen.UNKNOWN
    host_method: str = ""
    outcome: OutcomeSeen = OutcomeSeen.UNKNOWN
    document: Any = None
    tree: TreeSeen = TreeSeen.UNKNOWN
    method: str = ""
    members: tuple[Member, ...] = ()

    @property
    def folder(self) -> Folder:
        return self.app.world.folders[self.row.attempt]

    def step(self) -> bool:
        (self._host, self._outcome, self._tree, self._answer)[self.stage]()
        self.stage += 1
        return self.stage == 4

    def _host(self) -> None:
        machine, claim = self.app.world.machine, self.folder.claim if self.folder.readable else None
        claimed = (claim or {}).get("identity")
        document = claimed or self.row.host_identity
        self.identity = ProcessIdentity.from_json(document) if document else None
        here = not self.app.foreign
        if self.identity is not None and self.identity.boot != f"boot-{machine.boot}":
            self.host, self.host_method = HostSeen.GONE, "boot"
        elif self.identity is not None and here:
            self.host = HostSeen.ALIVE if machine.find(self.identity) else HostSeen.GONE
            self.host_method = "identity"
        elif self.folder.readable:
            self.host = HostSeen.ALIVE if self.folder.alive_held_by else HostSeen.GONE
            self.host_method = "alive_lock"

    def _outcome(self) -> None:
        if not self.folder.readable:
            return
        self.document = self.folder.outcome
        if self.document is None:
            self.outcome = OutcomeSeen.NONE
        elif self.document["cause"] == "overall_deadline":
            self.outcome = OutcomeSeen.DEADLINE
        else:
            self.outcome = OutcomeSeen(self.document["kind"])

    def _tree(self) -> None:
        machine = self.app.world.machine
        free = self.folder.alive_held_by is None
        if self.identity is not None and self.identity.boot != f"boot-{machine.boot}":
            self.tree, self.method = TreeSeen.CLEAR, "boot"
        elif self.document is not None and self.host is HostSeen.GONE and free:
            self.tree, self.method = TreeSeen.CLEAR, "subreaper"
        elif not self.app.foreign and self.folder.readable:
            living = machine.living(self.row.attempt, "work", "daemon")
            found = [each for each in living if each.shows_cookie or each.identity in self.folder.tree]
            self.members = tuple(Member(each.identity, each.role, "recorded") for each in found)
            self.tree, self.method = (TreeSeen.LEFT if found else TreeSeen.CLEAR), "lock + scan"

    def _answer(self) -> None:
        claim = self.folder.claim if self.folder.readable else None
        by = {None: ClaimSeen.NONE, "host": ClaimSeen.HOST, "supervisor": ClaimSeen.REVOKED}[(claim or {}).get("by")]
        evidence = Evidence(
            at_us=self.app.world.utc_us,
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
            why={} if self.folder.readable else {"outcome": "The disk is not there."},
        )
        self.app.tell(f"look {self.row.attempt}", events.Looked(self.row.attempt, evidence))

    def _package(self) -> PackageSeen:
        if not self.folder.readable:
            return PackageSeen.UNKNOWN
        recorded = self.row.facts[FactName.CONTENT_VERIFIED]["recorded"]
        return package_seen(self.folder, recorded["manifest_sha256"])


def package_seen(folder: Folder, wanted: str) -> PackageSeen:
    if not folder.readable:
        return PackageSeen.UNKNOWN
    if folder.published is not None:
        return PackageSeen.RESULTS if folder.published == wanted else PackageSeen.DIFFERS
    if folder.package is None:
        return PackageSeen.NEITHER
    return PackageSeen.STAGING if folder.package == wanted else PackageSeen.DIFFERS


def _name(effect: effects.Effect) -> str:
    name = type(effect).__name__
    return "".join(f"_{letter.lower()}" if letter.isupper() and i else letter.lower() for i, letter in enumerate(name))


PUBLISHING = Pair(Status.RUNNING, Phase.PUBLISHING)
