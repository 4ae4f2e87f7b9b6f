"""Raw values: what stands in a form, before anything is typed. Pure; no Qt.

Theory. A form's raw values are a mapping name → text or JSON, exactly what `actum run --set/--params` would send. Nothing is
converted on the way: a number is the text that was typed, invalid text stays what it is, None is a value left out on
purpose, and a name that is missing was never filled in (ABSENT). `text_of` is the way back, from JSON that a contract,
a preset or an earlier run holds, to the text a field shows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from actum.contracts.document import Contract
from actum.contracts.parameters import Parameter

Raw = dict[str, Any]


class Unset(Enum):
    """The one value that says: never filled in."""

    ABSENT = "absent"


ABSENT: Final = Unset.ABSENT


def text_of(raw: Any) -> str:
    """How `raw` stands in a text field. Text stands as it is; a list of plain values has one a line; the rest is JSON."""
    if isinstance(raw, str):
        return raw
    if raw is None or raw is ABSENT:
        return ""
    if isinstance(raw, bool):
        return "yes" if raw else "no"
    if isinstance(raw, (list, tuple)) and all(isinstance(each, str) and "\n" not in each for each in raw):
        return "\n".join(raw)
    return json.dumps(raw, ensure_ascii=False)


def lines_of(text: str) -> Any:
    """The raw value of a field with one item a line: a list, or the text itself where it is written as JSON."""
    if text.lstrip().startswith("["):
        return text
    return [line for line in text.split("\n") if line.strip()]


def defaults(contract: Contract) -> Raw:
    """What the form holds before anything is typed: the defaults; what has none and may be left out is left out."""
    found: Raw = {}
    for parameter in contract.parameters:
        if parameter.default is not None:
            found[parameter.name] = parameter.default
        elif parameter.optional:
            found[parameter.name] = None
    return found


def changed(contract: Contract, before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The names whose raw values differ, as a person sees them: `12` and "12" stand alike in a field."""
    return [p.name for p in contract.parameters if not alike(before.get(p.name, ABSENT), now.get(p.name, ABSENT))]


def alike(first: Any, second: Any) -> bool:
    """Whether two raw values stand in a field alike."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return all(alike(first.get(name, ABSENT), second.get(name, ABSENT)) for name in {*first, *second})
    if first in (None, ABSENT) or second in (None, ABSENT):
        return _empty(first) and _empty(second) and (first is second or not _is_text(first, second))
    return text_of(first) == text_of(second)


def _empty(raw: Any) -> bool:
    if isinstance(raw, Mapping):
        return all(value is None or value is ABSENT for value in raw.values())
    return raw in (None, ABSENT, "", [], ())


def _is_text(first: Any, second: Any) -> bool:
    """An empty text is a value of its own, and differs from none."""
    return isinstance(first, str) or isinstance(second, str)


def shown(parameter: Parameter, raw: Any) -> str:
    """A short text for a preset's line: `30 days`, the name of a file, `3 items`; "" where nothing is given."""
    if _empty(raw):
        return ""
    if parameter.is_input and isinstance(raw, str):
        return raw.rstrip("/").rpartition("/")[2] or raw
    text = ", ".join(text_of(raw).split("\n"))
    return f"{text} {parameter.unit}" if parameter.unit else text
