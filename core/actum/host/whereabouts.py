"""Where the attempt's folder is now: at its place, moved away, or deleted (§6: a missing folder is “cannot tell”).

Theory. The host holds the folder itself open, by a descriptor that says nothing but which folder is meant, and the kernel
knows its present name. A folder that has a name elsewhere was moved and may come back: nothing is made in its place, and
nothing is concluded from what is not there. One that has none was deleted, and is gone for good. By the descriptor the
folder can be reached wherever it is. Keeps R09, R18.
"""

from __future__ import annotations

import os

_DELETED = " (deleted)"


class Whereabouts:
    """Of one folder. Attribute: here (a path that leads to it wherever it is, in this process alone)."""

    def __init__(self, folder: str) -> None:
        self._folder, self._descriptor = folder, -1
        self.here = folder
        self.look_up()

    def look_up(self) -> None:
        """Take what is at the place now for the folder that is meant. Raises nothing: without it, `moved` says nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        try:
            self._descriptor = os.open(self._folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            self._name = os.readlink(f"/proc/self/fd/{self._descriptor}")
        except OSError:
            self._descriptor, self.here = -1, self._folder
            return
        self.here = f"/proc/self/fd/{self._descriptor}"

    def moved(self) -> str:
        """The path it was moved to; "" where it is at its place, or was deleted, or nothing can be told."""
        if self._descriptor < 0:
            return ""
        meant = os.fstat(self._descriptor)
        try:
            found = os.stat(self._folder)
            if (found.st_dev, found.st_ino) == (meant.st_dev, meant.st_ino):
                return ""
        except OSError:
            pass
        name = os.readlink(f"/proc/self/fd/{self._descriptor}")
        gone = meant.st_nlink == 0 or name.endswith(_DELETED) or name == self._name
        return "" if gone else name

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1
