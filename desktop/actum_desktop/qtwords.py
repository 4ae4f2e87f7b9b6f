"""The words that Qt brings itself, in the window's language: its file dialog, and the menu of a text field."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QTranslator


class QtWords:
    """Qt's own catalogue of a language; English is what Qt speaks without one."""

    def __init__(self, app: QCoreApplication) -> None:
        self._app = app
        self._words: QTranslator | None = None

    def use(self, language: str) -> bool:
        """Whether Qt speaks `language` from now on; where its catalogue is missing, it goes on in English."""
        if self._words is not None:
            self._app.removeTranslator(self._words)
            self._words = None
        if language == "en":
            return True
        words = QTranslator(self._app)
        if not words.load(f"qtbase_{language}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
            return False
        self._words = words
        return self._app.installTranslator(words)
