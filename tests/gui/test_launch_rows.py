"""Every row of §6 is painted on the launch screen with its leftover, its evidence, its verdict and what was done (R09)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any
from xml.etree import ElementTree

import pytest
from actum.errors import ActumError
from actum_desktop import i18n, measures, verdictwords
from actum_desktop.controller.events import Answered, Supervising, Verdict
from actum_desktop.theme import Theme
from actum_desktop.views.ink import Ink
from actum_desktop.views.launchview import LaunchHead, LaunchView
from PySide6.QtCore import QBuffer, QEvent, QRect, QSize
from PySide6.QtGui import QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QApplication, QStyleOptionViewItem

from tests.helpers import showdocs, stage
from tests.helpers.screens import Screens
from tests.helpers.widgets import clipped
from tests.unit.test_verdictwords import EVERY

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")  # offscreen says it of every window
WIDTH = 1136  # of the register in a window of 1280
KINDS = sorted(EVERY)


def verdict(told: dict[str, Any], **more: Any) -> Verdict:
    return Verdict(**{**{key: told[key] for key in Verdict.__dataclass_fields__}, **more})


def state(*verdicts: Verdict, looking: bool = False) -> Supervising:
    return Supervising("i", 1, 0, 2, False, verdicts, True, looking=looking)


def painted(draw: Callable[[QSvgGenerator], object], width: int, height: int) -> list[tuple[float, str]]:
    """(x, text) of every text that is really drawn, from a picture that keeps its texts."""
    buffer = QBuffer()
    picture = QSvgGenerator()
    picture.setOutputDevice(buffer)
    picture.setSize(QSize(width, height))
    picture.setResolution(96)
    picture.setViewBox(QRect(0, 0, width, height))
    draw(picture)
    texts = ElementTree.fromstring(bytes(buffer.data().data())).iter("{http://www.w3.org/2000/svg}text")
    return [(float(each.get("x", "0")), "".join(each.itertext()).strip()) for each in texts]


def bare(*texts: str) -> str:
    return re.sub(r"\s", "", "".join(texts))


class Stage:
    """The launch screen in one language, with one verdict of each kind. Attributes: view."""

    def __init__(self, qapp: QApplication, language: str) -> None:
        i18n.use(language)
        self._theme = Theme(qapp, "light")
        self.view = LaunchView(Ink(self._theme))
        self.view.supervising(state(*(verdict(EVERY[kind], run=place + 1) for place, kind in enumerate(KINDS))), None, 0)

    def columns(self, place: int) -> list[str]:
        """What is drawn in each column of this row, its lines joined."""
        option = QStyleOptionViewItem()
        model, delegate = self.view.model, self.view._list.itemDelegate()
        option.rect = QRect(0, 0, WIDTH, 400)

        def draw(picture: QSvgGenerator) -> None:
            painter = QPainter(picture)
            try:
                delegate.paint(painter, option, model.index(place))
            finally:
                painter.end()

        texts = painted(draw, WIDTH, 400)
        heads = [x for x, _ in self.heads()]
        return [bare(*(text for x, text in texts if heads[n] <= x < [*heads[1:], WIDTH][n])) for n in range(len(heads))]

    def heads(self) -> list[tuple[float, str]]:
        head = self.view._head
        assert isinstance(head, LaunchHead)
        head.resize(WIDTH, 32)
        return painted(head.render, WIDTH, 32)

    def close(self) -> None:
        self.view.deleteLater()
        self._theme.deleteLater()
        i18n.use("en")


@pytest.fixture(params=["en", "zh_CN"])
def scene(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[Stage]:
    made = Stage(qapp, request.param)
    yield made
    made.close()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def test_r09_each_row_paints_leftover_evidence_verdict_and_what_was_done_whole(scene: Stage) -> None:
    """Each in the column of its name, and nothing of it cut off."""
    assert {row for row, _ in KINDS} == set(range(1, 23))
    assert [name for _, name in scene.heads()] == [i18n._(n) for n in ("Verdict", "Run", "Evidence", "What is done")]
    for place, kind in enumerate(KINDS):
        row = scene.view.model._rows[place]
        words, columns = row.words, scene.columns(place)
        assert all((words.word, row.title, words.done, words.after)), kind
        assert words.evidence or kind[0] == 1, kind
        wanted = [bare(words.word), bare(row.title, row.sub), bare(*words.evidence), bare(words.done, words.after)]
        assert columns == wanted, kind


@pytest.fixture
def screens(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[Screens]:
    monkeypatch.setattr(measures, "now_us", lambda: showdocs.NOW)
    made = Screens("light", "en", qapp)
    made._join(stage.PreparedSource(stage.runs(), stage.alerts()))
    yield made
    made.close()
    made.theme.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    i18n.use("en")


LATE = {"host": "gone", "tree": "left", "pids": [4711], "why": {}, "remains": "ending", "signals": []}
LEFT = verdict(EVERY[8, "late"], run=210, attempt="a-2", evidence=LATE)
GONE = verdict(EVERY[3, "result_damaged"], run=212, attempt="a-6", evidence={"package": "neither", "why": {}})


def test_what_is_found_of_the_closed_brings_the_screen_and_old_news_do_not(screens: Screens) -> None:
    window = screens.window
    told = {**GONE.evidence, "told_before": True}
    window.on_supervising(state(verdict(EVERY[1, "queue"]), verdict(EVERY[3, "result_damaged"], evidence=told)))
    assert window._whole.currentWidget() is not window._launch
    window.on_supervising(state(GONE, looking=True))
    assert window._whole.currentWidget() is window._launch
    assert window._launch._verdicts.word == "1 has a verdict, looking on"
    assert window._launch._resume.isEnabled(), "what is closed holds nobody up"
    window.on_supervising(state(GONE, LEFT))
    assert window._launch._verdicts.word == "2 of 2 have a verdict"
    assert window._launch._about.text().startswith("Runs that are closed were looked at too")
    assert "Process 4711." in window._launch.model._rows[0].words.evidence
    screens.app.processEvents()
    assert clipped(window._launch) == []


def test_who_has_gone_elsewhere_meanwhile_is_not_called_back(screens: Screens) -> None:
    screens.window.go("alerts")
    screens.window.on_supervising(state(GONE))
    assert screens.window._whole.currentWidget() is not screens.window._launch


def test_check_again_shows_its_answer(screens: Screens) -> None:
    window, launch = screens.window, screens.window._launch
    window.on_supervising(state(GONE))
    launch._check.click()
    assert (launch._looked.word, launch._check.isEnabled()) == ("looking again", False)
    bodies = window._sending._bridge.bodies  # type: ignore[union-attr]
    assert bodies[-1]["verb"] == "reconcile"
    found = {key: getattr(LEFT, key) for key in Verdict.__dataclass_fields__}
    window.on_answered(Answered(len(bodies), ok={"verdicts": [found]}))
    assert launch._looked.word.startswith("looked again at ")
    assert launch._looked.word.endswith(": 1 verdict")
    assert launch._check.isEnabled()
    assert [row.run for row in launch.model._rows] == [210, 212], "what the look brought stands beside what was there"
    launch._check.click()
    window.on_answered(Answered(len(bodies), error=ActumError("busy", "The supervisor is busy.")))
    assert launch._looked.word == "The supervisor is busy."
    window._alerts._check.click()
    assert not window._alerts._check.isEnabled()
    window.on_answered(Answered(len(bodies), ok={"verdicts": []}))
    assert window._alerts._check.isEnabled()


@pytest.mark.parametrize(
    ("how", "done", "said"),
    [
        ("ending", "Ending what is left", "4711"),
        ("ended", "Ended what was left", "SIGTERM: sent"),
        ("refused", "It could not be ended", "may not be signalled"),
    ],
)
def test_what_came_of_ending_it_is_said(how: str, done: str, said: str) -> None:
    signals = [{"pid": 4711, "signal": "SIGTERM", "result": "sent", "command": "x"}] if how == "ended" else []
    why = {"ending": "It may not be signalled."} if how == "refused" else {}
    told = {**LATE, "remains": how, "signals": signals, "why": why}
    words = verdictwords.verdict(verdict(EVERY[2, "late"], evidence=told))
    assert words.done == done
    assert said in " ".join(words.evidence)
