"""How much may be under way: the slots that are set, and room on the disk for another run to begin (§11, §12).

Work that computes is left alone when room gets short; what waits goes on waiting, and an alert says for what.
"""

from __future__ import annotations

import os

from actum.clock import US, Now
from actum.limits import DISK_LOOK_EVERY_S
from actum.settings import merged
from actum.supervise import events

from actum_desktop.controller.instance import Instance


class Capacity:
    """Attribute: room."""

    def __init__(self, instance: Instance, *, recovery: bool) -> None:
        self._instance = instance
        self._recovery = recovery  # nothing is launched then
        self._look_at_us = 0
        self._told: events.Capacity | None = None

    def read_settings(self) -> None:
        """After a setting was changed: looked at with the next tick."""
        self._look_at_us = 0

    def look(self, now: Now) -> None:
        """With every tick; looks at the disk every DISK_LOOK_EVERY_S."""
        if now.monotonic_us < self._look_at_us:
            return
        self._look_at_us = now.monotonic_us + int(DISK_LOOK_EVERY_S * US)
        settings = merged(self._instance.reader.setting_rows())
        slots = 0 if self._recovery else int(settings["slots"])
        seen = events.Capacity(slots, self._free_bytes() >= int(settings["free_bytes_min"]))
        if seen == self._told:
            return
        if self._told is None or seen.room != self._told.room:
            self._instance.note("no_room", "warning", not seen.room)
        self._told = seen
        self._instance.tell(seen)

    def _free_bytes(self) -> int:
        """Free for this user where the workspace is; a disk that does not say is no reason to wait."""
        try:
            status = os.statvfs(self._instance.ws.path)
        except OSError:
            return 1 << 62
        return status.f_bavail * status.f_frsize
