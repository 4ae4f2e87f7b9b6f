"""What Qt says by itself is said in the window's language too; its file dialogs begin where the user's documents are."""

from __future__ import annotations

from pathlib import Path

import pytest
from actum_desktop import documents, i18n
from actum_desktop.models import losswords
from actum_desktop.qtwords import QtWords
from PySide6.QtCore import QCoreApplication, QDir, QStandardPaths
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")


def said() -> str:
    return QCoreApplication.translate("QFileDialog", "File &name:")


def test_the_words_of_qt_follow_the_language_and_come_back(qapp: QApplication, tmp_path: Path) -> None:
    words = QtWords(qapp)
    assert words.use("zh_CN")
    i18n.use("zh_CN")
    dialog = QFileDialog(None, "x", str(tmp_path))
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    dialog.show()
    told = [label.text() for label in dialog.findChildren(QLabel) if label.text()]
    dialog.close()
    dialog.deleteLater()
    i18n.use("en")
    assert told
    assert all("一" <= label[0] <= "龥" for label in told), told
    assert "文件" in said()
    assert words.use("zh_CN")
    assert words.use("en")
    assert said() == "File &name:"
    assert not words.use("xx_XX")
    assert said() == "File &name:"


def test_a_file_dialog_begins_with_the_documents_or_at_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kept = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    assert documents.documents() == (kept if Path(kept).is_dir() else QDir.homePath())
    monkeypatch.chdir(tmp_path)
    assert documents.documents() != str(tmp_path)


def test_a_single_loss_is_told_in_the_singular() -> None:
    one = losswords.sentence({"code": "missing", "column": "price", "count": 1})
    many = losswords.sentence({"code": "missing", "column": "price", "count": 2})
    assert one[0] == "price: 1 missing value becomes an empty cell"
    assert many[0] == "price: 2 missing values become empty cells"
    assert set(losswords._ONE) < set(losswords._WORDS)
