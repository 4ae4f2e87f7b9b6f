"""How deep a message is nested: told without recursion, and mostly without looking at it (R12).

Theory. JSON is read, written and stored by code that recurses, and each place has another depth at which it gives up: what
one of them takes, the next may refuse for ever. So one small bound holds where a message comes in, and nobody after that
meets a deeper one. A text with no more than so many opening brackets cannot be deeper, so hardly any message is walked.
"""

from __future__ import annotations

from typing import Any

from actum.limits import MESSAGE_LEVELS_MAX

WORDS = f"is nested deeper than {MESSAGE_LEVELS_MAX} levels"


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
