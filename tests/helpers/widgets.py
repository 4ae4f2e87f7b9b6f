"""Looking through a window: which controls have no name, and which texts do not fit."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractButton, QAbstractScrollArea, QComboBox, QLabel, QLineEdit, QPlainTextEdit, QWidget

CONTROLS = (QAbstractButton, QLineEdit, QComboBox, QPlainTextEdit, QAbstractScrollArea)


def nameless(root: QWidget) -> list[str]:
    """Controls that can have the focus, or scroll, and that a screen reader could not name."""
    found = []
    for widget in root.findChildren(QWidget):
        own = type(widget).__module__.startswith("actum_desktop") or isinstance(widget, CONTROLS)
        inside = widget.objectName().startswith("qt_") or type(widget.parent()).__name__ in ("QLineEdit", "QCalendarWidget")
        if own and isinstance(widget, CONTROLS) and not inside and not widget.accessibleName():
            found.append(f"{type(widget).__name__} in {type(widget.parent()).__name__}")
    return found


def clipped(root: QWidget) -> list[str]:
    """Labels and buttons whose words are wider or higher than they are."""
    found = []
    for widget in root.findChildren(QWidget):
        if not widget.isVisibleTo(root) or not isinstance(widget, (QLabel, QAbstractButton)):
            continue
        text = widget.text()
        if not text or widget.width() == 0:
            continue
        metrics = widget.fontMetrics()
        if isinstance(widget, QLabel) and widget.wordWrap():
            need = widget.heightForWidth(widget.width())
            if widget.height() + 1 < need:
                found.append(f"“{text}” needs {need} px of height and has {widget.height()}")
        else:
            need = max(metrics.horizontalAdvance(line) for line in text.replace("&", "").split("\n"))
            if widget.width() + 1 < need:
                found.append(f"“{text}” needs {need} px and has {widget.width()}")
    return found
