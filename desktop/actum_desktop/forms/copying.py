"""A filled form as a command line and as JSON, for a terminal, a script or a colleague. Pure; no Qt."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actum.contracts.document import Contract


def as_command(contract: Contract, raw: Mapping[str, Any], base: Path) -> str:
    """`actum run …`: text by --set; with anything else in it, the parameters as JSON by a pipe."""
    given = absolute(contract, raw, base)
    start = ["actum", "run", contract.name]
    if all(isinstance(value, str) for value in given.values()):
        words = [f"--set={name}={value}" for name, value in given.items()]
        return shlex.join([*start, *words])
    text = json.dumps(given, ensure_ascii=False)
    return f"printf '%s' {shlex.quote(text)} | {shlex.join([*start, '--params', '-'])}"


def as_json(contract: Contract, raw: Mapping[str, Any], base: Path) -> str:
    document = {"task": contract.name, "version": contract.version, "parameters": absolute(contract, raw, base)}
    return json.dumps(document, ensure_ascii=False, indent=2)


def absolute(contract: Contract, raw: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """What was filled in, paths from the root on: the copy means the same wherever it is pasted."""
    found: dict[str, Any] = {}
    for parameter in contract.parameters:
        if parameter.name not in raw:
            continue
        value = raw[parameter.name]
        if value is None and parameter.default is None and parameter.optional:
            continue  # left out is what the task does by itself
        if parameter.is_input:
            value = [_path(each, base) for each in value] if isinstance(value, list) else _path(value, base)
        found[parameter.name] = value
    return found


def _path(value: Any, base: Path) -> Any:
    if not isinstance(value, str) or not value.strip():
        return value
    return os.path.abspath(os.path.join(base, os.path.expanduser(value)))
