"""Verb `view`: a table filtered and sorted into a Parquet of its own, exact and whole.

`{"path": Parquet, "out": a file in the view's own folder, "filters": [{column, operator, value}], "order": {column,
descending}|null}` → `{"path", "rows", "of", "exact": true}`. Errors: no_column, bad_filter, bad_value, no_exact_view,
query_failed, io_error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum.helpers.arguments import Arguments, refused
from actum.results import digests, view
from actum.results.query import Filter, Order


def run(args: Mapping[str, Any], progress: digests.Progress) -> dict[str, Any]:
    given = Arguments(args, "path", "out", "filters", "order")
    try:
        filters = [
            Filter(str(item["column"]), str(item["operator"]), item.get("value")) for item in given.take("filters", list)
        ]
        said = given.optional("order", dict)
        order = None if said is None else Order(str(said["column"]), bool(said.get("descending")))
    except (KeyError, TypeError, AttributeError) as error:
        raise refused(f"A filter or the order is not complete: {error}.") from error
    return view.make(given.path("path"), given.path("out"), filters, order, progress)
