"""Verb `find`: the next cell of a table that holds a text.

`{"path": Parquet, "text", "columns": [names], "row", "column": place in columns, "backward": bool}` → `search.find`. Errors:
no_column, bad_search, io_error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum.helpers.arguments import Arguments
from actum.results import digests, search


def run(args: Mapping[str, Any], progress: digests.Progress) -> dict[str, Any]:
    given = Arguments(args, "path", "text", "columns", "row", "column", "backward")
    names = [str(name) for name in given.take("columns", list)]
    row, column, backward = given.take("row", int), given.take("column", int), given.take("backward", bool)
    return search.find(given.path("path"), given.take("text", str), names, row, column, backward, progress)
