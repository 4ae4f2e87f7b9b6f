"""Raw values stand in fields unchanged, and differ as a person sees them (§15: nothing is coerced on display)."""

from __future__ import annotations

from typing import Any

import pytest
from actum.contracts.document import load
from actum_desktop.forms import presets, rawvalues
from actum_desktop.forms.presets import Preset
from actum_desktop.forms.rawvalues import ABSENT

from tests.helpers.everytype import EVERY


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("3O", "3O"),
        ("0.000001", "0.000001"),
        (12, "12"),
        (True, "yes"),
        (None, ""),
        (ABSENT, ""),
        (["a", "b"], "a\nb"),
        (["a\nb"], '["a\\nb"]'),
        ([1, 2], "[1, 2]"),
        ({"low": "0.10"}, '{"low": "0.10"}'),
    ],
)
def test_how_a_raw_value_stands_in_a_field(raw: Any, text: str) -> None:
    assert rawvalues.text_of(raw) == text


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (12, "12", True),
        ("12", "12.0", False),
        (None, ABSENT, True),
        ("", None, False),
        ("", "", True),
        (["1"], "1", True),
        ({"a": 1}, {"a": "1"}, True),
        ({"a": None}, ABSENT, True),
        ({"a": "1"}, {"a": "2"}, False),
    ],
)
def test_what_stands_alike(first: Any, second: Any, same: bool) -> None:
    assert rawvalues.alike(first, second) is same
    assert rawvalues.alike(second, first) is same


def test_a_preset_says_what_it_sets() -> None:
    contract = load(EVERY)
    preset = Preset("x", {"count": "30", "wait": "10m", "prices": "/data/p.csv", "empty": "x"})
    assert presets.line(contract, preset) == "p.csv, 30 rows"


def test_presets_are_read_and_written_as_one_setting() -> None:
    first, second = Preset("a", {"x": "1"}), Preset("b", {"x": None})
    kept = presets.with_preset((first,), " b ", {"x": None})
    assert kept == (first, second)
    assert presets.read(presets.command("t", kept)["value"]) == kept
    assert presets.with_preset(kept, "a", {})[0] == Preset("a", {})
    assert presets.without(kept, "a") == (second,)
    assert presets.read([{"name": "", "parameters": {}}, 1, {"name": "x"}]) == ()
