"""The item views of a table's grid: the one that scrolls, and the one beside it whose columns stay in sight."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QItemSelectionModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QKeySequence, QMouseEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractItemView, QTableView

from actum_desktop import tokens
from actum_desktop.i18n import _
from actum_desktop.models.tablemodel import TableModel
from actum_desktop.views.ink import Ink
from actum_desktop.views.tabledelegate import TableDelegate, TableHeader

Index = QModelIndex | QPersistentModelIndex
_FLAGS = QItemSelectionModel.SelectionFlag


class Grid(QTableView):
    """The item view inside. Signals: `copy_asked` (for a spreadsheet: bool), `filter_asked` (), `current_moved` (column),
    `jump_asked` (row), `all_asked` (), `menu_asked` ((column, QPoint on the screen)), `move_asked` (columns to the right)."""

    copy_asked = Signal(object)
    filter_asked = Signal()
    current_moved = Signal(object)
    jump_asked = Signal(object)
    all_asked = Signal()
    menu_asked = Signal(object)
    move_asked = Signal(object)

    def __init__(self, ink: Ink, model: TableModel) -> None:
        super().__init__()
        self._ink, self._table = ink, model
        self.setAccessibleName(_("Rows of the table"))
        self.setModel(model)
        self.setItemDelegate(TableDelegate(ink, model, self))
        self.heads = TableHeader(ink, model, self)
        self.setHorizontalHeader(self.heads)
        self.verticalHeader().hide()
        self.verticalHeader().setAccessibleName(_("Rows"))
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setCornerButtonEnabled(False)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # so that scrolling moves what is painted
        ink.theme.changed.connect(self.dress)
        self.dress()

    def dress(self) -> None:
        header = self.verticalHeader()
        header.setMinimumSectionSize(self._ink.theme.px(tokens.DATA_ROW))
        header.setDefaultSectionSize(self._ink.theme.px(tokens.DATA_ROW))
        self.viewport().update()

    @property
    def row_height(self) -> int:
        return self.verticalHeader().defaultSectionSize()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), self._ink.theme.color("surface"))
        painter.end()
        super().paintEvent(event)

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        if current.isValid() and current.column() != previous.column():
            self.current_moved.emit(current.column())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        modifiers, key = event.modifiers(), event.key()
        control = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
        shift = bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_asked.emit(False)
        elif control and modifiers & Qt.KeyboardModifier.AltModifier and key == Qt.Key.Key_C:
            self.copy_asked.emit(True)
        elif control and key in (Qt.Key.Key_Home, Qt.Key.Key_End) and self._table.total:
            self.jump_asked.emit(0 if key == Qt.Key.Key_Home else self._table.total - 1)
        elif key in (Qt.Key.Key_F, Qt.Key.Key_Slash) and not control:
            self.filter_asked.emit()
        elif control and key == Qt.Key.Key_A:
            self.all_asked.emit()
        elif control and shift and key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.move_asked.emit(1 if key == Qt.Key.Key_Right else -1)
        elif self._table.frozen and not control and key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._step(1 if key == Qt.Key.Key_Right else -1)
        elif key == Qt.Key.Key_Menu or (shift and key == Qt.Key.Key_F10):
            self._ask_menu()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        index = self.indexAt(event.pos())
        if index.isValid() and index.column() > 0:
            self.menu_asked.emit((index.column(), event.globalPos()))

    def _ask_menu(self) -> None:
        current = self.currentIndex()
        if current.isValid():
            below = self.visualRect(current).bottomLeft()
            self.menu_asked.emit((max(1, current.column()), self.viewport().mapToGlobal(below)))

    def _step(self, by: int) -> None:
        """To the column beside, also over the edge between frozen columns and the others."""
        current = self.currentIndex()
        column = max(1, min(current.column() + by, self._table.columnCount() - 1))
        where = self._table.index(current.row(), column)
        self.selectionModel().setCurrentIndex(where, _FLAGS.NoUpdate)
        if not self.isColumnHidden(column):
            self.scrollTo(where)


class Frozen(Grid):
    """The columns that stay in sight, with the number of the row; it shares selection and place with the grid beside it."""

    def __init__(self, ink: Ink, model: TableModel, grid: Grid) -> None:
        super().__init__(ink, model)
        self._grid = grid
        self.setAccessibleName(_("Frozen columns"))
        self.setSelectionModel(grid.selectionModel())
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        delegate = self.itemDelegate()
        if isinstance(delegate, TableDelegate):
            delegate.beside = grid
        grid.verticalScrollBar().valueChanged.connect(self.verticalScrollBar().setValue)
        self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter, view = QPainter(self.viewport()), self.viewport()
        painter.fillRect(view.width() - 1, 0, 1, view.height(), self._ink.theme.color("line2"))
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self._grid.setFocus(Qt.FocusReason.MouseFocusReason)

    def wheelEvent(self, event: QWheelEvent) -> None:
        QCoreApplication.sendEvent(self._grid.viewport(), event)

    def currentChanged(self, current: Index, previous: Index) -> None:
        """The grid beside it tells."""
        QTableView.currentChanged(self, current, previous)

    def scrollTo(self, index: Index, hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible) -> None:
        """It is where the grid beside it is."""
