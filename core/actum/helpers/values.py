"""Verb `values`: the values of a column, the most frequent first.

`{"path": Parquet, "column"}` → `valuecounts.of_column`. Errors: no_column, query_failed, io_error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum.helpers.arguments import Arguments
from actum.results import digests, valuecounts


def run(args: Mapping[str, Any], progress: digests.Progress) -> dict[str, Any]:
    given = Arguments(args, "path", "column")
    return valuecounts.of_column(given.path("path"), given.take("column", str), progress)
