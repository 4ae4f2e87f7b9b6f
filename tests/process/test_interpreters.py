"""Interpreters are found where tools keep them; one that hangs or lies is left out, and their number is bounded (R11)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from actum import limits
from actum.engines import interpreters


def fake(path: Path, text: str = "echo 3.11.2") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def found(tmp_path: Path, near: Path | None = None, **variables: str) -> list[tuple[str, str, str]]:
    environment = {"HOME": str(tmp_path), "PATH": "", **variables}
    return [(each.path, each.kind, each.version) for each in interpreters.find(near, environment) if tmp_path.name in each.path]


def test_each_kind_is_found_in_its_place(tmp_path: Path) -> None:
    venv = fake(tmp_path / "job" / ".venv" / "bin" / "python3")
    (venv.parent.parent / "pyvenv.cfg").touch()
    system = fake(tmp_path / "bin" / "python3.9", "echo 3.9.1")
    pyenv = fake(tmp_path / ".pyenv" / "versions" / "3.12.1" / "bin" / "python3", "echo 3.12.1")
    uv = fake(tmp_path / ".local/share/uv/python" / "cpython-3.13" / "bin" / "python3", "echo 3.13.0")
    conda = fake(tmp_path / "miniconda3" / "envs" / "lab" / "bin" / "python", "echo 3.10.4")
    assert found(tmp_path, tmp_path / "job" / "work.py", PATH=str(tmp_path / "bin")) == [
        (str(venv), "venv", "3.11.2"),
        (str(system), "system", "3.9.1"),
        (str(pyenv), "pyenv", "3.12.1"),
        (str(uv), "uv", "3.13.0"),
        (str(conda), "conda", "3.10.4"),
    ]


def test_our_own_is_among_them_and_usable() -> None:
    own = next(each for each in interpreters.find() if each.path == sys.executable)
    assert own.version == ".".join(map(str, sys.version_info[:3]))
    assert own.usable
    assert not interpreters.Interpreter("/x", "system", "3.8.10").usable


def test_one_that_hangs_lies_or_fails_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "INTERPRETER_ASK_S_MAX", 0.3)
    fake(tmp_path / "a" / "python3", "exec sleep 60")
    fake(tmp_path / "b" / "python3", "echo Python; exit 0")
    fake(tmp_path / "c" / "python3", "exit 3")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "python3").write_text("not a program")
    assert found(tmp_path, PATH=":".join(str(tmp_path / each) for each in "abcd")) == []


def test_r11_no_more_than_the_bound_are_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "INTERPRETERS_MAX", 3)
    for number in range(5):
        fake(tmp_path / f"p{number}" / "python3", "echo 3.11.0")
    path = ":".join(str(tmp_path / f"p{number}") for number in range(5))
    assert len(interpreters.find(None, {"HOME": str(tmp_path), "PATH": path})) == 3


def test_the_same_file_by_two_names_is_one(tmp_path: Path) -> None:
    real = fake(tmp_path / "bin" / "python3.11")
    (tmp_path / "bin" / "python3").symlink_to(real)
    assert found(tmp_path, PATH=str(tmp_path / "bin")) == [(str(tmp_path / "bin" / "python3"), "system", "3.11.2")]
