"""Columns as a user arranged them: remembered by task and table, forgiving, bounded (R11)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from actum import limits
from actum_desktop.models.arrangement import Arrangement, Arrangements

NAMES = ["a", "b", "c", "d"]


def test_columns_are_moved_hidden_and_met_again_in_another_table() -> None:
    made = Arrangement(frozen=2).moved(NAMES, "c", -2)
    assert made.shown(NAMES) == ["c", "a", "b", "d"]
    made = made.without(NAMES, "a")
    assert (made.shown(NAMES), made.frozen) == (["c", "b", "d"], 1)
    assert made.shown(["new", "b", "c"]) == ["c", "b", "new"]
    assert made.moved(NAMES, "d", 5).shown(NAMES) == ["c", "b", "d"]
    for name in "bcd":
        made = made.without(NAMES, name)
    assert len(made.shown(NAMES)) == 1  # the last one stays


def test_they_are_kept_and_a_broken_file_is_none(tmp_path: Path) -> None:
    path = tmp_path / "config" / "tables.json"
    made = Arrangement(("b", "a"), frozenset({"c"}), 1, {"a": 120})
    Arrangements(path).keep("task", "table", made)
    assert Arrangements(path).find("task", "table") == made
    assert Arrangements(path).find("task", "other") == Arrangement()
    for broken in ("", "[]", '{"task/table": 1}', json.dumps({"task/table": {**made.to_json(), "frozen": "1"}})):
        path.write_text(broken)
        assert Arrangements(path).find("task", "table") == Arrangement()


def test_r11_the_ones_used_longest_ago_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert limits.ARRANGEMENTS_MAX >= 100
    monkeypatch.setattr("actum_desktop.models.arrangement.ARRANGEMENTS_MAX", 2)
    kept = Arrangements(tmp_path / "tables.json")
    for table in ("a", "b", "a", "c"):
        kept.keep("task", table, Arrangement(frozen=ord(table) + len(json.dumps(kept.find("task", table).to_json()))))
    assert kept.find("task", "b") == Arrangement()
    assert kept.find("task", "a") != Arrangement()
