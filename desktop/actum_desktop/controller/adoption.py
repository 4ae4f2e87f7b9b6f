"""Adopting: from a run that ended without a result to the request of a new one; and the offers that say it is possible.

An offer is an alert about one attempt. `Offers` looks at the newest attempts that ended without a result, one a turn of the
loop, when the supervisor starts, when it is asked to reconcile, and at each attempt as it closes (§6 row 8).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from actum import clock
from actum.limits import ADOPTION_OFFERS_MAX
from actum.model.changes import Admit, ClearAlert, JournalEntry, Note, RaiseAlert
from actum.model.facts import Fact, FactName
from actum.model.identity import uuid7
from actum.model.run import AttemptRow, Trigger
from actum.model.status import TERMINAL, RunStatus, Status
from actum.results import manifest
from actum.store import adoptable
from actum.store.adoptable import SealedPackage
from actum.store.queries import Reader
from actum.workspace import Workspace

from actum_desktop.controller.instance import Instance

_WITHOUT_RESULT = tuple(RunStatus(status.value) for status in TERMINAL if status is not Status.SUCCEEDED)
OFFERED = "sealed_late"  # the code of the alert
Found = list[dict[str, Any]]


def admit(ws: Workspace, reader: Reader, run: int, n: int | None) -> Admit | Mapping[str, Any]:
    """The request of the run that adopts, or the answer where there is one already. Raises NotFound, Conflict."""
    rows = reader.attempt_rows(open_only=False, run=run)
    for row in reversed(rows):
        known = reader.adopted_by(row.attempt) if n in (None, row.n) else None
        if known is not None and known.stands:
            told = {"run": known.number, "id": known.id, "created": False, "request_digest": known.request_digest}
            return {**told, "adopted": _named(row)}
    row, sealed = adoptable.find(ws, rows, n)
    return request(reader, row, sealed)


def request(reader: Reader, row: AttemptRow, sealed: SealedPackage) -> Admit:
    """The same request as the old run's, under a key of its own."""
    old, at_us, key = reader.run(row.run), clock.utc_us(), adoptable.key_of(row.attempt, reader.adopted_by(row.attempt))
    evidence = {"method": "adoption", "key": key, "request_digest": row.request_digest, "trigger": Trigger.ADOPTION.value}
    return Admit(
        run_id=uuid7(at_us),
        attempt=uuid7(at_us),
        task=row.task,
        task_version=row.task_version,
        contract_digest=row.contract_digest,
        key=key,
        request_digest=row.request_digest,
        request=old.request,
        parameters=row.parameters,
        inputs=row.inputs,
        trigger=Trigger.ADOPTION,
        labels=old.labels,
        at_us=at_us,
        fact=Fact(FactName.ADMITTED, at_us, {**evidence, "from": _named(row), **sealed.evidence()}),
        journal=(JournalEntry("adoption_asked", at_us, {"run": row.run, "n": row.n, "sealed_by": sealed.sealed_by}),),
        adopts=row.attempt,
    )


def _named(row: AttemptRow) -> dict[str, Any]:
    return {"run": row.run, "n": row.n, "attempt": row.attempt}


class Offers:
    """Looks for packages nobody awaits. A pass ends by telling `done` a verdict for each offer that stands."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._left: deque[int] = deque()  # runs to look at
        self._closed: deque[str] = deque()  # attempts to look at
        self._waiting: list[Callable[[Found], None]] = []
        self._found: Found = []
        self._running = False

    @property
    def busy(self) -> bool:
        """Whether an attempt that was closed here has yet to be looked at: nobody leaves before."""
        return bool(self._closed)

    def begin(self, done: Callable[[Found], None]) -> None:
        """Look at the newest runs that ended without a result."""
        self._waiting.append(done)
        if len(self._waiting) > 1:
            return
        self._found = []
        reader = self._instance.reader
        offered = {alert.run for alert in reader.alerts() if alert.code == OFFERED}
        page = reader.runs_page(limit=ADOPTION_OFFERS_MAX, statuses=_WITHOUT_RESULT)
        self._left.extend(row.number for row in page if row.number in offered or self._left_something(row.number, row.n))
        self._go_on()

    def _left_something(self, run: int, attempts: int) -> bool:
        """Whether a manifest lies in the staging folder of any attempt: most runs are done with after this."""
        folders = (self._instance.ws.attempt_folder(run, n + 1) for n in range(attempts))
        return any((folder / "staging" / manifest.MANIFEST).exists() for folder in folders)

    def closed(self, attempt: str) -> None:
        """This attempt has just been closed: did it leave a package?"""
        self._closed.append(attempt)
        self._go_on()

    def _go_on(self) -> None:
        if not self._running:
            self._running = True
            self._instance.soon(self._next)

    def _next(self) -> None:
        """One look a turn, so that nothing else has to wait."""
        self._running = False
        try:
            self._look()
        except Exception:
            self._instance.met_defect()
            return
        if (self._left or self._closed) and not self._instance.left:
            self._go_on()
        elif not self._left:
            waiting, self._waiting = self._waiting, []
            for done in waiting:
                done(self._found)

    def _look(self) -> None:
        if self._instance.left:
            return
        reader = self._instance.reader
        rows: list[AttemptRow] = []
        if self._closed:
            row = reader.attempt_row(self._closed.popleft())
            if row is not None and row.adopts is not None:  # an adoption has ended: what it took up may be free again
                row = reader.attempt_row(row.adopts.attempt)
            rows = [row] if row is not None else []
        elif self._left:
            rows = reader.attempt_rows(open_only=False, run=self._left.popleft())
        for row in rows:
            ended = adoptable.of_row(row)
            newest = reader.adopted_by(row.attempt)
            offered = newest is None or newest.status == Status.STOPPED  # what was refused is not offered again by itself
            if offered and not adoptable.refusal(ended):
                self._note(row, adoptable.sealed_package(self._instance.ws, ended))

    def _note(self, row: AttemptRow, sealed: SealedPackage | None) -> None:
        """The offer as an alert, opened once; closed when there is nothing to adopt any more."""
        now_us, key = clock.utc_us(), adoptable.offer_key(row.attempt)
        raised = {alert.key for alert in self._instance.reader.alerts(run=row.run)}
        alert: RaiseAlert | ClearAlert | None = None
        if sealed is None and key in raised:
            alert = ClearAlert(key, now_us)
        elif sealed is not None:
            self._found.append(_verdict(row, sealed, now_us, told_before=key in raised))
            if key not in raised:
                data = {"n": row.n, "sealed_by": sealed.sealed_by, "manifest_sha256": sealed.manifest_sha256}
                alert = RaiseAlert(key, OFFERED, "info", now_us, data, row.run)
        if alert is not None:
            self._instance.persist(Note(alerts=(alert,), run=row.run, attempt=row.attempt), lambda answer: None)


def _verdict(row: AttemptRow, sealed: SealedPackage, at_us: int, *, told_before: bool) -> dict[str, Any]:
    seen = {"package": "staging", "sealed_by": sealed.sealed_by, "why": {}, "pids": [], "at": at_us}
    return {
        "run": row.run,
        "attempt": row.attempt,
        "n": row.n,
        "row": 8,
        "verdict": "offer",
        "action": "offer",
        "recorded": {"status": row.pair.status.value, "phase": row.pair.phase.value},
        "evidence": {**seen, "told_before": told_before},
    }
