"""The statistics of one column: counts, order, spread, shape, and why values are missing; exact, or a sample (R15).

Everything but the mean is a value of the column or counted; quartiles of floats are interpolated, those of decimals and
integers are values that occur. Floats that are not numbers or not finite are counted and left out of the measures. Texts
of values are those of the Data profile.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from actum import limits
from actum.contracts.tables import REASON_SUFFIX
from actum.results import digests, query
from actum.results.query import quoted

BINS = 24
_MEASURED = ("integer", "decimal", "float64", "date", "timestamp")
_NUMBERS = ("integer", "decimal", "float64")
_REASONS_SHOWN = 6


def of_column(path: Path, name: str, progress: digests.Progress = digests.no_progress) -> dict[str, Any]:
    """Raises WrongUse(no_column), ActumError(query_failed).

    `{column, type, precision, scale, unit, rows, sample (rows taken | None), values, missing, not_finite, distinct,
    distinct_exact, reasons [{reason, rows, first}], minimum, lower, median, upper, maximum, mean, histogram {from, to,
    counts}, top [{value, rows}]}`.
    """
    table = query.Table(path)
    kind = table.kind(name)
    told = next(item for item in table.described if item["name"] == name)
    taken, sample = query.sampled(table, limits.STATISTICS_ROWS_MAX)
    source = f"(SELECT {quoted(name)} AS v FROM {table.source} WHERE {taken})"
    companions = [each for each in (name + REASON_SUFFIX,) if each in table.kinds]
    with query.connected(path, None, progress, [name, *companions]) as connection:
        asked = _Asked(connection, query.pattern(path), source, kind)
        found: dict[str, Any] = {"column": name, "type": kind, "rows": table.rows, "sample": sample}
        found |= {key: told[key] for key in ("precision", "scale", "unit")}
        found |= asked.counts(sample or table.rows)
        found["reasons"] = _reasons(connection, table, name, taken) if found["missing"] else []
        found |= asked.measures() if kind in _MEASURED else {}
        found["top"] = asked.top() if kind in ("text", "boolean") else []
    return found


class _Asked:
    def __init__(self, connection: Any, path: str, source: str, kind: str) -> None:
        self._connection, self._path, self._source, self._kind = connection, path, source, kind

    def _one(self, what: str, where: str = "TRUE") -> tuple[Any, ...]:
        return query.one(self._connection, f"SELECT {what} FROM {self._source} WHERE {where}", [self._path])

    def counts(self, rows: int) -> dict[str, Any]:
        exact = rows <= limits.STATISTICS_DISTINCT_ROWS_MAX
        distinct = "count(DISTINCT v)" if exact else "approx_count_distinct(v)"
        odd = "count(*) FILTER (v IS NOT NULL AND NOT isfinite(v))" if self._kind == "float64" else "0"
        values, all_rows, different, not_finite = self._one(f"count(v), count(*), {distinct}, {odd}")
        return {
            "values": values,
            "missing": all_rows - values,
            "not_finite": not_finite,
            "distinct": min(different, values),
            "distinct_exact": exact,
        }

    def measures(self) -> dict[str, Any]:
        measurable = query.finite(self._kind, "v")
        quantile = "quantile_cont" if self._kind == "float64" else "quantile_disc"
        mean = "CAST(avg(v) AS VARCHAR)" if self._kind in _NUMBERS else "NULL"
        quartiles = f"CAST({quantile}(v, [0.25, 0.5, 0.75]) AS VARCHAR[])"  # one state for all three: it keeps every value
        number = query.as_number(self._kind, "v")
        what = f"CAST(min(v) AS VARCHAR), {quartiles}, CAST(max(v) AS VARCHAR), {mean}, min({number}), max({number})"
        least, middle, most, average, low, high = self._one(what, measurable)
        row = (least, *(middle or (None, None, None)), most, average)
        names = ("minimum", "lower", "median", "upper", "maximum", "mean")
        found: dict[str, Any] = {name: _plain(self._kind, text) for name, text in zip(names, row, strict=True)}
        found["histogram"] = None if low is None else self._histogram(low, high, number, measurable)
        return found

    def _histogram(self, low: float, high: float, number: str, measurable: str) -> dict[str, Any]:
        return histogram(self._connection, self._path, f"{self._source} WHERE {measurable}", number, low, high, BINS)

    def top(self) -> list[dict[str, Any]]:
        sql = (
            f"SELECT CAST(v AS VARCHAR), count(*) AS n FROM {self._source} WHERE v IS NOT NULL "
            f"GROUP BY v ORDER BY n DESC, v LIMIT {limits.STATISTICS_TOP_ROWS}"
        )
        rows = self._connection.execute(sql, [self._path]).fetchall()
        return [{"value": value[: limits.CELL_SHOWN_CHARS_MAX], "rows": count} for value, count in rows]


def histogram(connection: Any, path: str, source: str, number: str, low: float, high: float, bins: int) -> dict[str, Any]:
    """Counts in `bins` equal steps from `low` to `high`; the last holds its upper end. `source` = a table and its condition."""
    if high <= low:
        counts = [0] * bins
        counts[0] = query.one(connection, f"SELECT count(*) FROM {source}", [path])[0]
        return {"from": low, "to": high, "counts": counts}
    place = f"least({bins - 1}, CAST(floor(({number} / $4 - $2 / $4) / ($3 / $4 - $2 / $4) * {bins}) AS INTEGER))"
    scale = max(abs(low), abs(high), 1.0)  # so that the width of the widest range is still a number
    rows = connection.execute(f"SELECT {place} AS b, count(*) FROM {source} GROUP BY b", [path, low, high, scale]).fetchall()
    counts = [0] * bins
    for bin_number, count in rows:
        counts[max(0, bin_number)] += count
    return {"from": low, "to": high, "counts": counts}


def _reasons(connection: Any, table: query.Table, name: str, taken: str) -> list[dict[str, Any]]:
    """Why values are missing, most frequent first; a null without a recorded reason has the reason None."""
    companion = name + REASON_SUFFIX
    reason = quoted(companion) if table.kinds.get(companion) == "text" else "NULL"
    sql = (
        f"SELECT {reason} AS r, count(*) AS n, min({table.row}) FROM {table.source} "
        f"WHERE {quoted(name)} IS NULL AND {taken} GROUP BY r ORDER BY n DESC, r LIMIT {_REASONS_SHOWN}"
    )
    rows = connection.execute(sql, [query.pattern(table.path)]).fetchall()
    return [{"reason": why, "rows": count, "first": first} for why, count, first in rows]


def _plain(kind: str, text: str | None) -> str | None:
    """DuckDB's text of a time in the form of ISO 8601."""
    if text is None or kind != "timestamp":
        return text
    return text.replace(" ", "T", 1).removesuffix("+00") + "Z"
