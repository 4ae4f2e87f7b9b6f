"""Verb `codeidentity`: on which code and in which environment the work would run (R17, §7 "Environment of the work").

`{"path": absolute|null, "interpreter": absolute|null, "variables": [names]}` → `{"code": {path, sha256, git_commit, git_dirty}
| null, "environment": {interpreter, version, distributions_sha256, variable_names}}`. `path` is a program file, or a folder
for a module tree (bytecode caches do not count). `git_commit` and `git_dirty` are null where there is no repository, no
git, or no answer within GIT_WAIT_S. Errors: input_unreadable (path), start_error (interpreter).
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actum import limits
from actum.errors import WrongUse
from actum.helpers import gitstate
from actum.helpers.arguments import Arguments, refused
from actum.helpers.digest import unreadable
from actum.results import digests

# Run by the interpreter in question (any Python >= 3.9), isolated from the user's start-up files.
_ASK = """
import hashlib, json, os, platform, sys
from importlib import metadata
found = sorted({((d.metadata["Name"] or "").lower(), d.version or "") for d in metadata.distributions()})
text = "\\n".join("==".join(pair) for pair in found)
print(json.dumps({"version": platform.python_version(), "distributions_sha256": hashlib.sha256(text.encode()).hexdigest(),
    "places": [p for p in sys.path if os.path.isdir(p)]}))
"""


def run(args: Mapping[str, Any], progress: digests.Progress) -> dict[str, Any]:
    given = Arguments(args, "path", "interpreter", "variables")
    variables = given.optional("variables", list) or []
    if not all(isinstance(name, str) for name in variables):
        raise refused("“variables” must be a list of names.")
    path = given.path("path") if args.get("path") is not None else None
    interpreter = given.path("interpreter") if args.get("interpreter") is not None else None
    return {"code": code(path) if path else None, "environment": environment(interpreter, variables)}


def code(path: Path) -> dict[str, Any]:
    """Digest and git state of a program file or a module tree."""
    try:
        real = Path(os.path.realpath(path))
        sha256 = _tree_digest(real) if real.is_dir() else digests.of_file(real).sha256
    except OSError as error:
        raise unreadable(path, error) from error
    commit, dirty = _git_states.find(real)
    return {"path": str(path), "sha256": sha256, "git_commit": commit, "git_dirty": dirty}


def environment(interpreter: Path | None, variables: list[str]) -> dict[str, Any]:
    """`interpreter` None: the work is no Python function, and only the variables' names are known."""
    names = sorted(set(variables))
    if interpreter is None:
        return {"interpreter": None, "version": None, "distributions_sha256": None, "variable_names": names}
    known = _interpreters.find(interpreter)
    return {
        "interpreter": str(interpreter),
        "version": known["version"],
        "distributions_sha256": known["distributions_sha256"],
        "variable_names": names,
    }


class Interpreters:
    """Answers of interpreters, good while the interpreter and the folders it imports from keep their stats."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[list[tuple[str, int, int]], dict[str, Any]]] = OrderedDict()

    def find(self, interpreter: Path) -> dict[str, Any]:
        key = str(interpreter)
        if key in self._known and self._known[key][0] == _stats([key, *self._known[key][1]["places"]]):
            self._known.move_to_end(key)
            return self._known[key][1]
        answer = _ask(interpreter)
        self._known[key] = (_stats([key, *answer["places"]]), answer)
        if len(self._known) > limits.ENVIRONMENTS_CACHED_MAX:
            self._known.popitem(last=False)
        return answer


_interpreters = Interpreters()
_git_states = gitstate.States()


def _stats(paths: list[str]) -> list[tuple[str, int, int]]:
    found = []
    for path in paths:
        try:
            status = os.stat(path)
            found.append((path, status.st_ino, status.st_mtime_ns))
        except OSError:
            found.append((path, 0, 0))
    return found


def _ask(interpreter: Path) -> dict[str, Any]:
    try:
        ended = subprocess.run(
            [str(interpreter), "-I", "-c", _ASK],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limits.INTERPRETER_WAIT_S,
            check=True,
            cwd=os.sep,
        )
        answer: dict[str, Any] = json.loads(ended.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        said = (getattr(error, "stderr", None) or b"").decode("utf-8", "replace").strip().splitlines()
        raise WrongUse(
            "start_error",
            f"“{interpreter}” does not answer as a Python interpreter.",
            f"{said[-1] if said else error}."[: limits.ERROR_TEXT_CHARS_MAX],
            "Name an interpreter of Python 3.9 or newer.",
        ) from error
    return answer


def _tree_digest(folder: Path) -> str:
    """Digest of a module tree: as `digests.of_folder`, without what Python itself writes there."""
    lines = []
    for kind, path in digests.entries(folder):
        parts = path.relative_to(folder).parts
        if kind == "file" and "__pycache__" not in parts and ".git" not in parts:
            lines.append(f"{path.relative_to(folder).as_posix()}\0{digests.of_file(path).sha256}")
    return digests.of_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
