"""The contrast table of the look, recomputed: text reaches 4.5 on every ground it may stand on, boundaries 3.0."""

from __future__ import annotations

import pytest
from actum_desktop import tokens
from actum_desktop.tokens import GROUNDS, TEXT_INKS, THEMES, TINTS, contrast

# The lowest ratio over window, sidebar, surface, sunken, raised, hover and all tints, as UI.md §2 states it.
STATED = {
    "light": {"text": 14.3, "text2": 6.4, "text3": 4.5, "accent": 5.7, "ok": 4.8, "warn": 5.5, "bad": 5.5},
    "dark": {"text": 11.2, "text2": 6.7, "text3": 4.9, "accent": 6.0, "ok": 7.0, "warn": 7.2, "bad": 6.1},
}


def _lowest(theme: str, ink: str) -> float:
    chosen = THEMES[theme]
    return min(contrast(getattr(chosen, ink), getattr(chosen, ground)) for ground in (*GROUNDS, *TINTS))


@pytest.mark.parametrize("theme", sorted(THEMES))
@pytest.mark.parametrize("ink", TEXT_INKS)
def test_text_reaches_its_contrast_on_every_ground(theme: str, ink: str) -> None:
    assert _lowest(theme, ink) >= 4.45  # 4.5 as rounded in the table


@pytest.mark.parametrize("theme", sorted(STATED))
@pytest.mark.parametrize("ink", sorted(STATED["light"]))
def test_the_table_of_the_look_is_what_the_tokens_give(theme: str, ink: str) -> None:
    assert _lowest(theme, ink) == pytest.approx(STATED[theme][ink], abs=0.06)


@pytest.mark.parametrize("theme", sorted(THEMES))
def test_boundaries_of_fields_reach_three(theme: str) -> None:
    chosen = THEMES[theme]
    for ground in (*GROUNDS, *(tint for tint in TINTS if tint != "tint_neutral")):
        assert contrast(chosen.line2, getattr(chosen, ground)) >= 2.95, ground


@pytest.mark.parametrize("theme", sorted(THEMES))
def test_the_primary_button_can_be_read_at_rest_and_under_the_pointer(theme: str) -> None:
    chosen = THEMES[theme]
    assert contrast(chosen.on_fill, chosen.fill) >= 4.5
    assert contrast(chosen.on_fill, chosen.fill_hover) >= 4.5


@pytest.mark.parametrize("theme", sorted(THEMES))
def test_on_the_chosen_fills_text_text2_and_accent_can_be_read(theme: str) -> None:
    chosen = THEMES[theme]
    for ink in ("text", "text2", "accent"):
        for fill in ("chosen", "segment"):
            assert contrast(getattr(chosen, ink), getattr(chosen, fill)) >= 4.5, (ink, fill)


def test_high_contrast_uses_ink_for_all_text_and_no_tints() -> None:
    chosen = tokens.high_contrast(tokens.LIGHT)
    assert {chosen.text2, chosen.text3} == {tokens.LIGHT.text}
    assert {getattr(chosen, tint) for tint in TINTS} == {tokens.LIGHT.surface}


def test_only_the_tokens_name_a_colour() -> None:
    """A colour anywhere else cannot follow the theme: put it into tokens.py."""
    import re
    from pathlib import Path

    root = Path(tokens.__file__).parent
    found = [
        f"{path.relative_to(root)}:{number}"
        for path in sorted(root.rglob("*.py"))
        if path.name != "tokens.py"
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if re.search(r"[\"']#[0-9A-Fa-f]{6,8}[\"']", line)
    ]
    assert found == []
