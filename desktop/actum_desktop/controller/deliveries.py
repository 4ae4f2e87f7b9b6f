"""Export on success: after SUCCEEDED, the tables a task asks for are written into the user's folder (§8).

One run at a time, table by table, by the exporting helper, as any export: read back, compared, with a sidecar, never over a
file that is there, and *once*: what a crash cut off after its file had its name is finished, not made again (R18). Each file is
an export on record; the end of a try is a journal row, `export_on_success`. What fails is an alert and changes nothing of the
run; it is tried again when the next supervisor begins, DELIVERY_TRIES_MAX times in all, and whenever somebody asks for it.
Looked at are the newest RESULTS_SWEPT_MAX results.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actum import clock
from actum.contracts.delivery import ExportOnSuccess, read_export_on_success
from actum.errors import Conflict, NotFound, WrongUse
from actum.limits import DELIVERY_TRIES_MAX, PAGE_ROWS_MAX, RESULTS_SWEPT_MAX
from actum.model.changes import AddExport, Answer, ClearAlert, JournalEntry, Note, Persisted, RaiseAlert
from actum.model.run import AttemptRow
from actum.model.status import Status
from actum.store import resultlists

from actum_desktop.controller import flows
from actum_desktop.controller.flows import Flow, HelperCall, patiently
from actum_desktop.controller.instance import Instance, Reply

if TYPE_CHECKING:
    from actum.store.rows import ResultView


KIND = "export_on_success"


_ASKED = 1 << 30  # tries: somebody asks for it


class Deliveries:
    """One for each controller."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._waiting: dict[int, int] = {}  # run → tries it may have had before this one
        self._asked: dict[int, list[Reply]] = {}  # run → who waits for the end of a try
        self._before: set[int] | None = set()  # runs that came before `begin`: theirs is no later try
        self._under_way = False

    @property
    def busy(self) -> bool:
        return self._under_way or bool(self._waiting)

    @property
    def begun(self) -> bool:
        """Whether what earlier supervisors left was looked for."""
        return self._before is None

    def committed(self, answer: Answer) -> None:
        """Called after each commit about an attempt."""
        row = answer.row if isinstance(answer, Persisted) else None
        if row is not None and row.pair.status is Status.SUCCEEDED and policy_of(row.contract) is not None:
            if self._before is not None:
                self._before.add(row.run)
            self._add(row.run, 1)

    def begin(self) -> None:
        """What an earlier supervisor left unfinished, or could not do. Once."""
        if self.begun:
            return
        reader = self._instance.reader
        before, self._before = self._before or set(), None
        for listed in reversed(resultlists.page(reader.connection, None, RESULTS_SWEPT_MAX)):
            row = self._attempt(listed.run)
            if row is None or policy_of(row.contract) is None or listed.run in before:
                continue
            self._add(listed.run, DELIVERY_TRIES_MAX)

    def again(self, run: int, reply: Reply) -> None:
        """Somebody asks for what is not there yet; answered `{"run", "folder", "written", "failed": [{table, why}]}`.

        Raises NotFound (no_result), Conflict (no_delivery).
        """
        row = self._attempt(run)
        if row is None:
            raise NotFound("no_result", f"Run {run} has no result to export.", remedy=f"See why: actum show {run}")
        if policy_of(row.contract) is None:
            remedy = "Export a table of it: actum export RUN NAME."
            raise Conflict("no_delivery", f"The task of run {run} asks for no export on success.", remedy=remedy)
        self._asked.setdefault(run, []).append(reply)
        if self._before is not None:
            self._before.add(run)
        self._add(run, _ASKED)

    def _attempt(self, run: int) -> AttemptRow | None:
        result = self._instance.reader.result(run)
        return None if result is None else self._instance.reader.attempt_row(result.attempt)

    def _add(self, run: int, tries: int) -> None:
        self._waiting[run] = max(tries, self._waiting.get(run, 0))
        self._next()

    def _tries(self, run: int) -> tuple[int, bool]:
        """(how often it was tried, whether the last try left nothing to do)."""
        tries, after, finished = 0, 0, False
        while page := self._instance.reader.journal(run, after, PAGE_ROWS_MAX):
            for entry in page:
                if entry.kind == KIND:
                    tries, finished = tries + 1, not entry.data.get("failed")
            after = page[-1].seq
        return tries, finished

    def _next(self) -> None:
        """Begin the next one; what still waits when this instance leaves, the next supervisor begins."""
        while self._waiting and not self._under_way and not self._instance.left:
            run = next(iter(self._waiting))
            allowed = self._waiting.pop(run)
            result, row = self._instance.reader.result(run), self._attempt(run)
            policy = policy_of(row.contract) if row is not None else None
            if result is None or row is None or policy is None:
                continue
            there = self._on_record(result)
            tries, finished = self._tries(run)
            if finished or tries >= allowed:
                self._tell(run, {"folder": policy.folder, "written": list(there.values()), "failed": []})
                continue
            self._under_way = True
            flow = deliver(self._instance.ws.path / result.path, result, row.task, policy, there)
            flows.run(flow, self._instance.helpers, partial(self._done, result))

    def _on_record(self, result: ResultView) -> dict[str, str]:
        """Table → where it was written on success."""
        rows = self._instance.reader.exports(result.run)
        return {row.name: row.path for row in rows if row.options.get("on_success") and row.n == result.n}

    def _done(self, result: ResultView, told: Mapping[str, Any]) -> None:
        now_us, key = clock.utc_us(), f"export:{result.attempt}"
        for row in told["exports"]:
            self._instance.persist(row, lambda answer: None)
        failed = list(told["failed"])
        found = {"folder": told["folder"], "written": told["written"], "failed": failed}
        entry = JournalEntry(KIND, now_us, found)
        alert: RaiseAlert | ClearAlert = ClearAlert(key, now_us)
        if failed:
            data = {"folder": told["folder"], "message": failed[0]["why"], "tables": [each["table"] for each in failed]}
            alert = RaiseAlert(key, "export_failed", "warning", now_us, data, result.run)
        note = Note((entry,), (alert,), run=result.run, attempt=result.attempt)

        def recorded(_answer: Answer) -> None:
            self._under_way = False
            self._tell(result.run, found)
            self._next()

        self._instance.persist(note, recorded)

    def _tell(self, run: int, found: Mapping[str, Any]) -> None:
        for reply in self._asked.pop(run, ()):
            reply({"run": run, **found}, None)


