"""The completion ledger as plain data: ten rows that group the fourteen facts of R01, the foot, and the strip (UI.md §4).

Theory. A row is established when the last fact of its group is on record; nothing else ticks it. While an attempt is open
at most one row is waited for: the first that can still happen. What can no longer happen reads "never". The double rule
stands only where the attempt is terminal *and* released. Everything here is derived from the document of `show`; nothing
here decides anything. Keeps R01, R09, R10 and R16 on the screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from actum.model.facts import POSITION, FactName
from actum.model.status import TERMINAL

from actum_desktop import ledgertext, measures
from actum_desktop.i18n import N_, _, ngettext

_TERMINAL = frozenset(status.value for status in TERMINAL)
_F = FactName


class Kind(StrEnum):
    ESTABLISHED = "established"
    WAITING = "waiting"
    NOT_YET = "not_yet"
    NEVER = "never"
    REFUSED = "refused"
    CANNOT_TELL = "cannot_tell"


@dataclass(frozen=True, slots=True)
class RowSpec:
    """One row of the ledger: its facts in order, and its three titles (as a fact, refused, in the short register)."""

    key: str
    part: str
    title: str
    refused: str
    facts: tuple[FactName, ...]


ROWS: tuple[RowSpec, ...] = (
    RowSpec("admitted", "opened", N_("Request admitted"), N_("Request refused"), (_F.ADMITTED,)),
    RowSpec("inputs_frozen", "opened", N_("Inputs frozen"), N_("Inputs could not be frozen"), (_F.INPUTS_FROZEN,)),
    RowSpec("host_answered", "opened", N_("Host answered"), N_("The work did not start"), (_F.LAUNCHED, _F.CONTACT_MADE)),
    RowSpec(
        "work_completed",
        "completion",
        N_("Work reported completion"),
        N_("Work did not complete"),
        (_F.COMPUTATION_ENDED,),
    ),
    RowSpec("sealed", "completion", N_("Package sealed"), N_("Package could not be sealed"), (_F.SEALED,)),
    RowSpec("host_exited", "completion", N_("Host exited"), N_("Host did not exit"), (_F.HOST_EXITED,)),
    RowSpec("tree_gone", "completion", N_("Process tree gone"), N_("Processes are left"), (_F.TREE_GONE, _F.RELEASED)),
    RowSpec(
        "verified",
        "completion",
        N_("Package verified"),
        N_("Verification refused the package"),
        (_F.BYTES_VERIFIED, _F.CONTENT_VERIFIED),
    ),
    RowSpec("published", "completion", N_("Published"), N_("Publishing failed"), (_F.PUBLISHED,)),
    RowSpec(
        "recorded",
        "completion",
        N_("Recorded as succeeded"),
        N_("Not recorded"),
        (_F.REFERENCE_COMMITTED, _F.SUCCEEDED),
    ),
)
COMPLETION = tuple(row for row in ROWS if row.part == "completion")

# Failure code → the row at which the chain broke. Codes that are not here broke it at no row of their own.
_BROKE_AT = {
    "input_unreadable": "inputs_frozen",
    "start_error": "host_answered",
    "start_deadline": "host_answered",
    "launch_lost": "host_answered",
    "work_failed": "work_completed",
    "work_crashed": "work_completed",
    "out_of_memory": "work_completed",
    "limit_exceeded": "work_completed",
    "contract_invalid": "sealed",
    "result_incomplete": "sealed",
    "result_rejected": "verified",
    "package_lost": "published",
}


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One row. `at` is when it was established and `since` since when it is waited for (UTC µs); `fraction` 0..1 is
    how far the step can measure itself; `facts` are the rows on record, for the evidence beside it."""

    key: str
    title: str
    kind: Kind
    at: int | None
    evidence: tuple[str, ...]
    part: str
    since: int | None = None
    fraction: float | None = None
    facts: tuple[Mapping[str, Any], ...] = ()

    @property
    def established(self) -> bool:
        return self.kind is Kind.ESTABLISHED


