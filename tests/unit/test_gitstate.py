"""Git is asked again whenever its answer may have changed, and only then (R17)."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from actum import limits
from actum.helpers.gitstate import NO_REPOSITORY, States

from tests.helpers.waiting import wait_until


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def settle(*paths: Path) -> None:
    """Wait until nothing below counts as written just now."""
    newest = max(path.stat().st_ctime_ns for path in paths)
    wait_until(lambda: time.time_ns() - newest > limits.DIGEST_SETTLED_S * 1e9, 20)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    folder = tmp_path / "code" / "inner"
    folder.mkdir(parents=True)
    program = folder / "work.py"
    program.write_text("print(1)\n")
    git(folder.parent, "init", "-q", "-b", "main")
    git(folder.parent, "add", "inner/work.py")
    git(folder.parent, "commit", "-q", "-m", "one")
    return program


def test_an_answer_is_kept_until_the_file_the_index_or_the_branch_changes(program: Path) -> None:
    root, states = program.parent.parent, States()
    commit = git(root, "rev-parse", "HEAD")
    settle(program, root / ".git" / "index", root / ".git" / "refs" / "heads" / "main")
    for _ in range(3):
        assert states.find(program) == (commit, False)
    assert states.asked == 1

    program.write_text("print(2)\n")
    assert states.find(program) == (commit, True)
    git(root, "commit", "-q", "-a", "-m", "two")
    second = git(root, "rev-parse", "HEAD")
    assert states.find(program) == (second, False)
    git(root, "checkout", "-q", "-b", "other")
    git(root, "commit", "-q", "--allow-empty", "-m", "three")
    third = git(root, "rev-parse", "HEAD")
    assert states.find(program) == (third, False)
    assert third != second
    program.chmod(0o755)
    assert states.find(program) == (third, True)
    git(program.parent, "init", "-q")
    assert states.find(program)[0] is None, "the repository that is nearer has no commit"
    shutil.rmtree(program.parent / ".git")
    git(root, "pack-refs", "--all")
    git(root, "checkout", "-q", "-f", "main")
    assert states.find(program) == (second, False)


def test_what_changed_just_now_is_not_kept(program: Path) -> None:
    states = States()
    program.write_text("print(3)\n")
    states.find(program)
    states.find(program)
    assert states.asked == 2


@pytest.mark.parametrize("place", ["code/.gitignore", "code/inner/.gitignore", "code/.git/info/exclude", "excludes", "home"])
def test_an_untracked_file_is_asked_for_again_when_what_is_ignored_changes(program: Path, tmp_path: Path, place: str) -> None:
    root, states = program.parent.parent, States()
    ignoring = tmp_path / place
    if place == "excludes":
        git(root, "config", "core.excludesFile", str(ignoring))
    if place == "home":
        ignoring = tmp_path / "home" / ".config" / "git" / "ignore"
        ignoring.parent.mkdir(parents=True)
    other = program.with_name("other.py")
    other.write_text("")
    ignoring.write_text("")
    settle(other, root / ".git" / "index", root / ".git" / "config", ignoring)
    commit = git(root, "rev-parse", "HEAD")
    for _ in range(2):
        assert states.find(other) == (commit, True)
    assert states.asked == 1
    ignoring.write_text("other.py\n")
    assert states.find(other) == (commit, False)
    assert states.asked == 2


def test_a_linked_working_tree_and_a_folder_are_asked_for_each_time(program: Path) -> None:
    root, states = program.parent.parent, States()
    git(root, "worktree", "add", "-q", str(root.parent / "linked"), "-b", "linked")
    linked = root.parent / "linked" / "inner" / "work.py"
    settle(linked, root / ".git" / "index")
    commit = git(root, "rev-parse", "HEAD")
    for path in (linked, linked, root, root):
        assert states.find(path) == (commit, False)
    assert states.asked == 4


def test_without_a_repository_git_is_not_asked(tmp_path: Path) -> None:
    program = tmp_path / "work.py"
    program.write_text("")
    states = States()
    assert states.find(Path(os.path.realpath(program))) == NO_REPOSITORY
    assert states.asked == 0


def test_the_answer_used_longest_ago_goes_at_the_bound(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ENVIRONMENTS_CACHED_MAX bounds this cache too."""
    monkeypatch.setattr(limits, "ENVIRONMENTS_CACHED_MAX", 1)
    root = program.parent.parent
    second = program.with_name("second.py")
    second.write_text("")
    git(root, "add", "inner/second.py")
    git(root, "commit", "-q", "-m", "second")
    settle(second, root / ".git" / "index", root / ".git" / "refs" / "heads" / "main")
    states = States()
    for path in (program, second, program):
        states.find(path)
    assert states.asked == 3
