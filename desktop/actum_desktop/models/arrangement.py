"""How a user arranged the columns of a table: order, hidden ones, frozen ones, widths; kept by task and table (UI.md §6).

One small file beside the preferences. What cannot be read is as if it had not been arranged; a column that is new stands at
the end, one that is gone is not missed. At most ARRANGEMENTS_MAX tables are remembered, the ones used last.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from actum.limits import ARRANGEMENTS_MAX, TABLE_COLUMNS_MAX


@dataclass(frozen=True, slots=True)
class Arrangement:
    """`order`: names, first the leftmost; `frozen`: how many at the left stay in sight; `widths` in logical pixels."""

    order: tuple[str, ...] = ()
    hidden: frozenset[str] = frozenset()
    frozen: int = 0
    widths: Mapping[str, int] = field(default_factory=dict)

    def shown(self, names: Sequence[str]) -> list[str]:
        """The names of a table's columns that are shown, from left to right; never none."""
        known = set(names)
        ordered = [name for name in self.order if name in known]
        ordered += [name for name in names if name not in set(ordered)]
        return [name for name in ordered if name not in self.hidden] or ordered[:1]

    def moved(self, names: Sequence[str], name: str, by: int) -> Arrangement:
        """With one shown column moved over its neighbours."""
        shown = self.shown(names)
        if name not in shown:
            return self
        place = shown.index(name)
        shown.insert(max(0, min(len(shown) - 1, place + by)), shown.pop(place))
        return self.ordered(names, shown)

    def ordered(self, names: Sequence[str], shown: Sequence[str]) -> Arrangement:
        """With the shown columns in this order; hidden ones follow."""
        return replace(self, order=(*shown, *(name for name in names if name not in set(shown))))

    def without(self, names: Sequence[str], name: str) -> Arrangement:
        """With one column hidden; the last one shown stays."""
        shown = self.shown(names)
        if name not in shown or len(shown) < 2:
            return self
        frozen = self.frozen - (shown.index(name) < self.frozen)
        return replace(self, hidden=self.hidden | {name}, frozen=frozen)

    def to_json(self) -> dict[str, Any]:
        return {"order": self.order, "hidden": sorted(self.hidden), "frozen": self.frozen, "widths": dict(self.widths)}


def _read(document: object) -> Arrangement | None:
    if not isinstance(document, dict):
        return None
    order, hidden, widths, frozen = (document.get(key) for key in ("order", "hidden", "widths", "frozen"))
    if not isinstance(order, list) or not isinstance(hidden, list) or not isinstance(widths, dict) or type(frozen) is not int:
        return None
    if max(len(order), len(hidden), len(widths)) > TABLE_COLUMNS_MAX:
        return None
    if not all(type(name) is str for name in (*order, *hidden)) or not all(type(wide) is int for wide in widths.values()):
        return None
    return Arrangement(tuple(order), frozenset(hidden), max(0, frozen), widths)


class Arrangements:
    """The file of all of them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, Arrangement] | None = None

    def find(self, task: str, table: str) -> Arrangement:
        return self._all().get(_key(task, table), Arrangement())

    def keep(self, task: str, table: str, arrangement: Arrangement) -> None:
        """A place that cannot be written costs the memory, not the program."""
        known, key = self._all(), _key(task, table)
        if known.get(key, Arrangement()) == arrangement:
            return
        known.pop(key, None)
        if arrangement != Arrangement():
            known[key] = arrangement
        while len(known) > ARRANGEMENTS_MAX:
            del known[next(iter(known))]
        fresh = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            document = {key: kept.to_json() for key, kept in known.items()}
            fresh.write_text(json.dumps(document, ensure_ascii=False), "utf-8")
            fresh.replace(self._path)
        except (OSError, UnicodeError):
            return

    def _all(self) -> dict[str, Arrangement]:
        if self._known is None:
            try:
                document = json.loads(self._path.read_text("utf-8"))
            except (OSError, ValueError):
                document = {}
            items = document.items() if isinstance(document, dict) else ()
            read = {str(key): _read(value) for key, value in items}
            self._known = {key: value for key, value in read.items() if value is not None}
        return self._known


def _key(task: str, table: str) -> str:
    return f"{task}/{table}"
