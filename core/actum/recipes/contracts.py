"""The contract documents of the built-in tasks."""

from __future__ import annotations

from typing import Any

from actum.recipes import columns


def _metric(name: str, title: str, rule: str, meaning: str, unit: str | None = None) -> dict[str, Any]:
    return {"name": name, "title": title, "unit": unit, "rule": rule, "meaning": meaning}


_TOO_FEW = "Unavailable with fewer than {n} of them: insufficient_observations."

RETURN_AND_RISK: dict[str, Any] = {
    "schema": "actum.contract/1",
    "name": "return-and-risk",
    "title": "Return and risk",
    "version": "1",
    "description": (
        "Returns and risk of price series, per symbol and for one symbol in particular.\n\n"
        "The file is a CSV with the columns symbol, date and price. An empty file gives empty tables and unavailable "
        "metrics. A missing price (empty or NA) is kept as missing, and so is every return that would need it. A price that "
        "is no number or not above zero, two prices of one symbol on one day, or a symbol that the file does not have, end "
        "the run with a sentence that names the line."
    ),
    "work": {"kind": "recipe", "name": "return-and-risk"},
    "parameters": [
        {
            "name": "prices",
            "type": "file",
            "title": "Prices",
            "help": "CSV with the columns symbol, date (2000-01-31 or Jan 31 2000) and price.",
        },
        {
            "name": "symbol",
            "type": "text",
            "title": "Symbol",
            "optional": True,
            "help": "The symbol the metrics are about. Left out: every symbol has its row in the summary.",
        },
        {
            "name": "window",
            "type": "integer",
            "title": "Window",
            "unit": "observations",
            "default": 12,
            "minimum": 2,
            "help": "How many returns the rolling volatility looks back over.",
        },
        {"name": "start", "type": "date", "title": "From", "optional": True, "help": "The first day that counts."},
        {"name": "end", "type": "date", "title": "To", "optional": True, "help": "The last day that counts."},
        {
            "name": "periods_per_year",
            "type": "integer",
            "title": "Periods per year",
            "default": 12,
            "minimum": 1,
            "maximum": 366,
            "help": "12 for monthly prices, 252 for trading days.",
        },
    ],
    "rules": [{"rule": "not_after", "fields": ["start", "end"], "message": "The last day is before the first."}],
    "outputs": ["*"],
    "tables": [
        {"name": "returns", "required": True, "columns": columns.RETURNS},
        {"name": "summary", "required": True, "columns": columns.SUMMARY},
    ],
    "metrics": [
        _metric("observations", "Observations", "count.v1", "Simple returns in the period.", "returns"),
        _metric("total_return", "Total return", "ratio.v1", "Last price over first, less 1. " + _TOO_FEW.format(n=1)),
        _metric("mean_return", "Mean return", "ratio.v1", "Mean of the simple returns. " + _TOO_FEW.format(n=1)),
        _metric(
            "volatility",
            "Volatility",
            "ratio.v1",
            "Standard deviation (n − 1) of the simple returns. " + _TOO_FEW.format(n=2),
        ),
        _metric(
            "annualised_volatility",
            "Annualised volatility",
            "ratio.v1",
            "Volatility × √(periods per year); assumes returns without serial correlation. " + _TOO_FEW.format(n=2),
        ),
        _metric(
            "maximum_drawdown",
            "Maximum drawdown",
            "ratio.v1",
            "The deepest fall below an earlier peak, as a part of the peak. " + _TOO_FEW.format(n=1),
        ),
        _metric(
            "return_per_risk",
            "Return per risk",
            "ratio.v1",
            "Mean return over volatility × √(periods per year): a Sharpe ratio with a riskless rate of 0. "
            "Not applicable where the volatility is 0: zero_volatility. " + _TOO_FEW.format(n=2),
        ),
    ],
    "policies": {"deadline": "2h", "stage_deadlines": {"load": "10m"}, "stall_after": "10m", "safe_to_repeat": True},
}

DEMO_STEPS: dict[str, Any] = {
    "schema": "actum.contract/1",
    "name": "demo-steps",
    "title": "Twenty seconds of work",
    "version": "1",
    "description": "A job with three stages and steady progress; it publishes when each of its steps was done.",
    "work": {"kind": "recipe", "name": "demo-steps"},
    "parameters": [
        {
            "name": "seconds",
            "type": "integer",
            "title": "Length",
            "unit": "seconds",
            "default": 20,
            "minimum": 1,
            "maximum": 3600,
        }
    ],
    "tables": [{"name": "steps", "required": True, "columns": columns.STEPS}],
    "metrics": [_metric("steps", "Steps", "count.v1", "Steps done.", "steps")],
    "policies": {"stall_after": "1m", "safe_to_repeat": True},
}

DEMO_STALL: dict[str, Any] = {
    "schema": "actum.contract/1",
    "name": "demo-stall",
    "title": "Stalls on purpose",
    "version": "1",
    "description": "Makes three of ten steps and then none, until it is stopped: what a stall looks like, and a stop.",
    "work": {"kind": "recipe", "name": "demo-stall"},
    "policies": {"stall_after": "10s", "deadline": "1h", "safe_to_repeat": True},
}

DEMO_FAILS: dict[str, Any] = {
    "schema": "actum.contract/1",
    "name": "demo-fails",
    "title": "Fails on purpose",
    "version": "1",
    "description": "Makes three of ten steps and then raises an error: what a failure looks like, and where its log is.",
    "work": {"kind": "recipe", "name": "demo-fails"},
    "policies": {"safe_to_repeat": True},
}
