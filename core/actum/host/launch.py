"""launch.json: what the supervisor asks of this host, read once and checked before anything is started."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from actum import limits
from actum.errors import ActumError
from actum.ipc import regular


class LaunchUnreadable(ActumError):
    """launch.json or the secret cannot be read or understood; the host ends with nothing done."""

    def __init__(self, why: str) -> None:
        super().__init__("launch_unreadable", "The launch file cannot be used.", why)


class Launch(NamedTuple):
    """One attempt as its host knows it. Times in seconds; a limit or deadline that is None does not hold."""

    folder: str
    workspace: str
    run: int
    attempt: str
    session: str
    secret: str
    cookie: str
    key: str
    kind: str  # program | function
    command: tuple[str, ...]
    cwd: str
    variables: Mapping[str, str]
    required: tuple[str, ...]
    accepted_exit_codes: tuple[int, ...]
    after_exit: str  # wait | end
    grace_s: float
    start_s: float
    stages: Mapping[str, float]
    overall_s: float | None
    stop_after_s: float | None  # after the supervisor was lost; None = go on
    memory_bytes: int | None
    log_bytes: int | None
    output_bytes: int | None
    document: Mapping[str, Any]  # as written; for sealing

    def path(self, *names: str) -> str:
        """A path in the attempt's folder."""
        return os.path.join(self.folder, *names)


def read(folder: str) -> Launch:
    """Raises LaunchUnreadable."""
    try:
        document = json.loads(regular.content(os.path.join(folder, "launch.json"), limits.SPOOL_FILE_BYTES_MAX))
        secret = regular.content(os.path.join(folder, "secret"), 64).decode("ascii").strip()
        return _launch(folder, document, secret)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise LaunchUnreadable(f"{type(error).__name__}: {error}") from error


def _launch(folder: str, document: dict[str, Any], secret: str) -> Launch:
    deadlines, bounds, lost = document["deadlines"], document["limits"], document["when_supervisor_is_lost"]
    if document["kind"] not in ("program", "function") or document["after_exit"] not in ("wait", "end"):
        raise ValueError("kind or after_exit has an unknown word")
    command = tuple(str(word) for word in document["command"])
    if not command or any("\0" in word for word in command):
        raise ValueError("the command is empty or holds a zero byte")
    return Launch(
        folder=folder,
        workspace=str(document["workspace"]),
        run=int(document["run"]),
        attempt=str(document["attempt"]),
        session=str(document["session"]),
        secret=secret,
        cookie=str(document["cookie"]),
        key=str(document["key"]),
        kind=document["kind"],
        command=command,
        cwd=str(document["cwd"]),
        variables={str(name): str(value) for name, value in document["variables"].items()},
        required=tuple(str(pattern) for pattern in document["required"]),
        accepted_exit_codes=tuple(int(code) for code in document["accepted_exit_codes"]),
        after_exit=document["after_exit"],
        grace_s=_seconds(document["grace_s"]),
        start_s=_seconds(deadlines["start_s"]),
        stages={str(name): _seconds(seconds) for name, seconds in deadlines["stages"].items()},
        overall_s=_maybe(_seconds, deadlines["overall_s"]),
        stop_after_s=None if lost == "continue" else _seconds(lost["stop_after_s"]),
        memory_bytes=_maybe(int, bounds.get("memory_bytes")),
        log_bytes=_maybe(int, bounds.get("log_bytes")),
        output_bytes=_maybe(int, bounds.get("output_bytes")),
        document=document,
    )


def _seconds(value: Any) -> float:
    seconds = float(value)
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"{seconds} is no length of time")
    return seconds


def _maybe(kind: Any, value: Any) -> Any:
    return None if value is None else kind(value)
