"""The host program: `python -I -S …/actum/host/host_main.py <attempt folder>`; what it does is in main.py.

It starts with nothing on its path but the standard library and adds the one folder that holds `actum`.
"""

from __future__ import annotations

import os
import sys

LOCK_HELD, UNUSABLE = 3, 4  # exit codes for host.log's readers; nothing was done


def main(arguments: list[str]) -> int:
    """Runs the host of the attempt whose folder is the one argument."""
    if len(arguments) != 1:
        sys.stderr.write("usage: host_main.py <attempt folder>\n")
        return 2
    folder = os.path.abspath(arguments[0])
    from actum import faults, limits
    from actum.errors import ActumError
    from actum.host import launch, place

    place.close_descriptors()
    place.fill_standard_descriptors()
    place.lead_session()
    faults.i_am("host")
    signals = place.Signals()
    try:
        asked = launch.read(folder)
        from actum.ipc import spool

        lock = spool.hold_alive(folder, limits.ALIVE_LOCK_WAIT_S)
        if lock is None:
            place.note("nothing done: another host of this attempt lives")
            return LOCK_HELD
        if not isinstance(spool.read_claim(folder), spool.Absent):
            place.note("nothing done: the claim is taken")
            return LOCK_HELD
        place.become_subreaper()
        from actum.host.main import Host
        from actum.processes import identity

        host = Host(asked, identity.own(), signals)
    except (ActumError, OSError) as error:
        place.note(f"nothing done: {error}")
        return UNUSABLE
    return host.run()


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    code = main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(code)  # a sealing thread that was left must not hold the exit
