"""Counts what holds the GUI thread in tests, with its stack, and says it at the end; never a reason to fail.

Only calls of the program count: a test that waits or works in the main thread itself is no stall. How long a thing takes on a
busy machine proves nothing, so nothing is asserted; the list says where to look.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from actum_desktop.stalls import Stall

OVER_S = 0.1
SHOWN_MAX = 12
PROPERTY = "gui_stall"
_OURS = re.compile(r'File "[^"]*/(actum_desktop/[^"]+)", line (\d+), in (\S+)')


def where(stall: Stall) -> str:
    """The innermost call of the program on the stack, "" where there is none."""
    found = [match for line in stall.stack for match in _OURS.finditer(line)]
    return "{}:{} {}".format(*found[-1].groups()) if found else ""


@contextmanager
def counted(node: pytest.Item) -> Iterator[None]:
    """While it lasts, each stall of the program is noted with the test."""
    from actum_desktop.stalls import StallWatch  # late: the summary is for tests without Qt too

    def told(stall: Stall) -> None:
        if place := where(stall):
            node.user_properties.append((PROPERTY, [place, stall.seconds, "".join(stall.stack)]))

    watch = StallWatch(told, OVER_S)
    watch.start()
    yield
    watch.stop()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How often the GUI thread was held, and by what; with -v the longest stacks."""
    reports = [
        report for kind in terminalreporter.stats.values() for report in kind if getattr(report, "when", "") == "teardown"
    ]
    found = [value for report in reports for name, value in report.user_properties if name == PROPERTY]
    if not found:
        return
    terminalreporter.section(f"calls that held the GUI thread over {OVER_S} s: {len(found)}")
    counts = Counter(place for place, _seconds, _stack in found)
    for place, count in counts.most_common(SHOWN_MAX):
        longest = max(seconds for where_, seconds, _stack in found if where_ == place)
        terminalreporter.write_line(f"{count:4} ×, up to {longest:.2f} s  {place}")
    if len(counts) > SHOWN_MAX:
        terminalreporter.write_line(f"     and {len(counts) - SHOWN_MAX} other places")
    if terminalreporter.verbosity > 0:
        for _place, seconds, stack in sorted(found, key=lambda item: -item[1])[:3]:
            terminalreporter.write_line(f"\n{seconds:.2f} s\n{stack}")
