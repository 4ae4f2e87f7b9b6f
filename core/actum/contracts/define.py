"""Builds a contract document from what a person says in options or a dialog (§15, §16).

For a function the contract comes from the file and the options override it; for a program the options are all there is.
Paths become absolute against the folder the options were given in; `--param NAME:TYPE[=DEFAULT]` knows `?` after the type
for one that may be left out, `choice[a,b]`, `list[integer]` and `columns[prices]`.
"""

from __future__ import annotations

import difflib
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from actum.contracts.document import check_task_name, load
from actum.contracts.extract import extract
from actum.contracts.kinds import COMPOUND, KINDS, REFUSED
from actum.errors import NotFound, WrongUse


@dataclass(frozen=True, slots=True)
class Definition:
    """What was said of a task. None and empty = not said. Exactly one of `program` and `function` (`FILE.py:NAME`) is set."""

    name: str
    program: str | None = None
    function: str | None = None
    arguments: Sequence[str] = ()
    cwd: str | None = None
    interpreter: str | None = None
    outputs: Sequence[str] = ()
    required: Sequence[str] = ()
    parameters: Sequence[str] = ()
    title: str | None = None
    version: str | None = None
    description: str | None = None
    timeout: str | None = None
    stage_timeouts: Sequence[str] = ()
    stall_after: str | None = None
    grace: str | None = None
    after_exit: str | None = None
    retries: int | None = None
    start_timeout: str | None = None
    profile: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    export_to: str | None = None
    export_name: str | None = None
    export_tables: Sequence[str] = ()
    export_format: str | None = None
    export_profile: str | None = None


def define(said: Definition, base: Path) -> dict[str, Any]:
    """The whole contract document. Relative paths start at `base`. Raises WrongUse, NotFound."""
    check_task_name(said.name)
    if (said.program is None) == (said.function is None):
        raise _wrong("A task is either a program or a function.", "Give --program PATH or --function FILE.py:NAME.")
    document = _program(said, base) if said.program is not None else _function(said, base)
    document["name"] = said.name
    for name in ("title", "version", "description", "outputs", "required"):
        value = getattr(said, name)
        if value is not None and value != ():
            document[name] = value if isinstance(value, str) else list(value)
    document["parameters"] = _parameters(document.get("parameters", []), said.parameters)
    document["policies"] = {**document.get("policies", {}), **_policies(said), **_export(said, base)}
    if said.profile is not None or said.variables:
        document["environment"] = {"profile": said.profile or "inherit", "variables": dict(said.variables)}
    return load(document).to_json()


def _export(said: Definition, base: Path) -> dict[str, Any]:
    """What is exported on success, if a folder for it was named."""
    more = {
        "name": said.export_name,
        "tables": list(said.export_tables) or None,
        "format": said.export_format,
        "profile": said.export_profile,
    }
    given = {name: value for name, value in more.items() if value is not None}
    if said.export_to is None:
        if given:
            raise _wrong("What is exported on success needs a folder.", "Name it with --export-to DIR.")
        return {}
    return {"export_on_success": {"folder": _absolute(said.export_to, base), **given}}


def _program(said: Definition, base: Path) -> dict[str, Any]:
    if said.interpreter is not None:
        raise _wrong("--interpreter goes with --function.", "For a script: --program python3 --arg script.py")
    program = _executable(said.program or "", base)
    cwd = _folder(said.cwd, base)
    return {"work": {"kind": "program", "program": program, "arguments": list(said.arguments), "cwd": cwd}}


def _function(said: Definition, base: Path) -> dict[str, Any]:
    file, separator, function = (said.function or "").rpartition(":")
    if not separator or not file or not function.isidentifier():
        raise _wrong(f"“{said.function}” names no function.", "Write FILE.py:NAME, for example report.py:monthly.")
    if said.arguments:
        raise _wrong("--arg goes with --program; a function gets its parameters by name.", "Leave --arg out.")
    path = _absolute(file, base)
    if not os.path.isfile(path):
        raise NotFound("no_such_file", f"There is no file {path}.", "", "Name the Python file that holds the function.")
    interpreter = _executable(said.interpreter, base) if said.interpreter else default_interpreter()
    document = extract(Path(path), function, interpreter)
    return {**document, "work": {**document["work"], "cwd": _folder(said.cwd, base)}}


def default_interpreter() -> str:
    """The Python of the active virtual environment, else our own, else the first on PATH. Raises NotFound."""
    active = os.environ.get("VIRTUAL_ENV")
    if active and (python := shutil.which("python", path=os.path.join(active, "bin"))):
        return python
    if not getattr(sys, "frozen", False) and sys.executable:
        return sys.executable
    found = shutil.which("python3")
    if found is None:
        raise NotFound("no_interpreter", "No Python was found for the function.", "", "Name one with --interpreter.")
    return os.path.abspath(found)


