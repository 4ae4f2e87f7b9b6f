"""What a run is, in plain words: statuses, first lines, second lines, the ledger and its foot (UI.md §3, §4, §7).

Plain data and no Qt, so the commands and the screens say the same, and the wording is tested without a window. `show` is
everywhere the document of `actum show --json` (§16); all of its members may be missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from actum_desktop import measures
from actum_desktop.adoptionwords import adoption_offer, relation
from actum_desktop.failures import (
    failure_remedy,
    failure_sentence,
    failure_short,
    failure_told,
    warning,
    warning_badge,
)
from actum_desktop.i18n import N_, _, ngettext, pgettext
from actum_desktop.ledger import Kind, LedgerRow, Strip, attempt_state, ledger, on_record, strip, strip_of
from actum_desktop.ledgertext import exit_text, method, trigger
from actum_desktop.measures import duration, size
from actum_desktop.verdictwords import VerdictWords, verdict

__all__ = [
    "Kind",
    "LedgerFoot",
    "LedgerRow",
    "StatusWord",
    "Strip",
    "VerdictWords",
    "adoption_offer",
    "duration",
    "exit_text",
    "fact_name",
    "facts_lines",
    "failure_remedy",
    "failure_sentence",
    "failure_short",
    "failure_told",
    "ledger",
    "ledger_foot",
    "ledger_lines",
    "measure",
    "on_record",
    "relation",
    "result_badge",
    "sentence",
    "size",
    "status",
    "strip",
    "strip_of",
    "trigger",
    "verdict",
    "warning",
    "warning_badge",
]


@dataclass(frozen=True, slots=True)
class StatusWord:
    """A word, the name of its icon and the token of its colour: ok | warn | bad | accent | text2."""

    word: str
    icon: str
    tone: str


_BY_STATUS: dict[str, tuple[str, str, str]] = {
    "CREATED": (N_("Queued"), "clock", "text2"),
    "STARTING": (N_("Starting"), "circle-dashed", "accent"),
    "RUNNING": (N_("Running"), "play-circle-fill", "accent"),
    "STOPPING": (N_("Stopping"), "hourglass-medium-fill", "warn"),
    "RETRYING": (N_("Retrying"), "arrow-clockwise", "accent"),
    "SUCCEEDED": (N_("Succeeded"), "check-circle-fill", "ok"),
    "FAILED": (N_("Failed"), "x-circle-fill", "bad"),
    "START_FAILED": (N_("Failed to start"), "x-circle-fill", "bad"),
    "STOPPED": (N_("Stopped"), "stop-circle-fill", "text2"),
    "TIMEOUT": (N_("Timed out"), "timer-fill", "bad"),
}
_BY_PHASE: dict[tuple[str, str], tuple[str, str, str]] = {
    ("CREATED", "FREEZING"): (N_("Freezing inputs"), "snowflake", "accent"),
    ("RUNNING", "SEALING"): (N_("Sealing"), "shield-check", "accent"),
    ("RUNNING", "CLEANING_UP"): (N_("Clearing up"), "shield-check", "accent"),
    ("RUNNING", "VERIFYING"): (N_("Verifying"), "shield-check", "accent"),
    ("RUNNING", "PUBLISHING"): (N_("Publishing"), "shield-check", "accent"),
    ("RUNNING", "PUBLISH_PENDING"): (N_("Publish pending"), "tray", "warn"),
}


def status(
    status: str, phase: str = "", released: bool = True, *, contact: str = "ok", warning_code: str | None = None
) -> StatusWord:
    """The badge of a run or attempt. `contact` cannot_tell outranks an open status; a terminal one is history (R16)."""
    open_run = status in ("CREATED", "STARTING", "RUNNING", "STOPPING", "RETRYING")
    if contact == "cannot_tell" and (open_run or not released):
        return StatusWord(_("Cannot tell"), "question-fill", "warn")
    word, icon, tone = _BY_PHASE.get((status, phase)) or _BY_STATUS.get(status, (status.capitalize(), "info", "text2"))
    return StatusWord(_(word), icon, tone)


_RESULT_STATES: dict[str, tuple[str, str, str]] = {
    "readable": (N_("Readable"), "check-circle", "ok"),
    "unchecked": (N_("Not checked since it was published"), "circle-dashed", "text2"),
    "damaged": (N_("Damaged"), "x-circle-fill", "bad"),
    "missing": (N_("Missing"), "x-circle-fill", "bad"),
    "replaced": (N_("Replaced"), "x-circle-fill", "bad"),
    "forbidden": (N_("Not allowed to read"), "warning-fill", "warn"),
    "foreign": (N_("Of another workspace"), "warning-fill", "warn"),
}


def result_badge(result: Mapping[str, Any] | None) -> StatusWord | None:
    """What holds for the published result now; None where there is no result."""
    if not result:
        return None
    state = str(result.get("state") or "unchecked")
    word, icon, tone = _RESULT_STATES.get(state, (state, "info", "text2"))
    checked = result.get("checked_at")
    text = _(word)
    if checked and state == "readable":
        text = _readable(str(result.get("checked_level") or "content")).format(time=measures.short_clock(checked))
    return StatusWord(text, icon, tone)


def _readable(level: str) -> str:
    """How far the look went that found it readable: never more is said."""
    if level == "content":
        return _("Readable, checked {time}")
    if level == "bytes":
        return _("Readable, bytes checked {time}")
    if level == "presence":
        return _("There, seen {time}")
    return _("Readable in part, checked {time}")


def sentence(show: Mapping[str, Any], now: int | None = None) -> str:
    """The first line in plain words: "Done, checked 14:02", "Needs you: …"."""
    state = attempt_state(show)
    name = str(show.get("status") or state["status"])
    if state["cannot_tell"]:
        why = str(state["contact"].get("why") or "")
        return _("Needs you: Actum cannot tell whether this run has ended. {why}").format(why=why).strip()
    if name == "SUCCEEDED":
        return _succeeded(show)
    if name in ("FAILED", "START_FAILED", "TIMEOUT"):
        return _unsuccessful(show, state, name)
    if name == "STOPPED":
        return _stopped(show)
    if name == "STOPPING":
        return _("Stopping: {measure}.").format(measure=stop_measure(show, now))
    if name == "RETRYING":
        return _("An attempt failed; the next one starts by itself. {why}").format(why=failure_sentence(state["failure"]))
    return _open_sentence(show, state)


def _stopped(show: Mapping[str, Any]) -> str:
    """Nothing of it runs; what it started through Actum is another run's, may run on, and is named."""
    time = measures.short_clock(show.get("finished_at"))
    facts = {str(fact.get("fact")): fact.get("evidence") or {} for fact in show.get("facts") or []}
    pids = facts.get("tree_gone", {}).get("pids")
    if not isinstance(pids, list) or not pids:
        return _("Stopped by you at {time}. Nothing of it runs any more, and no result was published.").format(time=time)
    words = _(
        "Stopped by you at {time}, and no result was published. What it had started through Actum is not ended with it: "
        "process {pids}."
    )
    return words.format(time=time, pids=", ".join(map(str, pids)))


