"""Canonical JSON and digests: equal meaning, equal bytes."""

from __future__ import annotations

import json
from typing import Any


def dumps(value: Any) -> str:
    """UTF-8 JSON text, keys sorted, no spaces. Floats are refused: numbers are integers or typed text."""
    _refuse_floats(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(value: Any) -> str:
    """sha256 of the canonical JSON, in hex."""
    import hashlib  # late: a host digests nothing before its work has ended

    return hashlib.sha256(dumps(value).encode("utf-8", "surrogatepass")).hexdigest()


def pretty(value: Any) -> str:
    """JSON for files that people open: sorted keys, two spaces."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, indent=2, allow_nan=False) + "\n"


def _refuse_floats(value: Any) -> None:
    if isinstance(value, float):
        raise TypeError("a float has no canonical text here; give it as text")
    if isinstance(value, dict):
        for member in value.values():
            _refuse_floats(member)
    elif isinstance(value, (list, tuple)):
        for member in value:
            _refuse_floats(member)
