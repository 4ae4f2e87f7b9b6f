"""Finding a text in a table: the next cell that holds it, and how many do; group by group (`rows`), in any case (§17).

What is looked through are the exact texts of `texts`; what was typed is first put into their form: grouped digits and the
true minus of numbers, the space within a time. A column whose texts cannot hold it (letters in numbers) is not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actum import limits
from actum.contracts.tables import REASON_SUFFIX
from actum.errors import WrongUse
from actum.results import columns, digests, texts
from actum.results.rows import open_rows
from actum.results.tablerows import Rows

if TYPE_CHECKING:
    import pyarrow as pa

Cell = tuple[int, int]  # row, place of the column
_LETTERS: Mapping[str, str] = {
    "integer": "-0123456789",
    "uint64": "0123456789",
    "decimal": "-.0123456789",
    "float64": "-+.0123456789einfa",
    "float": "-+.0123456789einfa",
    "double": "-+.0123456789einfa",
    "boolean": "truefals",
    "date": "-0123456789",
    "timestamp": "-:.0123456789tz",
}
_NUMBERS = ("integer", "uint64", "decimal", "float64", "float", "double")


def find(
    path: Path,
    text: str,
    names: Sequence[str],
    row: int,
    column: int,
    backward: bool,
    progress: digests.Progress = digests.no_progress,
) -> dict[str, Any]:
    """The next cell after (row, place of its column in `names`) that holds the text, going round at the end.

    `{"row", "column": name, "wrapped"}`, row None where no cell holds it. Raises WrongUse (bad_search, no_column).
    """
    with open_rows(path) as rows:
        looked = _Looked(rows, text, names)
        order = list(range(len(looked.starts) - 1))
        if not order:
            return {"row": None, "column": None, "wrapped": True}
        here = next((group for group in order if looked.starts[group + 1] > row), len(order) - 1)
        ahead = order[here:] + order[: here + 1]
        if backward:
            ahead = order[here::-1] + order[:here:-1] + order[here : here + 1]
        beyond = (looked.starts[-1], 0)
        for done, group in enumerate(ahead):
            progress(done, len(ahead), "groups")
            wrapped = done > (here if backward else len(order) - 1 - here)
            least, most = ((-1, 0), (row, column)) if backward else ((row, column), beyond)
            if wrapped:
                least, most = (-1, 0), beyond
            found = looked.best(group, least, most, backward)
            if found is not None:
                return {"row": found[0], "column": names[found[1]], "wrapped": wrapped}
    return {"row": None, "column": None, "wrapped": True}


def count(path: Path, text: str, names: Sequence[str], progress: digests.Progress = digests.no_progress) -> dict[str, Any]:
    """`{"cells": how many hold the text, "rows": how many rows were looked through}`; progress has the unit `found N`."""
    with open_rows(path) as rows:
        looked = _Looked(rows, text, names)
        total, found = looked.starts[-1], 0
        for group in range(len(looked.starts) - 1):
            progress(looked.starts[group], total, f"found {found}")
            found += looked.count(group)
        return {"cells": found, "rows": total}


class _Looked:
    """One table being looked through. `starts` = the first row of each group, and the end."""

    def __init__(self, rows: Rows, text: str, names: Sequence[str]) -> None:
        if not text or len(text) > limits.SEARCH_CHARS_MAX:
            raise WrongUse("bad_search", "A text to look for has some letters.", f"At most {limits.SEARCH_CHARS_MAX:,}.")
        self._rows = rows
        self.starts = rows.starts
        kinds = {str(item["name"]): str(item["type"]) for item in columns.describe(rows.schema)}
        for name in names:
            if name not in kinds:
                raise WrongUse("no_column", f"The table has no column “{name[:80]}”.")
        needles = [(place, name, needle(kinds[name], text)) for place, name in enumerate(names)]
        self._needles = [(place, name, wanted) for place, name, wanted in needles if wanted is not None]

    def best(self, group: int, least: Cell, most: Cell, backward: bool) -> Cell | None:
        """The first cell (row, place of the column) in the group between the two that holds the text; backward, the last."""
        import pyarrow.compute as pc

        best: Cell | None = None
        for place, name, wanted in self._needles:  # a column at a time, part by part: memory is that of one part
            for first, flags in self._flags(group, name, wanted):
                if (first, place) >= most or (best is not None and not backward and first > best[0]):
                    break
                found = [(first + at, place) for at in pc.indices_nonzero(flags).to_pylist()]
                found = [cell for cell in found if least < cell < most]
                if found and backward:
                    best = max(found[-1], best or found[-1])
                elif found:
                    best = min(found[0], best or found[0])
                    break
        return best

    def count(self, group: int) -> int:
        import pyarrow.compute as pc

        found = 0
        for _place, name, wanted in self._needles:
            found += sum(int(pc.sum(flags).as_py() or 0) for _first, flags in self._flags(group, name, wanted))
        return found

    def _flags(self, group: int, name: str, wanted: str) -> Iterator[tuple[int, pa.Array]]:
        """The first row of each part of a column, and which of its cells hold the text."""
        import pyarrow.compute as pc

        first = self.starts[group]
        for batch in self._rows.stream([name], [group]):
            told = texts.of_array(batch.column(0))
            flags = pc.match_substring(told, wanted, ignore_case=True)
            if name.endswith(REASON_SUFFIX) and " " in wanted:  # a reason is shown without its underscores
                flags = pc.or_(flags, pc.match_substring(told, wanted.replace(" ", "_"), ignore_case=True))
            yield first, flags
            first += batch.num_rows


def needle(kind: str, text: str) -> str | None:
    """What was typed, in the form of this type's texts; None where none of them can hold it."""
    wanted = text
    if kind in _NUMBERS:
        wanted = text.strip().replace("−", "-").replace(",", "")
    elif kind == "timestamp":
        wanted = text.strip().replace(" ", "T")
    letters = _LETTERS.get(kind)
    return None if letters is not None and (not wanted or set(wanted.lower()) - set(letters)) else wanted
