"""The columns of the built-in tasks' tables, as plain data for contracts and functions alike."""

from __future__ import annotations

from typing import Any

PRICE_PRECISION, PRICE_SCALE = 38, 6


def _column(name: str, kind: str, nullable: bool = False, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "nullable": nullable, **more}


def _with_reason(name: str, kind: str, **more: Any) -> list[dict[str, Any]]:
    """A column that may be empty, and the column that says why."""
    return [_column(name, kind, True, **more), _column(f"{name}__reason", "text", True)]


RETURNS = [
    _column("symbol", "text"),
    _column("date", "date"),
    *_with_reason("price", "decimal", precision=PRICE_PRECISION, scale=PRICE_SCALE),
    *_with_reason("simple_return", "float64"),
    *_with_reason("rolling_volatility", "float64"),
]
STATISTICS = (
    "total_return",
    "mean_return",
    "volatility",
    "annualised_volatility",
    "maximum_drawdown",
    "return_per_risk",
)
SUMMARY = [
    _column("symbol", "text"),
    *_with_reason("first_date", "date"),
    *_with_reason("last_date", "date"),
    _column("prices", "integer"),
    _column("observations", "integer"),
    *(column for name in STATISTICS for column in _with_reason(name, "float64")),
]
STEPS = [_column("step", "integer"), _column("stage", "text"), _column("at", "timestamp")]
