"""Settings are checked by what each allows; presets of a task are bounded (R11) and hold no secrets."""

from __future__ import annotations

from typing import Any

import pytest
from actum import limits, settings
from actum.errors import WrongUse


def preset(name: str = "Monthly", **parameters: Any) -> dict[str, Any]:
    return {"name": name, "parameters": parameters}


def test_a_known_setting_is_checked() -> None:
    assert settings.check("slots", 2) == 2
    for name, value in (("slots", 0), ("slots", "2"), ("theme", "blue"), ("colour", 1)):
        with pytest.raises(WrongUse):
            settings.check(name, value)


def test_presets_are_kept_as_raw_values() -> None:
    value = [preset(window="3O", prices=["a", "b"], note=None), preset("Daily")]
    assert settings.check("presets/return-and-risk", value) == value


@pytest.mark.parametrize(
    "value",
    [None, {}, ["x"], [preset("")], [preset(), preset()], [{"name": "a"}], [{"name": "a", "parameters": 1}]],
)
def test_what_is_no_list_of_presets_is_refused(value: Any) -> None:
    with pytest.raises(WrongUse):
        settings.check("presets/x", value)


def test_r11_the_number_of_presets_has_a_bound() -> None:
    most = [preset(f"p{n}") for n in range(limits.PRESETS_MAX)]
    assert settings.check("presets/x", most) == most
    with pytest.raises(WrongUse, match="cannot be kept"):
        settings.check("presets/x", [*most, preset("one more")])


def test_r11_the_size_of_presets_has_a_bound() -> None:
    frame = len('[{"name": "a", "parameters": {"t": ""}}]')
    settings.check("presets/x", [preset("a", t="x" * (limits.PRESETS_BYTES_MAX - frame))])
    with pytest.raises(WrongUse, match="cannot be kept"):
        settings.check("presets/x", [preset("a", t="x" * (limits.PRESETS_BYTES_MAX - frame + 1))])


def test_a_preset_with_a_secret_is_refused() -> None:
    with pytest.raises(WrongUse) as refused:
        settings.check("presets/x", [preset(list=[{"u": "https://ada:hunter2@example.org/"}])])
    assert refused.value.code == "secret_refused"
