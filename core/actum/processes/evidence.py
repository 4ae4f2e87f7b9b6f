"""One look at the world for one attempt, or for many: what §6 matches its rows against.

Theory. The order is the point. The host is looked at first, *then* its outcome: an outcome that is absent after its host
was seen gone will stay absent, the other way round it may just have been written (P08). Then the tree, the claim, and the
package by the caller's own look. For many attempts each step is made for all before the next begins, so one pass over
/proc, taken after every host was looked at, serves them all.

The host, in this order: another machine = unknown, never gone; another boot of this machine = gone; another pid namespace
= the alive lock decides; else its identity. Where no identity is known, the alive lock alone decides (P17). The tree is
clear without a scan where the machine has booted since, or where the host itself confirmed it by waitpid and wrote so in
its outcome. Keeps R07, R09.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from actum import clock, faults, limits
from actum.ipc import messages, spool
from actum.model.evidence import ClaimSeen, Evidence, HostSeen, Member, OutcomeSeen, PackageSeen, TreeSeen
from actum.model.identity import ProcessIdentity
from actum.processes import cgroup
from actum.processes import identity as identities
from actum.processes.proc import command_of, runs_host_of
from actum.processes.traces import traces
from actum.processes.tree import Snapshot, Tree

log = logging.getLogger(__name__)

PackageLook = Callable[[], PackageSeen]

_STRANGER = (
    "The claim names process {pid} as the host, and that is another program ({command}): the file was changed by somebody. "
    "It is looked at again when that process has ended."
)


@dataclass(frozen=True, slots=True)
class Question:
    """Whom to look for. `host_identity` is what hello or launch told; the claim's own word goes before it.

    `again` = of an attempt that is closed: what its host confirmed at its end was believed then, and is looked at now.
    """

    attempt_folder: str | os.PathLike[str]
    session: str
    cookie: str | None
    host_identity: ProcessIdentity | None = None
    package: PackageLook | None = None
    again: bool = False


@dataclass(slots=True)
class _Look:
    """What has been seen so far for one question."""

    question: Question
    host: HostSeen = HostSeen.UNKNOWN
    host_method: str = ""
    lock: str = "unknown"
    identity: ProcessIdentity | None = None
    place: str = "same"
    outcome: OutcomeSeen = OutcomeSeen.UNKNOWN
    outcome_document: Mapping[str, Any] = field(default_factory=dict)
    claim: ClaimSeen = ClaimSeen.UNKNOWN
    claim_document: Mapping[str, Any] = field(default_factory=dict)
    tree: TreeSeen = TreeSeen.UNKNOWN
    tree_method: str = ""
    found: Tree | None = None
    members: tuple[Member, ...] = ()  # of the work's tree
    traces: tuple[str, ...] = ()  # of work, where there is no claim of the host
    package: PackageSeen = PackageSeen.UNKNOWN
    why: dict[str, str] = field(default_factory=dict)
    fault: str = ""  # why this look failed as a whole


def gather(
    *,
    attempt_folder: str | os.PathLike[str],
    session: str,
    cookie: str | None,
    host_identity: ProcessIdentity | None = None,
    snapshot: Snapshot | None = None,
    package: PackageLook | None = None,
    workspace_path: str | os.PathLike[str] | None = None,
) -> Evidence:
    """Evidence of one attempt. `workspace_path`, where given, must be there: an unmounted one is "cannot tell"."""
    question = Question(attempt_folder, session, cookie, host_identity, package)
    return gather_many([question], snapshot=snapshot, workspace_path=workspace_path)[0]


def gather_many(
    questions: Sequence[Question],
    *,
    snapshot: Snapshot | None = None,
    workspace_path: str | os.PathLike[str] | None = None,
) -> list[Evidence]:
    """Evidence of many attempts by one pass over /proc. A `snapshot` given must have been taken after the hosts went."""
    looks = [_Look(question) for question in questions]
    present = workspace_path is None or os.path.isdir(workspace_path)
    shared = snapshot

    def scan(look: _Look) -> None:
        nonlocal shared
        if _needs_scan(look):
            shared = shared or Snapshot.take()
            _scan(look, shared)

    for step in (lambda look: _see_host(look, present), _see_outcome, scan, _see_claim, _see_package):
        for look in looks:
            _guarded(look, step)
    return [_evidence(look) for look in looks]


def _guarded(look: _Look, step: Callable[[_Look], None]) -> None:
    """One step for one attempt. What fails tells nothing of this attempt and takes nothing from the others (R09)."""
    if look.fault:
        return
    try:
        step(look)
    except Exception as error:  # an error nobody foresaw is no evidence either; it is said, and looked at again
        log.warning("a look at %s failed", look.question.attempt_folder, exc_info=True)
        look.fault = f"Looking at it failed: {error.strerror if isinstance(error, OSError) and error.strerror else error}."


def _see_host(look: _Look, present: bool) -> None:
    faults.point("evidence.look")
    folder = look.question.attempt_folder
    _, document = _claim(look, spool.read_claim(folder))
    look.identity = _whose(_claimed_identity(document, look.question.session), look.question.host_identity)
    look.lock = spool.probe_alive(folder) if present else "unknown"
    if look.identity is not None:
        look.place = identities.place(look.identity)
    look.host, look.host_method, why = _host(look)
    if why:
        look.why["host"] = why


def _whose(claimed: ProcessIdentity | None, told: ProcessIdentity | None) -> ProcessIdentity | None:
    """The claim's word, as long as it says what is on record or names who lives: it is a file that the work could write.

    A claim that names somebody gone does not end who made contact, nor prove by another boot that nothing is left of them.
    """
    if claimed is None or told is None or claimed == told:
        return claimed or told
    lives = identities.place(claimed) == "same" and identities.state(claimed) == "alive"
    return claimed if lives and identities.state(told) != "alive" else told


def _host(look: _Look) -> tuple[HostSeen, str, str]:
    """(what, method, why it is unknown)."""
    if look.place == "other_machine":
        return HostSeen.UNKNOWN, "machine", "It was started on another machine."
    if look.place == "other_boot" and look.lock == "held":
        return HostSeen.UNKNOWN, "alive_lock", "It is said to be of an earlier start of this machine, and its lock is held."
    if look.place == "other_boot":
        return HostSeen.GONE, "boot", ""
    if look.identity is not None and look.place == "same":
        state = identities.state(look.identity)
        if state == "alive" and _is_stranger(look, look.identity):
            return HostSeen.UNKNOWN, "claim", _STRANGER.format(pid=look.identity.pid, command=command_of(look.identity.pid))
        if state == "alive":
            return HostSeen.ALIVE, "identity", ""
        if state == "gone":
            return HostSeen.GONE, "identity", ""
    if look.lock == "held":
        return HostSeen.ALIVE, "alive_lock", ""
    if look.lock == "free":
        return HostSeen.GONE, "alive_lock", ""
    return HostSeen.UNKNOWN, "alive_lock", "Its alive file is missing or cannot be opened."


def _is_stranger(look: _Look, claimed: ProcessIdentity) -> bool:
    """Whether a living process that the claim alone names is nothing like a host: no lock, no hello, another program.

    Only who writes in the folder can bring this about. It is no host that is waited for or ended, and no proof of a dead one.
    """
    proven = claimed == look.question.host_identity or look.lock == "held"
    return not proven and not runs_host_of(claimed.pid, look.question.attempt_folder)


def _see_claim(look: _Look) -> None:
    look.claim, look.claim_document = _claim(look, spool.read_claim(look.question.attempt_folder))
    if look.claim in (ClaimSeen.NONE, ClaimSeen.REVOKED):
        look.traces = traces(look.question.attempt_folder)


def _see_package(look: _Look) -> None:
    if look.question.package is not None:
        look.package = look.question.package()


def _see_outcome(look: _Look) -> None:
    found = spool.read_outcome(look.question.attempt_folder)
    if isinstance(found, spool.Absent):
        look.outcome = OutcomeSeen.NONE
    elif isinstance(found, spool.Unreadable):
        look.why["outcome"] = f"{found.why}."
    elif found["session"] != look.question.session:
        look.why["outcome"] = "outcome.json is of another session."
    else:
        look.outcome_document = found
        deadline = found["kind"] == "stopped" and found["cause"] in messages.DEADLINE_CAUSES
        look.outcome = OutcomeSeen.DEADLINE if deadline else OutcomeSeen(found["kind"])


def _needs_scan(look: _Look) -> bool:
    """Whether only a scan can tell; else the tree is settled here."""
    if look.place == "other_machine":
        look.why["tree"] = "It was started on another machine."
    elif look.place == "other_boot" and look.host is HostSeen.UNKNOWN:
        look.why["tree"] = look.why["host"]
    elif look.place == "other_boot":
        look.tree, look.tree_method = TreeSeen.CLEAR, "boot"
    elif look.place == "other_namespace":
        look.why["tree"] = "It was started in another pid namespace, whose processes cannot be told from here."
    elif _confirmed_by_host(look) and not look.question.again:
        look.tree, look.tree_method = TreeSeen.CLEAR, "subreaper"
    else:
        return True
    return False


def _confirmed_by_host(look: _Look) -> bool:
    method = str(look.outcome_document.get("tree", {}).get("method", ""))
    return look.host is HostSeen.GONE and look.lock == "free" and method.startswith("subreaper")


def _scan(look: _Look, snapshot: Snapshot) -> None:
    folder = look.question.attempt_folder
    document = spool.read_tree(folder)
    recorded, why = _recorded(document)
    recorded = [each for each in recorded if not _is_older(each, look.question.host_identity)]
    inside = cgroup.recorded(document, look.question.session)
    exclude = [look.identity] if look.identity is not None else []
    alive_path = spool.spool_path(folder, "alive")
    cookie = look.question.cookie
    nested = _left_out(document)
    look.found = snapshot.find(
        cookie=cookie, alive_path=alive_path, members=recorded, exclude=exclude, inside=inside, nested=nested
    )
    look.tree_method = look.found.method + (" + cgroup" if isinstance(document, dict) and document.get("cgroup") else "")
    look.members = _without_host(look, look.found.members)
    if not look.found.complete:
        why = "The processes of this machine cannot be listed, or come and go too fast to be told apart."
    if look.found.hidden:
        named = ", ".join(str(pid) for pid in look.found.hidden[: limits.PIDS_NAMED_MAX])
        why = f"Process {named} of its tree may be alive, and this user is not allowed to see it."
    if look.members:
        look.tree = TreeSeen.LEFT
    elif why:
        look.why["tree"] = why
    else:
        look.tree = TreeSeen.CLEAR


def _is_older(recorded: ProcessIdentity, host: ProcessIdentity | None) -> bool:
    """Whether this process is older than the host that is on record, and so no descendant of it whatever tree.json says."""
    place = (recorded.machine, recorded.boot, recorded.pid_namespace)
    comparable = host is not None and place == (host.machine, host.boot, host.pid_namespace)
    return comparable and host is not None and recorded.start_ticks < host.start_ticks


def _without_host(look: _Look, members: Sequence[Member]) -> tuple[Member, ...]:
    """A host that has not taken its lock yet carries the cookie too: it lives, and is no part of the tree of the work.

    This turns an absence into a presence, never the other way round.
    """
    for member in members:
        if look.identity is None and runs_host_of(member.identity.pid, look.question.attempt_folder):
            look.host, look.host_method, look.identity = HostSeen.ALIVE, "cookie", member.identity
            look.why.pop("host", None)
            return tuple(each for each in members if each is not member)
    return tuple(members)


def _recorded(found: spool.Found) -> tuple[list[ProcessIdentity], str]:
    """The identities in tree.json, and why they cannot be had."""
    if isinstance(found, spool.Absent):
        return [], ""
    if isinstance(found, spool.Unreadable):
        return [], f"{found.why}."
    try:
        return [ProcessIdentity.from_json(member) for member in found["members"]], ""
    except (KeyError, TypeError, ValueError):
        return [], "tree.json does not hold a tree."


def _left_out(found: spool.Found) -> list[ProcessIdentity]:
    """The identities that tree.json names as of another attempt; a host of an earlier release names none."""
    try:
        return [ProcessIdentity.from_json(each) for each in found.get("nested", ())] if isinstance(found, dict) else []
    except (TypeError, ValueError, AttributeError):
        return []


def _claim(look: _Look, found: spool.Found) -> tuple[ClaimSeen, Mapping[str, Any]]:
    look.why.pop("claim", None)
    if isinstance(found, spool.Absent):
        return ClaimSeen.NONE, {}
    if isinstance(found, spool.Unreadable):
        look.why["claim"] = f"{found.why}."
        return ClaimSeen.UNKNOWN, {}
    if found.get("by") == "supervisor" and found.get("revoked") is True:
        return ClaimSeen.REVOKED, found
    if found.get("by") == "host" and found.get("session") == look.question.session:
        return ClaimSeen.HOST, found
    look.why["claim"] = "The claim is of another session, or is no claim."
    return ClaimSeen.UNKNOWN, found


def _claimed_identity(document: Mapping[str, Any], session: str) -> ProcessIdentity | None:
    if document.get("by") != "host" or document.get("session") != session:
        return None
    try:
        return ProcessIdentity.from_json(document["identity"])
    except (KeyError, TypeError, ValueError):
        return None


def _evidence(look: _Look) -> Evidence:
    if look.fault:  # whatever was seen before it failed counts for nothing: everything is unknown, and the run holds
        unseen = HostSeen.UNKNOWN, OutcomeSeen.UNKNOWN, TreeSeen.UNKNOWN, ClaimSeen.UNKNOWN
        return Evidence(clock.utc_us(), *unseen, why={"look": look.fault})
    return Evidence(
        at_us=clock.utc_us(),
        host=look.host,
        outcome=look.outcome,
        tree=look.tree,
        claim=look.claim,
        package=look.package,
        tree_method=look.tree_method,
        host_method=look.host_method,
        members=look.members,
        host_identity=look.identity,
        claim_document=look.claim_document,
        outcome_document=look.outcome_document,
        why=look.why,
        traces=look.traces,
    )