@dataclass(frozen=True, slots=True)
class Strip:
    """The seven completion marks, whether the account is closed, and the sentence a screen reader says."""

    marks: tuple[Kind, ...]
    closed: bool
    tone: str
    text: str


def ledger(show: Mapping[str, Any], attempt: str | None = None, now: int | None = None) -> list[LedgerRow]:
    """The ten rows for one attempt (None: the current one)."""
    state = attempt_state(show, attempt)
    kinds = kinds_of(state["status"], state["phase"], state["released"], state["names"], state["failure"], state["cannot_tell"])
    moment = measures.now_us() if now is None else now
    rows = []
    for spec, kind in zip(ROWS, kinds, strict=True):
        found = [state["facts"][name] for name in spec.facts if name in state["facts"]]
        at = measures.micros(found[-1].get("at")) if found and kind is Kind.ESTABLISHED else None
        if kind is Kind.REFUSED:
            at = measures.micros(state["failure_document"].get("at") or show.get("finished_at"))
        rows.append(
            LedgerRow(
                spec.key,
                _title(spec, kind),
                kind,
                at,
                _evidence(show, state, spec, kind, found, moment),
                spec.part,
                _since(show, state) if kind in (Kind.WAITING, Kind.CANNOT_TELL) else None,
                ledgertext.step_fraction(show, spec.key) if kind is Kind.WAITING else None,
                tuple(found),
            )
        )
    return rows


def kinds_of(
    status: str, phase: str, released: bool, names: Iterable[str], failure: str | None, cannot_tell: bool = False
) -> list[Kind]:
    """The kind of each of the ten rows; needs no evidence, so a table cell can have it for every run."""
    on_record = {str(name) for name in names}
    terminal = status in _TERMINAL
    ending = terminal or status == "STOPPING"
    closed = terminal and released
    broke = _broke_at(failure, on_record) if status in ("FAILED", "START_FAILED") else None
    kinds: list[Kind] = []
    waiting = False
    for spec in ROWS:
        if spec.facts[-1].value in on_record:
            kinds.append(Kind.ESTABLISHED)
        elif spec.key == broke:
            kinds.append(Kind.REFUSED)
        elif closed or _cannot_happen(spec.key, ending, _launched(phase, on_record)):
            kinds.append(Kind.NEVER)
        elif waiting:
            kinds.append(Kind.NOT_YET)
        else:
            waiting = True
            kinds.append(Kind.CANNOT_TELL if cannot_tell else Kind.WAITING)
    return kinds


def _cannot_happen(key: str, ending: bool, launched: bool) -> bool:
    """Once an attempt is ending, only its host's exit and its tree's end can still be established."""
    return ending and (key not in ("host_exited", "tree_gone") or not launched)


def _launched(phase: str, names: set[str]) -> bool:
    return phase == "CLEANING_UP" or bool({"launched", "contact_made"} & names)


def _broke_at(failure: str | None, names: set[str]) -> str | None:
    """input_changed and the storage codes break the row that was being worked on."""
    if failure in ("input_changed", "disk_full", "io_error"):
        if "launched" not in names and "contact_made" not in names:
            return "inputs_frozen"
        return "verified" if "sealed" in names else "sealed"
    where = _BROKE_AT.get(failure or "")
    return "sealed" if where == "verified" and "sealed" not in names else where


def strip_of(
    status: str, phase: str, released: bool, names: Iterable[str], failure: str | None, cannot_tell: bool = False
) -> Strip:
    """The ledger in one line, for table cells."""
    kinds = kinds_of(status, phase, released, names, failure, cannot_tell)
    marks = tuple(kinds[len(ROWS) - len(COMPLETION) :])
    closed = status in _TERMINAL and released
    tone = {"SUCCEEDED": "ok", "FAILED": "bad", "START_FAILED": "bad", "TIMEOUT": "bad"}.get(status, "text2")
    done = sum(mark is Kind.ESTABLISHED for mark in marks)
    text = ngettext("{n} of 7 facts", "{n} of 7 facts", done).format(n=done)
    for spec, mark in zip(COMPLETION, marks, strict=True):
        if mark is Kind.WAITING:
            text = _("{facts}, waiting for: {row}").format(facts=text, row=_(spec.title))
        elif mark is Kind.CANNOT_TELL:
            text = _("{facts}, cannot tell: {row}").format(facts=text, row=_(spec.title))
        elif mark is Kind.REFUSED:
            text = _("{facts}, broken at: {row}").format(facts=text, row=_(spec.refused))
    if closed:
        text = _("{facts}, closed").format(facts=text)
    return Strip(marks, closed, tone if closed else "text2", text)


