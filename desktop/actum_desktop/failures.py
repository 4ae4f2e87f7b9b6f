"""Failure codes, warnings and verdicts in plain words: what happened, what it means, what the user can do (UI.md §7).

Plain data: no Qt. Each table is closed where the design's list is closed; an unknown code is shown as it is, never hidden.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum_desktop import measures
from actum_desktop.i18n import N_, _, chinese, shaped

# code → (short form for a table cell, sentence, what the user can do)
_FAILURES: dict[str, tuple[str, str, str]] = {
    "start_error": (
        N_("it could not be started"),
        N_("The system refused to start the work."),
        N_("Look at the program and its rights, then run it again."),
    ),
    "start_deadline": (
        N_("start limit passed"),
        N_("The host did not answer within the start limit."),
        N_("The machine may be overloaded. Run it again, or give the task a longer start limit."),
    ),
    "launch_lost": (
        N_("it never started"),
        N_("The host was never seen, and nothing shows that the work began."),
        N_("Nothing was computed. Run it again."),
    ),
    "input_unreadable": (
        N_("an input cannot be read"),
        N_("An input could not be read when it was to be frozen."),
        N_("Look at the file and its rights, then run it again."),
    ),
    "input_changed": (
        N_("an input has changed"),
        N_("An input is no longer what it was when the run was admitted."),
        N_("Run it again with the input as it is now."),
    ),
    "contract_invalid": (
        N_("it broke its contract"),
        N_("What the work declared does not fit the task’s contract."),
        N_("Change the work or the task’s contract, then run it again."),
    ),
    "work_failed": (
        N_("the work failed"),
        N_("The work ended with an error."),
        N_("Its log says more. Its files are kept, as they were."),
    ),
    "work_crashed": (
        N_("the work crashed"),
        N_("The work was ended by a signal."),
        N_("Its log says more. Its files are kept, as they were."),
    ),
    "out_of_memory": (
        N_("out of memory"),
        N_("The system ended the work because memory ran out."),
        N_("Run it with less data at once, or when more memory is free."),
    ),
    "limit_exceeded": (
        N_("a limit was passed"),
        N_("The work passed a limit that the task declares."),
        N_("Raise the limit in the task, or make the work smaller."),
    ),
    "disk_full": (
        N_("disk full"),
        N_("The disk was full."),
        N_("Make room, then run it again."),
    ),
    "io_error": (
        N_("the disk failed"),
        N_("A file operation failed."),
        N_("Look at the disk, then run it again."),
    ),
    "supervisor_lost": (
        N_("ended without a supervisor"),
        N_("No supervisor was there for longer than the task allows, so the host ended the work."),
        N_("Run it again and leave Actum running, or let the task go on without it."),
    ),
    "host_lost": (
        N_("the host was lost"),
        N_("The host ended without leaving an outcome."),
        N_("What it was doing cannot be continued. Run it again."),
    ),
    "result_incomplete": (
        N_("a result is missing"),
        N_("The work ended well, but a required result is not there."),
        N_("Look at the log and at the task’s required results."),
    ),
    "result_rejected": (
        N_("verification refused it"),
        N_("The package was read back and is not what was declared."),
        N_("The package is kept aside. Nothing was published."),
    ),
    "package_lost": (
        N_("the package is gone"),
        N_("The verified package was in neither of its two places."),
        N_("Look for the folder, or run it again."),
    ),
    "workspace_copied": (
        N_("left in another workspace"),
        N_("This workspace is a copy; the run belongs to the original."),
        N_("Look at the run in the original workspace, or run it again here."),
    ),
    "stage_deadline": (
        N_("stage limit passed"),
        N_("A stage took longer than the task allows."),
        N_("Give the stage a longer limit, or make it smaller."),
    ),
    "overall_deadline": (
        N_("overall limit passed"),
        N_("The work took longer than the task allows."),
        N_("Give the task a longer limit, or make the work smaller."),
    ),
}

FAILURE_CODES = frozenset(_FAILURES)
WARNING_CODES = ("no_progress", "no_cpu", "lost_contact", "cannot_tell", "disk_low")


def failure_short(code: str | None) -> str:
    """For a table cell: `verification refused it`."""
    known = _FAILURES.get(code or "")
    return _(known[0]) if known else (code or "").replace("_", " ")


def failure_sentence(code: str | None) -> str:
    known = _FAILURES.get(code or "")
    return _(known[1]) if known else (code or "").replace("_", " ")


# What the host writes down when the work fails, with its places.
_SAID = (
    N_("The work ended with exit code {code}."),
    N_("The work was ended by the signal {name}."),
    N_("The function's process ended without saying that the function returned."),
    N_("The work's messages contradict the contract: {why}"),
    N_("Required outputs are missing: {names}."),
)


def failure_told(message: str) -> str:
    """A recorded failure's message in the language of the window; as it is where its shape is not known."""
    if not chinese():
        return message
    if message in (sentence for _short, sentence, _remedy in _FAILURES.values()):
        return _(message)
    found = shaped(_SAID, message)
    return _(found[0]).format(**found[1]) if found else message


