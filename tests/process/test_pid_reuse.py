"""R07: a pid that is really used again, by a real stranger, in a pid namespace: nothing reaches it, nothing is taken for it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.house.sources import ROOT


def in_a_namespace(program: str, folder: Path) -> dict[str, Any]:
    """What a program of tests/helpers/reuse.py says as the first process of its own pid namespace."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("a pid namespace needs the program unshare (util-linux)")
    own = [unshare, "--pid", "--fork", "--mount-proc", "--kill-child"]
    ways = [own] if os.getuid() == 0 else [[*own, "--user", "--map-root-user"]]
    probe = ["sh", "-c", "echo 300 > /proc/sys/kernel/ns_last_pid"]
    way = next((way for way in ways if subprocess.run([*way, *probe], capture_output=True, check=False).returncode == 0), None)
    if way is None:
        pytest.skip("no pid namespace can be made here, or it cannot choose its next pid")
    command = [*way, sys.executable, "-m", "tests.helpers.reuse", program, str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False, env=environment())
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(str(ROOT / part) for part in ("core", "desktop", "resources", "."))}


def test_r07_a_pid_used_again_is_gone_and_its_new_owner_is_not_signalled(tmp_path: Path) -> None:
    said = in_a_namespace("identities", tmp_path)
    assert said == {"same pid": True, "state": "gone", "signal": "gone", "stranger": True}


def test_r07_a_pid_that_changes_hands_between_look_and_signal_is_not_signalled(tmp_path: Path) -> None:
    """The pidfd holds the process that was looked at; whoever has its number now is another."""
    said = in_a_namespace("between", tmp_path)
    assert said == {"in time": True, "same pid": True, "signal": "gone", "stranger": True}


def test_r07_recorded_pids_that_are_strangers_now_are_no_host_and_no_tree(tmp_path: Path) -> None:
    said = in_a_namespace("recorded", tmp_path / "attempt")
    assert said["before"] == ["alive", "left"]
    assert said["after"] == ["gone", "clear"]
    assert (said["members"], said["strangers"]) == (0, [True, True])


def test_r07_a_run_whose_pids_are_strangers_now_ends_and_they_live(tmp_path: Path) -> None:
    said = in_a_namespace("whole_run", tmp_path)
    assert (said["status"], said["failure"], said["released"]) == ("FAILED", "host_lost", True)
    assert (said["signalled"], said["strangers"]) == (0, [True, True])
