"""A cgroup that was delegated holds the whole tree of an attempt, and finds what no other means finds (R07, §7)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum import limits
from actum.ipc import spool
from actum.processes import cgroup, containment, evidence
from actum.processes.tree import Snapshot
from actum.workspace import Workspace

from tests.helpers.program import made
from tests.helpers.waiting import wait_until

ESCAPE = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 100)
        os.execve("/bin/sleep", ["sleep", "600"], {})
    os._exit(0)
os.wait()
open(sys.argv[1], "w").close()
time.sleep(600)
"""


@pytest.fixture
def delegated() -> Iterator[Path]:
    """A group of version 2 that is marked as delegated, for root; a user's own is so by its owner."""
    home = cgroup.own()
    if home is None:
        pytest.skip("there is no cgroup of version 2 here")
    folder = Path(home) / f"test-{os.getpid()}"
    try:
        folder.mkdir()
        os.setxattr(folder, "user.delegate", b"1")
    except OSError as error:
        pytest.skip(f"no cgroup can be made and marked here: {error}")
    yield folder
    wait_until(lambda: not (folder / "cgroup.procs").read_text(), 30, "the group to be empty")
    for below in folder.glob("actum-*"):
        below.rmdir()
    folder.rmdir()


def test_nothing_is_made_where_nothing_was_delegated(tmp_path: Path) -> None:
    assert cgroup.make("5e" * 16, str(tmp_path)) is None
    assert not cgroup.is_delegated("/proc")
    none = containment.NoContainer()
    assert (none.method, none.name, none.members(), none.start(lambda: 7)) == ("", "", None, 7)


def test_what_is_started_inside_is_inside_and_the_host_is_not(delegated: Path) -> None:
    group = cgroup.make("5e" * 16, str(delegated))
    assert group is not None
    (delegated / "cgroup.procs").write_text("0")  # as if this process belonged there
    started: list[subprocess.Popen[bytes]] = []

    def spawn() -> int:
        started.append(subprocess.Popen(["sleep", "600"]))
        return started[0].pid

    try:
        assert group.start(spawn) == started[0].pid
        assert group.members() == frozenset({started[0].pid})
        assert str(os.getpid()) in (delegated / "cgroup.procs").read_text().split()
        group.close()
        assert Path(group.name).exists(), "somebody is inside"
    finally:
        (delegated.parent / "cgroup.procs").write_text("0")
        started[0].kill()
        started[0].wait()
    assert group.members() == frozenset()
    group.close()
    assert not Path(group.name).exists()
    assert group.members() is None


def test_r07_only_the_session_s_own_group_is_looked_into(tmp_path: Path) -> None:
    """tree.json can be written by the work: it cannot name a group of others for its own."""
    own = tmp_path / ("actum-" + "5e" * 16)
    own.mkdir()
    (own / "cgroup.procs").write_text("1\n")
    assert cgroup.recorded({"cgroup": str(own)}, "5e" * 16) == frozenset({1})
    assert cgroup.recorded({"cgroup": str(own)}, "ee" * 16) == frozenset()
    assert cgroup.recorded({"cgroup": str(tmp_path)}, "5e" * 16) == frozenset()
    for document in ({}, {"cgroup": 3}, None, []):
        assert cgroup.recorded(document, "5e" * 16) == frozenset()


def test_r07_only_an_empty_group_of_the_session_is_removed(delegated: Path, tmp_path: Path) -> None:
    """Not one that somebody is in, nor another session's, nor a folder that has such a name and is no group."""
    mine, other = (delegated / ("actum-" + session * 16) for session in ("5e", "ee"))
    for group in (mine, other):
        group.mkdir()
    (mine / "below").mkdir()
    inside = subprocess.Popen(["sleep", "600"])
    try:
        (mine / "below" / "cgroup.procs").write_text(str(inside.pid))
        assert not cgroup.sweep({"cgroup": str(mine)}, "5e" * 16)
        assert (mine / "below").exists()
    finally:
        inside.kill()
        inside.wait()
    assert not cgroup.sweep({"cgroup": str(other)}, "5e" * 16)
    assert other.exists()
    assert cgroup.sweep({"cgroup": str(mine)}, "5e" * 16)
    assert not mine.exists()
    folder = tmp_path / ("actum-" + "5e" * 16)
    (folder / "theirs").mkdir(parents=True)
    (folder / "cgroup.procs").touch()
    (folder / "theirs" / "cgroup.procs").touch()
    assert not cgroup.sweep({"cgroup": str(folder)}, "5e" * 16)
    assert (folder / "theirs").exists()


def test_r11_a_list_of_members_is_read_up_to_a_bound(tmp_path: Path) -> None:
    folder = tmp_path / ("actum-" + "5e" * 16)
    folder.mkdir()
    (folder / "cgroup.procs").write_text("7\n" * (limits.CGROUP_LIST_BYTES_MAX // 2) + "9\n")
    assert cgroup.members(str(folder)) == frozenset({7})


def test_a_process_that_came_after_the_pass_makes_it_incomplete() -> None:
    living = subprocess.Popen(["sleep", "600"])
    try:
        snapshot = Snapshot.take()
        assert [member.found_by for member in snapshot.find(cookie=None, alive_path=None, inside=[living.pid]).members] == [
            "cgroup"
        ]
        del snapshot.processes[living.pid]
        seen = snapshot.find(cookie=None, alive_path=None, inside=[living.pid])
        assert (seen.members, seen.complete) == ((), False)
    finally:
        living.kill()
        living.wait()


def test_an_escaped_process_of_a_dead_host_is_found_and_ended(delegated: Path, tmp_path: Path) -> None:
    """No cookie, no parent, no descriptor, no session of the tree: only the group still knows it; ended by identity."""
    place = made(tmp_path)
    program, flag = place.data / "escape.py", tmp_path / "escaped"
    program.write_text(ESCAPE)
    place.define("escape", f'exec "{sys.executable}" "{program}" "{flag}"')
    into = ("sh", "-c", f'echo $$ > "{delegated}/cgroup.procs"; exec "$@"', "sh")
    place.actum("run", "escape", "--detach", prefix=into)
    ws = Workspace(place.home)
    folder = ws.attempt_folder(1, 1)
    wait_until(flag.exists, what="the escape")
    wait_until(
        lambda: "cgroup" in (spool.read_tree(folder) if isinstance(spool.read_tree(folder), dict) else {}), what="tree.json"
    )
    claim = spool.read_claim(folder)
    assert isinstance(claim, dict)
    group = json.loads((folder / "spool" / "tree.json").read_bytes())["cgroup"]
    inside = cgroup.members(group)
    assert inside is not None
    assert len(inside) >= 2
    supervisor = place.supervisor()
    assert supervisor is not None
    for pid in (supervisor, claim["identity"]["pid"]):
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not Path(f"/proc/{claim['identity']['pid']}").exists(), what="the host's end")
    seen = evidence.gather(attempt_folder=folder, session=claim["session"], cookie=None)
    assert "cgroup" in seen.tree_method
    told = place.actum("reconcile", "--wait")
    assert told.code in (0, 1), told
    shown = place.show()
    assert (shown["failure"]["code"], shown["released"]) == ("host_lost", True)
    assert not Path(group).exists(), "an empty group that a killed host left behind is removed with its tree"
