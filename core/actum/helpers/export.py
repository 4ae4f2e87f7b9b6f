"""Verb `export`: one table, or the metrics, of a published package into the user's folder (R14).

`{"package", "name", "format": csv|json|parquet, "profile": data|spreadsheet, "path", "overwrite": bool, "options": {}}` →
`{"path", "sidecar", "sha256", "size_bytes", "rows", "compared_rows", "rule", "source_sha256"}`. Errors: bad_format,
bad_profile, bad_option, no_folder, is_folder, inside_package, no_text_form, no_table, file_exists, result_damaged,
export_differs, disk_full, io_error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum.helpers.arguments import Arguments
from actum.results import digests
from actum.results.export import export


def run(args: Mapping[str, Any], progress: digests.Progress) -> dict[str, Any]:
    given = Arguments(args, "package", "name", "format", "profile", "path", "overwrite", "options")
    exported = export(
        given.path("package"),
        given.take("name", str),
        given.take("format", str),
        given.take("profile", str),
        given.path("path"),
        overwrite=given.optional("overwrite", bool) or False,
        options=given.optional("options", dict),
        progress=progress,
    )
    return exported.to_json()
