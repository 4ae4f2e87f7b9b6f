"""Any table survives the whole way: rows → JSON lines → Arrow → Parquet → verified → CSV and JSON → the same rows (R14).

The schemas and cells are drawn: decimals of any scale, whole numbers beyond 2^53, NaN, infinities and -0.0, instants in any
zone, null against empty text, Chinese, quotes and line breaks. What is read back is compared with the rows, by pyarrow's own
conversion, json and csv.
"""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
import struct
import tempfile
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

from actum.contracts.tables import COLUMN_TYPES, Column, decode
from actum.results.export import export
from actum.results.manifest import Messages
from actum.results.package import open_result
from actum.results.verify import verify
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.helpers import packages

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12) | st.sampled_from(
    ["", " ", '"', '""', ",", "\r\n", "\n", "\r", "中文，“引号”", "=1+1", "null", "NaN", "\ufeff", "\u2028", "\\", "a\tb"]
)
ZONES = st.sampled_from([UTC, timezone(timedelta(hours=8)), timezone(timedelta(hours=-3, minutes=-30))])
INSTANTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=ZONES)


def decimals(column: Column) -> st.SearchStrategy[Decimal]:
    """Exactly, whatever the global decimal context: digits and exponent are put together, not computed."""
    limit = 10 ** (column.precision or 0) - 1
    scale = column.scale or 0
    return st.integers(-limit, limit).map(lambda n: Decimal((int(n < 0), tuple(map(int, str(abs(n)))), -scale)))


def cells(column: Column) -> st.SearchStrategy[Any]:
    strategies: dict[str, st.SearchStrategy[Any]] = {
        "text": TEXTS,
        "integer": st.integers(-(2**63), 2**63 - 1) | st.sampled_from([2**53, 2**53 + 1, -(2**53) - 1, 0]),
        "decimal": decimals(column) if column.type == "decimal" else st.nothing(),
        "float64": st.floats(width=64) | st.sampled_from([-0.0, math.nan, math.inf, 5e-324, 1e16, 0.1]),
        "boolean": st.booleans(),
        "date": st.dates(date(1, 1, 1), date(9999, 12, 31)),
        "timestamp": INSTANTS,
        "binary": st.binary(max_size=9),
    }
    return strategies[column.type] if not column.nullable else st.none() | strategies[column.type]


@st.composite
def tables(draw: st.DrawFn) -> tuple[tuple[Column, ...], list[dict[str, Any]]]:
    kinds = draw(st.lists(st.sampled_from(COLUMN_TYPES), min_size=1, max_size=5))
    titles = TEXTS.filter(lambda name: name and "__reason" not in name)
    names = draw(st.lists(titles, min_size=len(kinds), max_size=len(kinds), unique=True))
    columns = []
    for name, kind in zip(names, kinds, strict=True):
        precision = draw(st.integers(1, 76)) if kind == "decimal" else None
        scale = draw(st.integers(0, precision)) if precision is not None else None
        columns.append(Column(name, kind, draw(st.booleans()), draw(st.none() | st.just("USD")), precision, scale))
    row = st.fixed_dictionaries({column.name: cells(column) for column in columns})
    return tuple(columns), draw(st.lists(row, max_size=8))


def plain(value: Any) -> Any:
    """A value that equals another exactly if they are the same: floats by bits, instants in UTC, decimals by value."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else struct.pack("<d", value)
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    return value


def same(left: list[dict[str, Any]], right: list[dict[str, Any]]) -> bool:
    return [{k: plain(v) for k, v in row.items()} for row in left] == [{k: plain(v) for k, v in row.items()} for row in right]


@settings(max_examples=40, report_multiple_bugs=False, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(tables())
def test_any_table_survives_the_whole_way(table: tuple[tuple[Column, ...], list[dict[str, Any]]]) -> None:
    columns, rows = table
    folder = Path(tempfile.mkdtemp(prefix="actum-t"))
    try:
        place = packages.staging(folder, {"t.jsonl": packages.lines(columns, rows)})
        messages = Messages(tables=[packages.table_message(columns, "t", rows=len(rows))])
        made = packages.finish(place, messages, contract={**packages.CONTRACT, "tables": [], "required": []}, required=[])
        report = verify(made.path, made.expected)
        assert report.ok, report.reason
        assert same(open_result(made.path).table("t").to_arrow().to_pylist(), rows)
        export(made.path, "t", "json", "data", folder / "t.json")
        assert same(from_json(columns, folder / "t.json"), rows)
        export(made.path, "t", "csv", "data", folder / "t.csv")
        check_csv(columns, rows, folder / "t.csv")
    finally:
        shutil.rmtree(folder)


def from_json(columns: tuple[Column, ...], path: Path) -> list[dict[str, Any]]:
    document = json.loads(path.read_bytes())
    return [{column.name: decode(column, row[column.name]) for column in columns} for row in document["rows"]]


def check_csv(columns: tuple[Column, ...], rows: list[dict[str, Any]], path: Path) -> None:
    """By the csv module: the header, the number of rows, and every text; null and empty differ in the bytes alone."""
    found = list(csv.reader(io.StringIO(path.read_bytes().decode(), newline="")))
    assert found[0] == [column.name for column in columns]
    body = [row or [""] for row in found[1:]]  # a null alone in its row is an empty line
    assert len(body) == len(rows)
    for position, column in enumerate(columns):
        if column.type == "text":
            assert [row[position] for row in body] == [row[column.name] or "" for row in rows]
        if column.type in ("decimal", "integer"):
            values = [row[column.name] for row in rows]
            assert [Decimal(row[position]) if row[position] else None for row in body] == values
