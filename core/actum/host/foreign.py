"""Setting aside what stands in the place of a file of the host's and is not the host's: kept, out of the way (R12)."""

from __future__ import annotations

import os

from actum import faults

_TRIES = 10


def set_aside(path: str) -> None:
    """Give it another name beside its own: outcome.json becomes outcome.foreign. Raises OSError."""
    base = os.path.splitext(path)[0]
    faults.point("spool.foreign.rename.before")
    for number in range(_TRIES):
        try:
            os.replace(path, f"{base}.foreign-{number}" if number else f"{base}.foreign")
            break
        except OSError:  # a folder is no place for a file, nor a file for a folder
            if number + 1 == _TRIES or not os.path.lexists(path):
                raise
    faults.point("spool.foreign.rename.after")
