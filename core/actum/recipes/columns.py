"""The columns of the built-in tasks' tables, as plain data for contracts and functions alike."""

from __future__ import annotations

from typing import Any

PRICE_PRECISION, PRICE_SCALE = 38, 6


def column(name: str, kind: str, nullable: bool = False, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "nullable": nullable, **more}


def with_reason(name: str, kind: str, **more: Any) -> list[dict[str, Any]]:
    """A column that may be empty, and the column that says why."""
    return [column(name, kind, True, **more), column(f"{name}__reason", "text", True)]


RETURNS = [
    column("symbol", "text"),
    column("date", "date"),
    *with_reason("price", "decimal", precision=PRICE_PRECISION, scale=PRICE_SCALE),
    *with_reason("simple_return", "float64"),
    *with_reason("rolling_volatility", "float64"),
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
    column("symbol", "text"),
    *with_reason("first_date", "date"),
    *with_reason("last_date", "date"),
    column("prices", "integer"),
    column("observations", "integer"),
    *(column for name in STATISTICS for column in with_reason(name, "float64")),
]
STEPS = [column("step", "integer"), column("stage", "text"), column("at", "timestamp")]
