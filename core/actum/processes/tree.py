"""Finding the processes of an attempt: one pass over /proc serves any number of attempts (R07, §7, FORMATS).

Theory. The cookie is for *finding*, identity for *confirming*. A process belongs to an attempt's tree when it is recorded
in tree.json and its identity is alive; or carries the attempt's cookie in the environment it was started with; or has the
attempt's `alive` file open; or is in its cgroup, where one was delegated; or descends from one of these. A nested Actum is
left out: a process that holds the alive file of *another* attempt, or was started with another attempt's cookie, or
supervises a workspace in a kernel session of its own (work that ran `actum … --detach`), and all below it.

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
from actum.model.identity import ProcessIdentity
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
    by_alive: dict[tuple[int, int], list[int]] = field(default_factory=dict)  # (device, inode) of an alive file → pids
    cookies: dict[int, str] = field(default_factory=dict)
    alive_of: dict[int, set[tuple[int, int]]] = field(default_factory=dict)
    supervisors: set[int] = field(default_factory=set)
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
    ) -> Tree:
        """The living tree of one attempt. `members` are recorded identities; `exclude` is who is not asked for (the host);
        `inside` are the pids in its cgroup: one that this pass has not seen, and that lives, came later."""
        alive = proc.file_id(alive_path)
        found: dict[int, str] = {}
        hidden = []
        for identity in members:
            if self._lives(identity):
                found.setdefault(identity.pid, RECORDED)
            elif identities.state(identity) == "cannot_tell":  # hidden by how /proc is mounted, or of another namespace
                hidden.append(identity.pid)
        for pid in self.by_cookie.get(cookie or "", ()):
            found.setdefault(pid, COOKIE)
        for pid in self.by_alive.get(alive, ()) if alive else ():
            found.setdefault(pid, ALIVE_LOCK)
        later = [pid for pid in inside if pid not in self.processes and identities.of(pid) is not None]
        for pid in inside:
            if pid in self.processes:
                found.setdefault(pid, CGROUP)
        excluded = {identity.pid for identity in exclude if self._lives(identity)}
        self._add_descendants(found, excluded, cookie, alive)
        chosen = [pid for pid in found if pid not in excluded]
        living = tuple(self._member(pid, found[pid]) for pid in sorted(chosen))
        return Tree(living, self.unreadable, self.complete and not later, hidden=tuple(sorted(set(hidden) - set(found))))

    def _add_descendants(
        self, found: dict[int, str], excluded: set[int], cookie: str | None, alive: tuple[int, int] | None
    ) -> None:
        for pid in [pid for pid in found if self._is_nested(pid, cookie, alive)]:
            del found[pid]
        waiting = [*found, *excluded]
        reached = set(waiting)
        while waiting:
            for child in self.children.get(waiting.pop(), ()):
                if child not in reached and not self._is_nested(child, cookie, alive):
                    reached.add(child)
                    found.setdefault(child, DESCENDANT)
                    waiting.append(child)

    def _is_nested(self, pid: int, cookie: str | None, alive: tuple[int, int] | None) -> bool:
        """Whether this process is not of this attempt: by its cookie, by the alive file or the workspace's lock it holds.

        The alive file tells of those without a cookie. Who carries this one holds the alive file of this attempt, wherever it
        is by now: its folder may have been moved away, or a copy stand in its place.
        """
        told = self.cookies.get(pid)
        if cookie is not None and told is not None and told != cookie:
            return True
        held = self.alive_of.get(pid, set())
        foreign = bool(held) and alive not in held and (cookie is None or told != cookie)
        return foreign or (pid in self.supervisors and not held)

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
        for file_id in proc.alive_files_of(seen.pid):
            self.alive_of.setdefault(seen.pid, set()).add(file_id)
            self.by_alive.setdefault(file_id, []).append(seen.pid)


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
