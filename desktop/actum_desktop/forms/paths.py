"""Editors of files and folders: a path that can be typed, chosen in a dialog or dropped, and what is known of it below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actum.contracts.parameters import Parameter
from PySide6.QtCore import QEvent, QMimeData, QObject, Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from actum_desktop import tokens
from actum_desktop.forms import fileinfo
from actum_desktop.forms.editors import Editor, GrowingEdit
from actum_desktop.forms.fileinfo import FileInfo
from actum_desktop.forms.rawvalues import lines_of, text_of
from actum_desktop.i18n import _
from actum_desktop.models.background import Background
from actum_desktop.theme import Theme
from actum_desktop.views.ink import Ink
from actum_desktop.views.widgets import Elided, button

_TYPING_MS = 200


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What path fields need of their window: `base` for relative paths, `copy_bytes_max` of the workspace's settings."""

    ink: Ink
    background: Background
    base: Path
    copy_bytes_max: int


class PathFrame(QFrame):
    """A field with an icon, a path and a line about it; the accent ring shows focus, and that a drop would fill it."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.state = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def show_state(self, state: str) -> None:
        """ "" | focus | wrong | drop."""
        if state != self.state:
            self.state = state
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        token = {"focus": "accent", "drop": "accent", "wrong": "bad"}.get(self.state, "line2")
        wide = 2 if self.state else 1
        painter.setPen(QPen(self._theme.color(token), wide))
        painter.setBrush(self._theme.color("tint_accent" if self.state == "drop" else "surface"))
        box = self.rect().toRectF().adjusted(wide / 2, wide / 2, -wide / 2, -wide / 2)
        painter.drawRoundedRect(box, tokens.RADIUS_CONTROL, tokens.RADIUS_CONTROL)
        painter.end()


class PathEditor(Editor):
    """One file or one folder."""

    def __init__(self, theme: Theme, parameter: Parameter, around: Surroundings) -> None:
        super().__init__(theme, parameter)
        self._around, self._wrong, self._looked = around, False, ""
        self._info: FileInfo | None = None
        self.key = f"path {id(self)}"
        self.frame = PathFrame(theme)
        self.edit = self._make_edit()
        self.about = Elided(around.ink, "caption", token="text2", middle=False)
        self.about.hide()
        self._choose = button(theme, _("Choose…"), self.choose, small=True)
        self._choose.setAccessibleName(_("Choose: {field}").format(field=parameter.title))
        self._clear = button(theme, "", self._on_clear, kind="ghost", icon="x", tip=_("Clear"))
        self._clear.setAccessibleName(_("Clear: {field}").format(field=parameter.title))
        self._lay_out()
        self.setAcceptDrops(True)
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(_TYPING_MS)
        self._typing.timeout.connect(self.look)
        self.destroyed.connect(_forgetter(around.background, self.key))
        self._show()

    def _make_edit(self) -> Any:
        edit = QLineEdit()
        edit.setObjectName("bare")
        edit.setFont(self.theme.font())
        edit.setTextMargins(-2, 0, 0, 0)  # on one line with what stands below
        what = _("A path, or drop a folder here") if self.is_folder else _("A path, or drop a file here")
        edit.setPlaceholderText(_("not set") if self.parameter.optional else what)
        edit.textEdited.connect(self._on_edited)
        return edit

    @property
    def is_folder(self) -> bool:
        return self.parameter.type == "folder"

    @property
    def info(self) -> FileInfo | None:
        """What is known of the path as it stands; None while nothing is."""
        return self._info

    def _lay_out(self) -> None:
        px = self.theme.px
        self.watch(self.edit)
        row = QHBoxLayout(self.frame)
        row.setContentsMargins(px(12), px(4), px(6), px(4))
        row.setSpacing(px(8))
        self.icon = _Icon(self._around.ink, "folder" if self.is_folder else "file-text")
        row.addWidget(self.icon)
        column = QVBoxLayout()
        column.setSpacing(0)
        column.addStretch(1)
        column.addWidget(self.edit)
        column.addWidget(self.about)
        column.addStretch(1)
        row.addLayout(column, 1)
        row.addWidget(self._choose)
        row.addWidget(self._clear)
        self.row.addWidget(self.frame, 1)

    # ---- values

    def text(self) -> str:
        return str(self.edit.text())

    def raw(self) -> Any:
        text = self.text()
        return text if text.strip() else None

    def fill(self, raw: Any) -> None:
        self.edit.setText(text_of(raw))
        self._info = None
        self._show()
        self.look()

    def problem(self) -> str:
        known = self._info if self._looked == self.text() else None
        return known.problem if known is not None else ""

    def mark(self, wrong: bool) -> None:
        self._wrong = wrong
        self._show_frame()

    # ---- looking

    def look(self) -> None:
        """Ask what is at the path; the answer comes when it comes."""
        text = self.text()
        self._looked = text
        if not text.strip():
            self._info = None
            self._around.background.forget(self.key)
            self._show()
            return
        self._around.background.ask(self.key, self._question(text), self._on_info)

    def _question(self, text: str) -> Callable[[], FileInfo]:
        base, folder = self._around.base, self.is_folder
        return lambda: fileinfo.look(text, base, folder=folder)

    def _on_info(self, info: Any, error: Exception | None) -> None:
        self._info = info if isinstance(info, FileInfo) else None
        self._show()
        self.found.emit()

    def _on_edited(self) -> None:
        self._info = None
        self._show()
        self._typing.start()
        self.edited.emit()

    def _on_clear(self) -> None:
        self.fill(None)
        self.edit.setFocus()
        self.edited.emit()

    def choose(self) -> None:
        """The system's dialog; it does not block the window."""
        dialog = QFileDialog(self, self.parameter.title, self._start_folder())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.Directory if self.is_folder else QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self._on_chosen)
        dialog.open()

    def _start_folder(self) -> str:
        path = Path(self.text().strip() or ".").expanduser()
        return str(path.parent) if path.is_absolute() else str(Path.home())

    def _on_chosen(self, path: str) -> None:
        self.take([path])

    def take(self, paths: Sequence[str]) -> None:
        """Paths from a dialog or a drop."""
        if paths:
            self.fill(paths[0])
            self.edited.emit()

    # ---- showing

    def _show(self) -> None:
        info, px = self._info, self.theme.px
        self._clear.setVisible(bool(self.text()))
        self._choose.say(_("Change…") if self.text() else _("Choose…"))
        self._choose.setAccessibleName(_("Choose: {field}").format(field=self.parameter.title))
        known = info is not None and not info.problem
        if info is not None and known:
            self.about.setText(fileinfo.line(info, self.parameter.policy, self._around.copy_bytes_max))
        self.about.setVisible(known)
        self.frame.setMinimumHeight(px(48 if known else 36))
        self.setToolTip(self.text())
        self._show_frame()

    def _show_frame(self, drop: bool = False) -> None:
        focused = any(target.hasFocus() for target in self.targets)
        self.frame.show_state("drop" if drop else "wrong" if self._wrong else "focus" if focused else "")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        done = super().eventFilter(watched, event)
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            focused = event.type() == QEvent.Type.FocusIn
            self.frame.show_state("wrong" if self._wrong else "focus" if focused else "")
            if not focused and self._typing.isActive():
                self._typing.stop()
                self.look()
        return done

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped(event.mimeData()):
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
            self._show_frame(drop=True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._show_frame()

    def dropEvent(self, event: QDropEvent) -> None:
        event.setDropAction(Qt.DropAction.CopyAction)  # dropped files are only read
        event.accept()
        self.take(dropped(event.mimeData()))
        self._show_frame()


class PathsEditor(PathEditor):
    """Several files, one path a line."""

    def _make_edit(self) -> Any:
        edit = GrowingEdit(self.theme, several=True)
        edit.setPlaceholderText(_("not set") if self.parameter.optional else _("Paths, one a line, or drop files here"))
        edit.textChanged.connect(self._on_changed)
        return edit

    def _lay_out(self) -> None:
        super()._lay_out()
        self.edit.setObjectName("bare")
        self.edit.document().setDocumentMargin(self.theme.px(3))

    def text(self) -> str:
        return str(self.edit.text())

    def raw(self) -> Any:
        text = self.text()
        return lines_of(text) if text.strip() else None

    def fill(self, raw: Any) -> None:
        self.edit.blockSignals(True)
        self.edit.setPlainText(text_of(raw))
        self.edit.blockSignals(False)
        self._info = None
        self._show()
        self.look()

    def _on_changed(self) -> None:
        if hasattr(self, "_typing"):
            self._on_edited()

    def _question(self, text: str) -> Callable[[], FileInfo]:
        base, raw = self._around.base, lines_of(text)
        paths = raw if isinstance(raw, list) else []
        return lambda: fileinfo.look_all(paths, base)

    def choose(self) -> None:
        dialog = QFileDialog(self, self.parameter.title, str(Path.home()))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(self.take)
        dialog.open()

    def take(self, paths: Sequence[str]) -> None:
        """Further files go below those that stand there."""
        have = [line for line in self.text().split("\n") if line.strip()]
        self.fill([*have, *(path for path in paths if path not in have)])
        self.edited.emit()


class _Icon(QWidget):
    def __init__(self, ink: Ink, name: str) -> None:
        super().__init__()
        self._ink, self._name = ink, name
        self.setFixedSize(ink.theme.px(16), ink.theme.px(18))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._ink.icon(painter, self.rect().toRectF().center(), self._name, "text2", self._ink.theme.px(16))
        painter.end()


def dropped(data: QMimeData) -> list[str]:
    """The local paths in what is being dragged."""
    return [url.toLocalFile() for url in data.urls() if url.isLocalFile()]


def _forgetter(background: Background, key: str) -> Callable[[], None]:
    return lambda: background.forget(key)
