"""The contract document of the built-in task “Profile a table”, and the columns of its tables."""

from __future__ import annotations

from typing import Any

from actum import limits
from actum.recipes.columns import column, with_reason

DELIMITERS = ("auto", "comma", "semicolon", "tab", "pipe")
EMPTY = ("missing", "text")
MISSING_VALUES = ("NA",)
TOP = 10

QUANTILE_NAMES = ("p05", "p25", "p50", "p75", "p95")
COLUMNS = [
    column("position", "integer"),
    column("name", "text"),
    column("type", "text"),
    column("type_from", "text"),
    column("rows", "integer"),
    column("missing", "integer"),
    *with_reason("missing_as", "text"),
    column("values", "integer"),
    column("distinct", "integer"),
    *with_reason("min", "text"),
    *with_reason("max", "text"),
    *with_reason("mean", "float64"),
    *with_reason("sd", "float64"),
    *(each for name in QUANTILE_NAMES for each in with_reason(name, "text")),
    column("not_finite", "integer"),
    *with_reason("remark", "text"),
]
TOP_VALUES = [
    column("column", "text"),
    column("rank", "integer"),
    column("value", "text"),
    column("count", "integer"),
    column("share", "float64"),
]
HISTOGRAM = [
    column("column", "text"),
    column("bin", "integer"),
    column("from", "text"),
    column("to", "text"),
    column("count", "integer"),
]
MISSING = [
    column("column", "text"),
    column("form", "text"),
    column("text", "text"),
    column("count", "integer"),
    column("taken_as", "text"),
]


def _metric(name: str, title: str, rule: str, unit: str | None, meaning: str) -> dict[str, Any]:
    return {"name": name, "title": title, "unit": unit, "rule": rule, "meaning": meaning}


_DESCRIPTION = (
    "What is in a table: the type of each column, how much of it is missing and written how, its extremes, mean, spread and "
    "quantiles, its most frequent values and its histogram. All figures are exact and of all rows.\n\n"
    "The file is a CSV (UTF-8), a Parquet, or JSON lines; compressed files are refused. Types of a CSV and of JSON lines are "
    "told from all values: numbers with leading zeros and whole numbers beyond 64 bits stay text, since they are identifiers, "
    "and the remark says so. A record with too few or too many fields ends the run with a sentence that names its line.\n\n"
    "Nothing is missing in silence: the table “missing” counts, by column, every text that was taken for a missing value, and "
    "every text that looks like one and was taken as a value, such as NULL or -.\n\n"
    "Quantiles of numbers lie between the two nearest values (linear), those of dates and times are values that occur; "
    "the standard deviation divides by n − 1. A bin holds from ≤ value < to, the last one also its end."
)

PROFILE_TABLE: dict[str, Any] = {
    "schema": "actum.contract/1",
    "name": "profile-table",
    "title": "Profile a table",
    "version": "1",
    "description": _DESCRIPTION,
    "work": {"kind": "recipe", "name": "profile-table"},
    "parameters": [
        {"name": "table", "type": "file", "title": "Table", "help": "A CSV, Parquet or JSON-lines file."},
        {
            "name": "missing_values",
            "type": "list",
            "items": {"type": "text"},
            "title": "Texts that mean missing",
            "default": list(MISSING_VALUES),
            "help": "Exact texts, such as NA. What is not named here is a value.",
        },
        {
            "name": "empty",
            "type": "choice",
            "choices": list(EMPTY),
            "title": "An empty text means",
            "default": "missing",
            "help": "“missing”, or a “text” without letters. A field of a CSV with nothing in it is an empty text.",
        },
        {
            "name": "delimiter",
            "type": "choice",
            "choices": list(DELIMITERS),
            "title": "Fields are divided by",
            "default": "auto",
            "help": "Of a CSV. “auto” looks at the first lines.",
        },
        {
            "name": "header",
            "type": "boolean",
            "title": "The first line names the columns",
            "default": True,
            "help": "Of a CSV.",
        },
        {
            "name": "top",
            "type": "integer",
            "title": "Most frequent values",
            "unit": "values",
            "default": TOP,
            "minimum": 1,
            "maximum": limits.PROFILE_TOP_ROWS_MAX,
            "help": "How many of each column are listed.",
        },
    ],
    "outputs": ["*"],
    "tables": [
        {"name": "columns", "required": True, "columns": COLUMNS},
        {"name": "missing", "required": True, "columns": MISSING},
        {"name": "top_values", "required": True, "columns": TOP_VALUES},
        {"name": "histogram", "required": True, "columns": HISTOGRAM},
    ],
    "metrics": [
        _metric("rows", "Rows", "count.v1", "rows", "Records of the file, without its header."),
        _metric("columns", "Columns", "count.v1", "columns", "Columns of the file."),
        _metric("cells", "Cells", "count.v1", "cells", "Rows × columns."),
        _metric("missing_cells", "Missing cells", "count.v1", "cells", "Cells without a value, by the meaning declared."),
        _metric("missing_share", "Missing", "ratio.v1", None, "Missing cells ÷ cells. Unavailable without cells: no_cells."),
        _metric("columns_with_missing", "Columns with gaps", "count.v1", "columns", "Columns with at least one missing cell."),
        _metric(
            "suspect_cells",
            "Cells that look missing",
            "count.v1",
            "cells",
            "Cells that look like a missing value, such as NULL, and were taken as values, since nobody declared them missing.",
        ),
    ],
    "policies": {"deadline": "12h", "stall_after": "10m", "safe_to_repeat": True},
}
