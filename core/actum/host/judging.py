"""What the end of the work means: completed, or failed with one code of §4 and a sentence (§5.6).

A program is complete when its root ended with an accepted exit code and every required output exists; a function when it
returned and the SDK said `{"done": true}`.
"""

from __future__ import annotations

import signal
from typing import Any, NamedTuple

from actum.host.launch import Launch
from actum.host.messages import Collected
from actum.host.outputs import output_files
from actum.host.work import Work

_NAMES_MAX = 50  # of missing outputs in a message


class Failure(NamedTuple):
    """Why an attempt failed: a code of FailureCode, a sentence, details without floats."""

    code: str
    message: str
    details: dict[str, Any]


def root_failed(launch: Launch, work: Work, *, out_of_memory: bool, last_words: list[str]) -> Failure | None:
    """The failure that the root's own end shows, or None where it ended as it should."""
    words = {"stderr": last_words} if last_words else {}
    if work.signal is not None:
        name = _signal_name(work.signal)
        details = {"signal": work.signal, "signal_name": name, **words}
        if out_of_memory and work.signal == signal.SIGKILL:
            return _out_of_memory(details)
        return Failure("work_crashed", f"The work was ended by the signal {name}.", details)
    if work.exit_code not in launch.accepted_exit_codes:
        if out_of_memory and work.exit_code == 128 + signal.SIGKILL:  # as a shell tells of its child
            return _out_of_memory({"exit_code": work.exit_code, **words})
        message = f"The work ended with exit code {work.exit_code}."
        return Failure("work_failed", message, {"exit_code": work.exit_code, **words})
    return None


def _out_of_memory(details: dict[str, Any]) -> Failure:
    return Failure("out_of_memory", "The system ended the work because memory ran out.", details)


def incomplete(launch: Launch, collected: Collected) -> Failure | None:
    """Why work whose root ended well is not complete, or None."""
    if launch.kind == "function" and not collected.done:
        message = "The function's process ended without saying that the function returned."
        return Failure("work_failed", message, {"exit_code": 0, "done": False})
    if collected.contradictions:
        reasons = collected.contradictions
        return Failure("contract_invalid", f"The work's messages contradict the contract: {reasons[0]}", {"reasons": reasons})
    missing = _missing(launch)
    if missing:
        names = ", ".join(f"“{name}”" for name in missing[:_NAMES_MAX])
        return Failure("result_incomplete", f"Required outputs are missing: {names}.", {"missing": missing[:_NAMES_MAX]})
    return None


def _missing(launch: Launch) -> list[str]:
    if not launch.required:
        return []
    from fnmatch import fnmatchcase

    paths = [path for path, _ in output_files(launch.path("staging", "files"))]
    return [pattern for pattern in launch.required if not any(fnmatchcase(path, pattern) for path in paths)]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
