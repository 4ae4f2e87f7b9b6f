"""The palette in the window: made when it is first asked for, told what can be done here, and doing what was chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from actum.workspace import Workspace
from PySide6.QtCore import QObject, SignalInstance
from PySide6.QtWidgets import QWidget

from actum_desktop import i18n
from actum_desktop.i18n import _
from actum_desktop.views.ink import Ink

if TYPE_CHECKING:
    from actum_desktop.asking import Asking
    from actum_desktop.models.palette import Again, Entry
    from actum_desktop.models.palettereader import PaletteReader
    from actum_desktop.views.palette import Action, Palette
    from actum_desktop.views.runpage import RunPage


class Place(Protocol):
    """Where the palette stands: all that can be done there by one of its lines."""

    asking: Asking
    scheme_chosen: SignalInstance
    quit_asked: SignalInstance

    @property
    def shown_run(self) -> RunPage | None: ...
    @property
    def queue_paused(self) -> bool: ...
    def screens(self) -> list[tuple[str, str, str, str]]: ...
    def go(self, screen: str) -> None: ...
    def open_task(self, name: object) -> None: ...
    def open_run(self, run: object) -> None: ...
    def open_result(self, run: object) -> None: ...
    def run_task(self, name: str, again: Again | None = None) -> None: ...
    def new_task(self, kind: str) -> None: ...
    def ask_queue(self, what: str) -> None: ...
    def choose_language(self, language: str) -> None: ...


class PaletteDesk(QObject):
    """Attribute: palette (None until it was opened once)."""

    def __init__(self, ink: Ink, ws: Workspace, place: Place, window: QWidget) -> None:
        super().__init__(window)
        self._ink, self._ws, self._place, self._window = ink, ws, place, window
        self._does: dict[str, Callable[[], None]] = {}
        self._reader: PaletteReader | None = None
        self.palette: Palette | None = None

    def open(self) -> None:
        if self.palette is None:
            self._make()
        assert self.palette is not None
        if not self.palette.isVisible():
            self.palette.open(self._offers())

    def part(self) -> None:
        """Before the store is closed, or every word is made anew."""
        palette, self.palette = self.palette, None
        if palette is not None:
            palette.close_up()
            palette.deleteLater()
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()
            reader.deleteLater()

    def _make(self) -> None:
        from actum_desktop.models.palettereader import PaletteReader
        from actum_desktop.views.palette import Palette

        self.palette = Palette(self._ink, self._window)
        self._reader = PaletteReader(self._ws, self)
        self._reader.found.connect(self.palette.found)
        self.palette.asked.connect(self._reader.ask)
        self.palette.chosen.connect(self._on_chosen)
        self.palette.run_asked.connect(self._on_run)

    def _on_run(self, entry: Entry) -> None:
        self._place.run_task(str(entry.value), entry.again)

    def _on_chosen(self, entry: Entry) -> None:
        place = self._place
        if entry.key == "action":
            self._does[entry.value]()
        else:
            {"task": place.open_task, "run": place.open_run, "result": place.open_result}[entry.key](entry.value)

    # ---- what can be done

    def _offers(self) -> list[Action]:
        """Everything the window can do now; what concerns the shown run first."""
        from actum_desktop.views.palette import Action

        place = self._place
        found: list[Action] = []
        self._does = {}

        def offer(name: str, title: str, does: Callable[[], None], **more: str) -> None:
            found.append(Action(name, title, **more))
            self._does[name] = does

        run = place.shown_run
        if run is not None:
            for name, title, note, icon, keys in run.offers():
                offer(f"run {name}", title, lambda name=name: run.do(name), note=note, icon=icon, keys=keys)  # type: ignore[misc]
        paused = place.queue_paused
        queue = _("Resume queue") if paused else _("Pause queue")
        offer("queue", queue, lambda: place.ask_queue("resume" if paused else "pause"), icon="play" if paused else "pause")
        offer("program", _("New task: run a program…"), lambda: place.new_task("program"), icon="plus", keys="Ctrl N")
        offer("function", _("New task: a Python function…"), lambda: place.new_task("function"), icon="plus")
        offer("check", _("Look at everything in flight again"), place.asking.check, icon="arrows-clockwise")
        for key, title, icon, keys in place.screens():
            offer(f"go {key}", _("Go to {screen}").format(screen=title), lambda key=key: place.go(key), icon=icon, keys=keys)  # type: ignore[misc]
        for scheme, title in (("light", _("Light")), ("dark", _("Dark")), ("system", _("As the system"))):
            text = _("Look: {look}").format(look=title)
            offer(text, text, lambda scheme=scheme: place.scheme_chosen.emit(scheme), icon="gear", group="settings")  # type: ignore[misc]
        for code, name in i18n.NAMES.items():
            text = _("Language: {language}").format(language=name)
            offer(text, text, lambda code=code: place.choose_language(code), icon="gear", group="settings")  # type: ignore[misc]
        offer("settings", _("Settings"), lambda: place.go("settings"), icon="gear", keys="Ctrl ,", group="settings")
        offer("help", _("Help and keys"), lambda: place.go("help"), icon="question", keys="F1", group="settings")
        offer("about", _("About, and how this program was tried"), lambda: place.go("about"), icon="info", group="settings")
        offer("quit", _("Quit Actum"), place.quit_asked.emit, icon="x", keys="Ctrl Q", group="settings")
        return found
