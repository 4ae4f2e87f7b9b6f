"""Verb `view`: a table filtered and sorted into a Parquet of its own, exact and whole.

`{"path": Parquet, "out": a file in the view's own folder, "query": the JSON of `query.Query`}` → `{"path", "rows", "of",
"exact": true}`. Errors: no_column, bad_query, bad_filter, bad_value, no_exact_view, query_failed, io_error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum.helpers.arguments import Arguments
from actum.results import digests, view
from actum.results.query import Query


def run(args: Mapping[str, Any], progress: digests.Progress) -> dict[str, Any]:
    given = Arguments(args, "path", "out", "query")
    return view.make(given.path("path"), given.path("out"), Query.from_json(given.take("query", dict)), progress)
