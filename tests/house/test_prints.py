"""Nothing prints but the one output module of the commands; programs started by us write to the streams they document."""

from __future__ import annotations

from tests.house.sources import CORE, DESKTOP, calls, modules, place

# Modules that are programs of their own speak on their streams: that is their protocol, by write(), not by print().
OUTPUT = DESKTOP / "commands" / "output.py"


def test_nothing_prints() -> None:
    found = [
        place(path, call.lineno)
        for path in modules(CORE, DESKTOP)
        if path != OUTPUT
        for name, call in calls(path)
        if name in ("print", "pprint.pprint", "breakpoint")
    ]
    assert not found, "Say it through actum_desktop/commands/output.py, or log it:\n" + "\n".join(found)
