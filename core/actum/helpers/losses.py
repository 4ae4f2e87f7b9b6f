"""Verb `losses`: what each export of a table, or of what a query leaves of it, would be, before anything is written.

`{"package", "name", "query": of `results.query`|null, "published": of `tables.Published`|null}` → `{"rows", "of", "losses":
{csv|xlsx: [{column|null, code, count, lossy}]}, "refused": {format: why}, "bytes_about": {format: n}}`.
Errors: no_table, bad_query, bad_filter,
no_exact_view, result_damaged, io_error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum.helpers.arguments import Arguments
from actum.results import digests
from actum.results.export import preview


def run(args: Mapping[str, Any], progress: digests.Progress) -> dict[str, Any]:
    given = Arguments(args, "package", "name", "query", "published")
    query, published = given.optional("query", dict), given.published()
    return preview(given.path("package"), given.take("name", str), progress, query, published)