def failure_remedy(code: str | None) -> str:
    known = _FAILURES.get(code or "")
    return _(known[2]) if known else ""


def warning(code: str, data: Mapping[str, Any] | None = None) -> tuple[str, str]:
    """The banner's title and text: first the observation, then what it is not. `data`: for_s, heartbeat_age_s,
    cpu_percent, read_bytes_s, written_bytes_s, why, free_bytes; all optional."""
    facts = data or {}
    period = measures.duration(_seconds(facts, "for_s", "idle_s", "since_s"))
    if code == "no_progress":
        return _no_progress(facts, period)
    if code == "no_cpu":
        return (
            _("The work has used no CPU for {time}").format(time=period),
            _("{alive} It may be waiting for something outside it. Actum will not end it.").format(alive=_alive(facts)),
        )
    if code == "lost_contact":
        return (
            _("No heartbeat for {time}").format(time=period),
            _("The host does not answer. That says nothing about the work: it may well go on. Actum keeps looking."),
        )
    if code == "cannot_tell":
        why = str(facts.get("why") or "")
        text = _("The run holds and its slot stays taken. It is looked at again every minute.")
        return _("Actum cannot tell whether this work still runs"), measures.joined(why, text)
    if code == "disk_low":
        return (
            _("The disk is nearly full: {size} free").format(size=measures.size(_number(facts, "free_bytes"))),
            _("The work goes on. A result needs room before it can be published; make some while it runs."),
        )
    return code.replace("_", " ").capitalize(), str(facts.get("message") or facts.get("why") or "")


def warning_badge(code: str, data: Mapping[str, Any] | None = None) -> str:
    """For a badge or a table cell: `No progress 42 min`."""
    facts = data or {}
    period = measures.duration(_seconds(facts, "for_s", "idle_s", "since_s"))
    words = {
        "no_progress": _("No progress {time}"),
        "no_cpu": _("No CPU {time}"),
        "lost_contact": _("No heartbeat {time}"),
        "cannot_tell": _("Cannot tell"),
        "disk_low": _("Disk nearly full"),
    }
    text = words.get(code, code.replace("_", " ").capitalize())
    return text.format(time=period) if period != measures.DASH else text.replace("{time}", "").strip()


def _no_progress(facts: Mapping[str, Any], period: str) -> tuple[str, str]:
    cpu = _number(facts, "cpu_percent")
    idle = cpu is not None and cpu < 1
    title = (
        _("No progress for {time}, and the work is idle").format(time=period)
        if idle
        else _("No progress for {time}").format(time=period)
    )
    guess = (
        _("It is probably waiting for something outside it.")
        if idle
        else _("It is still computing.")
        if cpu is not None
        else ""
    )
    return title, measures.joined(_alive(facts), guess, _("Actum will not end it."))


def _alive(facts: Mapping[str, Any]) -> str:
    beat = _seconds(facts, "heartbeat_age_s")
    cpu = _number(facts, "cpu_percent")
    parts = []
    if beat is not None:
        parts.append(_("It is alive: the last heartbeat came {time} ago.").format(time=measures.duration(beat)))
    if cpu is not None:
        quiet = not _number(facts, "read_bytes_s") and not _number(facts, "written_bytes_s")
        measure = measures.cpu(cpu)
        if quiet and "read_bytes_s" in facts:
            parts.append(_("CPU {cpu}, nothing read or written.").format(cpu=measure))
        else:
            parts.append(_("CPU {cpu}.").format(cpu=measure))
    return measures.joined(*parts)


def _number(data: Mapping[str, Any], name: str) -> float | None:
    value = data.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _seconds(data: Mapping[str, Any], *names: str) -> float | None:
    return next((value for name in names if (value := _number(data, name)) is not None), None)
