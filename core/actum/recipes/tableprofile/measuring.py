"""Measures one column after the other in DuckDB: exact figures, in memory that does not grow with the table.

Theory. A column is first reduced to its distinct values and how often each stands; every figure follows from these counts.
DuckDB keeps at most PROFILE_MEMORY_BYTES_MAX in memory and the rest in the scratch folder. One thread, so that the same file
gives the same floats. Definitions:

- A value is missing if it is nothing, one of the declared texts, or an empty text where that was declared.
- mean: Σ value / n; standard deviation: √(Σ (value − mean)² / (n − 1)); both in float64, the sums compensated, a sum of whole
  numbers exact. Infinities and NaN, which only a Parquet can hold, take part in neither, nor in what follows; they are counted.
- Quantiles of numbers: linear between the two values around position p·(n − 1), exactly for whole numbers and decimals;
  of dates and times: the least value with at least p·n values at or below it, so always one that occurs.
- Histogram: PROFILE_BINS_MAX bins of equal width from the least value to the greatest, the last one closed; whole numbers and
  dates have bins of a whole width.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb

from actum import limits
from actum.recipes.tableprofile import typing_rules as types
from actum.recipes.tableprofile.source import NESTED, Source, SourceColumn
from actum.recipes.tableprofile.typing_rules import Class, Type
from actum.sdk import Context

QUANTILES = {
    "p05": Fraction(5, 100),
    "p25": Fraction(1, 4),
    "p50": Fraction(1, 2),
    "p75": Fraction(3, 4),
    "p95": Fraction(95, 100),
}
LOOK_EVERY_S = 0.1


@dataclass(frozen=True, slots=True)
class Missing:
    """The texts that mean missing, and whether an empty text does."""

    texts: tuple[str, ...]
    empty: bool


@dataclass(frozen=True, slots=True)
class Stood:
    """How often something stood that may mean missing. `form`: empty field, empty text, text, null or absent."""

    form: str
    text: str
    rows: int
    missing: bool


@dataclass(frozen=True, slots=True)
class Bin:
    low: Any
    high: Any
    rows: int


@dataclass(frozen=True, slots=True)
class Measured:
    """One column's figures. Values are keys of its type (see `Type.key`), put into words by `words`; None = there is none."""

    name: str
    type: Type
    declared: bool
    rows: int
    values: int
    distinct: int
    stood: tuple[Stood, ...]
    least: Any = None
    greatest: Any = None
    mean: float | None = None
    deviation: float | None = None
    finite: int = 0
    not_finite: int = 0
    quantiles: tuple[Any, ...] = ()
    top: tuple[tuple[Any, int], ...] = ()
    bins: tuple[Bin, ...] = ()

    @property
    def missing(self) -> int:
        return self.rows - self.values


