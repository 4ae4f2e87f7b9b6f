"""Whether anybody supervises this attempt: by the channel, or, where the spool alone serves, by the workspace's lock (R08).

Theory. An endpoint without a socket outlives the supervisor that wrote it, so it says only how one would be heard. A
supervisor holds the workspace's lock as long as it lives, and the kernel lets go of it when it dies: that is the sign. A
probe takes the lock shared for an instant; it is made once in LOCK_PROBE_S, and only by a host whose task says how long it
may go on alone. What cannot be told (a disk that is not there) leaves the last answer as it is: work is not ended for it.
"""

from __future__ import annotations

import fcntl
import os

from actum import limits
from actum.host.launch import Launch


class Supervision:
    """Of one attempt, as its host sees it."""

    def __init__(self, launch: Launch) -> None:
        self._workspace = launch.workspace
        self._matters = launch.stop_after_s is not None
        self._held, self._due = True, 0.0

    def goes_on(self, established: bool, spool_only: bool, now: float) -> bool:
        """Whether somebody supervises, by a channel that is `established` or, if `spool_only`, by holding the lock."""
        if established or not spool_only:
            self._due = 0.0
            return established
        if self._matters and now >= self._due:
            self._due = now + limits.LOCK_PROBE_S
            held = lock_is_held(self._workspace)
            self._held = self._held if held is None else held
        return self._held or not self._matters


def lock_is_held(workspace: str) -> bool | None:
    """Whether a supervisor holds the lock of this workspace; None where that cannot be told. Creates nothing."""
    try:
        descriptor = os.open(os.path.join(workspace, "lock"), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return False if os.path.isdir(os.path.join(workspace, "attempts")) else None
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return False