def policy_of(contract: Mapping[str, Any]) -> ExportOnSuccess | None:
    given = (contract.get("policies") or {}).get("export_on_success")
    try:
        return None if given is None else read_export_on_success(given, "export_on_success")
    except WrongUse:
        return None


def deliver(
    package: Path, result: ResultView, task: str, policy: ExportOnSuccess, done: Mapping[str, str]
) -> Flow[Mapping[str, Any]]:
    """Export what `policy` names and `done` (table → path) has not: `{"folder", "exports": [AddExport], "written": [paths],
    "failed": [{table, why}]}`."""
    exports: list[AddExport] = []
    written: list[str] = []
    failed: list[dict[str, str]] = []
    there = [str(table.get("name") or table.get("table")) for table in result.tables]
    date = clock.rfc3339(result.committed_at_us)[:10]
    for table in policy.tables or there:
        if table in done:
            written.append(done[table])
            continue
        if table not in there:
            failed.append({"table": table, "why": f"The result has no table “{table}”."})
            continue
        name = policy.file_name({"task": task, "run": result.run, "table": table, "date": date})
        args = {
            "package": str(package),
            "name": table,
            "format": policy.format,
            "profile": policy.profile,
            "path": str(Path(policy.folder) / name),
            "existing": "once",
            "options": {},
            "published": result.published.to_json(),
        }
        answer = yield from patiently(HelperCall("export", "export", args))
        if answer.ok is None:
            why = str(answer.error) if answer.error is not None else "The helper ended unexpectedly."
            failed.append({"table": table, "why": why})
            continue
        exports.append(_row(result, table, policy, answer.ok))
        written.append(exports[-1].path)
    return {"folder": policy.folder, "exports": exports, "written": written, "failed": failed}


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
