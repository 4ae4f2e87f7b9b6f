"""The host's look at its own tree: passes, what they cost, what they record (R07, R11)."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum import limits
from actum.host.family import Family
from actum.ipc import spool
from actum.processes import identity, proc

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
