"""How deep a message is nested: told without recursion, and mostly without looking at it (R12).

Theory. JSON is read, written and stored by code that recurses, and each place has another depth at which it gives up: what
one of them takes, the next may refuse for ever. So one small bound holds where a message comes in, and nobody after that
meets a deeper one. A text with no more than so many opening brackets cannot be deeper, so hardly any message is walked.
What a message was about is told all the same, by its outermost keys: one that must not be lost is not ignored in silence.
"""

from __future__ import annotations

import json
import re
from typing import Any

from actum.limits import MESSAGE_LEVELS_MAX

WORDS = f"is nested deeper than {MESSAGE_LEVELS_MAX} levels"
# A text, which may be a key, or a bracket. A text without an end goes to the end of the line, so no byte is looked at twice.
_TOKEN = re.compile(rb'("(?:[^"\\]++|\\.)*+(?:"|\\?\Z))\s*+(:)?|[][{}]', re.DOTALL)
_CLOSES = {b"}": b"{", b"]": b"["}


def too_deep(line: bytes, value: Any) -> bool:
    """Whether `value`, as read from `line`, has more than MESSAGE_LEVELS_MAX levels of objects and lists; {} is one."""
    if line.count(b"{") + line.count(b"[") <= MESSAGE_LEVELS_MAX:
        return False
    level = [value]
    for _ in range(MESSAGE_LEVELS_MAX + 1):
        level = [each for each in level if isinstance(each, dict | list)]
        if not level:
            return False
        level = [inner for outer in level for inner in _within(outer)]
    return True


def _within(outer: dict[str, Any] | list[Any]) -> list[Any]:
    return list(outer.values()) if isinstance(outer, dict) else outer


def outer_keys(line: bytes) -> frozenset[str] | None:
    """The outermost keys of a line too deep to be read; None where it is no object: it is not one, or one of half a line."""
    text = line.strip()
    keys: set[str] = set()
    opened: list[bytes] = []
    for token in _TOKEN.finditer(text):
        word = token.group()
        if word in (b"{", b"["):
            if not opened and (word == b"[" or token.start()):
                return None
            opened.append(word)
        elif word in _CLOSES:
            if not opened or opened.pop() != _CLOSES[word]:
                return None
        elif token.group(2) and len(opened) == 1:
            keys.add(_key(token.group(1)))
    return frozenset(keys) if text and not opened and text.endswith(b"}") else None


def _key(text: bytes) -> str:
    try:
        return str(json.loads(text.decode("utf-8", "replace"), strict=False))
    except ValueError:  # an escape that is none
        return ""
