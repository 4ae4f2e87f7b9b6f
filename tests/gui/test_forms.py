"""The form over the real contract code, by keyboard: raw text stays, nothing is coerced, one press is one run (R05, R19)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from actum import limits
from actum.contracts.document import load
from actum.contracts.parameters import parse
from actum.errors import CannotTell, InvalidParameters, WorkspaceUnusable
from actum_desktop import i18n
from actum_desktop.forms.editors import GrowingEdit
from actum_desktop.forms.paths import PathEditor, Surroundings
from actum_desktop.forms.presets import Preset
from actum_desktop.models.background import Background
from actum_desktop.theme import Theme
from actum_desktop.views.ink import Ink
from actum_desktop.views.runform import RunAsked, RunForm
from PySide6.QtCore import QEvent, QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from tests.helpers import keyboard
from tests.helpers.everytype import EVERY, TABLE
from tests.helpers.widgets import clipped, nameless

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")  # offscreen: size hints, raising, grabbing keys

Show = Callable[..., RunForm]


@pytest.fixture
def background() -> Iterator[Background]:
    made = Background()
    yield made
    made.close()


@pytest.fixture
def show(tmp_path: Path, qapp: QApplication, qtbot: QtBot, background: Background) -> Iterator[Show]:
    """Shows the form of a contract, 1,000 pixels wide."""
    qapp.setStyle("Fusion")
    theme = Theme(qapp, "light")
    made: list[RunForm] = []

    def shown(document: dict[str, Any] = EVERY, now: list[float] | None = None) -> RunForm:
        around = Surroundings(Ink(theme), background, tmp_path, 1 << 30)
        clock = now if now is not None else [0.0]
        form = RunForm(load(document), around, now_s=lambda: clock[0])
        made.append(form)
        form.resize(1000, 720)
        form.show()
        form.activateWindow()
        qtbot.waitUntil(form.isActiveWindow, timeout=5_000)
        qtbot.waitUntil(lambda: not background.busy, timeout=10_000)
        return form

    yield shown
    for form in made:
        form.close()
        form.deleteLater()
    theme.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    i18n.use("en")


def fill_by_keyboard(form: RunForm, values: dict[str, str]) -> None:
    """Tab to each field in the order of the form; a boolean is chosen with Space, a choice with Down."""
    form.focus_start()
    for name, text in values.items():
        editor = form.form.boxes[name].editor
        keyboard.tab_to(lambda widget, editor=editor: widget in editor.targets, name)  # type: ignore[misc]
        kind = editor.parameter.type
        if kind == "boolean":
            keyboard.press(Qt.Key.Key_Space)
        elif kind == "choice":
            for _turn in range(int(text)):
                keyboard.press(Qt.Key.Key_Down)
        else:
            keyboard.press(Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
            keyboard.press(Qt.Key.Key_Delete)
            for line, part in enumerate(text.split("\n")):
                if line:
                    keyboard.press(Qt.Key.Key_Return)
                keyboard.type_text(part)


def every_value(folder: Path) -> dict[str, str]:
    """What is typed into each field of the contract with every type."""
    place = folder / "价格 of 2026"
    place.mkdir()
    (place / "prices one.csv").write_text(TABLE)
    (place / "prices 二.csv").write_text(TABLE)
    return {
        "prices": str(place / "prices one.csv"),
        "note": "  kept, “as is” {x} ",
        "empty": "",
        "count": "5000000",
        "small": "1e-6",
        "rate": "0.10",
        "strict": " ",
        "method": "2",
        "start": "2026-01-31",
        "end": "2026-02-01",
        "seen": "2026-03-31T09:41:00+02:00",
        "wait": "1h30m",
        "money": "12,50 EUR",
        "columns": "date, close",
        "more": f"{place / 'prices one.csv'}\n{place / 'prices 二.csv'}",
        "out": str(place),
        "words": "1\n22\n5000000",
    }


def test_every_type_is_filled_by_keyboard_and_read_back_unchanged(show: Show, qtbot: QtBot, tmp_path: Path) -> None:
    form = show()
    typed = every_value(tmp_path)
    fill_by_keyboard(form, typed)
    record = form.form.boxes["range"].editor
    keyboard.tab_to(lambda widget: widget is record.targets[0], "range")
    keyboard.type_text("0.10")
    asked: list[RunAsked] = []
    form.run_asked.connect(asked.append)
    keyboard.press(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert form.form.shown_wrong() == []
    assert len(asked) == 1
    values = parse(load(EVERY), asked[0].parameters, Path("/")).values
    place = tmp_path / "价格 of 2026"
    assert values == {
        "prices": str(place / "prices one.csv"),
        "note": "  kept, “as is” {x} ",
        "empty": "",
        "count": 5000000,
        "small": 1e-6,
        "rate": Decimal("0.10"),
        "left": None,
        "strict": True,
        "method": "median",
        "start": date(2026, 1, 31),
        "end": date(2026, 2, 1),
        "seen": datetime(2026, 3, 31, 7, 41, tzinfo=UTC),
        "wait": timedelta(minutes=90),
        "money": "12,50 EUR",
        "label": None,
        "columns": ("date", "close"),
        "more": (str(place / "prices one.csv"), str(place / "prices 二.csv")),
        "out": str(place),
        "words": (1, 22, 5000000),
        "range": {"low": Decimal("0.10"), "high": None},
    }
    assert asked[0].parameters["small"] == "1e-6", "the text that was typed, not a number made of it"
    assert asked[0].parameters["rate"] == "0.10"


def small(*parameters: dict[str, Any], rules: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return {**EVERY, "work": {"kind": "recipe", "name": "x"}, "parameters": list(parameters), "rules": list(rules)}


WINDOW = {"name": "window", "type": "integer", "title": "Window", "minimum": 2}
RATE = {"name": "rate", "type": "decimal", "title": "Rate", "default": "0.10"}


def test_what_does_not_fit_stays_and_is_told_when_the_field_is_left(show: Show) -> None:
    form = show(small(WINDOW, RATE))
    box = form.form.boxes["window"]
    form.focus_start()
    keyboard.type_text("3O")
    assert box.error == "", "not while it is typed"
    keyboard.press(Qt.Key.Key_Tab)
    assert box.error == "“3O” is not a whole number. Use digits only, for example 30."
    assert box._below.isVisible()
    assert box._below.text() == box.error
    assert form._wrong.text() == "1 field needs a change"
    assert form.form.raw()["window"] == "3O"
    box.editor.setFocus()
    keyboard.press(Qt.Key.Key_End)
    keyboard.press(Qt.Key.Key_Backspace)
    assert box.error == "", "once shown, it is looked at on each key: 3 fits"
    keyboard.press(Qt.Key.Key_Backspace)
    keyboard.type_text("1")
    assert box.error == ""
    keyboard.press(Qt.Key.Key_Tab)
    assert box.error == "“1” is below the least allowed value, 2."


def test_run_is_never_disabled_and_jumps_to_the_first_error(show: Show) -> None:
    many = [{"name": f"n{i}", "type": "integer", "title": f"Number {i}", "help": "x"} for i in range(30)]
    form = show(small(*many))
    asked: list[RunAsked] = []
    form.run_asked.connect(asked.append)
    for index in range(30):
        if index != 27:
            form.form.boxes[f"n{index}"].fill("1")
    form.run.setFocus()
    assert form.run.isEnabled()
    keyboard.press(Qt.Key.Key_Space)
    assert asked == []
    target = form.form.boxes["n27"].editor.targets[0]
    assert keyboard.focus() is target
    assert target.visibleRegion().boundingRect().height() > 10, "it was scrolled into sight"
    assert form.form.boxes["n27"].error == "A value is needed here."
    form.form.focus_start()
    form.go.click()
    assert keyboard.focus() is target


def test_what_holds_between_fields_stands_above_them(show: Show) -> None:
    day = [{"name": name, "type": "date", "title": name.title(), "optional": True} for name in ("start", "end")]
    form = show(small(*day, rules=({"rule": "not_after", "fields": ["start", "end"]},)))
    form.form.fill({"start": "2026-02-01", "end": "2026-01-01"})
    form.press()
    assert form.form.banner.isVisible()
    assert "“Start”, “End”: each may not be after the next." in form.form.banner.accessibleName()
    assert form.form.shown_wrong() == []
    form.form.go_to("end")
    keyboard.press(Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    keyboard.type_text("2026-03-01")
    assert not form.form.banner.isVisible(), "looked at on each key once shown"


def test_r05_a_double_click_is_one_run(show: Show) -> None:
    now = [100.0]
    form = show(small(RATE), now)
    asked: list[RunAsked] = []
    form.run_asked.connect(asked.append)
    QTest.mouseClick(form.run, Qt.MouseButton.LeftButton)
    QTest.mouseDClick(form.run, Qt.MouseButton.LeftButton)
    QTest.mouseRelease(form.run, Qt.MouseButton.LeftButton)  # the second half, as a mouse sends it
    assert len(asked) == 1, "no second command while the first is not answered"
    form.admitted()
    QTest.mouseClick(form.run, Qt.MouseButton.LeftButton)
    assert [each.key for each in asked] == [asked[0].key] * 2, "a quick answer changes nothing: the same run again"
    form.admitted()
    now[0] += 60
    form.press()
    assert asked[2].key != asked[0].key, "a later press is a run of its own"
    form.refused(CannotTell("commit_lost", "It is not known whether this was recorded."))
    now[0] += 600
    form.press()
    assert asked[3].key == asked[2].key, "what cannot be told may be sent again under the same key"
    form.refused(WorkspaceUnusable("not_recorded", "This could not be recorded."))
    form.press()
    assert asked[4].key != asked[3].key


def test_what_the_supervisor_refuses_stands_under_its_field(show: Show) -> None:
    form = show(small(RATE))
    form.press()
    assert form.refused(InvalidParameters("One parameter does not fit.", {"rate": "It is too much."}))
    assert form.form.boxes["rate"].error == "It is too much."
    assert keyboard.focus() is form.form.boxes["rate"].editor.targets[0]


def test_never_filled_in_left_out_and_empty_are_three_things(show: Show) -> None:
    form = show(
        small(
            {"name": "note", "type": "text", "title": "Note"},
            {"name": "label", "type": "text", "title": "Label", "optional": True},
        )
    )
    note, label = (form.form.boxes[name].editor for name in ("note", "label"))
    assert form.form.raw() == {"label": None}
    assert isinstance(label.targets[0], GrowingEdit)
    assert label.targets[0].placeholderText() == "not set"
    for editor in (note, label):
        editor.setFocus()
        keyboard.type_text("x")
        keyboard.press(Qt.Key.Key_Backspace)
    assert form.form.raw() == {"note": "", "label": ""}
    assert label.targets[0].placeholderText() == "empty text"
    keyboard.tab_to_name("Leave out: Label")
    keyboard.press(Qt.Key.Key_Space)
    assert form.form.raw() == {"note": "", "label": None}


def test_a_text_keeps_its_lines_and_hard_spaces(show: Show) -> None:
    form = show(small({"name": "note", "type": "text", "title": "Note"}))
    text = "two\nlines\twith\u00a0a hard space "
    form.form.fill({"note": text})
    assert form.form.raw() == {"note": text}


def test_a_type_that_is_not_known_says_so_and_hands_on_its_text(show: Show) -> None:
    form = show(small({"name": "amount", "type": "money", "title": "Amount"}))
    assert "does not know the type “money”" in form.form.boxes["amount"]._below.text()
    form.form.boxes["amount"].editor.setFocus()
    keyboard.type_text(" 1,5 EUR")
    assert form.form.raw() == {"amount": " 1,5 EUR"}


def test_a_dropped_file_fills_its_field_and_is_looked_at(show: Show, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "价格 1.csv"
    path.write_text(TABLE)
    form = show(small({"name": "prices", "type": "file", "title": "Prices"}))
    editor = form.form.boxes["prices"].editor
    assert isinstance(editor, PathEditor)
    drop(editor, [path])
    assert form.form.raw() == {"prices": str(path)}
    qtbot.waitUntil(lambda: editor.info is not None, timeout=5_000)
    assert editor.about.text().startswith("54 B · 3 lines · sha256 ")
    assert editor.about.text().endswith(" · will be copied")
    assert form.before.texts()["Reads Prices"] == "54 B · will be copied"
    drop(editor, [tmp_path / "not there.csv"])
    qtbot.waitUntil(lambda: form.form.shown_wrong() == ["prices"], timeout=5_000)
    assert form.form.boxes["prices"].error == "There is nothing at this path."


def drop(editor: PathEditor, paths: list[Path]) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    copy, none = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
    editor.dropEvent(QDropEvent(QPointF(5, 5), copy, data, Qt.MouseButton.LeftButton, none))


def test_columns_are_offered_from_the_head_of_the_file(
    show: Show, qtbot: QtBot, tmp_path: Path, background: Background
) -> None:
    (tmp_path / "t.csv").write_text('date,"a, b",close\n1,2,3\n')
    form = show(
        small(
            {"name": "prices", "type": "file", "title": "Prices"},
            {"name": "names", "type": "columns", "title": "Names", "file": "prices"},
        )
    )
    form.form.fill({"prices": "t.csv"})
    editor = form.form.boxes["names"].editor
    editor.setFocus()
    keyboard.press(Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    menu = editor._menu  # type: ignore[attr-defined]
    qtbot.waitUntil(menu.isVisible, timeout=5_000)
    assert [action.data() for action in menu.actions()] == ["date", "a, b", "close"]
    menu.actions()[1].trigger()
    menu.actions()[2].trigger()
    menu.close()
    assert parse(load(small(*form_parameters(form))), form.form.raw(), tmp_path).values["names"] == ("a, b", "close")


def form_parameters(form: RunForm) -> list[dict[str, Any]]:
    return [box.parameter.declaration() for box in form.form.boxes.values()]


def test_presets_count_what_differs_and_are_kept_raw(show: Show) -> None:
    form = show(small(WINDOW, RATE))
    kept: list[tuple[Preset, ...]] = []
    form.presets_kept.connect(kept.append)
    form.form.boxes["window"].editor.setFocus()
    keyboard.type_text("3O")
    assert form.line._badge.word == "changed: 1 field"
    form.line.ask_name()
    keyboard.type_text("Monthly")
    keyboard.press(Qt.Key.Key_Return)
    assert kept == [(Preset("Monthly", {"window": "3O", "rate": "0.10"}),)]
    assert not form.line._badge.isVisible()
    form.choose_preset("")
    assert form.form.raw() == {"window": None, "rate": "0.10"}
    form.choose_preset("Monthly")
    assert form.form.raw() == {"window": "3O", "rate": "0.10"}
    form.form.boxes["rate"].editor.setFocus()
    keyboard.press(Qt.Key.Key_End)
    keyboard.type_text("0")
    assert form.line._badge.word == "changed: 1 field"
    form.reset()
    assert form.form.raw() == {"window": "3O", "rate": "0.10"}
    form.line._on_delete()
    assert kept[-1] == ()


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_every_control_has_a_name_and_no_word_is_cut(show: Show, language: str, qtbot: QtBot, background: Background) -> None:
    i18n.use(language)
    form = show()
    form.form.fill({**form.form.raw(), "count": "3O", "prices": "/nowhere", "words": ["a"]})
    form.form.check_all()
    form.show_presets((Preset("Monthly review", {"count": "30"}),))
    for wide in (1000, 640):
        form.resize(wide, 720)
        qtbot.waitUntil(lambda: not background.busy, timeout=5_000)
        assert nameless(form) == []
        settled(lambda: clipped(form) == [], lambda: clipped(form))


def settled(fine: Callable[[], bool], found: Callable[[], list[str]]) -> None:
    """Layouts settle over a few turns; what is still cut then is told by name."""
    for _turn in range(50):
        QApplication.processEvents()
        if fine():
            return
    assert found() == []


def test_numbers_are_text_fields(show: Show) -> None:
    form = show()
    for name in ("count", "small", "rate", "wait"):
        assert isinstance(form.form.boxes[name].editor.targets[0], QLineEdit)


def test_r11_a_growing_field_scrolls_beyond_its_bound(show: Show) -> None:
    form = show(small({"name": "note", "type": "text", "title": "Note"}))
    edit = form.form.boxes["note"].editor.targets[0]
    assert isinstance(edit, GrowingEdit)
    heights = []
    for count in (1, limits.FIELD_LINES_MAX, limits.FIELD_LINES_MAX + 1):
        form.form.fill({"note": "\n".join(["x"] * count)})
        QApplication.processEvents()
        heights.append(edit.height())
    assert heights[0] < heights[1] == heights[2]
    assert edit.verticalScrollBarPolicy() == Qt.ScrollBarPolicy.ScrollBarAsNeeded


def test_before_you_run_says_what_will_be_read_written_and_needed(show: Show, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(TABLE)
    form = show()
    rows = form.before.texts()
    assert rows["Reads Prices"] == "not chosen yet"
    assert rows["Works in"] == "a fresh folder for its output"
    assert rows["Must be there"] == "given.json"
    assert rows["Deadlines"] == "none overall, start 1 min"
    assert rows["Environment"].startswith("as Actum's own, ")
    form.form.boxes["prices"].fill("p.csv")
    qtbot.waitUntil(lambda: form.before.texts()["Reads Prices"] == "54 B · will be copied", timeout=5_000)
    form.show_slots(2, 0)
    assert form.before.texts()["Starts"] == "after 2 other runs"


def test_an_untouched_form_has_changed_nothing(show: Show) -> None:
    assert not show().line._badge.isVisible()
