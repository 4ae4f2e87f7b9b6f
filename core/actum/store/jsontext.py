"""JSON as the store keeps it: sorted keys, no spaces."""

from __future__ import annotations

import json
from typing import Any


def to_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def to_text_or_none(value: Any) -> str | None:
    return None if value is None else to_text(value)


def from_text(text: str | None) -> Any:
    return None if text is None else json.loads(text)
