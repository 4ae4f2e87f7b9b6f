"""A trial starts a program once, in time and size bounded, and leaves nothing (R11, R19)."""

from __future__ import annotations

import sys

import pytest
from actum import limits
from actum.engines.tryout import try_out


def tried(source: str, *arguments: str, **more: float):  # type: ignore[no-untyped-def]
    return try_out([sys.executable, "-I", "-c", source, *arguments], None, "inherit", {}, **more)


def test_what_it_printed_and_wrote_is_told() -> None:
    seen = tried(
        "import os, sys; print('said', sys.argv[1:]); open(os.environ['ACTUM_OUTPUT'] + '/a b.csv', 'w')",
        "$HOME",
        "{ACTUM_OUTPUT}",
    )
    assert seen.exit_code == 0
    assert "said ['$HOME', '/" in seen.tail
    assert seen.files == ("a b.csv",)


def test_an_exit_code_and_a_program_that_is_not_there() -> None:
    assert tried("raise SystemExit(3)").exit_code == 3
    missing = try_out(["/no/such program"], None, "inherit", {})
    assert missing.exit_code is None
    assert missing.problem == "/no/such program cannot be started: No such file or directory."


def test_r11_a_program_that_does_not_end_is_ended() -> None:
    assert limits.TRYOUT_S_MAX >= 10
    seen = tried("import time; print('at work', flush=True); time.sleep(600)", timeout_s=0.5)
    assert seen.exit_code is None
    assert seen.tail == "at work"


def test_r11_only_so_many_files_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "TRYOUT_FILES_SHOWN_MAX", 2)
    source = "import os\nfor n in range(4): open(os.environ['ACTUM_OUTPUT'] + f'/{n}', 'w')"
    assert tried(source).files == ("0", "1")


def test_it_runs_in_the_environment_of_its_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OF_THE_APP", "1")
    source = "import os; print('OF_THE_APP' in os.environ, os.environ.get('OWN'))"
    command = [sys.executable, "-I", "-c", source]
    assert try_out(command, None, "inherit", {}).tail == "True None"
    assert try_out(command, None, "clean", {"OWN": "x"}).tail == "False x"


def test_it_is_ended_when_nobody_waits_any_more() -> None:
    looks = iter([False, False, True])
    seen = try_out([sys.executable, "-c", "import time; time.sleep(600)"], None, "inherit", {}, gone=lambda: next(looks))
    assert seen.exit_code is None
    assert seen.seconds < limits.TRYOUT_S_MAX
