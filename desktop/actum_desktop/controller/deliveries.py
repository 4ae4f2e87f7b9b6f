"""Export on success: after SUCCEEDED, the tables a task asks for are written into the user's folder (§8).

One run at a time, table by table, by the exporting helper, as any export: read back, compared, with a sidecar, never over a
file that is there. Each file is an export on record; the end is a journal row, `export_on_success`. What fails is an alert and
changes nothing of the run. Whoever supervises next does what was not finished: a result of a task with this policy that has
no such row among the newest RESULTS_SWEPT_MAX.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actum import clock, limits
from actum.contracts.delivery import ExportOnSuccess, read_export_on_success
from actum.errors import WrongUse
from actum.limits import PAGE_ROWS_MAX, RESULTS_SWEPT_MAX
from actum.model.changes import AddExport, Answer, ClearAlert, JournalEntry, Note, Persisted, RaiseAlert
from actum.model.run import AttemptRow
from actum.model.status import Status
from actum.results import digests, exportplace
from actum.store import resultlists

from actum_desktop.controller import flows
from actum_desktop.controller.flows import Flow, HelperCall
from actum_desktop.controller.instance import Instance

if TYPE_CHECKING:
    from actum.store.rows import ResultView


KIND = "export_on_success"


class Deliveries:
    """One for each controller."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._waiting: deque[int] = deque()
        self._under_way = False

    @property
    def busy(self) -> bool:
        return self._under_way or bool(self._waiting)

    def committed(self, answer: Answer) -> None:
        """Called after each commit about an attempt."""
        row = answer.row if isinstance(answer, Persisted) else None
        if row is not None and row.pair.status is Status.SUCCEEDED and policy_of(row.contract) is not None:
            self._add(row.run)

    def begin(self) -> None:
        """What an earlier supervisor left unfinished."""
        reader = self._instance.reader
        for listed in reversed(resultlists.page(reader.connection, None, RESULTS_SWEPT_MAX)):
            row = self._attempt(listed.run)
            if row is None or policy_of(row.contract) is None:
                continue
            self._add(listed.run)

    def _attempt(self, run: int) -> AttemptRow | None:
        result = self._instance.reader.result(run)
        return None if result is None else self._instance.reader.attempt_row(result.attempt)

    def _add(self, run: int) -> None:
        if run not in self._waiting:
            self._waiting.append(run)
            self._next()

    def _done_before(self, run: int) -> bool:
        after = 0
        while page := self._instance.reader.journal(run, after, PAGE_ROWS_MAX):
            if any(entry.kind == KIND for entry in page):
                return True
            after = page[-1].seq
        return False

    def _next(self) -> None:
        while self._waiting and not self._under_way:
            run = self._waiting.popleft()
            result, row = self._instance.reader.result(run), self._attempt(run)
            policy = policy_of(row.contract) if row is not None else None
            if result is None or row is None or policy is None or self._done_before(run):
                continue
            self._under_way = True
            flow = deliver(self._instance.ws.path / result.path, result, row.task, policy)
            flows.run(flow, self._instance.helpers, partial(self._done, result))

    def _done(self, result: ResultView, told: Mapping[str, Any]) -> None:
        now_us, key = clock.utc_us(), f"export:{result.attempt}"
        for row in told["exports"]:
            self._instance.persist(row, lambda answer: None)
        failed = list(told["failed"])
        written = [row.path for row in told["exports"]]
        entry = JournalEntry(KIND, now_us, {"folder": told["folder"], "written": written, "failed": failed})
        alert: RaiseAlert | ClearAlert = ClearAlert(key, now_us)
        if failed:
            data = {"folder": told["folder"], "message": failed[0]["why"], "tables": [each["table"] for each in failed]}
            alert = RaiseAlert(key, "export_failed", "warning", now_us, data, result.run)
        note = Note((entry,), (alert,), run=result.run, attempt=result.attempt)
        self._instance.persist(note, self._recorded)

    def _recorded(self, answer: Answer) -> None:
        self._under_way = False
        self._next()


def policy_of(contract: Mapping[str, Any]) -> ExportOnSuccess | None:
    given = (contract.get("policies") or {}).get("export_on_success")
    try:
        return None if given is None else read_export_on_success(given, "export_on_success")
    except WrongUse:
        return None


def deliver(package: Path, result: ResultView, task: str, policy: ExportOnSuccess) -> Flow[Mapping[str, Any]]:
    """Export what `policy` names: `{"folder", "exports": [AddExport], "failed": [{table, why}]}`."""
    exports: list[AddExport] = []
    failed: list[dict[str, str]] = []
    there = [str(table.get("name") or table.get("table")) for table in result.tables]
    date = clock.rfc3339(result.committed_at_us)[:10]
    for table in policy.tables or there:
        if table not in there:
            failed.append({"table": table, "why": f"The result has no table “{table}”."})
            continue
        name = policy.file_name({"task": task, "run": result.run, "table": table, "date": date})
        path = Path(policy.folder) / name
        written = _written_before(path, result, table, policy)
        if written is not None:
            exportplace.remove_abandoned(path.parent)  # of the export that was killed after its file had its name
            exports.append(_row(result, table, policy, written))
            continue
        args = {
            "package": str(package),
            "name": table,
            "format": policy.format,
            "profile": policy.profile,
            "path": str(path),
            "existing": "keep_both",
            "options": {},
        }
        answer = yield HelperCall("export", "export", args)
        if answer.ok is None:
            why = str(answer.error) if answer.error is not None else "The helper ended unexpectedly."
            failed.append({"table": table, "why": why})
            continue
        exports.append(_row(result, table, policy, answer.ok))
    return {"folder": policy.folder, "exports": exports, "failed": failed}


def _written_before(path: Path, result: ResultView, table: str, policy: ExportOnSuccess) -> dict[str, Any] | None:
    """What the sidecar of `path` says, if it is this very export: it was finished, and a crash kept it off the record."""
    sidecar = path.with_name(f"{path.name}.actum.json")
    try:
        with open(digests.open_regular(sidecar), "rb") as file:
            said = json.loads(file.read(limits.SIDECAR_BYTES_MAX))
        whose = (said["result"]["manifest_sha256"], said["source"]["name"], said["format"], said["profile"])
        wanted = (result.digest, table, policy.format, policy.profile)
        if whose != wanted or path.lstat().st_size != said["size_bytes"]:
            return None
        return {"path": str(path), **{name: said[name] for name in ("sha256", "size_bytes", "rows")}}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _row(result: ResultView, table: str, policy: ExportOnSuccess, made: Mapping[str, Any]) -> AddExport:
    return AddExport(
        run=result.run,
        attempt=result.attempt,
        name=table,
        format=policy.format,
        profile=policy.profile,
        path=str(made["path"]),
        sha256=str(made["sha256"]),
        size_bytes=int(made["size_bytes"]),
        rows=int(made["rows"]),
        options={**(made.get("options") or {}), "on_success": True},
        at_us=clock.utc_us(),
    )