@contextmanager
def connected(scratch: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory that moves to `scratch` what its memory does not hold. Never asks the network (R20)."""
    options: dict[str, Any] = {
        "threads": 1,
        "memory_limit": f"{limits.PROFILE_MEMORY_BYTES_MAX}B",
        "temp_directory": str(scratch / "spilled"),
        "preserve_insertion_order": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    with duckdb.connect(config=options) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


class Measurer:
    """Measures the columns of one source. Raises StopRequested soon after a stop was asked, whatever is being computed."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, context: Context, source: Source, missing: Missing, top: int
    ) -> None:
        self._connection = connection
        self._context = context
        self._source = source
        self._missing = missing
        self._top = top

    def measure(self, column: SourceColumn) -> Measured:
        if column.declared is None:
            self._group(column, "v", f"(k IS DISTINCT FROM '{NESTED}')")
            kind = types.inferred(self._classes())
        else:
            kind = types.declared(column.declared)
            is_plain = kind.name not in (types.NESTED, types.BINARY)
            self._group(column, "v::VARCHAR" if is_plain else "NULL::VARCHAR", "true" if is_plain else "false")
        stood = self._stood(column.declared is None)
        self._do(f"CREATE OR REPLACE TEMP TABLE t AS SELECT {kind.key} AS v, sum(n)::BIGINT AS n FROM g WHERE NOT m GROUP BY 1")
        values, distinct = self._row("SELECT coalesce(sum(n), 0)::BIGINT, count(*) FROM t")
        measured = Measured(
            name=column.name,
            type=kind,
            declared=column.declared is not None,
            rows=self._source.rows,
            values=values,
            distinct=distinct,
            stood=stood,
            top=tuple(self._rows(f"SELECT {self._shown(kind)} AS s, n FROM t ORDER BY n DESC, v LIMIT {self._top}")),
        )
        if not values:
            return measured
        if kind.name in types.ORDERED:
            return self._ordered(measured)
        if kind.name == types.TEXT:
            least, greatest = self._row(f"SELECT left(min(v), {_CUT}), left(max(v), {_CUT}) FROM t")
            return replace(measured, least=least, greatest=greatest)
        return measured

    # What stands in the column

    def _group(self, column: SourceColumn, text: str, plain: str) -> None:
        """Table g: distinct values v, how each was written k, how often n, and whether it is missing m."""
        missing = f"list_contains($texts::VARCHAR[], {text}) OR ($empty AND {text} = '')"
        self._do(
            f"""CREATE OR REPLACE TEMP TABLE g AS SELECT v, k, n,
                    v IS NULL OR ({plain} AND coalesce({missing}, false)) AS m
                FROM (SELECT {column.value} AS v, ({column.kind})::VARCHAR AS k, count(*)::BIGINT AS n
                      FROM {self._source.relation} GROUP BY ALL)""",
            {"texts": list(self._missing.texts), "empty": self._missing.empty},
        )
        if column.declared is None and not self._missing.empty and self._source.nothing == "empty field":
            update = "UPDATE g SET v = '', m = list_contains($texts::VARCHAR[], '') WHERE v IS NULL"
            self._do(update, {"texts": list(self._missing.texts)})

    def _classes(self) -> dict[str, Class]:
        found = self._rows(
            f"""SELECT c, sum(n)::BIGINT, left(min(v), 41), max(length(regexp_extract(v, '^-?0*([0-9]*)', 1))),
                max(digits), min(digits)
                FROM (SELECT v, n, {types.CLASS_OF} AS c, length(regexp_extract(v, '[.]([0-9]*)', 1)) AS digits
                      FROM g WHERE NOT m) GROUP BY c"""
        )
        return {name: Class(*figures) for name, *figures in found}

    def _stood(self, textual: bool) -> tuple[Stood, ...]:
        """Everything in g that is missing, and what looks as if it were meant to be."""
        suspects = ", ".join(f"'{word}'" for word in SUSPECTS)
        looks = f"lower(trim(v)) IN ({suspects})" if textual else "false"
        query = f"""SELECT v IS NULL, k, left(v::VARCHAR, {_CUT}), sum(n)::BIGINT, m FROM g WHERE m OR {looks}
                    GROUP BY ALL ORDER BY m DESC, 4 DESC, 3 LIMIT {limits.PROFILE_STOOD_ROWS_MAX}"""
        found = [
            _stood(is_null, kind, text, rows, bool(m), self._source.nothing)
            for is_null, kind, text, rows, m in self._rows(query)
        ]
        (counted,) = self._row("SELECT coalesce(sum(n), 0)::BIGINT FROM g")
        if counted < self._source.rows:  # lines before the first that had any name
            found.append(Stood(self._source.nothing, "", self._source.rows - counted, True))
        merged: dict[tuple[str, str, bool], int] = {}
        for each in found:
            key = (each.form, each.text, each.missing)
            merged[key] = merged.get(key, 0) + each.rows
        return tuple(Stood(form, text, rows, missing) for (form, text, missing), rows in merged.items())

    def _shown(self, kind: Type) -> str:
        return "v" if kind.name in types.ORDERED else f"left(v, {_CUT})"

    # Numbers, dates and times

    def _ordered(self, measured: Measured) -> Measured:
        finite = "isfinite(v)" if measured.type.name == types.FLOAT else "true"
        self._do(f"CREATE OR REPLACE TEMP TABLE o AS SELECT v, n, sum(n) OVER (ORDER BY v) AS upto FROM t WHERE {finite}")
        count, least, greatest = self._row("SELECT coalesce(sum(n), 0)::BIGINT, min(v), max(v) FROM o")
        measured = replace(measured, finite=count, not_finite=measured.values - count)
        if not count:
            return measured
        measured = replace(
            measured,
            least=least,
            greatest=greatest,
            quantiles=self._quantiles(measured.type, count),
            bins=tuple(self._bins(measured.type, least, greatest)),
        )
        if measured.type.name not in types.NUMBERS:
            return measured
        mean, deviation = self._moments(measured.type, count)
        return replace(measured, mean=mean, deviation=deviation)

    def _moments(self, kind: Type, count: int) -> tuple[float | None, float | None]:
        """Mean and standard deviation; None where there is none or float64 cannot hold it."""
        if kind.name == types.INTEGER:
            mean = float(Fraction(self._row("SELECT sum(v::HUGEINT * n) FROM o")[0], count))
        else:
            mean = self._row("SELECT fsum(v::DOUBLE * n) FROM o")[0] / count
        if not math.isfinite(mean):
            return None, None
        if count < 2:
            return mean, None
        squares = self._row("SELECT fsum(n * (v::DOUBLE - $mean) * (v::DOUBLE - $mean)) FROM o", {"mean": mean})[0]
        deviation = math.sqrt(squares / (count - 1)) if math.isfinite(squares) else math.inf
        return mean, deviation if math.isfinite(deviation) else None

    def _quantiles(self, kind: Type, count: int) -> tuple[Any, ...]:
        if kind.name in types.MOMENTS:
            ranks = [max(0, math.ceil(share * count) - 1) for share in QUANTILES.values()]
            return tuple(self._at(ranks))
        positions = [share * (count - 1) for share in QUANTILES.values()]
        found = self._at([rank for position in positions for rank in (math.floor(position), math.ceil(position))])
        return tuple(
            _between(found[2 * i], found[2 * i + 1], position - math.floor(position)) for i, position in enumerate(positions)
        )

    def _at(self, ranks: Sequence[int]) -> list[Any]:
        """The values at these ranks, counted from 0 in their order."""
        return list(self._row("SELECT " + ", ".join(f"min(v) FILTER (upto > {rank})" for rank in ranks) + " FROM o"))

    def _bins(self, kind: Type, least: Any, greatest: Any) -> Iterator[Bin]:
        edges = _edges(kind, least, greatest)
        key = "v::DOUBLE" if isinstance(edges[0], float) else "v"
        last = len(edges) - 2
        sums = [
            f"coalesce(sum(n) FILTER ({key} >= $e{i} AND {key} {'<=' if i == last else '<'} $e{i + 1}), 0)::BIGINT"
            for i in range(last + 1)
        ]
        counts = self._row(f"SELECT {', '.join(sums)} FROM o", {f"e{i}": edge for i, edge in enumerate(edges)})
        return (Bin(edges[i], edges[i + 1], counts[i]) for i in range(last + 1))

    # Asking DuckDB

    def _do(self, query: str, values: Any = None) -> None:
        with self._stoppable():
            self._connection.execute(query, values)

    def _rows(self, query: str, values: Any = None) -> list[tuple[Any, ...]]:
        with self._stoppable():
            rows: list[tuple[Any, ...]] = self._connection.execute(query, values).fetchall()
        return rows

    def _row(self, query: str, values: Any = None) -> tuple[Any, ...]:
        return self._rows(query, values)[0]

    @contextmanager
    def _stoppable(self) -> Iterator[None]:
        """A stop interrupts the query that is under way."""
        self._context.check_stop()
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(LOOK_EVERY_S):
                if self._context.stopping:
                    self._connection.interrupt()

        watching = threading.Thread(target=watch, name="stop-watch", daemon=True)
        watching.start()
        try:
            yield
        except duckdb.InterruptException:
            self._context.check_stop()
            raise
        finally:
            ended.set()
            watching.join()


