"""The limits a task declares (memory, log, output size), and a watch on the free space nobody declares (R08)."""

from __future__ import annotations

import os
from typing import Any

from actum import limits
from actum.host.judging import Failure
from actum.host.launch import Launch
from actum.host.outputs import output_files


class Bounds:
    """Asked with every look at the tree; sizes on disk are looked at every DISK_LOOK_EVERY_S. Attribute: disk_low."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._disk_due = 0.0
        self.disk_low = False

    def broken(self, activity: dict[str, Any], log_bytes: int, now: float) -> Failure | None:
        """The limit that the work has gone beyond, as a failure."""
        launch = self._launch
        if failure := _beyond("memory", "resident bytes", activity["rss_bytes"], launch.memory_bytes):
            return failure
        if failure := _beyond("log", "bytes of output on its streams", log_bytes, launch.log_bytes):
            return failure
        if now < self._disk_due:
            return None
        self._disk_due = now + limits.DISK_LOOK_EVERY_S
        self.disk_low = _free_bytes(launch.folder) < limits.DISK_LOW_BYTES
        return self.output_broken()

    def output_broken(self) -> Failure | None:
        """Whether the files written so far are more than the task allows."""
        bound = self._launch.output_bytes
        if bound is None:
            return None
        size = sum(size for _, size in output_files(self._launch.path("staging", "files")))
        return _beyond("output", "bytes of files", size, bound)


def _beyond(name: str, unit: str, value: int, bound: int | None) -> Failure | None:
    if bound is None or value <= bound:
        return None
    message = f"The work went beyond its {name} limit: {value:,} {unit}, allowed are {bound:,}."
    return Failure("limit_exceeded", message, {"limit": name, "value": value, "bound": bound})


def _free_bytes(folder: str) -> int:
    try:
        status = os.statvfs(folder)
    except OSError:
        return limits.DISK_LOW_BYTES
    return status.f_bavail * status.f_frsize
