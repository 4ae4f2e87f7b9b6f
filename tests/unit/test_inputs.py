"""Freezing, digests with their cache, and identities of code: what the helper's verbs stand on (R11, R17)."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from actum import faults, limits
from actum.errors import ActumError
from actum.helpers import codeidentity, digest
from actum.helpers.program import Replies
from actum.results import digests, inputs


def test_r17_an_input_that_holds_still_is_frozen_at_once(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 10)
    frozen = inputs.freeze(tmp_path / "a", tmp_path / ".1-1", None)
    assert frozen.sha256 == digests.of_bytes(b"x" * 10)
    assert frozen.stat == inputs.stat_of(tmp_path / ".1-1" / "content")
    assert not os.access(tmp_path / ".1-1" / "content", os.W_OK) or os.geteuid() == 0


def writes(path: Path, times: int) -> tuple[list[int], object]:
    """A progress function that writes to the input while it is copied, the first `times` times."""
    passes: list[int] = []

    def advance(count: int) -> None:
        passes.append(count)
        if len(passes) <= times:
            path.write_bytes(bytes([len(passes)]) * 10)

    return passes, advance


def test_r11_an_input_that_changes_during_each_of_the_tries_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x")
    passes, advance = writes(path, limits.FREEZE_TRIES_MAX - 1)
    inputs.freeze(path, tmp_path / ".1-1", None, advance)  # type: ignore[arg-type]
    assert (tmp_path / ".1-1" / "content").read_bytes() == path.read_bytes()
    assert len(passes) >= limits.FREEZE_TRIES_MAX
    _, advance = writes(path, 100)
    with pytest.raises(ActumError) as caught:
        inputs.freeze(path, tmp_path / ".1-2", None, advance)  # type: ignore[arg-type]
    assert caught.value.code == "input_changed"


def test_a_link_is_frozen_as_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    (tmp_path / "link").symlink_to("a")
    assert inputs.freeze(tmp_path / "link", tmp_path / ".1-1", None).sha256 == digests.of_bytes(b"x")


def test_paths_of_the_store(tmp_path: Path) -> None:
    assert inputs.store_path(tmp_path, "ab") == tmp_path / "ab" / "content"
    assert inputs.is_temporary(inputs.temporary_folder(tmp_path, 3, 4).name)
    assert not inputs.is_temporary("ab")


def test_the_digest_of_a_folder_is_of_names_and_bytes_alone(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "sub").mkdir(parents=True)
        (tmp_path / name / "sub" / "a").write_text("1")
        (tmp_path / name / "b").write_text("2")
    os.utime(tmp_path / "two" / "b", (1, 1))
    assert digests.of_folder(tmp_path / "one") == digests.of_folder(tmp_path / "two")
    (tmp_path / "two" / "b").rename(tmp_path / "two" / "c")
    assert digests.of_folder(tmp_path / "one") != digests.of_folder(tmp_path / "two")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        digests.of_file(tmp_path / "pipe")


def key(number: int, age_s: float) -> digest.Key:
    changed = time.time_ns() - int(age_s * 1e9)
    return (1, number, 10, changed, changed)


def test_r11_the_digest_cache_forgets_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "DIGESTS_CACHED_MAX", 2)
    cache = digest.Cache()
    keys = [key(number, 60) for number in range(3)]
    for number in (0, 1):
        cache.put(keys[number], str(number))
    assert cache.find(keys[0]) == "0"
    cache.put(keys[2], "2")
    assert (len(cache), cache.find(keys[0]), cache.find(keys[1])) == (limits.DIGESTS_CACHED_MAX, "0", None)


def test_r17_a_file_that_changed_just_now_is_not_cached() -> None:
    cache = digest.Cache()
    cache.put(key(1, limits.DIGEST_SETTLED_S / 2), "x")
    assert len(cache) == 0
    cache.put(key(1, limits.DIGEST_SETTLED_S * 2), "x")
    assert len(cache) == 1


def test_a_cached_digest_is_used_until_the_file_changes(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("1")
    first = digest.run({"paths": [str(path)]}, digests.no_progress)["files"][0]
    path.write_text("2")
    second = digest.run({"paths": [str(path)]}, digests.no_progress)["files"][0]
    assert first["sha256"] != second["sha256"]
    assert second["stat"] == list(inputs.stat_of(path))


def test_r11_progress_is_sent_so_often_a_second_and_no_more(tmp_path: Path) -> None:
    with open(tmp_path / "answers", "wb") as output:
        replies = Replies(output, 1)
        began = time.monotonic()
        for number in range(10_000):
            replies.progress(number, 10_000, "bytes")
        took = time.monotonic() - began
    sent = (tmp_path / "answers").read_bytes().count(b"\n")
    assert 1 <= sent <= 1 + took * limits.HELPER_PROGRESS_PER_S_MAX


def script(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_r11_a_git_that_does_not_answer_in_time_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path, "git", "exec sleep 60")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(limits, "GIT_WAIT_S", 0.1)
    (tmp_path / "work.py").write_text("")
    (tmp_path / ".git").mkdir()  # without a repository git is not asked
    began = time.monotonic()
    assert codeidentity.code(tmp_path / "work.py")["git_commit"] is None
    assert limits.GIT_WAIT_S <= time.monotonic() - began < 60


def test_r11_an_interpreter_that_does_not_answer_in_time_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = script(tmp_path, "python", "exec sleep 60")
    monkeypatch.setattr(limits, "INTERPRETER_WAIT_S", 0.1)
    began = time.monotonic()
    with pytest.raises(ActumError) as caught:
        codeidentity.environment(slow, [])
    assert caught.value.code == "start_error"
    assert limits.INTERPRETER_WAIT_S <= time.monotonic() - began < 60


def test_r11_answers_of_interpreters_are_kept_up_to_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = '{"version": "3.9.0", "distributions_sha256": "00", "places": []}'
    known = codeidentity.Interpreters()
    monkeypatch.setattr(limits, "ENVIRONMENTS_CACHED_MAX", 2)
    for name in ("a", "b", "c")[: limits.ENVIRONMENTS_CACHED_MAX + 1]:
        known.find(script(tmp_path, name, f"echo x >> {tmp_path}/{name}.asked; echo '{answer}'"))
    for name in ("c", "b", "a"):
        known.find(tmp_path / name)
    asked = {name: (tmp_path / f"{name}.asked").read_text().count("x") for name in ("a", "b", "c")}
    assert asked == {"a": 2, "b": 1, "c": 1}


def test_the_environment_of_this_interpreter() -> None:
    known = codeidentity.environment(Path(sys.executable), ["B", "A"])
    assert known == codeidentity.environment(Path(sys.executable), ["A", "B"])


def test_every_fault_point_of_freezing_is_passed(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    for point in (name for name in faults.CATALOGUE if name.startswith(("freeze.copy", "freeze.folders"))):
        faults.arm(f"{point}:error=EIO")
        try:
            with pytest.raises(OSError, match=point):
                inputs.freeze(tmp_path / "a", tmp_path / ".1-1", None)
        finally:
            faults.arm("")
