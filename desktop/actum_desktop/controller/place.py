"""What is said of the place of the workspace: an alert for each doubt, which ends where the next start has none (§11, R18).

A network or synced folder is no refusal, for it may hold; but whoever works there is told, in the window as by the commands.
"""

from __future__ import annotations

from actum.model.changes import ClearAlert, Note, RaiseAlert
from actum.workspace import PLACES, Workspace, doubts


def note(ws: Workspace, now_us: int) -> Note:
    """The alerts to raise and to end."""
    found = {doubt.code: doubt for doubt in doubts(ws)}
    return Note(
        alerts=tuple(
            RaiseAlert(code, code, "warning", now_us, {"place": str(ws.path), **found[code].about})
            if code in found
            else ClearAlert(code, now_us)
            for code in PLACES
        )
    )
