"""The one short style sheet: fields, buttons, scroll bars, tool tips, menus. Every size comes from the unit."""

from __future__ import annotations

from collections.abc import Callable

from actum_desktop import tokens
from actum_desktop.tokens import Tokens


def stylesheet(t: Tokens, px: Callable[[float], int]) -> str:
    """Selectors only, never family or size: a bare rule on a container would style its children."""
    radius = px(tokens.RADIUS_CONTROL)
    control, small = px(tokens.CONTROL) - 2, px(tokens.CONTROL_SMALL) - 2
    return f"""
QPushButton {{ background: {t.surface}; color: {t.text}; border: 1px solid {t.button}; border-radius: {radius}px;
  padding: 0 {px(12)}px; min-height: {control}px; }}
QPushButton:hover {{ background: {t.hover}; }}
QPushButton:pressed {{ background: {t.chosen}; }}
QPushButton:disabled {{ color: {t.text3}; }}
QPushButton:focus {{ border: 2px solid {t.accent}; padding: 0 {px(12) - 1}px; min-height: {control - 2}px; }}
QPushButton[kind="primary"] {{ background: {t.fill}; color: {t.on_fill}; border: 1px solid {t.fill}; }}
QPushButton[kind="primary"]:hover {{ background: {t.fill_hover}; }}
QPushButton[kind="primary"]:focus {{ border: 2px solid {t.text}; }}
QPushButton[small="true"] {{ min-height: {small}px; padding: 0 {px(9)}px; }}
QPushButton[small="true"]:focus {{ min-height: {small - 2}px; padding: 0 {px(9) - 1}px; }}
QPushButton[kind="link"] {{ background: transparent; border: 1px solid transparent; color: {t.accent};
  padding: 0 {px(4)}px; min-height: {small}px; }}
QPushButton[kind="link"]:hover {{ background: {t.hover}; }}
QPushButton[kind="link"]:focus {{ border: 2px solid {t.accent}; padding: 0 {px(4) - 1}px; min-height: {small - 2}px; }}
QPushButton[kind="ghost"] {{ background: transparent; border: 1px solid transparent; padding: 0; }}
QPushButton[kind="ghost"]:hover {{ background: {t.hover}; }}
QPushButton[kind="ghost"]:focus {{ border: 2px solid {t.accent}; }}
QPushButton[kind="crumb"] {{ background: transparent; border: 1px solid transparent; color: {t.text2};
  padding: 0; min-height: {px(18)}px; }}
QPushButton[kind="crumb"]:hover {{ color: {t.text}; }}
QPushButton[kind="crumb"]:focus {{ border: 1px solid {t.accent}; min-height: {px(18)}px; padding: 0; }}
QPushButton#segment {{ background: transparent; border: 1px solid transparent; color: {t.text2};
  min-height: {px(26) - 2}px; padding: 0 {px(10)}px; border-radius: {px(5)}px; }}
QPushButton#segment:hover {{ color: {t.text}; }}
QPushButton#segment:checked {{ background: {t.segment}; color: {t.text}; }}
QPushButton#segment:focus {{ border: 2px solid {t.accent}; min-height: {px(26) - 4}px; padding: 0 {px(10) - 1}px; }}
{_fields(t, px)}
QRadioButton {{ spacing: {px(8)}px; color: {t.text}; border: 1px solid transparent; }}
QRadioButton::indicator {{ width: {px(14)}px; height: {px(14)}px; border: 1px solid {t.line2};
  border-radius: {px(14) // 2 + 1}px; background: {t.surface}; }}
QRadioButton::indicator:checked {{ width: {px(6)}px; height: {px(6)}px; border: {px(5)}px solid {t.accent};
  border-radius: {px(6) // 2 + px(5)}px; }}
QRadioButton:focus {{ border: 1px solid {t.accent}; border-radius: {px(4)}px; }}
QToolTip {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.hairline};
  padding: {px(4)}px {px(6)}px; }}
QMenu {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.hairline}; padding: {px(4)}px; }}
QMenu::item {{ padding: {px(6)}px {px(24)}px {px(6)}px {px(12)}px; border-radius: {px(4)}px; }}
QMenu::item:selected {{ background: {t.tint_accent}; }}
QMenu::item:disabled {{ color: {t.text3}; }}
QMenu::separator {{ height: 1px; background: {t.hairline}; margin: {px(4)}px {px(8)}px; }}
QAbstractScrollArea {{ border: none; background: transparent; }}
QFileDialog QAbstractItemView {{ background: {t.surface}; }}
QFileDialog QHeaderView, QFileDialog QHeaderView::section {{ background: {t.surface}; color: {t.text2}; border: none;
  padding: {px(2)}px {px(4)}px; }}
QScrollBar:vertical {{ background: transparent; width: {px(12)}px; margin: 0; }}
QScrollBar::handle:vertical {{ background: {t.track}; border-radius: {px(3)}px; margin: {px(3)}px; min-height: {px(32)}px; }}
QScrollBar::handle:vertical:hover {{ background: {t.line2}; }}
QScrollBar:horizontal {{ background: transparent; height: {px(12)}px; margin: 0; }}
QScrollBar::handle:horizontal {{ background: {t.track}; border-radius: {px(3)}px; margin: {px(3)}px;
  min-width: {px(32)}px; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QTableCornerButton::section {{ background: {t.surface}; border: 0; }}
"""