def _succeeded(show: Mapping[str, Any]) -> str:
    result = show.get("result") or {}
    state = str(result.get("state") or "unchecked")
    facts = {str(fact.get("fact")): fact for fact in show.get("facts") or []}
    verified = facts.get("content_verified", {}).get("at")
    if state in ("damaged", "missing", "replaced", "forbidden", "foreign"):
        badge = result_badge(result)
        reason = str(result.get("reason") or "")
        return (
            _("It succeeded, but its result is not as published now: {state}. {reason}")
            .format(state=badge.word if badge else state, reason=reason)
            .strip()
        )
    checked = result.get("checked_at") or verified or show.get("finished_at")
    return _("Done, checked {time}").format(time=measures.when(checked))


def _unsuccessful(show: Mapping[str, Any], state: Mapping[str, Any], name: str) -> str:
    message = failure_told(str((show.get("failure") or {}).get("message") or "")) or failure_sentence(state["failure"])
    word = status(name).word
    left = ""
    if not show.get("released", True):
        left = _("Cleaning up still; its slot stays taken until no process of it is left.")
    return measures.joined(_("{status}: {why}").format(status=word, why=message) if message else word, left)


def _open_sentence(show: Mapping[str, Any], state: Mapping[str, Any]) -> str:
    phase = state["phase"]
    if phase == "QUEUED":
        return _("Waiting for a free slot.")
    if phase == "FREEZING":
        return _("Keeping the inputs as they are now, before anything starts.")
    if phase == "LAUNCHING":
        return _("Starting: waiting for the host’s first sign.")
    if phase == "COMPUTING":
        return _("Running. {measure}").format(measure=progress_text(show)).strip()
    texts = {
        "SEALING": _("The work says it is done. Its package is being sealed."),
        "CLEANING_UP": _("The package is sealed. Nothing is checked yet."),
        "VERIFYING": _("The package is being read back. It is not done before that agrees."),
        "PUBLISHING": _("Verified. The package moves to its final place."),
        "PUBLISH_PENDING": _("Needs you: the verified package cannot be moved to its place yet."),
    }
    return texts.get(phase, status(state["status"], phase).word)


