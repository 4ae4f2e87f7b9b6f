"""Verb `export`: one table, what a query leaves of it, or the metrics, of a published package into the user's folder (R14).

`{"package", "name", "format": csv|json|jsonl|parquet|arrow|xlsx, "profile": data|spreadsheet, "path", "overwrite": bool,
"existing": refuse|replace|keep_both|once, "options": {"query": of `results.query`}, "published": of `tables.Published`|null}`
→ `{"path", "sidecar", "sha256", "size_bytes", "rows", "compared_rows", "rule", "source_sha256", "exact", "losses", "parts",
"options", "instead": of `tables.Readable`}`. Errors: bad_format, bad_profile, bad_option, bad_query, bad_filter, no_folder,
is_folder, inside_package, no_columns, no_parquet_form, duplicate_column, no_sheet_form, too_wide, no_exact_view, no_table,
file_exists, result_damaged, export_differs, disk_full, io_error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum.helpers.arguments import Arguments
from actum.results import digests
from actum.results.export import export


def run(args: Mapping[str, Any], progress: digests.Progress) -> dict[str, Any]:
    given = Arguments(args, "package", "name", "format", "profile", "path", "overwrite", "existing", "options", "published")
    exported = export(
        given.path("package"),
        given.take("name", str),
        given.take("format", str),
        given.take("profile", str),
        given.path("path"),
        overwrite=given.optional("overwrite", bool) or False,
        existing=given.optional("existing", str),
        options=given.optional("options", dict),
        published=given.published(),
        progress=progress,
    )
    return exported.to_json()
