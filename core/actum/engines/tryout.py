"""Starts a program once, to see that it starts: a short trial outside any run, with a time limit; nothing of it is kept.

It is no run: no facts, no package, no ledger. The program gets an output folder that is removed afterwards, its output goes
to files of which the end is shown, and after TRYOUT_S_MAX, or when whoever asked has gone, it is ended by its proven
identity (R07). What it has started itself is not followed. Blocks; called away from the GUI thread.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from actum import limits
from actum.contracts.commandline import OUTPUT
from actum.engines.environment import host_environment
from actum.engines.tried import Tried
from actum.processes import identity, terminate

_LOOK_S = 0.1


def try_out(
    command: Sequence[str],
    cwd: str | None,
    profile: str,
    variables: Mapping[str, str],
    *,
    timeout_s: float = limits.TRYOUT_S_MAX,
    gone: Callable[[], bool] = lambda: False,
) -> Tried:
    """What happened. `{ACTUM_OUTPUT}` in the command is the folder for files; `gone()` = nobody waits any more."""
    environment = {**host_environment(profile, os.environ), **variables}
    with tempfile.TemporaryDirectory(prefix="actum-tryout-") as folder, tempfile.TemporaryFile() as said:
        environment[OUTPUT] = folder
        environment["ACTUM_MESSAGES"] = os.devnull
        started = time.monotonic()
        try:
            child = subprocess.Popen(
                [word.replace(f"{{{OUTPUT}}}", folder) for word in command],
                cwd=cwd or folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
            )
        except OSError as error:
            return Tried(None, 0.0, "", problem=f"{command[0]} cannot be started: {error.strerror or error}.")
        code = _wait(child, started + timeout_s, gone)
        seconds = time.monotonic() - started
        files = sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file())
        return Tried(code, seconds, _tail(said), tuple(files[: limits.TRYOUT_FILES_SHOWN_MAX]))


def _wait(child: subprocess.Popen[bytes], end_s: float, gone: Callable[[], bool]) -> int | None:
    while time.monotonic() < end_s and not gone():
        try:
            return child.wait(_LOOK_S)
        except subprocess.TimeoutExpired:
            continue
    who = identity.of(child.pid)
    if who is not None:
        terminate.signal(who, signal.SIGKILL)
    child.wait()
    return None


def _tail(said: IO[bytes]) -> str:
    """The end of what was printed."""
    said.seek(max(0, said.seek(0, os.SEEK_END) - limits.ERROR_TEXT_CHARS_MAX))
    lines = said.read().decode("utf-8", "replace").strip().splitlines()
    return "\n".join(lines[-limits.EXTRACT_SHOWN_LINES_MAX :])
