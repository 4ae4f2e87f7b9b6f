"""JSON as it is read from files and frames that others write: no NaN, no infinity, no number that becomes one."""

from __future__ import annotations

import json
from typing import Any, NoReturn


def loads(text: str) -> Any:
    """What `text` holds. Raises ValueError, and RecursionError for a nest without a bottom.

    White space around it, which no writer of ours puts there, is looked for only when there is some.
    """
    try:
        document, end = _DECODER.raw_decode(text)
    except ValueError:
        end = -1
    return document if end == len(text) else _DECODER.decode(text)


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _finite(word: str) -> float:
    value = float(word)
    if value - value != 0.0:  # 1e999 is a number in JSON, and none that could be sent on
        raise ValueError(f"{word[:20]} is too large")
    return value


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)
