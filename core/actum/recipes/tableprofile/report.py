"""A profile as the rows of its tables, its metrics and its notes; a value that is not there has its reason (R15)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from actum.recipes.profile_contract import QUANTILE_NAMES
from actum.recipes.tableprofile import typing_rules as types
from actum.recipes.tableprofile.source import Source, listed
from actum.recipes.tableprofile.words import cut, words

if TYPE_CHECKING:
    from actum.recipes.tableprofile.measuring import Measured, Missing
    from actum.sdk import Context

NO_VALUES, NOT_NUMBERS, NO_ORDER = "no_values", "not_numbers", "neither_numbers_nor_times"
NONE_MISSING, NO_REMARK = "none_missing", "no_remark"
NOT_FINITE, TOO_FEW, OVERFLOW = "no_finite_values", "insufficient_observations", "overflow"
SHOWN_TEXTS = 20


def column_rows(measured: Sequence[Measured]) -> Iterator[dict[str, Any]]:
    for position, each in enumerate(measured, start=1):
        row: dict[str, Any] = {
            "position": position,
            "name": each.name,
            "type": each.type.name,
            "type_from": "declared" if each.declared else "inferred",
            "rows": each.rows,
            "missing": each.missing,
            "values": each.values,
            "distinct": each.distinct,
            "not_finite": each.not_finite,
        }
        quantiles = each.quantiles or (None,) * len(QUANTILE_NAMES)
        figures: dict[str, tuple[Any, Callable[[Measured], str]]] = {
            "missing_as": (_missing_as(each), lambda _: NONE_MISSING),
            "remark": (each.type.note or None, lambda _: NO_REMARK),
            "min": (words(each.type, each.least), _reason_of_extreme),
            "max": (words(each.type, each.greatest), _reason_of_extreme),
            "mean": (each.mean, _reason_of_mean),
            "sd": (each.deviation, _reason_of_deviation),
            **{
                name: (words(each.type, value), _reason_of_quantile)
                for name, value in zip(QUANTILE_NAMES, quantiles, strict=True)
            },
        }
        for name, (value, reason_of) in figures.items():
            row[name] = value
            row[f"{name}__reason"] = reason_of(each) if value is None else None
        yield row


def _missing_as(each: Measured) -> str | None:
    """`“NA” 8,255; empty field 3`: what was taken for missing, and how often; None if nothing was."""
    found = [f"“{cut(s.text)}” {s.rows:,}" if s.text else f"{s.form} {s.rows:,}" for s in each.stood if s.missing]
    more = f"; and {len(found) - SHOWN_TEXTS} more" if len(found) > SHOWN_TEXTS else ""
    return "; ".join(found[:SHOWN_TEXTS]) + more if found else None


def _reason_of_extreme(each: Measured) -> str:
    if not each.values:
        return NO_VALUES
    return NOT_FINITE if each.not_finite else NO_ORDER


def _reason_of_quantile(each: Measured) -> str:
    if not each.values:
        return NO_VALUES
    return NO_ORDER if each.type.name not in types.ORDERED else NOT_FINITE


def _reason_of_mean(each: Measured) -> str:
    if not each.values:
        return NO_VALUES
    if each.type.name not in types.NUMBERS:
        return NOT_NUMBERS
    return OVERFLOW if each.finite else NOT_FINITE


def _reason_of_deviation(each: Measured) -> str:
    return TOO_FEW if each.finite == 1 and each.mean is not None else _reason_of_mean(each)


def missing_rows(measured: Sequence[Measured]) -> Iterator[dict[str, Any]]:
    for each in measured:
        for stood in each.stood:
            yield {
                "column": each.name,
                "form": stood.form,
                "text": cut(stood.text),
                "count": stood.rows,
                "taken_as": "missing" if stood.missing else "value",
            }


def top_rows(measured: Sequence[Measured]) -> Iterator[dict[str, Any]]:
    for each in measured:
        for rank, (value, count) in enumerate(each.top, start=1):
            shown = words(each.type, value)
            yield {"column": each.name, "rank": rank, "value": shown, "count": count, "share": count / each.values}


def histogram_rows(measured: Sequence[Measured]) -> Iterator[dict[str, Any]]:
    for each in measured:
        for number, found in enumerate(each.bins, start=1):
            low, high = words(each.type, found.low), words(each.type, found.high)
            yield {"column": each.name, "bin": number, "from": low, "to": high, "count": found.rows}


def state_metrics(ctx: Context, source: Source, measured: Sequence[Measured]) -> None:
    cells = source.rows * len(measured)
    missing = sum(each.missing for each in measured)
    ctx.metric("rows", source.rows)
    ctx.metric("columns", len(measured))
    ctx.metric("cells", cells)
    ctx.metric("missing_cells", missing, observations=cells)
    if cells:
        ctx.metric("missing_share", missing / cells, observations=cells)
    else:
        ctx.missing("missing_share", reason="no_cells", observations=0)
    ctx.metric("columns_with_missing", sum(each.missing > 0 for each in measured), observations=len(measured))
    suspect = sum(stood.rows for each in measured for stood in each.stood if not stood.missing)
    ctx.metric("suspect_cells", suspect, observations=cells)


def notes(source: Source, measured: Sequence[Measured], missing: Missing) -> Iterator[str]:
    yield f"The file was read as {source.format}."
    yield from source.notes
    meaning = "an empty text means missing" if missing.empty else "an empty text is a value"
    texts = f"these texts mean missing: {listed(missing.texts)}" if missing.texts else "no text means missing"
    yield f"As declared for this run, {texts}; {meaning}."
    occurring = {stood.text for each in measured for stood in each.stood if stood.missing}
    idle = [text for text in missing.texts if text not in occurring]
    if idle and measured:
        yield f"Declared as missing, and nowhere in the table: {listed(idle)}."
    suspects = {(stood.text, each.name) for each in measured for stood in each.stood if not stood.missing}
    for text in sorted({text for text, _ in suspects}):
        names = [each.name for each in measured if (text, each.name) in suspects]
        yield (
            f"“{cut(text)}” was taken as a value in {listed(names)}. If it means missing there, add it to the texts that mean "
            "missing and run again."
        )
    kept = [each.name for each in measured if each.type.note]
    if kept:
        yield f"The remark of these columns says why they have their type: {listed(kept)}."
    if any(each.not_finite for each in measured):
        yield "Infinities and NaN were counted apart (not_finite), and no other figure includes them."
