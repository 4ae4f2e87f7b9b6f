"""The settings of a workspace: what each is, its default, and how a value is checked.

Stored as rows of the table `setting`; a row that is missing means the default. Values are JSON.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from actum.contracts import secrets
from actum.errors import WrongUse
from actum.limits import INPUT_COPY_BYTES_MAX_DEFAULT, NAME_CHARS_MAX, PRESETS_BYTES_MAX, PRESETS_MAX, SLOTS_MAX

PRESETS = "presets/"  # followed by a task's name


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its name, its default as JSON, what it does, and what is allowed ("" = fine)."""

    name: str
    default: Any
    title: str
    problem: Callable[[Any], str]
    bounds: tuple[int, int] = (0, 0)  # of a number


def _yes_or_no(value: Any) -> str:
    return "" if type(value) is bool else "true or false is needed"


def _number(name: str, default: int, title: str, low: int, high: int) -> Setting:
    def problem(value: Any) -> str:
        fine = type(value) is int and low <= value <= high
        return "" if fine else f"a whole number from {low} to {high} is needed"

    return Setting(name, default, title, problem, (low, high))


def slots_default() -> int:
    """Half of the processor cores, at least one (§12)."""
    return max(1, (os.cpu_count() or 1) // 2)


KNOWN: dict[str, Setting] = {
    setting.name: setting
    for setting in (
        _number("slots", slots_default(), "Runs that compute at the same time", 1, SLOTS_MAX),
        _number(
            "input_copy_bytes_max",
            INPUT_COPY_BYTES_MAX_DEFAULT,
            "Inputs up to this size are copied; larger ones are pinned, in bytes",
            0,
            1 << 50,
        ),
        Setting("resume_queue_after_crash", False, "Start waiting runs by itself after a crash", _yes_or_no),
        Setting("queue_paused", False, "No waiting run starts", _yes_or_no),
        _number("free_bytes_min", 256 << 20, "With less free space on the disk waiting runs wait, in bytes", 0, 1 << 50),
        _number("sweep_mib_per_s", 20, "Results are read again at most so fast, in MiB a second; 0 = never", 0, 10_000),
        _number("sweep_again_days", 30, "Results are read again after so many days", 0, 36_500),
        Setting("keep_awake", True, "Keep the machine awake while work computes", _yes_or_no),
    )
}


def check(name: str, value: Any) -> Any:
    """The value, when `name` is known and allows it. Raises WrongUse."""
    if name.startswith(PRESETS):
        return _presets(value)
    setting = KNOWN.get(name)
    if setting is None:
        raise WrongUse("unknown_setting", f"There is no setting “{name}”.", remedy=f"Known: {', '.join(sorted(KNOWN))}.")
    problem = setting.problem(value)
    if problem:
        raise WrongUse("invalid_setting", f"“{name}” cannot be {value!r}.", f"For it {problem}.")
    return value


def _presets(value: Any) -> Any:
    """The presets of one task: [{"name", "parameters": {name: raw text or JSON}}], in the order they are shown."""
    fine = isinstance(value, list) and all(
        isinstance(each, dict)
        and set(each) == {"name", "parameters"}
        and isinstance(each["name"], str)
        and 0 < len(each["name"]) <= NAME_CHARS_MAX
        and isinstance(each["parameters"], dict)
        for each in value
    )
    if not fine or len({each["name"] for each in value}) < len(value):
        raise WrongUse("invalid_setting", "The presets cannot be kept.", "Each has a name of its own and parameters.")
    if len(value) > PRESETS_MAX:
        why = f"{len(value)} presets are given, and {PRESETS_MAX} are allowed."
        raise WrongUse("invalid_setting", "The presets cannot be kept.", why, "Delete one that is not used.")
    if len(json.dumps(value).encode()) > PRESETS_BYTES_MAX:
        why = f"Together they are larger than {PRESETS_BYTES_MAX // 1024} KiB."
        raise WrongUse("invalid_setting", "The presets cannot be kept.", why, "Use a file input for large values.")
    for text in _texts(value):
        if looks_like := secrets.value_looks_secret(text):
            raise WrongUse("secret_refused", "The preset cannot be kept.", secrets.refusal_of_value(looks_like))
    return value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


def merged(rows: Mapping[str, Any]) -> dict[str, Any]:
    """Every known setting with its stored value or its default. A stored value that is no longer allowed gives the default."""
    values = {}
    for name, setting in KNOWN.items():
        value = rows.get(name, setting.default)
        values[name] = setting.default if setting.problem(value) else value
    return values
