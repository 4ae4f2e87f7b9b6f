"""Reads several runs for the compare page, away from the GUI thread: the comparison, and which tables they have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from actum.errors import ActumError
from actum.results.comparison import Comparison, Subject, compare, subject
from actum.results.tables import Published
from actum.workspace import Workspace
from PySide6.QtCore import QObject, Signal, Slot

from actum_desktop import tasktexts
from actum_desktop.models.storethread import Latest, StoreThread

DRAWN = frozenset({"integer", "decimal", "float64", "date", "timestamp"})


@dataclass(frozen=True, slots=True)
class Head:
    """One run above its column. `at` = when it ended (RFC 3339), or was admitted."""

    run: int
    title: str
    at: str


@dataclass(frozen=True, slots=True)
class Shared:
    """A table that at least two of the runs have: the columns of all of them that can be drawn, name → (type, unit)."""

    name: str
    columns: Mapping[str, tuple[str, str | None]]
    paths: Mapping[int, Path]


@dataclass(frozen=True, slots=True)
class Compared:
    """Exactly one of `comparison` and `error`."""

    runs: tuple[int, ...]
    heads: tuple[Head, ...] = ()
    comparison: Comparison | None = None
    tables: tuple[Shared, ...] = field(default=())
    error: ActumError | None = None


class CompareReader(StoreThread):
    """Signal: `compared` (Compared), in the thread of its owner."""

    compared = Signal(object)
    _looked = Signal(object)

    def __init__(self, ws: Workspace, parent: QObject | None = None) -> None:
        super().__init__(ws, parent)
        self._latest: Latest[tuple[int, ...]] = Latest(lambda runs: self.start(partial(self._read, runs)))
        self._looked.connect(self._on_looked)

    def ask(self, runs: Sequence[int]) -> None:
        """The first is what the others are compared with."""
        self._latest.ask(tuple(runs))

    @Slot(object)
    def _on_looked(self, compared: Compared) -> None:
        self.compared.emit(compared)
        self._latest.done()

    # ---- in the pool's thread

    def _read(self, runs: tuple[int, ...]) -> None:
        from actum.store.show import show_document

        try:
            reader = self.store()
            subjects, heads, published = [], [], {}
            for run in runs:
                show, contract = show_document(reader, self._ws, run), reader.run(run).contract
                subjects.append(_worded(show, contract))
                if (row := reader.result(run)) is not None:
                    published[run] = row.published
                heads.append(Head(run, subjects[-1].title, str(show["finished_at"] or show["created_at"])))
            found = compare(subjects)
        except ActumError as error:
            self._looked.emit(Compared(runs, error=error))
            return
        self._looked.emit(Compared(runs, tuple(heads), found, shared_tables(subjects, published)))


def _worded(show: Mapping[str, Any], contract: Mapping[str, Any]) -> Subject:
    """Names in the language of the window, where the task is one that comes with Actum."""
    result = show.get("result")
    if result:
        show = {**show, "result": {**result, "metrics": [tasktexts.metric(contract, m) for m in result["metrics"]]}}
    worded = subject(show, tasktexts.shown(contract))
    return replace(worded, title=tasktexts.title(contract, str(show["task"])))


def shared_tables(subjects: Sequence[Subject], published: Mapping[int, Published]) -> tuple[Shared, ...]:
    """Tables by name, in the order of the first run that has them; a package that cannot be believed has none."""
    from actum.results import browse
    from actum.results import manifest as manifests
    from actum.results import tables as stored

    found: dict[str, list[tuple[int, Path, dict[str, tuple[str, str | None]]]]] = {}
    for each in subjects:
        result = each.show.get("result")
        if not result:
            continue
        package, known = Path(result["path"]), published.get(each.run)
        try:
            for table in browse.tables(package, known):
                columns = {
                    str(c["name"]): (str(c["type"]), c.get("unit")) for c in table["columns"] or () if c["type"] in DRAWN
                }
                name = str(table["name"])
                found.setdefault(name, []).append((each.run, stored.readable(package, name, known).path, columns))
        except (ActumError, OSError, manifests.NotAPackage):
            continue
    shared = []
    for name, held in found.items():
        columns = {n: about for n, about in held[0][2].items() if all(c.get(n, ("",))[0] == about[0] for _, _, c in held)}
        if len(held) > 1 and columns:
            shared.append(Shared(name, columns, {run: path for run, path, _columns in held}))
    return tuple(shared)
