"""Verb `losses`: what the Spreadsheet profile would not keep of a table, by column, before anything is written.

`{"package", "name"}` → `{"rows", "losses": [{column|null, code, count}]}`. Errors: no_table, no_text_form, result_damaged,
io_error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum.helpers.arguments import Arguments
from actum.results import digests
from actum.results.export import preview


def run(args: Mapping[str, Any], progress: digests.Progress) -> dict[str, Any]:
    given = Arguments(args, "package", "name")
    return preview(given.path("package"), given.take("name", str), progress)
