"""The first line of a form: which preset it started from, how many fields differ from it, and keeping what is there as one."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QStackedLayout, QWidget

from actum_desktop.forms.editors import Choice
from actum_desktop.forms.presets import Preset
from actum_desktop.i18n import _, ngettext
from actum_desktop.views.ink import Ink
from actum_desktop.views.widgets import Badge, Label, button

DEFAULTS = ""


class NameEdit(QLineEdit):
    """Signals: `given_up` () on Esc."""

    given_up = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.given_up.emit()
        else:
            super().keyPressEvent(event)


class PresetLine(QWidget):
    """Signals: `chosen` (name, "" = the task's defaults), `reset_asked` (), `save_asked` (name), `delete_asked` (name)."""

    chosen = Signal(object)
    reset_asked = Signal()
    save_asked = Signal(object)
    delete_asked = Signal(object)

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        theme, px = ink.theme, ink.theme.px
        self._box = Choice(theme)
        self._box.setAccessibleName(_("Preset"))
        self._box.setMinimumWidth(px(170))
        self._box.activated.connect(self._on_activated)
        self._badge = Badge(ink)
        self._reset = button(theme, _("Reset"), self.reset_asked.emit, kind="link", small=True)
        self._save = button(theme, _("Save preset"), self.ask_name, small=True)
        self._delete = button(theme, _("Delete preset"), self._on_delete, kind="link", small=True)
        first = QWidget()
        row = QHBoxLayout(first)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(px(8))
        row.addWidget(Label(theme, _("Preset"), "body", 400, "text2"))
        row.addWidget(self._box)
        row.addWidget(self._badge)
        row.addStretch(1)
        row.addWidget(self._delete)
        row.addWidget(self._reset)
        row.addWidget(self._save)
        self._name = NameEdit()
        self._name.setFont(theme.font())
        self._name.setTextMargins(px(8), 0, 0, 0)
        self._name.setPlaceholderText(_("Name of the preset"))
        self._name.setAccessibleName(_("Name of the preset"))
        self._name.returnPressed.connect(self._on_save)
        self._name.given_up.connect(self._on_give_up)
        second = QWidget()
        naming = QHBoxLayout(second)
        naming.setContentsMargins(0, 0, 0, 0)
        naming.setSpacing(px(8))
        naming.addWidget(self._name, 1)
        naming.addWidget(button(theme, _("Cancel"), self._on_give_up, small=True))
        naming.addWidget(button(theme, _("Keep preset"), self._on_save, small=True))
        self._stack = QStackedLayout(self)
        self._stack.addWidget(first)
        self._stack.addWidget(second)
        self.show_presets((), DEFAULTS)
        self.show_changed(0)

    @property
    def current(self) -> str:
        return str(self._box.currentData() or DEFAULTS)

    def show_presets(self, presets: Sequence[Preset], current: str) -> None:
        self._box.clear()
        self._box.addItem(_("The task's own"), DEFAULTS)
        for preset in presets:
            self._box.addItem(preset.name, preset.name)
        self._box.setCurrentIndex(max(0, self._box.findData(current)))
        self._delete.setVisible(self.current != DEFAULTS)

    def show_changed(self, count: int) -> None:
        text = ngettext("changed: {n} field", "changed: {n} fields", count).format(n=count)
        self._badge.say("pencil-simple", text, "text2")
        self._badge.setVisible(count > 0)
        self._reset.setVisible(count > 0)

    def ask_name(self) -> None:
        self._name.setText(self.current)
        self._name.selectAll()
        self._stack.setCurrentIndex(1)
        self._name.setFocus()

    def _on_activated(self) -> None:
        self._delete.setVisible(self.current != DEFAULTS)
        self.chosen.emit(self.current)

    def _on_delete(self) -> None:
        self.delete_asked.emit(self.current)

    def _on_save(self) -> None:
        name = self._name.text().strip()
        if name:
            self._on_give_up()
            self.save_asked.emit(name)

    def _on_give_up(self) -> None:
        self._stack.setCurrentIndex(0)
        self._save.setFocus()
