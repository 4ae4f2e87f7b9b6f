"""A session bus of the test's own, and on it a session manager that counts who inhibits sleep.

The manager answers `Inhibit` and `Uninhibit` of org.gnome.SessionManager, as a desktop's does, and prints a line for each.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import TracebackType

import pytest

NAME = "org.gnome.SessionManager"

_CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path={path}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>"""


class SessionBus:
    """A bus and a session manager on it. Attribute: address."""

    def __init__(self, folder: Path) -> None:
        daemon = shutil.which("dbus-daemon")
        if daemon is None:
            pytest.skip("a session bus of the test's own needs dbus-daemon")
        path = folder / "bus"
        config = folder / "bus.conf"
        config.write_text(_CONFIG.format(path=path))
        self.address = f"unix:path={path}"
        command = [daemon, "--nofork", "--nopidfile", f"--config-file={config}", "--print-address"]
        self._daemon = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self._daemon.stdout is not None
        assert self._daemon.stdout.readline(), "the bus did not start"
        self.log = folder / "manager.txt"
        with self.log.open("w") as log:
            env = {**os.environ, "DBUS_SESSION_BUS_ADDRESS": self.address}
            words = [sys.executable, "-m", "tests.helpers.sessionbus"]
            self._manager = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=log, text=True, env=env)
        assert self._manager.stdout is not None
        assert self._manager.stdout.readline() == "ready\n"

    def said(self) -> list[str]:
        """What the manager was asked, in order."""
        return self.log.read_text().split()

    def __enter__(self) -> SessionBus:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for process in (self._manager, self._daemon):
            process.terminate()
            process.communicate()


def serve() -> None:
    from jeepney import HeaderFields, MessageType, new_method_return
    from jeepney.bus_messages import message_bus
    from jeepney.io.blocking import open_dbus_connection

    connection = open_dbus_connection(bus="SESSION")
    connection.send_and_get_reply(message_bus.RequestName(NAME))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    cookie = 0
    while True:
        asked = connection.receive()
        member = asked.header.fields.get(HeaderFields.member)
        if asked.header.message_type is not MessageType.method_call or member not in ("Inhibit", "Uninhibit"):
            continue
        sys.stderr.write(f"{member}\n")
        sys.stderr.flush()
        if member == "Inhibit":
            cookie += 1
            connection.send(new_method_return(asked, "u", (cookie,)))
        else:
            connection.send(new_method_return(asked))


if __name__ == "__main__":
    serve()
