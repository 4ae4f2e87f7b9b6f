"""Verb `hits`: how many cells of a table hold a text; progress says how many so far (`found N`).

`{"path": Parquet, "text", "columns": [names]}` → `search.count`. Errors: no_column, bad_search, io_error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum.helpers.arguments import Arguments
from actum.results import digests, search


def run(args: Mapping[str, Any], progress: digests.Progress) -> dict[str, Any]:
    given = Arguments(args, "path", "text", "columns")
    names = [str(name) for name in given.take("columns", list)]
    return search.count(given.path("path"), given.take("text", str), names, progress)
