"""What a plot of a table is drawn from: few points, taken honestly, with words for how (§17).

A line of more than PLOT_POINTS_MAX rows becomes steps of equal width along x, each with its least and its greatest value,
so that no peak is lost. Scattered points beyond SCATTER_POINTS_MAX are a sample, the same each time. A histogram counts all.
Boxes are quartiles of all values, interpolated (of n values v, sorted: at (n − 1)·q), with whiskers to the least and the
greatest; along a column of texts there is one for each of the PLOT_GROUPS_MAX most frequent.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from actum import limits
from actum.errors import WrongUse
from actum.results import digests, query
from actum.results.query import quoted
from actum.results.statistics import histogram

KINDS = ("line", "scatter", "histogram", "box")
BINS = 40
_DRAWN = ("integer", "decimal", "float64", "date", "timestamp")
_GROUPS = ("text", "boolean")


def plot(path: Path, kind: str, x: str | None, y: str, progress: digests.Progress = digests.no_progress) -> dict[str, Any]:
    """`{kind, x_time, y_time, rows, without, how: all|steps|sample, points, x: […], y: […]}`; a histogram has `counts` for y.

    `x` None = the row's number. `rows` = rows with both values, `without` = those left out. Of boxes, `x` names a column of
    texts (None = one box of all), and `boxes: [{group, rows, low, lower, median, upper, high}]` and `groups` (how many there
    are) stand in place of x and y. Raises WrongUse, ActumError.
    """
    table = query.Table(path)
    if kind not in KINDS:
        raise WrongUse("bad_plot", f"There is no plot “{kind[:40]}”.", f"Known: {', '.join(KINDS)}.")
    for name, drawn in ((y, _DRAWN), (x, _GROUPS if kind == "box" else _DRAWN)):
        if name is not None and table.kind(name) not in drawn:
            raise WrongUse("bad_plot", f"“{name}” has no values that can be drawn.", f"Its type is {table.kind(name)}.")
    if kind == "box":
        return _boxes(table, x, y, progress)
    y_kind = table.kind(y)
    x_kind = "integer" if x is None else table.kind(x)
    x_sql = f"CAST({table.row} + 1 AS DOUBLE)" if x is None else query.as_number(x_kind, quoted(x))
    measurable = query.finite(y_kind, quoted(y))
    if x is not None:
        measurable += f" AND {query.finite(x_kind, quoted(x))}"
    source = (
        f"(SELECT {x_sql} AS x, {query.as_number(y_kind, quoted(y))} AS y, file_row_number AS r "
        f"FROM {table.source} WHERE {measurable})"
    )
    with query.connected(path, None, progress, [name for name in (x, y) if name is not None]) as connection:
        head = f"SELECT count(*), min(x), max(x), min(y), max(y) FROM {source}"
        rows, x_low, x_high, y_low, y_high = query.one(connection, head, [query.pattern(path)])
        found = {"kind": kind, "x_time": _time(x_kind), "y_time": _time(y_kind), "rows": rows, "without": table.rows - rows}
        if not rows:
            return found | {"how": "all", "points": 0, "x": [], "y": []}
        if kind == "histogram":
            made = histogram(connection, query.pattern(path), source, "y", y_low, y_high, BINS)
            step = (y_high - y_low) / BINS or 1.0
            edges = [y_low + step * place for place in range(BINS)] + [y_high if y_high > y_low else y_low + BINS]
            return found | {"how": "all", "points": rows, "x": edges, "y": made["counts"], "x_time": _time(y_kind)}
        draw = _scatter if kind == "scatter" else _line
        return found | draw(connection, query.pattern(path), source, rows, x_low, x_high)


def _boxes(table: query.Table, group: str | None, y: str, progress: digests.Progress) -> dict[str, Any]:
    kind = table.kind(y)
    named = "''" if group is None else f"CAST({quoted(group)} AS VARCHAR)"
    given = "" if group is None else f" AND {quoted(group)} IS NOT NULL"
    source = (
        f"(SELECT {named} AS g, {query.as_number(kind, quoted(y))} AS y FROM {table.source} "
        f"WHERE {query.finite(kind, quoted(y))}{given})"
    )
    measures = "count(*) AS n, min(y), quantile_cont(y, [0.25, 0.5, 0.75]), max(y)"
    with query.connected(table.path, None, progress, [name for name in (group, y) if name is not None]) as connection:
        rows, groups = query.one(connection, f"SELECT count(*), count(DISTINCT g) FROM {source}", [query.pattern(table.path)])
        sql = f"SELECT g, {measures} FROM {source} GROUP BY g ORDER BY n DESC, g LIMIT {limits.PLOT_GROUPS_MAX}"
        taken = connection.execute(sql, [query.pattern(table.path)]).fetchall()
    boxes = [
        {
            "group": name[: limits.CELL_SHOWN_CHARS_MAX],
            "rows": count,
            "low": low,
            "lower": quartiles[0],
            "median": quartiles[1],
            "upper": quartiles[2],
            "high": high,
        }
        for name, count, low, quartiles, high in taken
    ]
    found = {"kind": "box", "x_time": False, "y_time": _time(kind), "rows": rows, "without": table.rows - rows}
    return found | {"how": "all", "points": len(boxes), "groups": groups, "boxes": boxes, "x": [], "y": []}


def _time(kind: str) -> bool:
    return kind in ("date", "timestamp")


def _scatter(connection: Any, path: str, source: str, rows: int, _low: float, _high: float) -> dict[str, Any]:
    most = limits.SCATTER_POINTS_MAX
    choice = f" ORDER BY hash(r) LIMIT {most}" if rows > most else ""
    taken = connection.execute(f"SELECT x, y FROM {source}{choice}", [path]).fetchall()
    return _points(taken, "sample" if rows > most else "all")


def _line(connection: Any, path: str, source: str, rows: int, low: float, high: float) -> dict[str, Any]:
    if rows <= limits.PLOT_POINTS_MAX:
        return _points(connection.execute(f"SELECT x, y FROM {source} ORDER BY x, r", [path]).fetchall(), "all")
    steps = limits.PLOT_POINTS_MAX // 2
    wide = (high - low) / steps or 1.0
    sql = (
        f"SELECT least({steps - 1}, CAST(floor((x - $2) / $3) AS INTEGER)) AS b, arg_min(x, y), min(y), arg_max(x, y), max(y) "
        f"FROM {source} GROUP BY b ORDER BY b"
    )
    taken: list[tuple[float, float]] = []
    for _step, x_least, least, x_most, most in connection.execute(sql, [path, low, wide]).fetchall():
        taken += sorted([(x_least, least), (x_most, most)]) if least != most else [(x_least, least)]
    return _points(taken, "steps")


def _points(taken: list[tuple[float, float]], how: str) -> dict[str, Any]:
    return {"how": how, "points": len(taken), "x": [x for x, _ in taken], "y": [y for _, y in taken]}
