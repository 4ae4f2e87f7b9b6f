"""Every sentence that the window shows goes through the translation (`_()`), whatever widget shows it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.house.sources import DESKTOP, dotted, modules, nodes, place

SHOWING = {
    "QLabel", "QPushButton", "QToolButton", "QCheckBox", "QRadioButton", "QGroupBox", "QAction", "QMenu",
    "setText", "setToolTip", "setWindowTitle", "setPlaceholderText", "setAccessibleName", "setAccessibleDescription",
    "setStatusTip", "setTitle", "addAction", "addMenu", "addTab", "setInformativeText", "setLabelText",
}  # fmt: skip
PROGRAM = "Actum"  # a name, the same in every language
WINDOW = ("views", "models", "forms", "charts")


def untranslated(path: Path) -> list[str]:
    found = []
    for node in nodes(path):
        if not isinstance(node, ast.Call) or dotted(node.func).rpartition(".")[2] not in SHOWING:
            continue
        for argument in node.args:
            parts = argument.values if isinstance(argument, ast.JoinedStr) else [argument]
            for part in parts:
                words = part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else ""
                if re.search(r"[A-Za-z]{2}", words) and words != PROGRAM:
                    found.append(f"{place(path, node.lineno)} {words!r}")
    return found


def test_what_the_window_shows_is_translated() -> None:
    found = [line for path in modules(*(DESKTOP / part for part in WINDOW)) for line in untranslated(path)]
    assert not found, 'Write _("…") (actum_desktop.i18n) and add the Chinese to the catalogue:\n' + "\n".join(found)


def test_an_untranslated_word_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "tried.py"
    path.write_text('label.setText("Stop")\nlabel.setToolTip(f"Run {n}")\nlabel.setText(_("Stop"))\nlabel.setText("–")\n')
    assert len(untranslated(path)) == 2
