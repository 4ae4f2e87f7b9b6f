"""What is shown of a table, in words: how many of its rows, by which filter, in which order; and what was copied of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from actum.results import filtertext
from actum.results.query import Query

from actum_desktop import measures
from actum_desktop.i18n import _, ngettext
from actum_desktop.models.tablereader import Copied


def of_view(asked: Query, total: int, all_rows: int, described: Sequence[Mapping[str, Any]], hidden: int) -> list[str]:
    """`total` rows of `all_rows`; `described` = the table's columns, `hidden` = how many of them are not shown."""
    rows = measures.count(total)
    if asked.where is not None:
        parts = [_("{n} of {all} rows, exact").format(n=rows, all=measures.count(all_rows))]
        parts.append(filtertext.write(asked.where, described))
    else:
        parts = [_("all {rows} rows").format(rows=rows)]
    for place, item in enumerate(asked.order):
        words = _("sorted by {column}, largest first") if item.descending else _("sorted by {column}, smallest first")
        if place:
            words = _("then by {column}, largest first") if item.descending else _("then by {column}, smallest first")
        parts.append(words.format(column=item.column))
    if hidden:
        parts.append(ngettext("{n} column hidden", "{n} columns hidden", hidden).format(n=measures.count(hidden)))
    return parts


def of_copy(copied: Copied) -> str:
    rows = measures.count(copied.rows)
    if copied.left_out:
        return _("The first {n} rows copied; export the table for all").format(n=rows)
    return ngettext("{n} row copied", "{n} rows copied", copied.rows).format(n=rows)
