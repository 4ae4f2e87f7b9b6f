"""The store in memory: each request one transaction, conditional on pair, current attempt and epoch (R02, R04, P23).

It answers as the real store does: Persisted with the fresh row, or Refused and nothing changed; `test_contracts` runs one set
of requests on both. What it is asked to write is seen by the checks before it is written, and what became of it after that.
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
from actum.model.run import AdoptedRow, AttemptRow
from actum.model.status import (
    RELEASING,
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


UNSUCCESSFUL = frozenset({RunStatus.FAILED, RunStatus.START_FAILED, RunStatus.TIMEOUT, RunStatus.STOPPED})


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
    """Attributes: epoch (of the newest service instance), runs, journal, alerts (open ones by key), records, results.

    `contract` is that of every task that `tasks` does not name; `version` counts what was written.
    """

    contract: dict[str, Any]
    ledger: Ledger
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)
    version: int = 0
    epoch: int = 0
    runs: dict[int, Run] = field(default_factory=dict)
    attempts: dict[str, AttemptRow] = field(default_factory=dict)
    journal: list[tuple[str, JournalEntry]] = field(default_factory=list)
    alerts: dict[str, RaiseAlert] = field(default_factory=dict)
    records: dict[tuple[str, int], Any] = field(default_factory=dict)
    results: dict[str, Any] = field(default_factory=dict)
    _rows: dict[str, AttemptRow] = field(default_factory=dict)  # as `row` answers them, until they change

    def open(self) -> int:
        """A new service instance: its epoch."""
        self.epoch += 1
        return self.epoch

    def row(self, attempt: str) -> AttemptRow:
        """The attempt as it now stands, its run's columns included."""
        known = self._rows.get(attempt)
        if known is not None:
            return known
        row = self.attempts[attempt]
        run = self.runs[row.run]
        self._rows[attempt] = fresh = replace(
            row,
            run_status=run.status,
            current=run.current == attempt,
            stop_requested_at_us=run.stop_requested_at_us,
            retry_at_us=run.retry_at_us,
        )
        return fresh

    def _written(self, number: int) -> None:
        """Something of this run was written: its rows are read anew."""
        self.version += 1
        for attempt in [attempt for attempt, row in self._rows.items() if row.run == number]:
            del self._rows[attempt]

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
            self.ledger.see("illegal", before, request)
            return Refused(RefusalKind.CONDITION, str(error), before)
        self.ledger.see("change", before, request, target)
        if request.arrow is not None:
            key = (before.pair.status.value, before.pair.phase.value, request.arrow.event.value)
            self.ledger.triples[key] = self.ledger.triples.get(key, 0) + 1
        self._facts(request.attempt, request.facts)
        self._columns(request)
        if request.result is not None:
            self.results[request.attempt] = request.result
        if request.arrow is not None:
            self._follow(request, before.pair, target)
        for record in request.records:
            self.ledger.see("record", request.attempt, record.seq, (request.attempt, record.seq) in self.records)
            self.records[request.attempt, record.seq] = record
        self._note(request.attempt, request.journal, request.alerts)
        self._written(request.run)
        row = self.row(request.attempt)
        if request.arrow is not None and self.ledger.world is not None:
            self.ledger.world.arrow_at[request.attempt] = self.ledger.world.clocks.active_us
            if row.pair.status is Status.TIMEOUT and request.attempt not in self.ledger.world.finished_at:
                self.ledger.world.timed_out.add(request.attempt)
        self.ledger.see("changed", before, row, request)
        return Persisted(Changes(frozenset({row.run})), row)

    def _facts(self, attempt: str, facts: tuple[Fact, ...]) -> None:
        row = self.attempts[attempt]
        known: dict[FactName, Any] = dict(row.facts)
        for fact in facts:
            known.setdefault(fact.name, {**fact.evidence, "at_us": fact.at_us, "epoch": self.epoch})
        self.attempts[attempt] = replace(row, facts=known)

    def _columns(self, request: Change) -> None:
        assert request.columns.keys() <= ATTEMPT_COLUMNS, request.columns
        assert request.run_columns.keys() <= RUN_COLUMNS, request.run_columns
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
        retries = request.retry_at_us is not None and run.stop_requested_at_us is None
        after_status = run_status(target.status, retries=retries)
        self.ledger.see("run", run.status, after_status)
        run.status = after_status
        run.retry_at_us = request.retry_at_us if run.status is RunStatus.RETRYING else None

    # Runs

    def _admit(self, request: Admit) -> Answer:
        known = next((run for run in self.runs.values() if run.request.key == request.key), None)
        if known is not None and known.request.request_digest != request.request_digest:
            return Refused(RefusalKind.KEY, "The key belongs to another request.", self.row(known.current))
        if known is not None:
            return Persisted(Changes(), self.row(known.current), created=False)
        if request.adopts is not None and not self._may_be_adopted(request.adopts):
            return Refused(RefusalKind.CONDITION, "it cannot be adopted, or another run has adopted it already")
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
            task=run.request.task,
            task_version="1",
            key=run.request.key,
            request_digest=run.request.request_digest,
            contract_digest="contract",
            contract=self.tasks.get(run.request.task, self.contract),
            adopts=self._adopted(run.request.adopts),
            parameters={},
            admitted_epoch=run.admitted_epoch,
            created_at_us=at_us,
        )
        self._facts(attempt, facts)
        first = next((row for row in self.attempts.values() if row.run == number and row.n == 1), None)
        if first is not None and n > 1:  # frozen once per run
            self.attempts[attempt] = replace(self.attempts[attempt], inputs=first.inputs)
        self._written(number)

    def _may_be_adopted(self, attempt: str) -> bool:
        old = self.row(attempt)
        ended = old.released and old.pair.status.value in UNSUCCESSFUL
        return ended and old.adopts is None and self.adopter(attempt) is None

    def adopter(self, attempt: str) -> str | None:
        """The attempt of the run whose adoption of this one stands, open or succeeded; one that ended otherwise bars none."""
        takers = [run for run in self.runs.values() if run.request.adopts == attempt and run.status not in UNSUCCESSFUL]
        return takers[0].current if takers else None

    def _adopted(self, attempt: str | None) -> AdoptedRow | None:
        """The old attempt as a run that adopts it reads it."""
        if attempt is None:
            return None
        old = self.row(attempt)
        return AdoptedRow(old.run, attempt, old.n, old.session, old.cookie, old.host_identity, dict(old.facts))

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
        self._written(request.run)
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
