"""The host's look at its own tree: passes, what they cost, what they record (R07, R11)."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from actum import limits
from actum.host.family import Family
from actum.ipc import spool
from actum.model.identity import ProcessIdentity
from actum.processes import identity, proc, tree

from tests.helpers.hosts import prepare_spool
from tests.helpers.waiting import wait_until


@pytest.fixture
def family(tmp_path: Path) -> Family:
    prepare_spool(tmp_path)
    return Family("0" * 32, spool.spool_path(tmp_path, "alive"))


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sh", "-c", "sleep 600 & wait"])
    yield process
    for member in identity_children(process.pid):
        subprocess.run(["kill", "-9", str(member)], check=False)
    process.kill()
    process.wait()


def identity_children(pid: int) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        fields = identity.stat_fields(int(folder.name)) if folder.name.isdigit() else None
        if fields and int(fields[identity.PPID]) == pid:
            found.append(int(folder.name))
    return found


def test_passes_keep_their_distance_and_their_share(family: Family, child: subprocess.Popen[bytes]) -> None:
    family.expect(identity.of(child.pid))
    assert not family.look(0.0)  # TREE_FIRST_S after the start at the earliest
    assert limits.TREE_FIRST_S < limits.TREE_EVERY_S
    assert family.look(1e9)
    assert not family.look(1e9 + limits.TREE_EVERY_S - 0.01)
    assert family.look(1e9 + 100 * limits.TREE_EVERY_S)
    assert 0 < limits.SCAN_SHARE_MAX < 1
    assert family.look(1e9 + 100 * limits.TREE_EVERY_S, at_once=True)
    assert not family.look(1e9 + 100 * limits.TREE_EVERY_S, soon=True)  # children that end by the hundred are no reason
    assert family.look(1e9 + 110 * limits.TREE_EVERY_S, soon=True)


def test_members_are_found_counted_and_recorded_up_to_the_bound(
    family: Family, child: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    family.expect(identity.of(child.pid))
    wait_until(lambda: family.look(0.0, at_once=True) and len(family.members) >= 2, what="shell and sleeper")
    pids = {member["pid"] for member in family.to_json()}
    assert child.pid in pids
    assert family.activity()["rss_bytes"] > 0
    assert not family.gone()
    monkeypatch.setattr(limits, "TREE_MEMBERS_MAX", 1)
    assert len(family.to_json()) == limits.TREE_MEMBERS_MAX


def test_a_command_is_shown_short() -> None:
    long = subprocess.Popen(["sleep", "600", *["0" * 50] * 20])
    try:
        wait_until(lambda: proc.command_of(long.pid).startswith("sleep"), what="the exec")
        assert len(proc.command_of(long.pid)) == limits.COMMAND_CHARS_MAX
    finally:
        long.kill()
        long.wait()
    assert proc.command_of(long.pid) == ""


@pytest.fixture
def spawned() -> Iterator[list[subprocess.Popen[bytes]]]:
    made: list[subprocess.Popen[bytes]] = []
    yield made
    for process in made:
        process.kill()
        process.wait()


def waiting(spawned: list[subprocess.Popen[bytes]], cookie: str, *words: str, holding: Sequence[int] = ()) -> ProcessIdentity:
    """A child of this cookie that has begun and waits; `words` are told of it, and it keeps the descriptors `holding`."""
    program = [sys.executable, "-c", "import time; print(flush=True); time.sleep(600)", *words]
    process = subprocess.Popen(program, env={"ACTUM_COOKIE": cookie}, pass_fds=holding, stdout=subprocess.PIPE)
    spawned.append(process)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    found = identity.of(process.pid)
    assert found is not None
    return found


def arriving(folder: Path, spawned: list[subprocess.Popen[bytes]], cookie: str) -> ProcessIdentity:
    """A child that looks as a host does before it has locked its alive file."""
    return waiting(spawned, cookie, "core/host/host_main.py", str(folder))


@pytest.mark.parametrize("cookie", ["1" * 32, "x"], ids=["a token", "garbage"])
def test_r07_a_host_that_is_just_starting_is_waited_for_and_neither_signalled_nor_recorded(
    family: Family, tmp_path: Path, spawned: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch, cookie: str
) -> None:
    """HOST_ARRIVES_S at most: who has no lock by then, or no attempt's cookie, is of the tree."""
    child = arriving(tmp_path, spawned, cookie)
    life = (child.pid, child.start_ticks)
    family.expect(child)
    assert family.look(0.0, at_once=True)
    assert (life in family.members, life in family.nested, family.gone()) == (cookie == "x", False, False)
    named = family.to_json()
    assert (child.pid in [member["pid"] for member in named]) is (cookie == "x")
    found = tree.scan(cookie="0" * 32, alive_path=None, members=[child])
    assert ([member.identity for member in found.members], found.complete) == (
        ([child], True) if cookie == "x" else ([], False)
    )
    monkeypatch.setattr(limits, "HOST_ARRIVES_S", 0)
    assert family.look(1.0, at_once=True)
    assert (life in family.members, family.gone()) == (True, False)
    assert [member.identity for member in tree.scan(cookie="0" * 32, alive_path=None, members=[child]).members] == [child]


def test_r07_whom_a_lock_set_apart_is_remembered_and_recorded_up_to_the_bound(
    family: Family, tmp_path: Path, spawned: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its like too, by their cookie; the lock is what counts, not the open file; PIDS_NAMED_MAX are named."""
    other = tmp_path / "other"
    other.mkdir()
    prepare_spool(other)
    cookie = "1" * 32
    with open(spool.spool_path(other, "alive"), "r+b") as alive:

        def start() -> ProcessIdentity:
            return waiting(spawned, cookie, holding=[alive.fileno()])

        first = start()
        assert family.look(0.0, at_once=True)
        assert (first.pid, first.start_ticks) in family.members
        fcntl.flock(alive, fcntl.LOCK_EX)
        assert family.look(1.0, at_once=True)
        assert (first.pid, first.start_ticks) in family.nested
        fcntl.flock(alive, fcntl.LOCK_UN)
    like = subprocess.Popen(["sleep", "600"], env={"ACTUM_COOKIE": cookie})
    spawned.append(like)
    wait_until(lambda: proc.command_of(like.pid).startswith("sleep"), what="the exec")
    assert family.look(2.0, at_once=True)
    assert {first.pid, like.pid} <= {pid for pid, _ in family.nested}
    assert family.confirmation()["nested"] == len(family.nested)
    assert family.gone() is (family.members == {})
    for bound in (2, 1):
        monkeypatch.setattr(limits, "NESTED_RECORDED_MAX", bound)
        assert len(family.nested_json()) == bound
        monkeypatch.setattr(limits, "PIDS_NAMED_MAX", bound)
        assert len(family.confirmation()["nested_pids"]) == bound
