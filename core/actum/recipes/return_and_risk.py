"""The built-in task “Return and risk”: returns, volatility and drawdown of price series.

What a demanding reader may rely on: the formulas are those of `statistics_of_returns`; a value that cannot be had is missing
with its reason, in metrics and tables alike, never 0 and never NaN; a file that contradicts itself ends the run with a
sentence naming the line, since a result computed around an error would look like any other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any, Optional

from actum.recipes import columns
from actum.recipes.prices import Price, read_prices
from actum.recipes.statistics_of_returns import (
    DIGITS,
    INSUFFICIENT,
    Missing,
    Statistics,
    deviation,
    simple_returns,
    statistics_of,
)
from actum.sdk import Context, InputFile, TaskFailed, task

Series = dict[str, list[Price]]
NO_PRICES = "no_prices"


@task(title="Return and risk", version="1")
def return_and_risk(
    ctx: Context,
    prices: InputFile,
    symbol: Optional[str] = None,  # noqa: UP045 - read by the SDK as an author would write it
    window: int = 12,
    start: Optional[date] = None,  # noqa: UP045
    end: Optional[date] = None,  # noqa: UP045
    periods_per_year: int = 12,
) -> None:
    """Returns and risk of the symbols in a CSV of prices; the metrics are about `symbol`."""
    series = _load(ctx, prices)
    chosen = _chosen(series, symbol)
    series = {name: _within(found, start, end) for name, found in series.items()}
    summary: dict[str, Statistics] = {}
    for name in ctx.track(list(series), stage="compute", unit="symbols"):
        summary[name] = statistics_of([price.price for price in series[name]], periods_per_year)
    ctx.stage("write", 2)
    shown = series if symbol is None else {name: series[name] for name in series if name == chosen}
    ctx.table("returns", _return_rows(ctx, shown, window), columns.RETURNS)
    ctx.progress(1, 2, "tables")
    ctx.table("summary", (_summary_row(name, series[name], summary[name]) for name in series), columns.SUMMARY)
    ctx.progress(2, 2, "tables")
    _metrics(ctx, series, summary, chosen)
    ctx.note(f"Returns are ratios of decimal prices, computed with {DIGITS} digits and converted to the nearest float64.")


def _load(ctx: Context, prices: InputFile) -> Series:
    size = prices.path.stat().st_size
    ctx.stage("load", size)

    def on_bytes(count: int) -> None:
        ctx.check_stop()
        ctx.progress(min(count, size), size, "bytes")

    return read_prices(prices, on_bytes)


def _chosen(series: Series, symbol: str | None) -> str | None:
    """The symbol the metrics are about: the one asked for, or the only one there is."""
    if symbol is None:
        return next(iter(series)) if len(series) == 1 else None
    if series and symbol not in series:
        raise TaskFailed(f"The file has no symbol “{symbol}”. It has {_listed(list(series))}.")
    return symbol


def _listed(names: list[str]) -> str:
    return ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")


def _within(prices: list[Price], start: date | None, end: date | None) -> list[Price]:
    """The prices from `start` to `end`, both included."""
    return [price for price in prices if (start is None or start <= price.day) and (end is None or price.day <= end)]


def _return_rows(ctx: Context, series: Series, window: int) -> Iterator[tuple[Any, ...]]:
    for name, prices in series.items():
        returns = simple_returns([price.price for price in prices])
        for position, (price, value) in enumerate(zip(prices, returns, strict=True)):
            if position % 256 == 0:
                ctx.check_stop()
            rolling, rolling_reason = _rolling(returns, position, window)
            price_reason = "price_missing" if price.price is None else None
            value_reason = _return_reason(prices, position) if value is None else None
            yield name, price.day, price.price, price_reason, value, value_reason, rolling, rolling_reason


def _return_reason(prices: list[Price], position: int) -> str:
    if prices[position].price is None:
        return "price_missing"
    return "first_observation" if position == 0 else "previous_price_missing"


def _rolling(returns: list[float | None], position: int, window: int) -> tuple[float | None, str | None]:
    """The standard deviation of the last `window` returns, or why there is none."""
    if position < window:  # the first price has no return, so `window` returns end at the price `window`
        return None, INSUFFICIENT
    recent = [value for value in returns[position - window + 1 : position + 1] if value is not None]
    if len(recent) < window:
        return None, "price_missing"
    return deviation(recent), None


def _summary_row(name: str, prices: list[Price], found: Statistics) -> dict[str, Any]:
    row: dict[str, Any] = {
        "symbol": name,
        "first_date": prices[0].day if prices else None,
        "first_date__reason": None if prices else NO_PRICES,
        "last_date": prices[-1].day if prices else None,
        "last_date__reason": None if prices else NO_PRICES,
        "prices": sum(price.price is not None for price in prices),
        "observations": found.observations,
    }
    for statistic in columns.STATISTICS:
        value = getattr(found, statistic)
        missing = isinstance(value, Missing)
        row[statistic] = None if missing else float(value)
        row[f"{statistic}__reason"] = value.reason if missing else None
    return row


def _metrics(ctx: Context, series: Series, summary: dict[str, Statistics], chosen: str | None) -> None:
    if chosen is None:
        status, reason = ("not_applicable", "several_symbols") if series else ("unavailable", NO_PRICES)
        for name in ("observations", *columns.STATISTICS):
            ctx.missing(name, status, reason)
        return
    found = summary.get(chosen) or statistics_of([], 1)
    ctx.metric("observations", found.observations, observations=found.observations)
    for name in columns.STATISTICS:
        value = getattr(found, name)
        if isinstance(value, Missing):
            reason = value.reason if series else NO_PRICES
            ctx.missing(name, value.status, reason, observations=found.observations, needed=value.needed if series else None)
        elif isinstance(value, Decimal) or math.isfinite(value):
            ctx.metric(name, value, observations=found.observations)
        else:
            ctx.missing(name, "failed", "overflow", observations=found.observations)
