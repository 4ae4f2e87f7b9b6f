"""A workspace copied while it is supervised: what is asked of the copy never reaches the original (FORMATS, copies)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.helpers.program import Place, made
from tests.helpers.waiting import wait_until


@pytest.mark.leaves("the long-lived helpers of the supervisor end with it")
def test_a_command_to_a_copy_is_refused_and_the_original_hears_nothing(tmp_path: Path) -> None:
    """The copied endpoint file names the original's socket, and somebody answers there."""
    place = made(tmp_path)
    place.define("quick", "true")
    supervisor = place.start("supervise")
    try:
        wait_until(lambda: place.supervisor() is not None, what="the supervisor's endpoint")
        copy = Place(tmp_path / "copy", place.data)
        shutil.copytree(place.home, copy.home)
        for words in (["run", "quick"], ["run", "quick", "--detach"], ["reconcile"], ["stop", "1"]):
            told = copy.actum(*words)
            assert told.code in (3, 8), told
            assert told.error["code"] in ("workspace_copied", "no_such_run")
        assert place.runs() == 0
        assert copy.actum("doctor", "--accept-copy").code == 0
        assert copy.actum("run", "quick").code == 0
        assert (place.runs(), copy.runs()) == (0, 1)
    finally:
        supervisor.terminate()
        try:
            supervisor.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            supervisor.kill()
            supervisor.communicate()


def test_r03_what_was_sealed_for_the_original_is_adopted_there(tmp_path: Path) -> None:
    """A copy offers nothing that its verification would have to refuse: the package names the workspace it was sealed for."""
    place = made(tmp_path)
    place.define("quick", "true")
    assert place.actum("run", "quick", fault="fact.sealed.after:kill-app").code < 0
    copy = Place(tmp_path / "copy", place.data)
    shutil.copytree(place.home, copy.home, symlinks=True)
    assert copy.actum("doctor", "--accept-copy").code == 0
    told = copy.actum("adopt", "1")
    assert (told.code, told.error["code"]) == (4, "not_adoptable")
    assert "a copy of" in told.error["why"]
    copy.actum("reconcile")
    assert copy.actum("alerts").objects == []
    assert place.actum("reconcile", "--wait").code == 0
    assert place.show()["status"] == "SUCCEEDED"
