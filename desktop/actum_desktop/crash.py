"""Crash reports: an error nobody expected is written to a file and named in words; the program goes on if it can.

Nothing is sent anywhere (R20). A report holds the traceback, the versions and the time; no parameters and no data.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from actum.limits import CRASH_REPORTS_MAX

Told = Callable[[str, Path | None], None]


def report_text(kind: type[BaseException], error: BaseException, trace: TracebackType | None, version: str) -> str:
    import platform  # late: its import is longer than that of this module, and there is mostly nothing to report

    lines = [
        f"Actum {version}, Python {platform.python_version()}, {platform.platform()}",
        f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "",
        *traceback.format_exception(kind, error, trace),
    ]
    return "\n".join(lines)


def write(folder: Path, text: str) -> Path | None:
    """The report's path; None where it could not be written."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / f"crash-{datetime.now(UTC):%Y%m%d-%H%M%S-%f}.txt"
        path.write_text(text, "utf-8")
        for old in sorted(folder.glob("crash-*.txt"))[:-CRASH_REPORTS_MAX]:
            old.unlink(missing_ok=True)
    except OSError:
        return None
    return path


def install(folder: Path, version: str, told: Told) -> Callable[[], None]:
    """From now on an uncaught error becomes a report, and `told` gets one sentence and its path. Returns how to undo it."""
    before, before_thread = sys.excepthook, threading.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            before(kind, error, trace)
            return
        path = write(folder, report_text(kind, error, trace, version))
        before(kind, error, trace)
        told(f"{kind.__name__}: {error}", path)

    def thread_hook(arguments: threading.ExceptHookArgs) -> None:
        value = arguments.exc_value if arguments.exc_value is not None else arguments.exc_type()
        hook(arguments.exc_type, value, arguments.exc_traceback)

    sys.excepthook, threading.excepthook = hook, thread_hook

    def undo() -> None:
        sys.excepthook, threading.excepthook = before, before_thread

    return undo