SUSPECTS = (
    "na", "n/a", "n.a.", "#n/a", "nan", "null", "none", "nil", "missing", "unknown", "-", "--", "?", ".", "\\n", "(null)",
)  # fmt: skip
_CUT = limits.PROFILE_TEXT_CHARS_MAX + 1


def _stood(is_null: bool, kind: str | None, text: str | None, rows: int, missing: bool, nothing: str) -> Stood:
    if is_null:
        return Stood("null" if kind == "null" else nothing, "", rows, missing)
    return Stood("text" if text else "empty text", text or "", rows, missing)


def _between(low: Any, high: Any, share: Fraction) -> Any:
    """`low` + `share` of the way to `high`: a Fraction, or a float between floats."""
    if isinstance(low, float):
        return low if low == high or not share else low + (high - low) * float(share)
    return Fraction(low) + (Fraction(high) - Fraction(low)) * share


def _edges(kind: Type, least: Any, greatest: Any) -> list[Any]:
    """The edges of the bins, one more than there are bins."""
    count = limits.PROFILE_BINS_MAX
    if least == greatest:
        return [least, greatest] if isinstance(least, int) else [float(least), float(greatest)]
    if isinstance(least, int):
        width = -(-(greatest - least + 1) // count)
        bins = -(-(greatest - least + 1) // width)
        return [*(least + width * i for i in range(bins)), least + width * bins]
    low, high = float(least), float(greatest)
    if low == high:
        return [low, high]
    inner = [low * (1 - i / count) + high * (i / count) for i in range(1, count)]
    return [*sorted({low, *(edge for edge in inner if low < edge < high)}), high]
