"""The statistics of a column in words: label and value, ready to be shown, spoken and copied (R15)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from actum_desktop import measures
from actum_desktop.i18n import N_, _, ngettext
from actum_desktop.models import celltext

_MEASURES = (
    ("minimum", N_("Minimum")),
    ("lower", N_("Lower quartile")),
    ("median", N_("Median")),
    ("mean", N_("Mean")),
    ("upper", N_("Upper quartile")),
    ("maximum", N_("Maximum")),
)


@dataclass(frozen=True, slots=True)
class StatRow:
    """One line. `exact` is what is copied; `rule` = a hairline stands above it."""

    label: str
    value: str
    exact: str = ""
    rule: bool = False


@dataclass(frozen=True, slots=True)
class Reason:
    """Why values are missing, in how many rows, and the first of them (counted from 0)."""

    text: str
    first: int | None


def rows(found: Mapping[str, Any]) -> list[StatRow]:
    """The lines of `statistics.of_column`."""
    looked_at = found["sample"] or found["rows"]
    shown = [StatRow(_("Values"), _("{n} of {all}").format(n=measures.count(found["values"]), all=measures.count(looked_at)))]
    if found["missing"]:
        reasoned = sum(item["rows"] for item in found["reasons"] if item["reason"])
        text = measures.count(found["missing"])
        if reasoned == found["missing"]:
            text = _("{n}, with reason").format(n=text)
        shown.append(StatRow(_("Without value"), text))
    if found["not_finite"]:
        shown.append(StatRow(_("Not a number"), measures.count(found["not_finite"])))
    distinct = measures.count(found["distinct"])
    shown.append(StatRow(_("Distinct"), distinct if found["distinct_exact"] else _("about {n}").format(n=distinct)))
    kind = str(found["type"])
    first = True
    for name, label in _MEASURES:
        value = found.get(name)
        if value is not None:
            shown.append(StatRow(_(label), _measure(kind, str(value), name), str(value), first))
            first = False
    for place, item in enumerate(found["top"]):
        share = item["rows"] / max(1, found["values"])
        counted = f"{measures.count(item['rows'])} · {measures.percent(share)}"
        shown.append(StatRow(celltext.value(kind, str(item["value"])), counted, str(item["rows"]), place == 0))
    return shown


def reasons(found: Mapping[str, Any]) -> list[Reason]:
    told = []
    for item in found["reasons"]:
        word = celltext.reason(item["reason"])
        count, first = int(item["rows"]), item["first"]
        place = measures.count(int(first) + 1)
        if count == 1:
            text = _("Row {row}: {reason}.").format(row=place, reason=word)
        else:
            text = _("{n} rows, first {row}: {reason}.").format(n=measures.count(count), row=place, reason=word)
        told.append(Reason(text, int(first)))
    return told


def basis(found: Mapping[str, Any]) -> tuple[str, str]:
    """(icon, words) of the badge: exact, or a sample of how many."""
    if found["sample"] is None:
        return "check-circle", _("exact")
    return "warning-circle", _("sample of {n}").format(n=measures.count(found["sample"]))


def as_text(column: str, found: Mapping[str, Any]) -> str:
    """All of it for the clipboard, tab between label and value."""
    lines = [f"{column}\t{celltext.kind_words(str(found['type']), found['precision'], found['scale'], found['unit'])}"]
    lines.append(f"{_('Basis')}\t{basis(found)[1]}")
    lines += [f"{row.label}\t{row.exact or row.value}" for row in rows(found)]
    return "\n".join([*lines, *(reason.text for reason in reasons(found))])


def values(found: Mapping[str, Any]) -> list[StatRow]:
    """The lines of `valuecounts.of_column`."""
    looked_at = max(1, int(found["sample"] or found["rows"]))
    shown = []
    for item in found["values"]:
        text = _("no value") if item["value"] is None else celltext.value(str(found["type"]), str(item["value"]))
        counted = f"{measures.count(item['rows'])} · {measures.percent(item['rows'] / looked_at)}"
        shown.append(StatRow(text, counted, str(item["rows"])))
    others = found["others"]
    if others["values"]:
        label = ngettext("{n} other value", "{n} other values", others["values"]).format(n=measures.count(others["values"]))
        counted = f"{measures.count(others['rows'])} · {measures.percent(others['rows'] / looked_at)}"
        shown.append(StatRow(label, counted, str(others["rows"]), rule=True))
    return shown


def values_title(found: Mapping[str, Any]) -> str:
    return f"{_('Values, most frequent first')} ({basis(found)[1]})"


def values_text(found: Mapping[str, Any]) -> str:
    """All of them for the clipboard: value, tab, rows; a value that is missing is an empty field."""
    from actum.results import clipboard

    lines = [f"{clipboard.field(str(found['column']))}\t{_('Rows')}"]
    lines += [f"{clipboard.field(item['value'])}\t{item['rows']}" for item in found["values"]]
    return "\n".join(lines)


def _measure(kind: str, text: str, name: str) -> str:
    if kind == "float64" or name == "mean":
        try:
            return celltext.measure(float(text))
        except ValueError:
            return text
    return celltext.value(kind, text)