def progress_text(show: Mapping[str, Any]) -> str:
    """`load, 11 of 32`, without a percentage; empty where no progress was reported."""
    progress = show.get("progress") or {}
    stage, done, total = progress.get("stage"), progress.get("done"), progress.get("total")
    parts = [str(stage)] if stage else []
    if total:
        unit = f" {progress['unit']}" if progress.get("unit") else ""
        parts.append(_("{done} of {total}{unit}").format(done=measures.count(done), total=measures.count(total), unit=unit))
    elif done:
        parts.append(measures.count(done))
    if progress.get("message"):
        parts.append(str(progress["message"]))
    return measures.listed(parts)


def stop_measure(show: Mapping[str, Any], now: int | None = None) -> str:
    """`asked 4 s ago, insists in 6 s`."""
    stop = show.get("stop") or {}
    stage = str(stop.get("stage") or "requested")
    ago = measures.age(stop.get("asked_at") or stop.get("at") or stop.get("at_us"), now)
    left = stop.get("next_in_s")
    if stage in ("insisting", "tree_gone"):
        return _("ending what is left, {time}").format(time=ago)
    if left is not None:
        return _("asked {ago} ago, insists in {left}").format(ago=ago, left=measures.duration(float(left)))
    return _("asked {ago} ago").format(ago=ago)


@dataclass(frozen=True, slots=True)
class LedgerFoot:
    """The foot of the account. `rule`: open (hairline), held (one rule in warn) or double (closed)."""

    word: str
    icon: str
    tone: str
    rule: str
    sentence: str


def ledger_foot(show: Mapping[str, Any], attempt: str | None = None) -> LedgerFoot:
    state = attempt_state(show, attempt)
    name, released = state["status"], state["released"]
    if state["cannot_tell"]:
        text = _("The run holds and its slot stays taken. It is looked at again every minute.")
        return LedgerFoot(_("Held, cannot tell"), "hourglass-medium-fill", "warn", "held", text)
    if name in ("SUCCEEDED", "FAILED", "START_FAILED", "STOPPED", "TIMEOUT"):
        word = status(name)
        if released:
            return LedgerFoot(word.word, word.icon, word.tone, "double", _closed_text(show, state))
        text = _("Its slot stays taken until no process of this attempt exists.")
        return LedgerFoot(_("{status}, cleaning up").format(status=word.word), word.icon, "warn", "held", text)
    if name == "STOPPING":
        stage = str((show.get("stop") or {}).get("stage") or "")
        late = stage in ("insisting", "tree_gone")
        text = (
            _("Its slot stays taken until no process of this attempt exists.")
            if late
            else _("The stop is on record, so this attempt can no longer succeed.")
        )
        word_text = _("Stopping, not released") if late else _("Stopping")
        return LedgerFoot(word_text, "hourglass-medium-fill", "warn", "held", text)
    text = (
        _("Below 100 % until the last line is written.")
        if released
        else _("Its slot is in use until the process tree is confirmed gone.")
    )
    if state["phase"] == "QUEUED":
        text = _("Nothing has been started yet.")
    return LedgerFoot(pgettext("ledger", "Open"), "circle-dashed", "text", "open", text)


def _closed_text(show: Mapping[str, Any], state: Mapping[str, Any]) -> str:
    facts = state["facts"]
    if state["status"] == "SUCCEEDED":
        recorded, ended = facts.get("succeeded", {}).get("at"), facts.get("computation_ended", {}).get("at")
        at, said = measures.micros(recorded), measures.micros(ended)
        if at is None or said is None:
            return _("Nothing here can change any more.")
        return _("On the record since {time}, {later} after the work said it was done.").format(
            time=measures.clock(at), later=measures.duration(max(0, at - said) / 1e6)
        )
    released = facts.get("released", {}).get("at")
    if state["status"] == "STOPPED":
        if released is None:
            return _("By you, before anything was started. Nothing was left to release.")
        asked = measures.micros((show.get("stop") or {}).get("asked_at") or (show.get("stop") or {}).get("at"))
        gone = measures.micros(released) or 0
        if asked is not None and gone >= asked:
            return _("By you at {time}, released {later} later. No result was published.").format(
                time=measures.clock(asked), later=measures.duration((gone - asked) / 1e6)
            )
        return _("By you. No result was published.")
    lead = failure_sentence(state["failure"])
    if released is None:
        return lead
    return measures.joined(lead, _("All resources were released at {time}.").format(time=measures.clock(released)))


