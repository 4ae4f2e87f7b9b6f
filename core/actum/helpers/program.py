"""The helper program: reads requests from stdin, does one verb at a time, answers on stdout, lives until it is not needed.

One JSON document a line. Request `{"id": n, "verb": "…", "args": {…}}`; answers `{"id": n, "progress": [done, total,
"unit"]}` as often as HELPER_PROGRESS_PER_S_MAX allows, then `{"id": n, "ok": {…}}` or `{"id": n, "error": {…}}`. A verb that
fails answers an error and the helper lives on. An error nobody foresaw (`bug`) and a memory that ran out (`out_of_memory`,
whatever a library called it) have found nothing out: whoever asked takes them for a crash. A line that cannot be understood
is answered with `"id": null` (or its id, where it has one). The end of stdin and SIGTERM end it. It asks the kernel to die
with the thread that spawned it, and then looks whether its parent is still there, since that may have happened before. What
libraries print goes to stderr.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from typing import IO, Any

from actum import faults, limits
from actum.errors import ActumError, StorageFailed, WrongUse, memory_ran_out

VERBS = (
    *("digest", "freeze", "rehash", "derive", "verify", "check", "export", "codeidentity", "awake"),
    *("losses", "view", "statistics", "plot", "pack", "elsewhere", "values", "find", "hits", "place"),
)
_PR_SET_PDEATHSIG = 1
_asked_to_end = False  # a library that was interrupted by SIGTERM may tell it as an error of its own


class Replies:
    """The answers to one request."""

    def __init__(self, output: IO[bytes], request: Any) -> None:
        self._output = output
        self._id = request
        self._next_progress = 0.0

    def progress(self, done: int, total: int, unit: str) -> None:
        """Report progress; reports that come too soon after another are dropped."""
        now = time.monotonic()
        if now >= self._next_progress:
            self._next_progress = now + 1 / limits.HELPER_PROGRESS_PER_S_MAX
            self._send({"progress": [done, total, unit]})

    def ok(self, answer: Mapping[str, Any]) -> None:
        self._send({"ok": answer})

    def error(self, error: ActumError) -> None:
        self._send(error.to_json())

    def _send(self, body: Mapping[str, Any]) -> None:
        self._output.write(json.dumps({"id": self._id, **body}).encode() + b"\n")
        self._output.flush()


def main(arguments: list[str]) -> int:
    """`[--parent PID]`: the spawner may name itself, so that its early death is noticed whoever adopts us."""
    parent = int(arguments[arguments.index("--parent") + 1]) if "--parent" in arguments else os.getppid()
    die_with_parent()
    if os.getppid() != parent:
        return 1
    faults.roles["app"] = _kill_app
    signal.signal(signal.SIGTERM, _on_terminate)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal reaches the whole group; our parent decides
    requests, output = _own_streams()
    while (line := requests.readline(limits.HELPER_REQUEST_BYTES_MAX + 1)) != b"":
        _serve(line, requests, output)
    return 0


def _on_terminate(_number: int, _frame: object) -> None:
    """End by way of every `finally`, so that what is unfinished is taken away."""
    global _asked_to_end
    _asked_to_end = True
    raise SystemExit(128 + signal.SIGTERM)


def _kill_app() -> bool:
    """For the fault points: the program that spawned us is the app."""
    from actum.processes import identity, terminate

    parent = identity.of(os.getppid())
    return parent is not None and terminate.signal(parent, signal.SIGKILL) == "sent"


def die_with_parent() -> None:
    """Ask the kernel for SIGKILL when the spawning thread ends (Linux; elsewhere the end of stdin has to do)."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _own_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Stdin and stdout for the protocol alone; descriptor 1 becomes stderr, for whatever a library may print."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return sys.stdin.buffer, output


def _serve(line: bytes, requests: IO[bytes], output: IO[bytes]) -> None:
    if len(line) > limits.HELPER_REQUEST_BYTES_MAX:
        while line and not line.endswith(b"\n"):
            line = requests.readline(limits.HELPER_REQUEST_BYTES_MAX)
        bound = f"A request has at most {limits.HELPER_REQUEST_BYTES_MAX:,} bytes."
        Replies(output, None).error(WrongUse("bad_request", "The request is too long.", bound))
        return
    request: Any = None
    try:
        document = json.loads(line)
        request = document.get("id") if isinstance(document, dict) else None
        verb, args = _understood(document)
    except (ValueError, WrongUse) as error:
        refusal = error if isinstance(error, WrongUse) else WrongUse("bad_request", "The request is not JSON.", f"{error}.")
        Replies(output, request).error(refusal)
        return
    _do(verb, args, Replies(output, request))


def _understood(document: Any) -> tuple[str, dict[str, Any]]:
    if not isinstance(document, dict) or set(document) != {"id", "verb", "args"} or not isinstance(document["args"], dict):
        raise WrongUse("bad_request", "The request cannot be understood.", "It has exactly the members id, verb and args.")
    if document["verb"] not in VERBS:
        raise WrongUse("bad_request", f"There is no verb “{document['verb']}”.", f"Known: {', '.join(VERBS)}.")
    return document["verb"], document["args"]


def _do(verb: str, args: dict[str, Any], replies: Replies) -> None:
    """Run one verb. Its module is imported when it is first asked for: a helper that only digests loads no table library."""
    try:
        faults.point("helper.verb.before")
        answer = importlib.import_module(f"actum.helpers.{verb}").run(args, replies.progress)
        faults.point("helper.verb.after")
        replies.ok(answer)
    except Exception as error:
        if _asked_to_end:
            raise SystemExit(128 + signal.SIGTERM) from error
        _tell(error, verb, replies)


def _tell(error: Exception, verb: str, replies: Replies) -> None:
    if memory_ran_out(error):
        what, remedy = f"There was too little memory for “{verb}”.", "Close what needs much memory, then try again."
        why = f"{type(error).__name__}: {error}"[: limits.ERROR_TEXT_CHARS_MAX]
        replies.error(ActumError("out_of_memory", what, why, remedy))
    elif isinstance(error, ActumError):
        replies.error(error)
    elif isinstance(error, OSError):
        replies.error(StorageFailed(f"the verb “{verb}”", error))
    else:
        import traceback

        traceback.print_exc(file=sys.stderr)
        place = traceback.extract_tb(error.__traceback__)[-1]
        why = f"{type(error).__name__}: {error} ({os.path.basename(place.filename)}, line {place.lineno})"
        replies.error(ActumError("bug", f"The helper failed in “{verb}”.", why[: limits.ERROR_TEXT_CHARS_MAX]))
