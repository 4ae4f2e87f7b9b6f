"""Every colour, size and distance of the window (UI.md §2). Plain data; nothing else names one.

Contrast is that of WCAG 2.1: the ratio of relative luminances. A token that carries text reaches 4.5 on every ground on
which it may stand, a field's boundary 3.0; a test recomputes the table.
"""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Tokens:
    """One theme. Inks first, then grounds, then tints, all as #RRGGBB."""

    text: str
    text2: str
    text3: str
    accent: str
    fill: str
    fill_hover: str
    on_fill: str
    ok: str
    warn: str
    bad: str
    series2: str
    series3: str
    line2: str
    window: str
    sidebar: str
    surface: str
    sunken: str
    raised: str
    hover: str
    hairline: str
    track: str
    button: str
    chosen: str
    segment: str
    tint_accent: str
    tint_ok: str
    tint_warn: str
    tint_bad: str
    tint_neutral: str
    band: str  # with alpha: #AARRGGBB
    hatch: str


LIGHT = Tokens(
    text="#1B1C1F",
    text2="#51545A",
    text3="#666A71",
    accent="#3B4CCA",
    fill="#3B4CCA",
    fill_hover="#3242B4",
    on_fill="#FFFFFF",
    ok="#1A7543",
    warn="#855200",
    bad="#B42318",
    series2="#A84A06",
    series3="#0F766E",
    line2="#868A91",
    window="#F7F7F5",
    sidebar="#EFEFEC",
    surface="#FFFFFF",
    sunken="#F3F3F0",
    raised="#FFFFFF",
    hover="#F1F1EE",
    hairline="#E4E4E0",
    track="#E4E4E0",
    button="#C6C7C4",
    chosen="#E0E1E6",
    segment="#FFFFFF",
    tint_accent="#ECEEFB",
    tint_ok="#E5F4EB",
    tint_warn="#FBF1DD",
    tint_bad="#FCEBE9",
    tint_neutral="#EBEBE8",
    band="#08000000",
    hatch="#C9B48A",
)

DARK = Tokens(
    text="#E9EAEC",
    text2="#B3B7BE",
    text3="#989DA6",
    accent="#98A8FF",
    fill="#5064DC",
    fill_hover="#4358CC",
    on_fill="#FFFFFF",
    ok="#6BCF95",
    warn="#E8B656",
    bad="#FF8F85",
    series2="#F0A060",
    series3="#5CC8BE",
    line2="#747982",
    window="#18191C",
    sidebar="#131416",
    surface="#1F2125",
    sunken="#191A1D",
    raised="#272A2F",
    hover="#282B30",
    hairline="#303338",
    track="#3A3D44",
    button="#747982",
    chosen="#2A2C33",
    segment="#3A3D45",
    tint_accent="#262C49",
    tint_ok="#1C3327",
    tint_warn="#382D18",
    tint_bad="#412524",
    tint_neutral="#2C2F35",
    band="#0AFFFFFF",
    hatch="#6B5A34",
)

THEMES = {"light": LIGHT, "dark": DARK}
GROUNDS = ("window", "sidebar", "surface", "sunken", "raised", "hover")
TINTS = ("tint_accent", "tint_ok", "tint_warn", "tint_bad", "tint_neutral")
TEXT_INKS = ("text", "text2", "text3", "accent", "ok", "warn", "bad", "series2", "series3")

# Factors of the platform's UI font size.
TYPE = {"micro": 0.85, "caption": 0.92, "body": 1.0, "lead": 1.15, "title": 1.38, "page": 1.69, "display": 2.0}

# Distances at a body font of 13 px; all scale with the unit u = half the body's line height (8 at 13 px).
BODY_PX = 13
UNIT_PX = 8
SIDEBAR = 216
STATUS_LINE = 28
CONTROL = 32
CONTROL_SMALL = 26
NAV_ROW = 32
RUN_ROW = 46
DATA_ROW = 26
LOG_ROW = 20
LEDGER = 376
PAGE_MARGIN = 24
CARD_MARGIN = 16
WRAP_BELOW = 1120  # narrower windows put the ledger above the rest
RADIUS_BADGE = 5
RADIUS_CONTROL = 6
RADIUS_CARD = 8
RADIUS_DIALOG = 12
INK = 1.5
FOCUS = 2
BARS_GLIDE_MS = 150
INK_MS = 200
RULE_MS = 250


def high_contrast(base: Tokens) -> Tokens:
    """The platform's contrast preference: hairline = line2, text2 and text3 = text, tints off."""
    values = {field.name: getattr(base, field.name) for field in fields(base)}
    values.update(hairline=base.line2, text2=base.text, text3=base.text, line2=base.text)
    values.update(dict.fromkeys(TINTS, base.surface))
    return Tokens(**values)


def _channel(value: int) -> float:
    part = value / 255
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


def luminance(colour: str) -> float:
    """Relative luminance of #RRGGBB (WCAG 2.1)."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return 0.2126 * _channel(red) + 0.7152 * _channel(green) + 0.0722 * _channel(blue)


def contrast(first: str, second: str) -> float:
    """1..21."""
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
