"""Verb `pack`: a published result as one file.

`{"package", "path", "overwrite", "published": of `tables.Published`|null}` → `{"path", "sha256", "size_bytes", "files",
"manifest_sha256"}`.
Errors: file_exists, result_damaged, disk_full, io_error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum.helpers.arguments import Arguments
from actum.results import digests, pack


def run(args: Mapping[str, Any], progress: digests.Progress) -> dict[str, Any]:
    given = Arguments(args, "package", "path", "overwrite", "published")
    overwrite, published = given.take("overwrite", bool), given.published()
    return pack.make(given.path("package"), given.path("path"), progress, overwrite=overwrite, published=published)
