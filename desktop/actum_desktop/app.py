"""Opens the window: paints it first, then brings up the supervisor beside it.

The order is the point: Qt and the theme, one painted frame, the pages with what is recorded, and only then (in a thread of
its own) the import of the controller and of all it needs to write, which takes longer than everything before. Where a window
already supervises this workspace, that one is shown instead; from a supervisor without a window, this one takes over.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from typing import TYPE_CHECKING, Any

from actum import __version__
from actum.errors import ActumError, Busy
from actum.workspace import Workspace, create_folders

from actum_desktop import qtguard

if TYPE_CHECKING:
    from actum.lock import Lock

TAKE_OVER_WAIT_S = 10


def main(ws: Workspace) -> int:
    """Open the window of a workspace and stay until it is closed. Raises WorkspaceUnusable, Busy."""
    qtguard.check()
    qtguard.check_display()
    create_folders(ws)
    lock = acquire(ws)
    if lock is None:
        return 0
    if not os.environ.get("XDG_RUNTIME_DIR"):
        from actum import runtime

        os.environ["XDG_RUNTIME_DIR"] = str(runtime.runtime_directory())
    from PySide6.QtWidgets import QApplication

    from actum_desktop.desk import Desk
    from actum_desktop.ending import Ending

    sys.setswitchinterval(0.001)  # the controller thread shares the interpreter with the painting
    app = QApplication(["actum"])
    app.setApplicationName("actum")
    app.setApplicationDisplayName("Actum")
    app.setDesktopFileName("actum")
    app.setStyle("Fusion")
    app.setQuitOnLastWindowClosed(False)  # a closed window with work in flight is only hidden
    desk = Desk(app, ws, lock, __version__)
    desk.joined.connect(gc.freeze)  # modules and pages stay: looking through them for garbage would hold the window each time
    ending = Ending(app, desk)
    desk.open()
    code = app.exec()
    ending.close()
    desk.close()
    return code


def acquire(ws: Workspace) -> Lock | None:
    """The workspace lock, by taking over if need be; None when another window was shown instead. Raises Busy."""
    from actum.lock import Lock

    lock = Lock.try_acquire(ws)
    end = time.monotonic() + TAKE_OVER_WAIT_S
    asked = False
    while lock is None and time.monotonic() < end:
        if not asked:
            answer = ask_the_other(ws)
            if answer == "shown":
                return None
            asked = answer == "leaving"
        time.sleep(0.05)  # between two tries for a lock that says nothing when it becomes free
        lock = Lock.try_acquire(ws)
    if lock is None:
        raise Busy(
            "supervised",
            "Another program supervises this workspace and did not let go.",
            "",
            "Wait until its runs have ended, or close it.",
        )
    return lock


def ask_the_other(ws: Workspace) -> str:
    """`shown` when another window came to the front, `leaving` when a supervisor without a window gives way, "" else."""
    from actum_desktop.commands.connection import reach

    try:
        client = reach(ws)
        if client is None:
            return ""
        body: dict[str, Any] = {"verb": "show_window" if client.supervisor.get("window") else "take_over", "from_window": True}
        answer = client.ask(body)
        client.close()
    except ActumError:
        return ""
    return "shown" if answer.get("shown") else "leaving"
