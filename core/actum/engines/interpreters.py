"""The Python interpreters of this machine, found where each kind of tool keeps them (§15, §16).

Theory. Candidates are files: the active virtual environment, our own Python, every `python3*` on PATH, `.venv` beside the
user's file, and the folders of pyenv, conda and uv. None is started to be found; each found is then asked its version, all
at once, with a time limit: one that does not answer is left out, for it cannot run a function either. This blocks for up to
INTERPRETER_ASK_S_MAX and is called away from the GUI thread.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from actum import limits

_NAME = re.compile(r"python(3(\.[0-9]+)?)?")
_ASK = "import sys; print('.'.join(map(str, sys.version_info[:3])))"
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
LEAST = (3, 9)
_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Interpreter:
    """`kind` is system | venv | conda | pyenv | uv | own; `path` is the link as it was found (a venv's Python is one)."""

    path: str
    kind: str
    version: str

    @property
    def usable(self) -> bool:
        """New enough for a function's contract."""
        return tuple(int(part) for part in self.version.split(".")[:2]) >= LEAST


def find(near: Path | None = None, environment: Mapping[str, str] | None = None) -> list[Interpreter]:
    """Every interpreter that says its version, in the order in which one would choose; `near` is the user's file or folder."""
    variables = os.environ if environment is None else environment
    home = Path(variables.get("HOME") or Path.home())
    candidates = list(_distinct(_candidates(near, variables, home)))[: limits.INTERPRETERS_MAX]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        versions = list(pool.map(_version_of, (path for path, _kind in candidates)))
    return [Interpreter(path, kind, version) for (path, kind), version in zip(candidates, versions, strict=True) if version]


def kind_of(path: str) -> str:
    """What keeps the interpreter at `path`, as far as its place tells."""
    folder = Path(path).parent.parent
    if (folder / "pyvenv.cfg").is_file():
        return "venv"
    if (folder / "conda-meta").is_dir():
        return "conda"
    parts = Path(path).parts
    if ".pyenv" in parts or "pyenv" in parts:
        return "pyenv"
    if "uv" in parts and "python" in parts:
        return "uv"
    return "system"


def _candidates(near: Path | None, variables: Mapping[str, str], home: Path) -> Iterator[tuple[str, str]]:
    for folder in _venvs(near, variables):
        yield from _of_folder(folder, "venv")
    if not getattr(sys, "frozen", False) and sys.executable:
        yield sys.executable, "own"
    for part in variables.get("PATH", "").split(os.pathsep):
        if part and os.path.basename(part) != "shims":  # a shim starts whatever its tool chooses at that moment
            yield from _in_bin(Path(part), None)
    for root in (variables.get("PYENV_ROOT"), str(home / ".pyenv")):
        yield from _each(root and Path(root) / "versions", "pyenv")
    uv = variables.get("UV_PYTHON_INSTALL_DIR") or Path(variables.get("XDG_DATA_HOME") or home / ".local/share") / "uv/python"
    yield from _each(Path(uv), "uv")
    for name in ("miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba"):
        for base in (home / name, Path("/opt") / name):
            yield from _of_folder(base, "conda")
            yield from _each(base / "envs", "conda")
    if prefix := variables.get("CONDA_PREFIX"):
        yield from _of_folder(Path(prefix), "conda")


def _venvs(near: Path | None, variables: Mapping[str, str]) -> Iterator[Path]:
    if active := variables.get("VIRTUAL_ENV"):
        yield Path(active)
    if near is not None:
        for folder in [near, *near.parents][:6]:
            for name in (".venv", "venv"):
                yield folder / name


def _each(folder: Path | str | None, kind: str) -> Iterator[tuple[str, str]]:
    try:
        inside = sorted(Path(folder).iterdir(), reverse=True) if folder else []
    except OSError:
        return
    for child in inside:
        if not child.is_symlink():
            yield from _of_folder(child, kind)


def _of_folder(folder: Path, kind: str) -> Iterator[tuple[str, str]]:
    for name in ("bin/python3", "bin/python"):
        if (folder / name).is_file():
            yield str(folder / name), kind
            return


def _in_bin(folder: Path, kind: str | None) -> Iterator[tuple[str, str]]:
    try:
        names = sorted((name for name in os.listdir(folder) if _NAME.fullmatch(name)), key=lambda n: (n != "python3", n))
    except OSError:
        return
    for name in names:
        path = str(folder / name)
        yield path, kind or kind_of(path)


def _distinct(candidates: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Each interpreter once: a virtual environment by its own place, any other by the file its link leads to."""
    seen: set[str] = set()
    for path, kind in candidates:
        absolute = os.path.abspath(path)
        in_venv = (Path(absolute).parent.parent / "pyvenv.cfg").is_file()
        same = os.path.dirname(absolute) if in_venv else os.path.realpath(absolute)
        if same in seen or not os.access(absolute, os.X_OK):
            continue
        seen.add(same)
        yield absolute, "venv" if in_venv and kind == "own" else kind


def _version_of(path: str) -> str:
    """What it says, or "" when it says nothing of the kind in time."""
    try:
        done = subprocess.run(
            [path, "-I", "-S", "-c", _ASK],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=limits.INTERPRETER_ASK_S_MAX,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    said = done.stdout.decode("ascii", "replace").strip()
    return said if done.returncode == 0 and _VERSION.fullmatch(said) else ""
