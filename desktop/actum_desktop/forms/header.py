"""The column names of a table file, read from its head: a CSV's first line, the first object of JSON lines, a Parquet's schema.

Read away from the GUI thread, at most HEAD_BYTES_MAX of text.
"""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path

from actum import limits
from actum.ipc import regular


def columns(path: str, base: Path) -> list[str]:
    """The names, in their order; none where the file has no head that could be read. Raises OSError."""
    full = os.path.abspath(os.path.join(base, os.path.expanduser(path)))
    if full.lower().endswith((".parquet", ".pq")):
        return _parquet(full)
    head = regular.content(full, limits.HEAD_BYTES_MAX, follow=True).decode("utf-8-sig", "replace")
    first, newline, _rest = head.partition("\n")
    if full.lower().endswith((".jsonl", ".ndjson", ".json")):
        return _json(first)
    if not newline and len(head) >= limits.HEAD_BYTES_MAX:
        return []
    separator = "\t" if full.lower().endswith(".tsv") else max(",;\t|", key=first.count)
    try:
        return next(csv.reader(io.StringIO(head), delimiter=separator), [])
    except csv.Error:
        return []


def _json(line: str) -> list[str]:
    try:
        row = json.loads(line)
    except ValueError:
        return []
    return list(row) if isinstance(row, dict) else []


def _parquet(path: str) -> list[str]:
    from pyarrow import ArrowException, parquet

    try:
        with regular.reading(path, follow=True) as stream:
            return list(parquet.read_schema(stream).names)
    except ArrowException:
        return []