def read_parameter_option(text: str) -> dict[str, Any]:
    """One declaration out of `NAME:TYPE[=DEFAULT]`. Raises WrongUse."""
    declared, has_default, default = text.partition("=")
    name, _, kind = declared.partition(":")
    if not name or not kind:
        example = "Write NAME:TYPE or NAME:TYPE=DEFAULT, for example window:integer=12."
        raise _wrong(f"“{text}” declares no parameter.", example)
    document: dict[str, Any] = {"name": name, "title": name.replace("_", " ")}
    if kind.endswith("?"):
        kind, document["optional"] = kind[:-1], True
    if kind.endswith("]") and "[" in kind:
        kind, _, inside = kind[:-1].partition("[")
        document |= _inside(kind, inside, text)
    document["type"] = _known(kind)
    if has_default:
        document["default"] = default
    return document


def _known(kind: str) -> str:
    """`kind`, if it is a type; a document may hold types of a newer program, an option that does is a slip of the pen."""
    if kind not in KINDS and kind not in COMPOUND and kind not in REFUSED:
        near = difflib.get_close_matches(kind, (*KINDS, *COMPOUND), n=1)
        hint = f"Probably {near[0]} is meant." if near else f"Known: {', '.join((*KINDS, *COMPOUND))}."
        raise _wrong(f"“{kind[:60]}” is not a type.", hint)
    return kind


def _inside(kind: str, inside: str, text: str) -> dict[str, Any]:
    """What stands in brackets after a type: a choice's choices, a list's items, the file whose columns are meant."""
    match kind:
        case "choice":
            return {"choices": [part.strip() for part in inside.split(",") if part.strip()]}
        case "list":
            return {"items": {"type": _known(inside)}}
        case "columns":
            return {"file": inside}
    raise _wrong(f"“{text}”: the type {kind} takes no brackets.", "choice[a,b], list[integer] and columns[prices] do.")


def _parameters(extracted: Sequence[Mapping[str, Any]], options: Sequence[str]) -> list[dict[str, Any]]:
    """The extracted parameters in their order, those an option names replaced by it, further ones at the end."""
    given = {document["name"]: document for document in map(read_parameter_option, options)}
    kept = [given.pop(parameter["name"], dict(parameter)) for parameter in extracted]
    return [*kept, *given.values()]


def _policies(said: Definition) -> dict[str, Any]:
    if said.retries is not None and said.retries < 0:
        raise _wrong("--retries needs a whole number from 0.", "For example --retries 2")
    stated = {
        "deadline": said.timeout,
        "start_deadline": said.start_timeout,
        "stage_deadlines": dict(map(_stage, said.stage_timeouts)) or None,
        "stall_after": said.stall_after,
        "grace": said.grace,
        "after_exit": said.after_exit,
        "retry": None if said.retries is None else {"maximum": said.retries},
        # Whoever asks for retries says that the work may be repeated after it has started (R05).
        "safe_to_repeat": True if said.retries else None,
    }
    return {name: value for name, value in stated.items() if value is not None}


def _stage(pair: str) -> tuple[str, str]:
    stage, separator, duration = pair.rpartition("=")
    if not separator or not stage:
        raise _wrong(f"“{pair}” is no limit of a stage.", "Write STAGE=DURATION, for example load=10m.")
    return stage, duration


def _absolute(path: str, base: Path) -> str:
    return os.path.abspath(os.path.join(base, os.path.expanduser(path)))  # links stay as they were named


def _executable(text: str, base: Path) -> str:
    """An absolute path; a bare word is looked for on PATH. A link is kept: a virtual environment's Python is one."""
    found = _absolute(text, base) if os.sep in text or text.startswith("~") else shutil.which(text)
    if found is None and (base / text).is_file():
        found = _absolute(text, base)
    if found is None or not os.path.isfile(found):
        raise NotFound("no_such_program", f"There is no program “{text}”.", "", "Give its path, for example ./report.sh.")
    if not os.access(found, os.X_OK):
        remedy = f"`chmod +x {found}`, or run it by its interpreter."
        raise WrongUse("not_executable", f"{found} may not be executed.", "", remedy)
    return os.path.abspath(found)


def _folder(text: str | None, base: Path) -> str | None:
    path = None if text is None else _absolute(text, base)
    if path is not None and not os.path.isdir(path):
        raise NotFound("no_such_folder", f"There is no folder {path}.", "", "Make it first, or leave --cwd out.")
    return path


def _wrong(what: str, remedy: str) -> WrongUse:
    return WrongUse("wrong_use", what, "", remedy)
