"""The words that Qt brings itself, in the window's language: its file dialog, and the menu of a text field."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QTranslator

from actum_desktop.i18n import N_, _

# What Qt's own catalogues have lost: without its mark for the key, where its file dialog says it.
_MISSING = {"Look in:": N_("Look in:"), "Files of type:": N_("Files of type:")}


class Missing(QTranslator):
    """Says what the catalogue of Qt does not; of everything else it knows nothing."""

    def isEmpty(self) -> bool:
        return False

    def translate(self, context: str, text: str, disambiguation: str | None = None, n: int = -1) -> str:
        known = _MISSING.get(text.replace("&", "")) if context == "QFileDialog" else None
        return _(known) if known else None  # type: ignore[return-value]  # None = ask the next one; "" would be said


class QtWords:
    """Qt's own catalogue of a language; English is what Qt speaks without one."""

    def __init__(self, app: QCoreApplication) -> None:
        self._app = app
        self._words: tuple[QTranslator, ...] = ()

    def use(self, language: str) -> bool:
        """Whether Qt speaks `language` from now on; where its catalogue is missing, it goes on in English."""
        for words in self._words:
            self._app.removeTranslator(words)
        self._words = ()
        if language == "en":
            return True
        catalogue = QTranslator(self._app)
        if not catalogue.load(f"qtbase_{language}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
            return False
        self._words = (catalogue, Missing(self._app))  # the one installed last is asked first
        return all(self._app.installTranslator(words) for words in self._words)
