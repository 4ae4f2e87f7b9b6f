"""The host's own tree: who lives in it, what it uses, and the proof that nobody is left (R07, P14).

Theory. The host is the child subreaper of all it starts, so whoever loses its parents becomes the host's child. Hence: *a
living process of the tree has an ancestor, or is itself, a direct child of the host*. waitpid saying ECHILD proves the
tree gone, method "subreaper".

Nested Actum. A host that was started by the work (by work that itself calls `actum`) becomes our child too when its
starter ends, and may live for days; waitpid does not say ECHILD then. It and all below it are of another attempt. What it
*says* tells nothing, for the work can give its children any cookie: a process is of another attempt only where it was seen
to hold that attempt's alive lock, or stands below one that was; or, a supervisor that the work left behind in a
kernel session of its own, to hold a workspace's lock. They are remembered by identity, and the attempt by its cookie, so
that their orphans, which come to us if they are killed, stay excluded. A host that is just starting has no lock yet: for
HOST_ARRIVES_S it is waited for, and neither signalled nor recorded. Anybody else is ours, whatever its environment says.

With nested children the tree is gone when *a pass over /proc shows no direct child of the host but nested ones, and none was
reaped meanwhile*: this process reaps in one thread only, outside the pass, so every direct child that there was when the
pass began is in /proc until its end, living or zombie, and is seen; if all of them are nested, no process of the tree had
an ancestor, so there was none. Nothing rests on one listing: a pass that shows none is repeated at once, and the kernel's
own list of our children, where it keeps one, must name none that the pass has not seen. Method "subreaper, nested left
out".

A pass costs time in proportion to the machine's processes, so passes keep a distance that holds their share of the host's
time under SCAN_SHARE_MAX.
"""

from __future__ import annotations

import os
import time
from typing import Any

from actum import limits
from actum.model.identity import ProcessIdentity, is_token
from actum.processes import identity as identities
from actum.processes import proc

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")

Life = tuple[int, int]  # pid, start ticks

# What sets a process apart from the tree, where it is not the cookie of the attempt it was seen to belong to.
_SUPERVISOR, _ARRIVING = "a supervisor", "a host that is starting"


class Descendant:
    """One living process of the tree, with what it uses as of the last pass."""

    __slots__ = ("command", "cpu_ticks", "identity", "io", "rss_bytes")

    def __init__(self, identity: ProcessIdentity) -> None:
        self.identity = identity
        self.command = proc.command_of(identity.pid)
        self.cpu_ticks = 0
        self.rss_bytes = 0
        self.io = (0, 0)

    def update(self, fields: list[bytes]) -> None:
        self.cpu_ticks = sum(int(fields[index]) for index in range(identities.UTIME, identities.CSTIME + 1))
        self.rss_bytes = int(fields[identities.RSS_PAGES]) * _PAGE
        self.io = _io_of(self.identity.pid) or self.io


