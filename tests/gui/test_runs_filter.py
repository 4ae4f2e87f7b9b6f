"""Runs that hold a text are looked for beside the GUI thread; what changes meanwhile is not lost (R02, R11)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from actum import limits
from actum.workspace import Workspace, create_folders
from actum_desktop.models.runsmodel import RunsModel
from actum_desktop.models.storesource import StoreSource
from actum_desktop.theme import Theme
from actum_desktop.views.ink import Ink
from actum_desktop.views.runsview import RunsView
from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers import seed

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")  # offscreen says it of every window

RUNS = 3 * limits.RUN_LIST_PAGE_ROWS  # of two tasks in turn: each text finds more than one page


@pytest.fixture
def model(qapp: QApplication, tmp_path: Path) -> Iterator[RunsModel]:
    ws = Workspace(tmp_path / "ws")
    create_folders(ws)
    seed.fill(ws, RUNS)
    source = StoreSource(ws)
    made = RunsModel(source, None, ws)
    made.reload()
    yield made
    made.rest()
    source.close()
    made.deleteLater()


def numbers(model: RunsModel) -> list[int]:
    return [model.run_at(row) for row in range(model.rowCount())]


def test_the_list_stays_until_the_answer_is_there_and_pages_follow(model: RunsModel, qtbot: QtBot) -> None:
    before = numbers(model)
    with qtbot.waitSignal(model.looked, timeout=20_000):
        model.set_filter("key-")
        assert model.looking
        assert numbers(model) == before, "what was there stays while it is looked for"
        assert not model.canFetchMore(QModelIndex())
    found = numbers(model)
    assert not model.looking
    assert model.canFetchMore(QModelIndex())
    with qtbot.waitSignal(model.looked, timeout=20_000):
        model.fetchMore(QModelIndex())
    longer = numbers(model)
    assert longer[: len(found)] == found
    assert len(longer) > len(found)
    ended = longer[sum(1 for _item in model.open_items) :]
    assert ended == sorted(ended, reverse=True)
    assert len(set(longer)) == len(longer)


def test_only_the_newest_question_counts(model: RunsModel, qtbot: QtBot) -> None:
    model.set_filter("key-1")
    with qtbot.waitSignal(model.looked, timeout=20_000):
        model.set_filter("key-57")
    assert sorted(numbers(model)) == [57, *range(570, 580)]
    model.set_filter("key-1")
    model.set_filter("")
    assert not model.looking
    whole = numbers(model)
    qtbot.waitUntil(lambda: model._pages is not None and model._pages._pool.activeThreadCount() == 0, timeout=20_000)
    QApplication.processEvents()
    assert numbers(model) == whole, "an answer nobody waits for changes nothing"


def test_a_run_that_changes_while_it_is_looked_for_is_read_again(model: RunsModel, qtbot: QtBot) -> None:
    read: list[int] = []
    assert model.source is not None
    runs = model.source.runs
    model.source.runs = lambda numbers: read.extend(numbers) or runs(numbers)  # type: ignore[method-assign,func-returns-value]
    with qtbot.waitSignal(model.looked, timeout=20_000):
        model.set_filter("key-57")
        model.apply([57], ())
    assert read == [57, 57], "once as it changed, and once after the older answer was put in place"


def test_the_view_says_that_it_looks_and_what_it_found(model: RunsModel, qtbot: QtBot) -> None:
    theme = Theme(QApplication.instance(), "light")  # type: ignore[arg-type]
    view = RunsView(Ink(theme), model)
    qtbot.addWidget(view)
    with qtbot.waitSignal(model.looked, timeout=20_000):
        view._filter.setText("no such text")
        view._on_filter()
        assert view._total.text().startswith("Looking through ")
        assert view._stack.currentIndex() == 0, "no word of “nothing” before it is known"
    assert view._stack.currentIndex() == 1
    assert "no such text" in view._none.text()
    assert not view._total.text().startswith("Looking")
    view._on_clear()
    assert view._stack.currentIndex() == 0
    theme.deleteLater()
