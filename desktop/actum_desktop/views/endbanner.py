"""How a run ended without a result: why, what it left, and what one can do with that. One banner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Signal

from actum_desktop import measures, wording
from actum_desktop.i18n import _
from actum_desktop.views.ink import Ink
from actum_desktop.views.widgets import Banner, button


class EndBanner(Banner):
    """Signals: `adopt_asked` (a body for the supervisor; asked twice it finds the run that is there), `files_asked` ()."""

    adopt_asked = Signal(object)
    files_asked = Signal()

    def __init__(self, ink: Ink) -> None:
        super().__init__(ink, "bad", "x-circle-fill")
        self._run = 0
        self.adopt = button(ink.theme, _("Adopt it"), self.ask_adopt, small=True, icon="shield-check")
        self.files = button(ink.theme, _("Open its files"), self._on_files, small=True, icon="folder-open")
        self.add(self.adopt)
        self.add(self.files)

    def show_end(self, show: Mapping[str, Any]) -> None:
        """Hidden while there is nothing to say."""
        self._run = int(show.get("run") or 0)
        adoption, failure = show.get("adoption") or {}, show.get("failure") or {}
        of = adoption.get("of") or {}
        again = bool(of.get("again"))  # an adoption that ended without a result: what it took up is free for the next
        self._run = int(of["run"]) if again else self._run
        self.adopt.setVisible(bool(again or adoption.get("offer") or adoption.get("by")))
        self.files.setVisible(bool(show.get("unverified_files")))
        self.setVisible(bool(again or failure.get("code") or adoption.get("offer") or adoption.get("by")))
        if adoption.get("by"):
            self.turn("info", "info-fill")
            self.adopt.say(_("Open run {n}").format(n=adoption["by"]))
            self.say(_("Run {n} has adopted its package").format(n=adoption["by"]), _("The status of this run stays as it is."))
        elif adoption.get("offer"):
            self.turn("info", "info-fill")
            self.adopt.say(_("Adopt it"))
            self.say(*wording.adoption_offer(show))
        elif failure.get("code"):
            self.adopt.say(_("Adopt it again"))
            self.turn("bad", "x-circle-fill")
            code = str(failure["code"])
            said = wording.failure_told(str(failure.get("message") or ""))
            label = _("Its files are not a result and not verified.") if show.get("unverified_files") else ""
            text = measures.joined(said, wording.failure_remedy(code), label)
            self.say(wording.failure_sentence(code), text)
        elif again:
            self.turn("info", "info-fill")
            self.adopt.say(_("Adopt it again"))
            self.say(*wording.adoption_offer(show))

    def ask_adopt(self) -> None:
        """Take up what the run sealed, as a new run."""
        self.adopt_asked.emit({"verb": "adopt", "run": self._run, "rerun_of": self._run})

    def _on_files(self) -> None:
        self.files_asked.emit()
