"""Editors of a day and of a moment with its time zone. What is typed stays text; the zone only adds an offset to it."""

from __future__ import annotations

import os
from datetime import datetime
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from actum.contracts.kinds import parse_date
from actum.contracts.parameters import Parameter
from PySide6.QtCore import QDate, QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCalendarWidget, QLineEdit, QSizePolicy

from actum_desktop.forms.editors import Choice, LineEditor
from actum_desktop.forms.rawvalues import ABSENT, text_of
from actum_desktop.i18n import _
from actum_desktop.theme import Theme

_AS_WRITTEN = ""


class DateEditor(LineEditor):
    """A day as text, with a calendar at its end (Alt+Down)."""

    def __init__(self, theme: Theme, parameter: Parameter) -> None:
        super().__init__(theme, parameter)
        if not parameter.optional:
            self.edit.setPlaceholderText(_("year-month-day"))
        icon = theme.icon("calendar-blank", "text3", 15)
        action = self.edit.addAction(icon, QLineEdit.ActionPosition.TrailingPosition)
        action.setToolTip(_("Calendar (Alt+Down)"))
        action.triggered.connect(self.open_calendar)
        self._calendar: QCalendarWidget | None = None

    def open_calendar(self) -> None:
        calendar = QCalendarWidget(self)
        calendar.setWindowFlag(Qt.WindowType.Popup)
        calendar.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        calendar.setVerticalHeaderFormat(QCalendarWidget.VerticalHeaderFormat.NoVerticalHeader)
        calendar.setAccessibleName(self.parameter.title)
        day = parse_date(self.edit.text())
        if day is not None:
            calendar.setSelectedDate(QDate(day.year, day.month, day.day))
        calendar.activated.connect(self._on_day)
        calendar.clicked.connect(self._on_day)
        calendar.move(self.edit.mapToGlobal(QPoint(0, self.edit.height() + 2)))
        self._calendar = calendar
        calendar.show()
        calendar.setFocus()

    def _on_day(self, day: QDate) -> None:
        self.edit.setText(f"{day.year():04d}-{day.month():02d}-{day.day():02d}")
        if self._calendar is not None:
            self._calendar.close()
            self._calendar = None
        self.edited.emit()
        self.left.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and opens(event):
            self.open_calendar()
            return True
        return super().eventFilter(watched, event)


def opens(event: QKeyEvent) -> bool:
    """Alt+Down opens what a field has to offer."""
    return event.key() == Qt.Key.Key_Down and bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)


class ZoneBox(Choice):
    """This machine's zone first; the others are read when the list is opened or a key is typed."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMinimumContentsLength(9)
        self.setSizeAdjustPolicy(Choice.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMaxVisibleItems(16)
        self.addItem(_("As written"), _AS_WRITTEN)
        for name in dict.fromkeys((local_zone(), "UTC")):
            self.addItem(name, name)
        self._short = self.count()

    def _complete(self) -> None:
        if self.count() == self._short:
            for name in zone_names():
                self.addItem(name, name)

    def showPopup(self) -> None:
        self._complete()
        super().showPopup()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._complete()
        super().keyPressEvent(event)


class MomentEditor(LineEditor):
    """A date and a time as text, and the zone they are meant in; an offset in the text itself comes first."""

    def __init__(self, theme: Theme, parameter: Parameter) -> None:
        super().__init__(theme, parameter)
        if not parameter.optional:
            self.edit.setPlaceholderText(_("year-month-day hour:minute"))
        self.zone = ZoneBox(theme)
        self.zone.setCurrentIndex(1)
        self.zone.activated.connect(self._on_zone)
        self.watch(self.zone, _("Time zone of {field}").format(field=parameter.title))
        self.row.setStretch(0, 3)
        self.row.addWidget(self.zone, 2)

    def raw(self) -> Any:
        text = self.edit.text()
        if not text.strip():
            return None
        return with_zone(text, str(self.zone.currentData() or _AS_WRITTEN))

    def fill(self, raw: Any) -> None:
        super().fill(raw)
        self.zone.setCurrentIndex(1 if raw is None or raw is ABSENT or not text_of(raw).strip() else 0)

    def _on_zone(self) -> None:
        self.edited.emit()


def with_zone(text: str, zone: str) -> str:
    """The text with the offset that `zone` has at that time; unchanged where it has one, or is no time at all."""
    if not zone:
        return text
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return text
    return text if moment.tzinfo is not None else moment.replace(tzinfo=ZoneInfo(zone)).isoformat()


@lru_cache(maxsize=1)
def zone_names() -> tuple[str, ...]:
    """Regions and their places, without the old aliases."""
    return tuple(sorted(name for name in available_timezones() if "/" in name and not name.startswith(("Etc/", "SystemV/"))))


def local_zone() -> str:
    """The IANA name of this machine's zone; UTC where it has none."""
    named = os.environ.get("TZ", "").lstrip(":")
    target = os.path.realpath("/etc/localtime")
    for name in filter(None, (named, target.partition("zoneinfo/")[2])):
        try:
            return ZoneInfo(name).key
        except (ValueError, OSError):
            continue
    return "UTC"
