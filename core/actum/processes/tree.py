"""Finding the processes of an attempt: one pass over /proc serves any number of attempts (R07, §7, FORMATS).

Theory. The cookie is for *finding*, identity for *confirming*. A process belongs to an attempt's tree when it is recorded
in tree.json and its identity is alive; or carries the attempt's cookie in the environment it was started with; or has the
attempt's `alive` file open; or is in its cgroup, where one was delegated; or descends from one of these.

A nested Actum is left out: a process that holds the alive lock of *another* attempt and carries another cookie, whoever
carries that same cookie, whom the host recorded as such while it lived, and who supervises a workspace in a kernel session
of its own (work that ran `actum … --detach`); and all below it. A foreign cookie alone excuses nobody: the work may give any
to its children. A host that is just starting has no lock yet: while one is in sight, the pass is not `complete`.

A process that ends while the pass goes on may have forked one that the listing did not show yet. So the list is read again,
and what is new in it is looked at within the same instant, until nothing that was listed has ended before it could be
read; where that takes more than SCAN_ROUNDS_MAX rounds, the pass is not `complete`, and nobody takes it for an absence.

What cannot be excluded, and is said: a process that was forked by a host in the last second of its life, has emptied its
environment and left its parents. A process whose environment this user may not read is counted in `unreadable`: it is
foreign unless recorded.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from actum import limits
from actum.model.evidence import Member
from actum.model.identity import ProcessIdentity, is_token
from actum.processes import identity as identities
from actum.processes import proc

COOKIE, RECORDED, DESCENDANT, ALIVE_LOCK, CGROUP = "cookie", "recorded", "descendant", "alive_lock", "cgroup"


@dataclass(frozen=True, slots=True)
class Tree:
    """The living members. `complete` = /proc could be listed, and nothing ended unread; `unreadable` counts processes of which
    this user sees little; `hidden` are pids that are on record for the tree, exist, and cannot be seen from here."""

    members: tuple[Member, ...]
    unreadable: int
    complete: bool
    method: str = "lock + scan"
    hidden: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Seen:
    """One living process of a snapshot."""

    pid: int
    ppid: int
    start_ticks: int
    session: int


@dataclass(slots=True)
class Snapshot:
    """All processes at one time, indexed by what makes them members. Make one with `take()`."""

    processes: dict[int, Seen]
    complete: bool
    children: dict[int, list[int]] = field(default_factory=dict)
    by_cookie: dict[str, list[int]] = field(default_factory=dict)
    by_alive: dict[proc.FileId, list[int]] = field(default_factory=dict)  # an alive file → pids
    cookies: dict[int, str] = field(default_factory=dict)
    alive_of: dict[int, dict[proc.FileId, bool]] = field(default_factory=dict)  # pid → its alive files, and whether locked
    locked_by: dict[str, set[proc.FileId]] = field(default_factory=dict)  # cookie → the alive files of who locks one
    supervisors: set[int] = field(default_factory=set)
    unsure: set[int] = field(default_factory=set)  # what they have open could not be told
    unreadable: int = 0

    @classmethod
    def take(cls) -> Snapshot:
        """One pass over /proc, this process left out."""
        snapshot = cls({}, False)
        known = {os.getpid()}
        for _ in range(limits.SCAN_ROUNDS_MAX):
            try:
                listed = {int(name) for name in os.listdir("/proc") if name.isdigit()}
                fresh = listed - known
            except OSError:
                break
            known |= fresh
            ended = [pid for pid in fresh if not snapshot._take_in(pid)]
            if not ended:
                snapshot.complete = os.getpid() in listed  # a list without this very process is none of ours
                break
        return snapshot

    def _take_in(self, pid: int) -> bool:
        """Look at one process that was listed; False where it had ended before it was read."""
        fields = identities.stat_fields(pid)
        if fields is None or identities.is_dead(fields):
            return False
        seen = self.processes[pid] = _seen(pid, fields)
        self._index(seen)
        if pid in self.cookies:
            return True
        fields = identities.stat_fields(pid)  # one that ended meanwhile seems to have no cookie
        return fields is not None and not identities.is_dead(fields)

    def find(
        self,
        *,
        cookie: str | None,
        alive_path: str | os.PathLike[str] | None,
        members: Sequence[ProcessIdentity] = (),
        exclude: Iterable[ProcessIdentity] = (),
        inside: Iterable[int] = (),
        nested: Sequence[ProcessIdentity] = (),
    ) -> Tree:
        """The living tree of one attempt. `members` are recorded identities; `exclude` is who is not asked for (the host);
        `inside` are the pids in its cgroup: one that this pass has not seen, and that lives, came later. `nested` are those
        whom its host recorded as of another attempt."""
        apart = _Apart(self, cookie, proc.file_id(alive_path), [each.pid for each in nested if self._lives(each)])
        found: dict[int, str] = {}
        hidden = []
        for identity in members:
            if self._lives(identity):
                found.setdefault(identity.pid, RECORDED)
            elif identities.state(identity) == "cannot_tell":  # hidden by how /proc is mounted, or of another namespace
                hidden.append(identity.pid)
        for pid in self.by_cookie.get(cookie or "", ()):
            found.setdefault(pid, COOKIE)
        for pid in self.by_alive.get(apart.alive, ()) if apart.alive else ():
            found.setdefault(pid, ALIVE_LOCK)
        later = [pid for pid in inside if pid not in self.processes and identities.of(pid) is not None]
        for pid in inside:
            if pid in self.processes:
                found.setdefault(pid, CGROUP)
        excluded = {identity.pid for identity in exclude if self._lives(identity)}
        self._add_descendants(found, excluded, apart)
        arriving = {pid for pid in found if pid not in excluded and apart.arrives(pid)}
        chosen = [pid for pid in found if pid not in excluded and pid not in arriving]
        living = tuple(self._member(pid, found[pid]) for pid in sorted(chosen))
        complete = self.complete and not later and not arriving
        return Tree(living, self.unreadable, complete, hidden=tuple(sorted(set(hidden) - set(found))))

    def _add_descendants(self, found: dict[int, str], excluded: set[int], apart: _Apart) -> None:
        """Add who descends from those found, and take out who is nested and all below it, however it was found."""
        nested = {pid for pid in found if apart.is_nested(pid)}
        waiting = [pid for pid in [*found, *excluded] if pid not in nested]
        reached = set(waiting)
        while waiting:
            for child in self.children.get(waiting.pop(), ()):
                if child not in reached and apart.is_nested(child):
                    nested.add(child)
                elif child not in reached:
                    reached.add(child)
                    found.setdefault(child, DESCENDANT)
                    waiting.append(child)
        waiting = list(nested)
        while waiting:
            pid = waiting.pop()
            found.pop(pid, None)
            below = [child for child in self.children.get(pid, ()) if child not in excluded and child not in nested]
            nested.update(below)
            waiting += below

    def _lives(self, identity: ProcessIdentity) -> bool:
        seen = self.processes.get(identity.pid)
        return seen is not None and seen.start_ticks == identity.start_ticks and identities.same_place(identity)

    def _member(self, pid: int, found_by: str) -> Member:
        return Member(identities.here(pid, self.processes[pid].start_ticks), proc.command_of(pid), found_by)

    def _index(self, seen: Seen) -> None:
        self.children.setdefault(seen.ppid, []).append(seen.pid)
        try:
            cookie = proc.cookie_of(seen.pid)
        except OSError:
            self.unreadable += 1
            return  # its descriptors are not ours to read either
        if cookie:
            self.cookies[seen.pid] = cookie
            self.by_cookie.setdefault(cookie, []).append(seen.pid)
        if proc.supervises(seen.pid, seen.session):
            self.supervisors.add(seen.pid)
        try:
            files = proc.alive_files_of(seen.pid)
        except OSError:
            self.unreadable += 1
            self.unsure.add(seen.pid)
            return
        if files:
            self.alive_of[seen.pid] = files
        if True in files.values() and is_token(cookie):
            self.locked_by.setdefault(cookie, set()).update(files)
        for file_id in files:
            self.by_alive.setdefault(file_id, []).append(seen.pid)


@dataclass(frozen=True, slots=True)
class _Apart:
    """Who of a snapshot is not of one attempt's tree although it stands below it."""

    snapshot: Snapshot
    cookie: str | None
    alive: proc.FileId | None
    recorded: Sequence[int]  # living pids that the attempt's host recorded as nested

    def is_nested(self, pid: int) -> bool:
        """Whether this process is of another attempt, by the alive lock that it or its like hold, or supervises apart.

        Who carries this attempt's cookie and holds an alive file holds the one of this attempt, wherever that is by now: its
        folder may have been moved away, or a copy stand in its place.
        """
        told = self.snapshot.cookies.get(pid, "")
        if told != (self.cookie or ""):
            locked = self.snapshot.locked_by.get(told)
            if pid in self.recorded or (locked and self.alive not in locked):
                return True
        return pid in self.snapshot.supervisors and pid not in self.snapshot.alive_of

    def arrives(self, pid: int) -> bool:
        """Whether this may be a host of another attempt that has not taken its lock yet, or what it holds cannot be told."""
        told = self.snapshot.cookies.get(pid, "")
        if told == self.cookie or not is_token(told):
            return False
        return pid in self.snapshot.unsure or proc.becomes_host(pid, self.snapshot.processes[pid].start_ticks)


def _seen(pid: int, fields: list[bytes]) -> Seen:
    return Seen(pid, *(int(fields[index]) for index in (identities.PPID, identities.START_TICKS, identities.SESSION)))


def scan(
    *,
    cookie: str | None,
    alive_path: str | os.PathLike[str] | None,
    members: Sequence[ProcessIdentity] = (),
    exclude: Iterable[ProcessIdentity] = (),
) -> Tree:
    """The living tree of one attempt, by a pass of its own."""
    return Snapshot.take().find(cookie=cookie, alive_path=alive_path, members=members, exclude=exclude)
