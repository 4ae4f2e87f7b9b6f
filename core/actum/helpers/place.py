"""Verb `place`: where a row of the published table stands in a view of it.

`{"path": Parquet, "row": counted from 0}` → `{"place": counted from 0, or null where the view leaves it out}`. Errors:
query_failed, io_error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum.helpers.arguments import Arguments
from actum.results import digests, view


def run(args: Mapping[str, Any], progress: digests.Progress) -> dict[str, Any]:
    given = Arguments(args, "path", "row")
    return {"place": view.place(given.path("path"), given.take("row", int), progress)}
