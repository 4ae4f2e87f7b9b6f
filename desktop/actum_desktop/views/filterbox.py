"""The field in which a filter is typed: names and conditions are offered below the cursor, as the text so far allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetricsF, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QListWidget

from actum_desktop.i18n import _
from actum_desktop.models import filterwords
from actum_desktop.views.ink import Ink

_ROWS_SHOWN = 8


class FilterBox(QLineEdit):
    """Signal: `applied` () on Enter. Down or Ctrl+Space offers what fits; Tab or Enter takes it."""

    applied = Signal()

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        self._ink = ink
        self._columns: Sequence[Mapping[str, Any]] = ()
        self._start = 0
        theme = ink.theme
        self.setFont(theme.font("body"))
        self.setProperty("small", "true")
        self.setTextMargins(theme.px(6), 0, 0, 0)
        self.setAccessibleName(_("Filter"))
        self.setPlaceholderText(_('for example delay > 60 and carrier in ("UA", "DL")'))
        self.setClearButtonEnabled(True)
        self.options = QListWidget(self)
        self.options.setObjectName("options")
        self.options.setAccessibleName(_("What fits here"))
        self.options.hide()
        self.options.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.options.setFont(theme.font("body"))
        self.options.itemClicked.connect(self._take)
        self.textEdited.connect(self._on_edited)

    def columns(self, columns: Sequence[Mapping[str, Any]]) -> None:
        self._columns = columns

    def x_of(self, place: int) -> int:
        """Where a place of the text stands, in pixels from the left edge."""
        metrics = QFontMetricsF(self.font())
        cursor = self.cursorPosition()
        inside = self.cursorRect().center().x()
        offset = metrics.horizontalAdvance(self.text()[:place]) - metrics.horizontalAdvance(self.text()[:cursor])
        return max(0, round(inside + offset))

    def close_options(self) -> None:
        self.options.hide()

    @property
    def offers(self) -> list[str]:
        """What is offered now, from top to bottom."""
        return [self.options.item(row).text() for row in range(self.options.count())] if self.options.isVisible() else []

    # ---- own

    def _on_edited(self) -> None:
        before = self.text()[: self.cursorPosition()]
        if before.strip():
            self._offer()
        else:
            self.close_options()

    def _offer(self) -> None:
        found = filterwords.complete(self.text(), self.cursorPosition(), self._columns)
        self._start = found.start
        self.options.clear()
        self.options.addItems(list(found.options))
        if not found.options:
            self.close_options()
            return
        high = self.options.sizeHintForRow(0) * min(_ROWS_SHOWN, len(found.options)) + 2 * self.options.frameWidth() + 4
        wide = max(self.options.sizeHintForColumn(0) + self._ink.theme.px(28), self._ink.theme.px(140))
        home = self.window()
        if self.options.parentWidget() is not home:
            self.options.setParent(home)  # it reaches over the edge of the line, and is no window of its own
        self.options.resize(wide, high)
        corner = self.mapTo(home, QPoint(self.x_of(found.start), self.height() + 2))
        self.options.move(max(0, min(corner.x(), home.width() - wide)), corner.y())
        self.options.show()
        self.options.raise_()

    def _take(self, *_: object) -> None:
        item = self.options.currentItem() or self.options.item(0)
        if item is None:
            return
        cursor, text = self.cursorPosition(), self.text()
        taken = item.text() + ("" if item.text().endswith("(") else " ")
        self.setText(text[: self._start] + taken + text[cursor:].lstrip(" "))
        self.setCursorPosition(self._start + len(taken))
        self.close_options()

    def event(self, event: Any) -> bool:
        tab = isinstance(event, QKeyEvent) and event.type() == QKeyEvent.Type.KeyPress and event.key() == Qt.Key.Key_Tab
        if tab and self.options.isVisible():
            self._take()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, shown = event.key(), self.options.isVisible()
        row = self.options.currentRow()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if shown and row >= 0:
                self._take()
            else:
                self.applied.emit()
        elif key == Qt.Key.Key_Down or (key == Qt.Key.Key_Space and event.modifiers() & Qt.KeyboardModifier.ControlModifier):
            if shown:
                self.options.setCurrentRow(min(row + 1, self.options.count() - 1))
            else:
                self._offer()
        elif key == Qt.Key.Key_Up and shown:
            self.options.setCurrentRow(max(row - 1, 0))
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() is not Qt.FocusReason.PopupFocusReason:
            self.close_options()
