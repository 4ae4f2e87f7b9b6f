"""Reads published results away from the GUI thread: the list from the store, one result from the store and its package.

One thread with a read-only connection of its own. Metrics and tables are those of the published manifest (R13), not of the
store; what cannot be read is said in words. A question is (`page`, before) or (`result`, run); each is answered once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from actum.errors import ActumError, StorageFailed
from actum.limits import RESULT_LIST_PAGE_ROWS
from actum.results.tables import Published, Readable
from actum.workspace import Workspace
from PySide6.QtCore import QObject, Signal, Slot

from actum_desktop import tasktexts
from actum_desktop.models.storethread import Latest, StoreThread


@dataclass(frozen=True, slots=True)
class ResultPage:
    """Results of runs below `before`, newest first (`store.resultlists.ResultListRow`). `more` = there may be others."""

    before: int | None
    rows: Sequence[Any] = ()
    more: bool = False
    error: ActumError | None = None


@dataclass(frozen=True, slots=True)
class ResultSeen:
    """One result. `show` = the document of `show`; `package` None where there is no result. `readings` = the files of its
    tables by name; `published` = what is on record of it.

    `files` = output files of the work: {name, size}. `unreadable` = why the package cannot be read now.
    """

    run: int
    title: str = ""
    show: Mapping[str, Any] = field(default_factory=dict)
    package: Path | None = None
    metrics: Sequence[Mapping[str, Any]] = ()
    declared: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tables: Sequence[Mapping[str, Any]] = ()
    readings: Mapping[str, Readable] = field(default_factory=dict)
    files: Sequence[Mapping[str, Any]] = ()
    notes: Sequence[str] = ()
    published: Published | None = None
    unreadable: ActumError | None = None
    error: ActumError | None = None


class ResultReader(StoreThread):
    """Signals: `page` (ResultPage), `seen` (ResultSeen), in the thread of its owner."""

    page = Signal(object)
    seen = Signal(object)
    _looked = Signal(object)

    def __init__(self, ws: Workspace, parent: QObject | None = None, meanwhile: Callable[[], None] | None = None) -> None:
        """`meanwhile` is done in the thread once, after its first answer."""
        super().__init__(ws, parent)
        self._meanwhile = meanwhile
        self._latest: Latest[int] = Latest(lambda run: self.start(partial(self._read, run)))
        self._looked.connect(self._on_looked)

    def ask_page(self, before: int | None) -> None:
        self.start(partial(self._read_page, before))
        self._do_meanwhile()

    def ask(self, run: int) -> None:
        """Look at one result; of several asked for meanwhile only the last is looked at."""
        self._latest.ask(run)
        self._do_meanwhile()

    def _do_meanwhile(self) -> None:
        meanwhile, self._meanwhile = self._meanwhile, None
        if meanwhile is not None:
            self.start(meanwhile)

    @Slot(object)
    def _on_looked(self, seen: ResultSeen) -> None:
        self.seen.emit(seen)
        self._latest.done()

    # ---- in the pool's thread

    def _read_page(self, before: int | None) -> None:
        from actum.store import resultlists

        try:
            rows = resultlists.page(self.store().connection, before, RESULT_LIST_PAGE_ROWS)
            self.page.emit(ResultPage(before, rows, len(rows) == RESULT_LIST_PAGE_ROWS))
        except ActumError as error:
            self.page.emit(ResultPage(before, error=error))

    def _read(self, run: int) -> None:
        from actum.store.show import show_document

        try:
            reader = self.store()
            show = show_document(reader, self._ws, run)
            contract = reader.run(run).contract
            row = reader.result(run)
        except ActumError as error:
            self._looked.emit(ResultSeen(run, error=error))
            return
        title = tasktexts.title(contract, str(show["task"]))
        result = show.get("result")
        if not result or row is None:
            self._looked.emit(ResultSeen(run, title, show))
            return
        declared = {str(item["name"]): item for item in tasktexts.shown(contract).get("metrics") or ()}
        seen = ResultSeen(run, title, show, Path(result["path"]), declared=declared)
        found = _of_package(seen, row.published)
        metrics = [tasktexts.metric(contract, metric) for metric in found.metrics]
        self._looked.emit(replace(found, metrics=metrics, notes=[tasktexts.note(contract, each) for each in found.notes]))


def _of_package(seen: ResultSeen, published: Published) -> ResultSeen:
    """What the published manifest says; where it cannot be believed, what the store has kept of it, and why."""
    from actum.results import browse, manifest
    from actum.results import tables as stored

    package = seen.package
    assert package is not None, "there is a result"
    try:
        document, _digest = stored.read_manifest(package, published)
        metrics = browse.metrics(package)
        tables = browse.tables(package, published)
        readings = {str(table["name"]): stored.readable(package, str(table["name"]), published) for table in tables}
        notes = [str(note) for note in manifest.read_result(package)["notes"]]
    except manifest.NotAPackage as error:
        unreadable: ActumError = ActumError("result_damaged", "The package cannot be read.", f"{error}.")
    except ActumError as error:
        unreadable = error
    except OSError as error:
        unreadable = StorageFailed("reading the package", error)
    else:
        roles = ("output", "link")
        files = [{"name": item["name"], "size": item["size"]} for item in document["files"] if item["role"] in roles]
        found = replace(seen, metrics=metrics, tables=tables, readings=readings, files=files, notes=notes)
        return replace(found, published=published)
    return replace(seen, metrics=seen.show["result"]["metrics"], unreadable=unreadable)