class Family:
    """Attributes: members (living, by life), nested (lives left out, and what sets each apart), childless (waitpid said
    ECHILD)."""

    def __init__(self, cookie: str, alive_path: str) -> None:
        self._cookie = cookie
        self._alive = proc.file_id(alive_path)
        self._own = os.getpid()
        self._next_pass = 0.0
        self._soonest = 0.0  # even what cannot wait is looked at no sooner
        self._past_io = [0, 0]  # of members that have ended
        self._peak_rss_bytes = 0
        self._direct_left = True  # the last pass showed a direct child that is not nested, or none was made yet
        self.members: dict[Life, Descendant] = {}
        self.nested: dict[Life, str] = {}
        self.childless = False

    def reap(self) -> dict[int, int]:
        """Take leave of ended children: pid → status."""
        ended: dict[int, int] = {}
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self.childless = True
                self._forget_all()
                return ended
            self.childless = False
            if pid == 0:
                return ended
            ended[pid] = status

    def expect(self, child: ProcessIdentity | None) -> None:
        """A child was started: nothing seen so far says that the tree is empty. None = it has ended already."""
        self.childless, self._direct_left = False, True
        self._next_pass = time.monotonic() + limits.TREE_FIRST_S
        if child is not None:
            self.members[(child.pid, child.start_ticks)] = Descendant(child)

    def look(self, now: float, *, at_once: bool = False, soon: bool = False) -> bool:
        """Make a pass, unless the last one was too near; whether it was made. `soon` = at a tenth of that distance."""
        due = self._soonest if soon else self._next_pass
        if self.childless or (now < due and not at_once):
            return False
        begun = time.monotonic()
        self._pass()
        if not self._direct_left and self.nested:
            seen = self.nested.keys()
            self._pass()  # a second listing, and the kernel's own, must say the same
            self._direct_left = self._direct_left or bool(_own_children() - {pid for pid, _ in seen | self.nested.keys()})
        cost = time.monotonic() - begun
        distance = max(limits.TREE_EVERY_S, cost / limits.SCAN_SHARE_MAX)
        self._next_pass, self._soonest = now + distance, now + distance / 10
        return True

    def gone(self) -> bool:
        """Whether the tree is proven gone. Call after `reap`, and after a `look` where children are left."""
        return self.childless or not self._direct_left

    def confirmation(self) -> dict[str, Any]:
        """What the outcome says of a tree that is proven gone, and whom it leaves running."""
        method = "subreaper" if self.childless else "subreaper, nested left out"
        pids = sorted(pid for pid, _ in self.nested)
        return {"method": method, "nested": len(pids), "nested_pids": pids[: limits.PIDS_NAMED_MAX]}

    def activity(self) -> dict[str, Any]:
        """What the tree uses, in the words of `ipc.messages.ACTIVITY`; what has ended counts on in all but rss_bytes."""
        from resource import RUSAGE_CHILDREN, getrusage

        members = self.members.values()
        times = os.times()
        # The largest of those that have ended, for work too short to be looked at while it lived.
        largest_ended = getrusage(RUSAGE_CHILDREN).ru_maxrss * 1024
        cpu = times.children_user + times.children_system + sum(member.cpu_ticks for member in members) / _TICKS
        return {
            "cpu_s": round(cpu, 2),
            "rss_bytes": sum(member.rss_bytes for member in members),
            "peak_rss_bytes": max(self._peak_rss_bytes, largest_ended),
            "read_bytes": self._past_io[0] + sum(member.io[0] for member in members),
            "written_bytes": self._past_io[1] + sum(member.io[1] for member in members),
        }

    def to_json(self) -> list[dict[str, Any]]:
        """The members as tree.json records them, the oldest first, at most TREE_MEMBERS_MAX."""
        oldest = sorted(self.members.items(), key=lambda item: item[0][1])[: limits.TREE_MEMBERS_MAX]
        return [{**member.identity.to_json(), "command": member.command} for _, member in oldest]

    def nested_json(self) -> list[dict[str, Any]]:
        """Who is left out, as tree.json records it for whoever looks when this host is dead: the oldest NESTED_RECORDED_MAX."""
        oldest = sorted(self.nested, key=lambda life: life[1])[: limits.NESTED_RECORDED_MAX]
        return [identities.here(*life).to_json() for life in oldest]

    def _pass(self) -> None:
        fields_of, children = _all_processes()
        members: dict[Life, Descendant] = {}
        nested: dict[Life, str] = {}
        known = set(self.nested.values())
        self._direct_left = False
        waiting = [(pid, "") for pid in children.get(self._own, ())]
        for pid, above in waiting:  # grows while it is walked
            fields = fields_of[pid]
            life = (pid, int(fields[identities.START_TICKS]))
            apart = above or self.nested.get(life) or self._apart(life, fields, known)
            waiting += [(child, apart) for child in children.get(pid, ())]
            if apart and apart != _ARRIVING:
                nested[life] = apart
                known.add(apart)
                continue
            if int(fields[identities.PPID]) == self._own:
                self._direct_left = True
            if not apart and not identities.is_dead(fields):
                member = members[life] = self.members.get(life) or Descendant(identities.here(*life))
                member.update(fields)
        self._forget(self.members.keys() - members.keys())
        self.members, self.nested = members, nested
        self._peak_rss_bytes = max(self._peak_rss_bytes, sum(member.rss_bytes for member in members.values()))

    def _apart(self, life: Life, fields: list[bytes], known: set[str]) -> str:
        """What sets a process apart from the tree, by what is seen of itself; "" where it is ours."""
        pid, ticks = life
        try:
            cookie = proc.cookie_of(pid)
        except OSError:
            return ""  # not ours to read: then it is ours to end, if it can be
        if cookie != self._cookie and is_token(cookie):
            if cookie in known:
                return cookie
            try:
                files = proc.alive_files_of(pid)
            except OSError:
                return _ARRIVING  # what it holds cannot be told now; it is looked at again
            if self._alive not in files and True in files.values():
                return cookie
            if proc.becomes_host(pid, ticks):
                return _ARRIVING
        return _SUPERVISOR if proc.supervises(pid, int(fields[identities.SESSION])) else ""

    def _forget(self, lives: set[Life]) -> None:
        for life in lives:
            read, written = self.members[life].io
            self._past_io[0] += read
            self._past_io[1] += written

    def _forget_all(self) -> None:
        self._forget(set(self.members))
        self.members, self.nested, self._direct_left = {}, {}, False


def _own_children() -> set[int]:
    """This process's children as the kernel lists them; none where it keeps no such list."""
    found: set[int] = set()
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/children", "rb", buffering=0) as file:
                found.update(int(word) for word in file.read().split())
        except OSError:
            continue
    return found


def _all_processes() -> tuple[dict[int, list[bytes]], dict[int, list[int]]]:
    """Every process's stat, zombies too, and the children of each."""
    fields_of: dict[int, list[bytes]] = {}
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (fields := identities.stat_fields(int(name))):
            fields_of[int(name)] = fields
            children.setdefault(int(fields[identities.PPID]), []).append(int(name))
    return fields_of, children


def _io_of(pid: int) -> tuple[int, int] | None:
    """(read, written) bytes that reached the storage layer, or None where they are not ours to read."""
    try:
        with open(f"/proc/{pid}/io", "rb", buffering=0) as file:
            lines = file.read(1024).split(b"\n")
    except OSError:
        return None
    values = dict(line.split(b": ", 1) for line in lines if b": " in line)
    return int(values.get(b"read_bytes", 0)), int(values.get(b"write_bytes", 0))
