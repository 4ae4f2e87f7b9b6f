"""Verb `plot`: the points of a line, a scatter, a histogram or boxes of a table, few and taken honestly.

`{"path": Parquet, "kind": line|scatter|histogram|box, "x": column|null, "y": column}` → `plotdata.plot`. Errors: no_column,
bad_plot, query_failed, io_error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum.helpers.arguments import Arguments
from actum.results import digests, plotdata


def run(args: Mapping[str, Any], progress: digests.Progress) -> dict[str, Any]:
    given = Arguments(args, "path", "kind", "x", "y")
    kind, x, y = given.take("kind", str), given.optional("x", str), given.take("y", str)
    return plotdata.plot(given.path("path"), kind, x, y, progress)