def measure(show: Mapping[str, Any], now: int | None = None) -> str:
    """The second line of a run in a list: its stage, or what became of it (UI.md §3, last column)."""
    state = attempt_state(show)
    name = str(show.get("status") or state["status"])
    phase = state["phase"]
    if state["cannot_tell"]:
        return str(state["contact"].get("why") or _("looked at again every minute"))
    if name == "STOPPING":
        return stop_measure(show, now)
    if name == "SUCCEEDED":
        return result_measure(show)
    if name in ("FAILED", "START_FAILED", "TIMEOUT"):
        text = failure_short(state["failure"])
        return text if show.get("released", True) else _("{why}, cleaning up").format(why=text)
    if name == "STOPPED":
        return _("by you")
    if name == "RETRYING":
        return _("next attempt by itself")
    if name == "CREATED":
        return _("next when a slot is free") if phase == "QUEUED" else step_text(show) or _("reading the inputs")
    if name == "STARTING":
        return _("waiting for the host, {time}").format(time=measures.age(show.get("started_at"), now))
    if phase == "PUBLISH_PENDING":
        return _("tries again by itself")
    if phase != "COMPUTING":
        return step_text(show) or _("after the work said it was done")
    return progress_text(show) or _("no progress reported yet")


def step_text(show: Mapping[str, Any]) -> str:
    step = show.get("step") or {}
    if not step.get("total"):
        return ""
    done, total = measures.count(step.get("done")), measures.count(step.get("total"))
    if step.get("unit") == "bytes":
        done, total = measures.size(step.get("done")), measures.size(step.get("total"))
        return _("{done} of {total}{unit}").format(done=done, total=total, unit="")
    unit = f" {step['unit']}" if step.get("unit") else ""
    return _("{done} of {total}{unit}").format(done=done, total=total, unit=unit)


def result_measure(show: Mapping[str, Any]) -> str:
    result = show.get("result") or {}
    metrics, tables = result.get("metrics"), result.get("tables")
    parts = []
    for value, one, many in (
        (metrics, N_("{n} metric"), N_("{n} metrics")),
        (tables, N_("{n} table"), N_("{n} tables")),
    ):
        number = len(value) if isinstance(value, list | tuple) else value
        if isinstance(number, int) and number:
            parts.append(ngettext(one, many, number).format(n=number))
    files = result.get("files")
    if not parts and isinstance(files, list | tuple) and files:
        parts.append(ngettext("{n} file", "{n} files", len(files)).format(n=len(files)))
    return measures.listed(parts) or _("published")


def ledger_lines(show: Mapping[str, Any], attempt: str | None = None, now: int | None = None) -> list[str]:
    """The ledger as text, for a terminal or the clipboard: one line a row, evidence indented below."""
    marks = {
        Kind.ESTABLISHED: "✓",
        Kind.WAITING: "◉",
        Kind.NOT_YET: "·",
        Kind.NEVER: "–",
        Kind.REFUSED: "✗",
        Kind.CANNOT_TELL: "?",
    }
    lines = []
    for row in ledger(show, attempt, now):
        time = measures.clock(row.at) + measures.fraction(row.at) if row.at is not None else ""
        if row.kind is Kind.NEVER:
            time = _("never")
        elif row.since is not None:
            time = measures.age(row.since, now)
        lines.append(f"{time:>12}  {marks[row.kind]} {row.title}")
        lines.extend(f"{'':>16}{text}" for text in row.evidence if text)
    foot = ledger_foot(show, attempt)
    rule = {"double": "═", "held": "─", "open": "─"}[foot.rule]
    lines.append(rule * 48)
    lines.append(f"{'':>14}{foot.word}. {foot.sentence}")
    return lines


def facts_lines(show: Mapping[str, Any], attempt: str | None = None) -> list[str]:
    """All facts on record, each with its time, method and observer."""
    state = attempt_state(show, attempt)
    lines = []
    for name, fact in state["facts"].items():
        evidence = fact.get("evidence") or {}
        observer = evidence.get("observer") or evidence.get("service_instance")
        details = [method(evidence), exit_text(evidence) or ""]
        if observer:
            details.append(_("seen by {observer}").format(observer=measures.short(observer)))
        text = " · ".join(part for part in details if part)
        moment = f"{measures.clock(fact.get('at'))}{measures.fraction(fact.get('at'))}"
        lines.append(f"{moment}  {fact_name(name)}" + (f"  {text}" if text else ""))
    return lines


_FACT_NAMES = {
    "admitted": N_("admitted"),
    "inputs_frozen": N_("inputs frozen"),
    "launched": N_("launched"),
    "contact_made": N_("contact made"),
    "computation_ended": N_("computation ended"),
    "sealed": N_("sealed"),
    "host_exited": N_("host exited"),
    "tree_gone": N_("tree gone"),
    "released": N_("released"),
    "bytes_verified": N_("bytes verified"),
    "content_verified": N_("content verified"),
    "published": N_("published"),
    "reference_committed": N_("reference committed"),
    "succeeded": N_("succeeded"),
}


def fact_name(name: str) -> str:
    return _(_FACT_NAMES[name]) if name in _FACT_NAMES else name