def strip(show: Mapping[str, Any], attempt: str | None = None) -> Strip:
    state = attempt_state(show, attempt)
    return strip_of(state["status"], state["phase"], state["released"], state["names"], state["failure"], state["cannot_tell"])


def on_record(rows: Sequence[LedgerRow]) -> int:
    """How many of the seven completion rows are established."""
    return sum(row.established for row in rows if row.part == "completion")


def attempt_state(show: Mapping[str, Any], attempt: str | None = None) -> dict[str, Any]:
    """What the ledger of one attempt needs: its own status, or the run's where it is the current attempt."""
    attempts = show.get("attempts") or []
    chosen = next((item for item in attempts if item.get("attempt") == attempt), attempts[-1] if attempts else {})
    identity = chosen.get("attempt")
    current = not attempts or chosen is attempts[-1]
    facts = {
        str(fact["fact"]): fact
        for fact in show.get("facts") or []
        if fact.get("fact") in POSITION and (identity is None or fact.get("attempt") in (None, identity))
    }
    contact = chosen.get("contact") or show.get("contact") or {}
    contact = contact if isinstance(contact, Mapping) else {"state": contact}
    status = str(chosen.get("status") or show.get("status") or "CREATED")
    released = bool(chosen.get("released", show.get("released", False)))
    failure = (show.get("failure") or {}) if current else (chosen.get("failure") or {})
    return {
        "attempt": identity,
        "n": chosen.get("n", 1),
        "current": current,
        "status": status,
        "phase": str(chosen.get("phase") or show.get("phase") or "QUEUED"),
        "released": released,
        "facts": facts,
        "names": tuple(facts),
        "failure": failure.get("code"),
        "failure_document": failure,
        "cannot_tell": contact.get("state") == "cannot_tell" and not (released and status in _TERMINAL),
        "contact": contact,
        "exit": chosen.get("exit") or {},
    }


def _title(spec: RowSpec, kind: Kind) -> str:
    if kind is Kind.REFUSED:
        return _(spec.refused)
    if kind is Kind.CANNOT_TELL:
        return _("{row}: cannot tell").format(row=_(spec.title))
    return _(spec.title)


def _since(show: Mapping[str, Any], state: Mapping[str, Any]) -> int | None:
    """When the waiting began: the stop, else the newest fact of this attempt."""
    stop = show.get("stop") or {}
    if state["status"] == "STOPPING" and stop.get("at"):
        return measures.micros(stop.get("asked_at") or stop["at"])
    times = [measures.micros(fact.get("at")) or 0 for fact in state["facts"].values()]
    return max(times) if times else measures.micros(show.get("created_at"))


def _evidence(
    show: Mapping[str, Any],
    state: Mapping[str, Any],
    spec: RowSpec,
    kind: Kind,
    found: list[Mapping[str, Any]],
    now: int,
) -> tuple[str, ...]:
    if kind is Kind.ESTABLISHED:
        return ledgertext.established(spec.key, found, show)
    if kind is Kind.WAITING:
        return ledgertext.established(spec.key, found, show) + ledgertext.waiting(spec.key, show, state, now)
    if kind is Kind.CANNOT_TELL:
        return ledgertext.cannot_tell(state)
    if kind is Kind.REFUSED:
        return ledgertext.established(spec.key, found, show) + ledgertext.refused(state)
    return ()
