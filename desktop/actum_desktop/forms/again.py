"""A run once more: the command that repeats it, its parameters as JSON, and the body that reruns it. Pure; no Qt."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actum.contracts import document as contracts

from actum_desktop.forms import copying, rawvalues

_ROOT = Path("/")


def as_command(contract: Mapping[str, Any], show: Mapping[str, Any]) -> str:
    """`actum run …` with the parameters of the run; paths are absolute, whole numbers and yes or no stand as text."""
    values = show.get("parameters") or {}
    words = {name: rawvalues.text_of(value) if isinstance(value, int) else value for name, value in values.items()}
    return copying.as_command(contracts.load(contract), words, _ROOT)


def as_json(contract: Mapping[str, Any], show: Mapping[str, Any]) -> str:
    """Task, version and parameters of the run."""
    return copying.as_json(contracts.load(contract), show.get("parameters") or {}, _ROOT)


def body(show: Mapping[str, Any]) -> dict[str, Any]:
    """The command that runs the same task, in the version of now, with the same parameters, as a rerun."""
    return {
        "verb": "run",
        "task": str(show["task"]),
        "version": None,
        "parameters": dict(show.get("parameters") or {}),
        "base": str(_ROOT),
        "key": secrets.token_hex(16),
        "trigger": "rerun",
        "labels": list(show.get("labels") or []),
        "rerun_of": show["run"],
    }
