"""The store in memory: each request one transaction, conditional on pair, current attempt and epoch (R02, R04, P23).

It answers as the real store does: Persisted with the fresh row, or Refused and nothing changed. What it is asked to write is
checked by `checks.Ledger` before it is written, so a wrong request is a violation, never a quiet refusal.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from actum.model.changes import (
    ATTEMPT_COLUMNS,
    RUN_COLUMNS,
    Admit,
    Answer,
    Change,
    Changes,
    ClearAlert,
    JournalEntry,
    NextAttempt,
    Note,
    Persisted,
    RaiseAlert,
    RefusalKind,
    Refused,
    Request,
    StopRun,
)
from actum.model.facts import Fact, FactName
from actum.model.run import AttemptRow
from actum.model.status import (
    RELEASING,
    RUN_TERMINAL,
    TERMINAL,
    Contact,
    IllegalArrow,
    Pair,
    Phase,
    RunStatus,
    Status,
    after,
    run_status,
)

from tests.simulation.checks import Ledger

ROW_COLUMNS = frozenset(
    {
        "session",
        "cookie",
        "secret_sha256",
        "folder",
        "host_identity",
        "contact",
        "failure_code",
        "started_at_us",
        "records_offset",
    }
)


@dataclass(slots=True)
class Run:
    number: int
    run_id: str
    status: RunStatus
    current: str
    request: Admit
    admitted_epoch: int
    stop_requested_at_us: int | None = None
    retry_at_us: int | None = None


@dataclass(slots=True)
class Store:
    """Attributes: epoch (of the newest service instance), runs, journal, alerts (open ones by key), records, results."""

    contract: dict[str, Any]
    ledger: Ledger
    epoch: int = 0
    runs: dict[int, Run] = field(default_factory=dict)
    attempts: dict[str, AttemptRow] = field(default_factory=dict)
    journal: list[tuple[str, JournalEntry]] = field(default_factory=list)
    alerts: dict[str, RaiseAlert] = field(default_factory=dict)
    records: dict[tuple[str, int], Any] = field(default_factory=dict)
    results: dict[str, Any] = field(default_factory=dict)

    def open(self) -> int:
        """A new service instance: its epoch."""
        self.epoch += 1
        return self.epoch

    def row(self, attempt: str) -> AttemptRow:
        """The attempt as it now stands, its run's columns included."""
        row = self.attempts[attempt]
        run = self.runs[row.run]
        return replace(
            row,
            run_status=run.status,
            current=run.current == attempt,
            stop_requested_at_us=run.stop_requested_at_us,
            retry_at_us=run.retry_at_us,
        )

    def rows(self) -> list[AttemptRow]:
        return [self.row(attempt) for attempt in self.attempts]

    def open_rows(self) -> tuple[AttemptRow, ...]:
        """Every attempt that is not closed, and the current one of every run in RETRYING."""
        rows = self.rows()
        return tuple(
            row for row in rows if row.pair.phase is not Phase.CLOSED or (row.current and row.run_status is RunStatus.RETRYING)
        )

    def submit(self, epoch: int, request: Request) -> Answer:
        """One transaction."""
        if epoch != self.epoch:
            return Refused(RefusalKind.EPOCH, "a newer service instance exists")
        match request:
            case Change():
                return self._change(request)
            case Admit():
                return self._admit(request)
            case NextAttempt():
                return self._next(request)
            case StopRun():
                return self._stop_run(request)
            case Note():
                self._note(request.attempt or "", request.journal, request.alerts)
                return Persisted(Changes())
        raise AssertionError(f"the supervisor asks for a {type(request).__name__}")

    # One attempt

    def _change(self, request: Change) -> Answer:
        before = self.row(request.attempt)
        believed = request.arrow.before if request.arrow else request.expects
        if believed is not None and before.pair != believed:
            return Refused(RefusalKind.CONDITION, f"{before.pair}, not {believed}", before)
        if request.arrow is not None and not before.current:
            return Refused(RefusalKind.CONDITION, "not the current attempt", before)
        try:
            target = after(request.arrow.before, request.arrow.event) if request.arrow else before.pair
        except IllegalArrow as error:
            self.ledger.violation("R02", str(error))
        self.ledger.change(before, request, target)
        self._facts(request.attempt, request.facts)
        self._columns(request)
        if request.result is not None:
            self.results[request.attempt] = request.result
        if request.arrow is not None:
            self._follow(request, before.pair, target)
        for record in request.records:
            twice = (request.attempt, record.seq) in self.records and request.attempt not in self.ledger.unsure
            self.ledger.check(not twice, "R12", "a record is written twice")
            self.records[request.attempt, record.seq] = record
        self._note(request.attempt, request.journal, request.alerts)
        row = self.row(request.attempt)
        self.ledger.changed(before, row, request)
        return Persisted(Changes(frozenset({row.run})), row)

    def _facts(self, attempt: str, facts: tuple[Fact, ...]) -> None:
        row = self.attempts[attempt]
        known: dict[FactName, Any] = dict(row.facts)
        for fact in facts:
            known.setdefault(fact.name, {**fact.evidence, "at_us": fact.at_us, "epoch": self.epoch})
        self.attempts[attempt] = replace(row, facts=known)

    def _columns(self, request: Change) -> None:
        self.ledger.check(request.columns.keys() <= ATTEMPT_COLUMNS, "R02", f"columns {set(request.columns)}")
        self.ledger.check(request.run_columns.keys() <= RUN_COLUMNS, "R02", f"columns {set(request.run_columns)}")
        values = {name: value for name, value in request.columns.items() if name in ROW_COLUMNS}
        if "contact" in values:
            values["contact"] = Contact(values["contact"])
        row = replace(self.attempts[request.attempt], **values)
        self.attempts[request.attempt] = row if request.inputs is None else replace(row, inputs=request.inputs)
        asked = request.run_columns.get("stop_requested_at_us")
        run = self.runs[request.run]
        if asked is not None and run.stop_requested_at_us is None:
            run.stop_requested_at_us = asked

    def _follow(self, request: Change, before: Pair, target: Pair) -> None:
        row = self.attempts[request.attempt]
        self.attempts[request.attempt] = replace(row, pair=target, released=row.released or target in RELEASING)
        if target.status is before.status:
            return
        run = self.runs[request.run]
        self.ledger.check(run.status not in RUN_TERMINAL, "R03", f"run {run.number} was {run.status}")
        retries = request.retry_at_us is not None and run.stop_requested_at_us is None
        run.status = run_status(target.status, retries=retries)
        run.retry_at_us = request.retry_at_us if run.status is RunStatus.RETRYING else None

    # Runs

    def _admit(self, request: Admit) -> Answer:
        known = next((run for run in self.runs.values() if run.request.key == request.key), None)
        if known is not None:
            return Persisted(Changes(), self.row(known.current), created=False)
        number = len(self.runs) + 1
        self.runs[number] = Run(number, request.run_id, RunStatus.CREATED, request.attempt, request, self.epoch)
        self._add(number, request.attempt, 1, request.at_us, (request.fact,))
        return Persisted(Changes(frozenset({number})), self.row(request.attempt), created=True)

    def _add(self, number: int, attempt: str, n: int, at_us: int, facts: tuple[Fact, ...]) -> None:
        run = self.runs[number]
        self.attempts[attempt] = AttemptRow(
            run=number,
            run_id=run.run_id,
            run_status=run.status,
            attempt=attempt,
            n=n,
            current=True,
            pair=Pair(Status.CREATED, Phase.QUEUED),
            released=False,
            task="simulated",
            task_version="1",
            key=run.request.key,
            request_digest=run.request.request_digest,
            contract_digest="contract",
            contract=self.contract,
            parameters={},
            admitted_epoch=run.admitted_epoch,
            created_at_us=at_us,
        )
        self._facts(attempt, facts)

    def _next(self, request: NextAttempt) -> Answer:
        run = self.runs[request.run]
        previous = self.row(run.current)
        waits = run.status is RunStatus.RETRYING and previous.released and run.stop_requested_at_us is None
        if not waits or run.current != request.previous or previous.n + 1 != request.n:
            return Refused(RefusalKind.CONDITION, "the run does not wait for this attempt", previous)
        run.status, run.current, run.retry_at_us = RunStatus.CREATED, request.attempt, None
        self._add(request.run, request.attempt, request.n, request.at_us, request.facts)
        self._note(request.attempt, request.journal, ())
        return Persisted(Changes(frozenset({request.run})), self.row(request.attempt), created=True)

    def _stop_run(self, request: StopRun) -> Answer:
        run = self.runs[request.run]
        if run.status is not RunStatus.RETRYING:
            return Refused(RefusalKind.CONDITION, "the run does not wait for a retry", self.row(run.current))
        run.status, run.stop_requested_at_us, run.retry_at_us = RunStatus.STOPPED, request.at_us, None
        self._note(run.current, request.journal, ())
        return Persisted(Changes(frozenset({request.run})), self.row(run.current))

    def _note(self, attempt: str, journal: tuple[JournalEntry, ...], alerts: tuple[RaiseAlert | ClearAlert, ...]) -> None:
        self.journal += [(attempt, entry) for entry in journal]
        for alert in alerts:
            if isinstance(alert, RaiseAlert):
                self.alerts[alert.key] = alert
            else:
                self.alerts.pop(alert.key, None)


def is_over(row: AttemptRow) -> bool:
    return row.pair.status in TERMINAL and row.released
