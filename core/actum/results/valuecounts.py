"""How often each value of a column occurs, the most frequent first; counted over all rows, or over a sample and said (R15)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from actum import limits
from actum.results import digests, query, texts
from actum.results.query import quoted


def of_column(path: Path, name: str, progress: digests.Progress = digests.no_progress) -> dict[str, Any]:
    """Raises WrongUse(no_column), ActumError(query_failed).

    `{column, type, rows, sample (rows taken | None), values [{value: text | None, rows}], others {values, rows}}`. Equal
    counts stand in the order of the values; at most VALUE_COUNTS_ROWS are listed, the others are summed up.
    """
    table = query.Table(path)
    kind = table.kind(name)
    taken, sample = query.sampled(table, limits.STATISTICS_ROWS_MAX)
    most = limits.VALUE_COUNTS_ROWS
    counting = (
        f"CREATE TEMP TABLE counted AS SELECT {quoted(name)} AS v, count(*) AS n FROM {table.source} WHERE {taken} GROUP BY v"
    )
    with _scratch() as folder, query.connected(path, folder, progress, [name]) as connection:
        connection.execute(counting, [query.pattern(path)])
        found = connection.sql(f"SELECT v, n FROM counted ORDER BY n DESC, v LIMIT {most}").to_arrow_table()
        different, rows = query.one(connection, "SELECT count(*), CAST(coalesce(sum(n), 0) AS BIGINT) FROM counted", [])
    told = texts.of_array(found.column("v").combine_chunks()).to_pylist()
    counts = found.column("n").to_pylist()
    listed = [
        {"value": None if text is None else text[: limits.CELL_SHOWN_CHARS_MAX], "rows": count}
        for text, count in zip(told, counts, strict=True)
    ]
    others = {"values": different - len(listed), "rows": rows - sum(counts)}
    return {"column": name, "type": kind, "rows": table.rows, "sample": sample, "values": listed, "others": others}


@contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="actum-values-") as folder:
        yield Path(folder)
