"""Where the system's file dialogs begin: with the user's documents, never with the folder Actum was started from."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QDir, QStandardPaths


def documents() -> str:
    """The folder of the user's documents; where there is none, the home folder."""
    folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    return folder if folder and Path(folder).is_dir() else QDir.homePath()
