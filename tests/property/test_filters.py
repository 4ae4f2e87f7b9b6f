"""Filters: what DuckDB keeps is what plain Python keeps, for any tree and table; what is typed is never SQL (R19)."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from actum.errors import WrongUse
from actum.results import columns, condition, conditionsql, filtertext, query
from actum.results.condition import All, Among, Any_, Begins, Compare, Condition, Contains, Holds, Missing, Not, NotANumber
from actum.results.filtertext import FilterWrong
from hypothesis import given, settings
from hypothesis import strategies as st

SCHEMA = pa.schema(
    [
        ("whole", pa.int64()),
        ("small", pa.int8()),
        ("price", pa.decimal128(12, 2)),
        ("ratio", pa.float64()),
        ("single", pa.float32()),
        ('na"me; --', pa.string()),
        ("open", pa.bool_()),
        ("day", pa.date32()),
        ("at", pa.timestamp("us", "UTC")),
        ("local", pa.timestamp("ms")),
    ]
)
INFO = columns.describe(SCHEMA)
KINDS = {item["name"]: item["type"] for item in INFO}
TEXT = 'na"me; --'
START = datetime(2026, 3, 1, tzinfo=UTC)
LETTERS = "aAbBéÉ中'\"`%_\\;- "
texts = st.text(LETTERS, max_size=4) | st.sampled_from(["'; DROP TABLE t; --", '"', "$1", "NULL", "a\nb"])
moments = st.integers(0, 6).map(lambda n: START + timedelta(hours=n, microseconds=n * 1000))
CELLS: Mapping[str, st.SearchStrategy[Any]] = {
    "whole": st.sampled_from([0, 1, 2, -1, -(2**63), 2**63 - 1, 10**15 + 1]),
    "small": st.integers(-3, 3),
    "price": st.sampled_from([Decimal(n) / 100 for n in (-150, -1, 0, 1, 149, 150, 999_999_999_999)]),
    "ratio": st.sampled_from([0.0, -0.0, 0.1, 1.5, math.nan, math.inf, -math.inf, 1e300]),
    "single": st.sampled_from([0.0, 0.5, 0.10000000149011612, math.nan, math.inf]),
    TEXT: texts,
    "open": st.booleans(),
    "day": st.integers(0, 3).map(lambda n: START.date() + timedelta(days=n)),
    "at": moments,
    "local": moments.map(lambda at: at.replace(tzinfo=None)),
}
NUMBERS = ("0", "-0", "1", "1.5", "1.500", "-0.005", "0.1", "+2", "1e300", "-1e400000", "1e-400000", "9223372036854775807")
NUMBERS += ("9223372036854775808", "-9223372036854775809", "99999999999.99", "10000000000", "1000000000000001", "−1")
TYPED: Mapping[str, st.SearchStrategy[str]] = {
    "text": texts,
    "boolean": st.sampled_from(["true", "false", "True"]),
    "date": st.integers(0, 3).map(lambda n: (START.date() + timedelta(days=n)).isoformat()),
    "timestamp": moments.map(datetime.isoformat) | st.just("2026-03-01") | st.just("2026-03-01T04:00+02:00"),
    "timestamp[ms]": moments.map(lambda at: at.replace(tzinfo=None).isoformat()),
}
FLOATS = st.sampled_from([text for text in NUMBERS if "400000" not in text])
ORDERED: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def typed(kind: str) -> st.SearchStrategy[str]:
    return TYPED.get(kind, FLOATS if kind in ("float64", "float") else st.sampled_from(NUMBERS))


@st.composite
def leaves(draw: st.DrawFn) -> Condition:
    name = draw(st.sampled_from(list(KINDS)))
    kind = KINDS[name]
    word = draw(st.sampled_from(conditionsql.asked(kind)))
    value = typed(kind)
    if word in ORDERED:
        return Compare(name, word, draw(value))
    if word == "in":
        return Among(name, tuple(draw(st.lists(value, min_size=1, max_size=3))))
    if word in ("contains", "begins"):
        return (Contains if word == "contains" else Begins)(name, draw(texts))
    return {"holds": Holds, "missing": Missing, "nan": NotANumber}[word](name)


conditions: st.SearchStrategy[Condition] = st.recursive(
    leaves(),
    lambda inner: (
        inner.map(Not)
        | st.lists(inner, min_size=2, max_size=3).map(lambda parts: All(tuple(parts)))
        | st.lists(inner, min_size=2, max_size=3).map(lambda parts: Any_(tuple(parts)))
    ),
    max_leaves=6,
)
rows = st.fixed_dictionaries({name: st.none() | cells for name, cells in CELLS.items()})


def meaning(kind: str, text: str) -> Any:
    """The value typed, by means of its own: numbers of exact kinds as decimals, whatever their size."""
    said = text.strip().replace("−", "-")
    if kind in ("integer", "decimal"):
        return Decimal(said)
    if kind in ("float64", "float"):
        single = kind == "float" and abs(float(said)) < 1e38
        return pa.scalar(float(said), pa.float32()).as_py() if single else float(said)
    if kind == "date":
        return date.fromisoformat(said)
    if kind.startswith("timestamp"):
        at = datetime.fromisoformat(said)
        return at.replace(tzinfo=at.tzinfo or UTC) if kind == "timestamp" else at
    return said.lower() == "true" if kind == "boolean" else text


def kept(node: Condition, row: Mapping[str, Any]) -> bool | None:
    """Three answers: true, false, neither."""
    if isinstance(node, Not):
        inner = kept(node.of, row)
        return None if inner is None else not inner
    if isinstance(node, All | Any_):
        answers = [kept(part, row) for part in node.of]
        decisive = isinstance(node, Any_)
        if decisive in answers:
            return decisive
        return None if None in answers else not decisive
    cell, kind = row[node.column], KINDS[node.column]
    if isinstance(node, Missing):
        return cell is None
    if isinstance(node, NotANumber):
        return cell is not None and math.isnan(cell)
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return None
    if isinstance(node, Holds):
        return bool(cell)
    if isinstance(node, Contains):
        return node.value.lower() in cell.lower()
    if isinstance(node, Begins):
        return bool(cell.startswith(node.value))
    if isinstance(node, Among):
        return any(cell == meaning(kind, value) for value in node.values)
    return ORDERED[node.operator](cell, meaning(kind, node.value))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("filters") / "table.parquet"
    pq.write_table(SCHEMA.empty_table(), path)
    return path


@pytest.fixture(scope="module")
def engine(place: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with query.connected(place, None) as connection:
        yield connection


def chosen(engine: duckdb.DuckDBPyConnection, place: Path, table: pa.Table, node: Condition) -> list[int]:
    """A Parquet with statistics, in small groups: an engine that trusts them too much is seen through."""
    pq.write_table(table, place, row_group_size=3)
    where, values = query.Table(place).where(node)
    sql = f"SELECT file_row_number FROM read_parquet($1, file_row_number=true) WHERE {where} ORDER BY 1"
    return [number for (number,) in engine.execute(sql, [str(place), *values]).fetchall()]


@settings(max_examples=150, deadline=None)
@given(cells=st.lists(rows, min_size=1, max_size=12), node=conditions)
def test_r19_a_filter_keeps_what_plain_python_keeps(
    engine: duckdb.DuckDBPyConnection, place: Path, cells: list[dict[str, Any]], node: Condition
) -> None:
    table = pa.Table.from_pylist(cells, schema=SCHEMA)
    read = table.to_pylist()
    assert chosen(engine, place, table, node) == [number for number, row in enumerate(read) if kept(node, row)]


@settings(max_examples=120, deadline=None)
@given(node=conditions)
def test_a_filter_is_read_back_from_its_text_and_from_its_json(node: Condition) -> None:
    assert filtertext.parse(filtertext.write(node, INFO), INFO) == node
    assert condition.from_json(json.loads(json.dumps(condition.to_json(node)))) == node


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=40) | st.lists(st.sampled_from(["whole", "`", '"', "'", "(", "in", "=", "; DROP"])).map(" ".join))
def test_r19_whatever_is_typed_is_a_tree_or_refused_at_its_place(text: str) -> None:
    read: Condition | FilterWrong | None
    try:
        read = filtertext.parse(text, INFO)
    except FilterWrong as wrong:
        read = wrong
    if isinstance(read, FilterWrong):
        assert 0 <= read.start <= read.end <= len(text)
        assert read.what
    else:
        assert read is None or condition.from_json(condition.to_json(read)) == read


@settings(max_examples=200, deadline=None)
@given(value=st.text(max_size=30), name=st.text(min_size=1, max_size=20))
def test_r19_hostile_names_and_values_never_become_sql(value: str, name: str) -> None:
    """The SQL depends on the name only by its quoted form, and on the value not at all."""
    info = {name: {"type": "text", "precision": None, "scale": None}}
    harmless, _ = conditionsql.compiled(Compare(name, "=", "x"), info, 1)
    assert harmless == f'("{name.replace(chr(34), chr(34) * 2)}" = $1)'
    asked = Any_((Compare(name, "=", value), Contains(name, value)))
    if "\0" in value:
        with pytest.raises(WrongUse):
            conditionsql.compiled(asked, info, 1)
        return
    sql, values = conditionsql.compiled(asked, info, 1)
    assert sql == f"({harmless} OR contains(lower({harmless[1:-6]}), lower($2)))"
    assert values == [value, value]
