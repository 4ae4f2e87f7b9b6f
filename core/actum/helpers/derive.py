"""Verb `derive`: the derived tables of a sealed package (R14).

`{"package", "out"}` (absolute; out = `<package>/.derive-<epoch>-<n>`) → `{"derived": derived.json, "derived_sha256"}`.
Errors: contract_invalid (a table does not fit its schema), result_rejected, disk_full, io_error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum.helpers.arguments import Arguments
from actum.results import digests
from actum.results.derive import derive


def run(args: Mapping[str, Any], progress: digests.Progress) -> dict[str, Any]:
    given = Arguments(args, "package", "out")
    return derive(given.path("package"), given.path("out"), progress)
