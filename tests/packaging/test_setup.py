"""The set-up behind packaging/run and packaging/test: what it decides, what it says, and that it costs little twice."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

from tests.house.sources import ROOT


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("actum_prepare", ROOT / "packaging" / "prepare.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["actum_prepare"] = module
    spec.loader.exec_module(module)
    return module


prepare = load()


class Tried:
    """A machine of the test's making: what is installed, and every word said and command run."""

    def __init__(self, *, is_root: bool, has_apt: bool = True, installed: Sequence[str] = (), fails: bool = False) -> None:
        self.said: list[str] = []
        self.ran: list[str] = []
        self.here = frozenset(installed)
        self.fails = fails
        self.machine = prepare.Machine(is_root, has_apt, lambda names: self.here, self._run, self.said.append)

    def _run(self, command: Sequence[str]) -> int:
        self.ran.append(" ".join(command))
        return 100 if self.fails and "install" in command else 0


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with an environment that looks complete."""
    (tmp_path / "packaging").mkdir()
    for name in ("requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ("prepare.py", "setup.sh", "run", "test"):
        shutil.copy(ROOT / "packaging" / name, tmp_path / "packaging" / name)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
    prepare.write_stamp(tmp_path)
    return tmp_path


def test_a_user_is_given_the_exact_command() -> None:
    tried = Tried(is_root=False, installed=["libegl1"])
    assert not prepare.ensure_packages(tried.machine, ["libegl1", "libgl1", "xvfb"])
    assert tried.ran == []
    assert "    sudo apt-get install -y --no-install-recommends libgl1 xvfb" in tried.said


def test_root_installs_only_what_is_missing() -> None:
    tried = Tried(is_root=True, installed=["libegl1"])
    assert prepare.ensure_packages(tried.machine, ["libegl1", "libgl1"])
    assert tried.ran == ["apt-get update -qq", "apt-get -qq install -y --no-install-recommends libgl1"]


def test_root_without_a_mirror_is_told_what_to_do() -> None:
    tried = Tried(is_root=True, fails=True)
    assert not prepare.ensure_packages(tried.machine, ["libgl1"])
    assert "apt-get install -y --no-install-recommends libgl1" in tried.said[-1]


def test_nothing_is_said_when_all_is_there() -> None:
    tried = Tried(is_root=True, installed=["libgl1"])
    assert prepare.ensure_packages(tried.machine, ["libgl1"])
    assert tried.ran == tried.said == []


def test_other_distributions_are_left_to_the_loading_of_qt() -> None:
    tried = Tried(is_root=True, has_apt=False)
    assert prepare.ensure_packages(tried.machine, ["libgl1"])
    assert tried.ran == []


def test_a_library_under_its_new_name_counts() -> None:
    assert prepare.missing_packages(["libglib2.0-0", "libgl1"], frozenset({"libglib2.0-0t64"})) == ["libgl1"]


def test_a_complete_environment_is_left_alone(clone: Path) -> None:
    assert prepare.due(clone) == "nothing"


def test_another_project_file_installs_the_project_again(clone: Path) -> None:
    with (clone / "pyproject.toml").open("a") as file:
        file.write("# changed\n")
    assert prepare.due(clone) == "project"


def test_another_lock_file_makes_the_environment_anew(clone: Path) -> None:
    with (clone / "requirements.lock").open("a") as file:
        file.write("# changed\n")
    assert prepare.due(clone) == "everything"


@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"place": "elsewhere"}'])
def test_half_an_environment_is_not_taken_as_whole(clone: Path, text: str | None) -> None:
    """A set-up that was interrupted left no stamp, or a torn one."""
    stamp = clone / ".venv" / "complete.json"
    stamp.unlink()
    if text is not None:
        stamp.write_text(text)
    assert prepare.due(clone) == "everything"


def test_an_environment_without_its_interpreter_is_made_anew(clone: Path) -> None:
    (clone / ".venv" / "bin" / "python").unlink()
    (clone / ".venv" / "bin" / "python").symlink_to("/nonexistent/python3.11")
    assert prepare.due(clone) == "everything"


def test_a_repository_that_moved_is_set_up_anew(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    moved = tmp_path_factory.mktemp("moved") / "there"
    shutil.move(clone, moved)
    assert prepare.due(moved) == "everything"


def test_the_stamp_names_what_the_environment_was_made_from(clone: Path) -> None:
    found = json.loads((clone / ".venv" / "complete.json").read_text())
    assert set(found) == {"requirements.lock", "pyproject.toml", "place", "python"}


def test_a_failure_says_what_why_and_what_to_do() -> None:
    lines = str(prepare.SetupFailed("It failed.", "first\nsecond", "do this")).splitlines()
    assert lines == [
        "It failed.",
        "Why:        first",
        "            second",
        "What to do: do this",
        "            then call this command again.",
    ]


def test_an_index_out_of_reach_is_told_in_words(clone: Path) -> None:
    """The environment's pip is one that cannot reach anything; no stamp is left."""
    python = clone / ".venv" / "bin" / "python"
    python.unlink()
    python.write_text("#!/bin/sh\necho 'ERROR: no route to the index'\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(prepare.SetupFailed) as caught:
        prepare.pip(clone, "Installing the locked packages", "-r", "requirements.lock")
    assert caught.value.what == "Installing the locked packages failed."
    assert "no route to the index" in caught.value.why
    assert "HTTPS_PROXY" in caught.value.remedy


def run_script(clone: Path, name: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    hidden = ("DISPLAY", "WAYLAND_DISPLAY")
    environment = {key: value for key, value in os.environ.items() if key not in hidden} | variables
    command = ["bash", str(clone / "packaging" / name), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd="/")


@pytest.fixture
def program(clone: Path) -> Path:
    """In place of the program, one that says how it was called; in place of the system libraries, none are asked for."""
    actum = clone / ".venv" / "bin" / "actum"
    actum.write_text('#!/bin/sh\necho "actum $*"\n')
    actum.chmod(0o755)
    script = clone / "packaging" / "prepare.py"
    script.write_text(script.read_text().replace('shutil.which("apt-get")', "False"))
    return clone


def test_without_a_display_the_demonstration_runs_and_that_is_said(program: Path) -> None:
    shown = run_script(program, "run")
    assert (shown.returncode, shown.stdout) == (0, "actum demo\n")
    assert "no display" in shown.stderr


def test_with_a_display_the_window_opens(program: Path) -> None:
    shown = run_script(program, "run", DISPLAY=":7")
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, "actum \n", "")


def test_arguments_make_it_the_command_line(program: Path) -> None:
    assert run_script(program, "run", "show", "1").stdout == "actum show 1\n"


def test_the_second_call_costs_little(program: Path) -> None:
    """Bound wide for a busy machine; it is a few hundredths of a second on an idle one."""
    began = time.monotonic()
    assert run_script(program, "run", "runs").returncode == 0
    assert time.monotonic() - began < 3