def _fields(t: Tokens, px: Callable[[float], int]) -> str:
    """What one types into and chooses from."""
    radius = px(tokens.RADIUS_CONTROL)
    control, small = px(tokens.CONTROL) - 2, px(tokens.CONTROL_SMALL) - 2
    return f"""\
QLineEdit {{ background: {t.surface}; color: {t.text}; border: 1px solid {t.line2}; border-radius: {radius}px;
  min-height: {control}px; padding: 0 {px(8)}px 0 2px; selection-background-color: {t.tint_accent};
  selection-color: {t.text}; }}
QLineEdit:focus {{ border: 2px solid {t.accent}; min-height: {control - 2}px; padding: 0 {px(8) - 1}px 0 1px; }}
QLineEdit[small="true"] {{ min-height: {small}px; }}
QLineEdit[small="true"]:focus {{ min-height: {small - 2}px; }}
QLineEdit[wrong="true"], QComboBox[wrong="true"] {{ border: 2px solid {t.bad}; min-height: {control - 2}px; }}
QLineEdit[wrong="true"] {{ padding: 0 {px(8) - 1}px 0 1px; }}
QLineEdit#bare, QLineEdit#bare:focus {{ background: transparent; border: none; padding: 0; min-height: 0; }}
QPlainTextEdit#field {{ background: {t.surface}; color: {t.text}; border: 1px solid {t.line2}; border-radius: {radius}px;
  padding: 0 {px(6)}px; selection-background-color: {t.tint_accent}; selection-color: {t.text}; }}
QPlainTextEdit#field:focus {{ border: 2px solid {t.accent}; padding: 0 {px(6) - 1}px; }}
QPlainTextEdit#field[wrong="true"] {{ border: 2px solid {t.bad}; padding: 0 {px(6) - 1}px; }}
QPushButton#answer {{ min-width: {px(40)}px; }}
QPushButton#answer:checked {{ background: {t.tint_accent}; border: 1px solid {t.accent}; color: {t.accent}; }}
QPushButton#answer:focus {{ border: 2px solid {t.accent}; }}
QPushButton#answer[wrong="true"] {{ border: 1px solid {t.bad}; }}
QComboBox {{ background: {t.surface}; color: {t.text}; border: 1px solid {t.line2}; border-radius: {radius}px;
  min-height: {control}px; padding: 0 {px(10)}px; }}
QComboBox:focus {{ border: 2px solid {t.accent}; min-height: {control - 2}px; padding: 0 {px(10) - 1}px; }}
QComboBox[small="true"] {{ min-height: {small}px; padding: 0 {px(8)}px; }}
QComboBox[small="true"]:focus {{ min-height: {small - 2}px; padding: 0 {px(8) - 1}px; }}
QComboBox::drop-down {{ border: none; width: {px(22)}px; }}
QListWidget#options {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.line2}; outline: none;
  selection-background-color: {t.tint_accent}; selection-color: {t.text}; padding: {px(2)}px; }}
QComboBox QAbstractItemView {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.hairline};
  selection-background-color: {t.tint_accent}; selection-color: {t.text}; outline: none; }}
"""
