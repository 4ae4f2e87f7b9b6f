"""The only place in the program that signals another process, and only by proven identity (R07).

Theory. A pidfd is opened first: from then on the pid cannot come to mean another process *through that descriptor*. Then
the identity is compared: if the start ticks are the ones meant, the descriptor holds the process meant, for the process it
holds was alive when its ticks were read or has ended since, in which case the signal reaches nobody. Then the signal is
sent through the descriptor. Where the pid is another life, the answer is "gone"; nothing was signalled.
"""

from __future__ import annotations

import os
import signal as signals

from actum import faults
from actum.model.identity import ProcessIdentity
from actum.processes import identity as identities


def signal(identity: ProcessIdentity, signum: int) -> str:
    """Signal this life of a process: "sent", "gone", or "refused:…" (another machine or namespace, no permission)."""
    where = identities.place(identity)
    if where != "same":
        return "gone" if where == "other_boot" else f"refused:{where}"
    if identity.pid <= 1 or identity.pid == os.getpid():
        return "refused:not_a_member"
    try:
        descriptor = os.pidfd_open(identity.pid)
    except ProcessLookupError:
        return "gone"
    except OSError as error:
        return f"refused:{os.strerror(error.errno or 0)}"
    try:
        return _through(descriptor, identity, signum)
    finally:
        os.close(descriptor)


def _through(descriptor: int, identity: ProcessIdentity, signum: int) -> str:
    state = identities.state(identity)
    if state != "alive":
        return "gone" if state == "gone" else "refused:hidden"
    faults.point("processes.signal.before")
    try:
        signals.pidfd_send_signal(descriptor, signum)
    except ProcessLookupError:
        return "gone"
    except PermissionError:
        return "refused:permission"
    faults.point("processes.signal.after")
    return "sent"
