"""Verdicts in words: what was left over, what was seen of it, what was decided, and what is done (§6, UI.md §5 "Launch").

Each action of the reconciliation table has its own words, and each row its own evidence: a row speaks only of what decided it.
A verdict comes before anything of it is on record, so its words say what is meant to be recorded, never that it has been (R01).
A thing that could not be seen says why, since that is what is waited for. Plain data, for the launch screen and for
`actum reconcile`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from actum.limits import PIDS_NAMED_MAX

from actum_desktop import measures
from actum_desktop.i18n import N_, _, ngettext


@dataclass(frozen=True, slots=True)
class VerdictWords:
    """One row of the launch screen: the verdict, what was seen, what is done."""

    word: str
    icon: str
    tone: str
    evidence: tuple[str, ...]
    done: str
    after: str


Told = tuple[str, str, str, str, str]  # word, icon, tone, what is done now, what follows

_BY_ACTION: Mapping[str, Told] = {
    "queue": (N_("Waiting"), "clock", "text2", N_("Kept in the queue"), N_("starts when a slot is free")),
    "late": (N_("Closed, remains found"), "warning-fill", "warn", N_("Ending what is left"), N_("the status stays as it is")),
    "nothing": (N_("Closed"), "check-circle", "text2", N_("Nothing had to be done"), N_("the status stays as it is")),
    "offer": (
        N_("Sealed too late"),
        "info-fill",
        "text2",
        N_("Kept its package"),
        N_("it can be adopted as a new run, from its page"),
    ),
    "result_damaged": (
        N_("Result not as published"),
        "warning-fill",
        "bad",
        N_("Recording what holds now"),
        N_("history is unchanged"),
    ),
    "result_unchecked": (
        N_("Result not looked at"),
        "question-fill",
        "warn",
        N_("Its place could not be read"),
        N_("checked again at the next look"),
    ),
    "hold": (N_("Cannot tell"), "question-fill", "warn", N_("Held; its slot stays taken"), N_("checked again every minute")),
    "commit": (N_("Publishing"), "shield-check", "accent", N_("Verifying it at its place"), N_("then recorded, once only")),
    "publish": (N_("Publishing"), "shield-check", "accent", N_("Verifying again, then publishing"), N_("once only")),
    "package_differs": (
        N_("Package refused"),
        "x-circle-fill",
        "bad",
        N_("Moving the package to quarantine"),
        N_("then recorded as Failed"),
    ),
    "package_lost": (
        N_("Package gone"),
        "x-circle-fill",
        "bad",
        N_("Will be recorded as Failed"),
        N_("nothing was published"),
    ),
    "publish_again": (N_("Waiting to publish"), "tray", "warn", N_("Publishing again"), N_("tried until there is room")),
    "verify": (N_("Verifying"), "shield-check", "accent", N_("Verifying from the start"), N_("nothing is taken on trust")),
    "adopt": (
        N_("Still running"),
        "play-circle-fill",
        "accent",
        N_("Watching it again"),
        N_("stop, log and progress work as before"),
    ),
    "await_exit": (N_("Finished meanwhile"), "shield-check", "accent", N_("Taking its outcome"), N_("its host is leaving")),
    "stop_again": (N_("Stopping"), "hourglass-medium-fill", "warn", N_("Asking it to stop again"), N_("the slot stays taken")),
    "launch_lost": (
        N_("Never started"),
        "x-circle-fill",
        "bad",
        N_("Revoking its launch"),
        N_("then recorded as Failed to start, and its slot is free"),
    ),
    "sign_of_work": (N_("It had started"), "play-circle-fill", "accent", N_("Taking it as running"), N_("looked at once more")),
    "host_lost": (
        N_("Host lost"),
        "x-circle-fill",
        "bad",
        N_("Will be recorded as Failed"),
        N_("its tree is looked at next"),
    ),
    "outcome_failed": (
        N_("Failed meanwhile"),
        "x-circle-fill",
        "bad",
        N_("Will be recorded as Failed"),
        N_("its tree is looked at next"),
    ),
    "outcome_stopped": (
        N_("Stopped from outside"),
        "x-circle-fill",
        "bad",
        N_("Will be recorded as Failed"),
        N_("its tree is looked at next"),
    ),
    "outcome_deadline": (
        N_("Timed out meanwhile"),
        "timer-fill",
        "bad",
        N_("Will be recorded as Timed out"),
        N_("its tree is looked at next"),
    ),
    "end_tree": (
        N_("Remains found"),
        "hourglass-medium-fill",
        "warn",
        N_("Ending what is left"),
        N_("only what is proven its own"),
    ),
    "sealed_clear": (
        N_("Finished meanwhile"),
        "shield-check",
        "accent",
        N_("Releasing its slot"),
        N_("then verifying from the start"),
    ),
    "stopped_clear": (
        N_("Stopped"),
        "stop-circle-fill",
        "text2",
        N_("Will be recorded as Stopped"),
        N_("then its slot is free"),
    ),
    "release": (N_("Ended"), "stop-circle-fill", "text2", N_("Releasing its slot"), N_("nothing of it is left")),
}

# Where the same action means something else in another row of §6.
_BY_ROW: Mapping[tuple[int, str], Told] = {
    (2, "late"): (
        N_("Succeeded, remains found"),
        "warning-fill",
        "warn",
        N_("Ending what is left"),
        N_("the result stands"),
    ),
    (3, "nothing"): (N_("Succeeded"), "check-circle-fill", "ok", N_("Checked the result"), N_("history is unchanged")),
    (4, "hold"): (
        N_("Cannot tell"),
        "question-fill",
        "warn",
        N_("Held before it is recorded"),
        N_("checked again every minute"),
    ),
    (10, "adopt"): (N_("Still starting"), "circle-dashed", "accent", N_("Watching it again"), N_("waits for its host")),
}

# How far the ending of what was found has come, where its evidence says so: what was done, what follows.
_REMAINS: Mapping[str, tuple[str, str]] = {
    "ended": (N_("Ended what was left"), N_("nothing of it is left; the status stays as it is")),
    "refused": (N_("It could not be ended"), N_("looked at again every minute; the status stays as it is")),
}

_PUBLISHED_ROWS = (3, 4, 5, 6, 7)  # these are decided by where the package is, and by nothing else


def verdict(item: Any) -> VerdictWords:
    """The words for one `controller.events.Verdict` (or the dict a command prints with the same fields)."""
    get = item.get if isinstance(item, Mapping) else lambda name, default=None: getattr(item, name, default)
    evidence, action, row = get("evidence", {}) or {}, str(get("action", "") or ""), int(get("row", 0) or 0)
    recorded = get("recorded", {}) or {}
    told = _BY_ROW.get((row, action)) or _BY_ACTION.get(action)
    lines = evidence_lines(evidence, row, str(recorded.get("status") or ""), held=action == "hold")
    if told is None:
        return VerdictWords(str(get("verdict", "") or _("Unknown")), "info", "text2", lines, action, "")
    word, icon, tone, done, after = told
    done, after = _REMAINS.get(str(evidence.get("remains")), (done, after))
    return VerdictWords(_(word), icon, tone, lines, _(done), _(after))


_HOST = {"alive": N_("The host is alive."), "gone": N_("The host is gone."), "unknown": N_("The host cannot be seen.")}
_OUTCOME = {
    "none": N_("It left no outcome file."),
    "sealed": N_("Its outcome file says sealed."),
    "failed": N_("Its outcome file says failed."),
    "stopped": N_("Its outcome file says stopped."),
    "deadline": N_("Its outcome file says that a limit passed."),
    "unknown": N_("Its outcome file cannot be read."),
}
_TREE = {
    "clear": N_("No process of it is left."),
    "left": N_("Some of its processes are left."),
    "unknown": N_("Whether processes are left cannot be seen."),
}
_CLAIM = {
    "none": N_("It never began the work."),
    "host": N_("Its host had begun the work."),
    "revoked": N_("Its launch is revoked: no host can begin it any more."),
    "unknown": N_("Whether the work began cannot be read."),
}
_PACKAGE = {
    "staging": N_("The package is in its staging folder, as recorded."),
    "results": N_("The package is at its place among the results, as recorded."),
    "differs": N_("There is a package, and its digest is not the one recorded."),
    "neither": N_("The package is neither in its staging folder nor among the results."),
    "damaged": N_("The package at its place among the results is not as it was published."),
    "missing": N_("The package is not at its place among the results."),
    "replaced": N_("Another package of this run stands in its place."),
    "foreign": N_("What stands in its place is of another run, or is no package."),
    "forbidden": N_("Reading the place of the package is not allowed."),
    "unchecked": N_("The package could not be looked at."),
    "unknown": N_("The place of the package cannot be read."),
}
_SEALED_BY = {
    "manifest": N_("It left a valid manifest and no outcome file; nobody recorded the digest at the time."),
    "outcome": N_("Its outcome file says sealed, and its package is there."),
    "record": N_("It is on record as sealed, and its package is there."),
}


def evidence_lines(evidence: Mapping[str, Any], row: int, status: str, *, held: bool) -> tuple[str, ...]:
    """Host and outcome; tree and claim; the package where it decides; and why, which is what a hold waits for."""
    if evidence.get("sealed_by"):
        return (_(_SEALED_BY[str(evidence["sealed_by"])]),)
    package = str(evidence.get("package") or "")
    place = _(_PACKAGE[package]) if row in _PUBLISHED_ROWS and package in _PACKAGE else ""
    first, second = "", ""
    if row not in _PUBLISHED_ROWS:
        first = measures.joined(_host(evidence), _known(_OUTCOME, evidence.get("outcome")))
        claim = _known(_CLAIM, evidence.get("claim")) if status == "STARTING" else ""
        second = measures.joined(_tree(evidence), claim)
    return tuple(line for line in (first, second, place, _named(evidence), _why(evidence, held=held)) if line)


def _known(words: Mapping[str, str], name: Any) -> str:
    return _(words[str(name)]) if str(name) in words else ""


def _host(evidence: Mapping[str, Any]) -> str:
    pid = evidence.get("pid") or (evidence.get("host_identity") or {}).get("pid")
    if pid and evidence.get("host") == "alive":
        return _("The host, process {pid}, is alive.").format(pid=pid)
    return _known(_HOST, evidence.get("host"))


def _tree(evidence: Mapping[str, Any]) -> str:
    members = evidence.get("pids") or evidence.get("members")
    left = len(members) if isinstance(members, list | tuple) else 0
    if evidence.get("tree") == "left" and left:
        return ngettext("{n} process of it is left.", "{n} processes of it are left.", left).format(n=left)
    return _known(_TREE, evidence.get("tree"))


def _named(evidence: Mapping[str, Any]) -> str:
    """The processes that were found of a closed attempt, and what each was sent."""
    if not evidence.get("remains"):
        return ""
    sent = {each["pid"]: each for each in evidence.get("signals") or ()}
    named = [_sent(pid, sent.get(pid)) for pid in dict.fromkeys([*sent, *(evidence.get("pids") or ())])]
    more = len(named) - PIDS_NAMED_MAX
    listed = measures.listed(named[:PIDS_NAMED_MAX]) + (" …" if more > 0 else "")
    return _("Process {named}.").format(named=listed) if named else ""


def _sent(pid: int, signalled: Mapping[str, Any] | None) -> str:
    if signalled is None:
        return str(pid)
    return f"{pid} ({signalled['signal']}: {str(signalled['result']).replace('_', ' ')})"


def _why(evidence: Mapping[str, Any], *, held: bool) -> str:
    why = evidence.get("why")
    texts = why.values() if isinstance(why, Mapping) else [why] if why else []
    said = list(dict.fromkeys(str(text) for text in texts if text))  # one reason may hide several things
    text = measures.joined(*said)
    return _("Waited for: {why}").format(why=text) if text and held else text
