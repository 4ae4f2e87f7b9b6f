"""Commands about what holds of published results now: verify, look, rebuild, pack (§8, R16).

All of them are done by the helper `check`, so that a long look never keeps a run from being verified. History is not touched:
each look that was asked for is a row of its own, a mere look at opening only where it finds something else than before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actum import clock
from actum.errors import ActumError, CannotTell, CheckFailed, NotFound, StorageFailed
from actum.model.changes import AddExport, AddResultCheck, ClearAlert, JournalEntry, Note, Persisted, RaiseAlert, Request
from actum.results import rebuild
from actum.results.pack import SUFFIX
from actum.results.report import Expected

from actum_desktop.controller import flows
from actum_desktop.controller.flows import Flow, HelperCall
from actum_desktop.controller.helpers import Asked, HelperAnswer
from actum_desktop.controller.instance import Instance

if TYPE_CHECKING:
    from actum.store.rows import ResultView

    from actum_desktop.controller.resultsweep import ResultSweep

Body = Mapping[str, Any]
Call = Callable[[Body, Asked, str, Body, Callable[[HelperAnswer], None]], None]
Commit = Callable[[int, Request, Callable[[Persisted], Body]], None]
HELPER = "check"
NOTES = "verification.jsonl"  # beside the attempt's other files; what an interrupted look goes on with
READABLE = "readable"


class Availability:
    """One for each controller. `call` is how the commands call a helper, so that calls can be watched and cancelled;
    `commit` how they answer after a commit."""

    def __init__(self, instance: Instance, sweep: ResultSweep, call: Call, commit: Commit) -> None:
        self._instance = instance
        self._sweep = sweep
        self._call, self._commit = call, commit
        self._serial = 0

    def verify(self, command: int, body: Body) -> None:
        """`level`: content (if not said), bytes, presence, chunks:i-j, sample:n. Recorded whatever it finds."""
        result = self._result(body)
        level = str(body.get("level") or "content")

        def checked(answer: HelperAnswer) -> None:
            found = self._found(command, answer, "The result could not be checked.")
            if found is not None:
                self._record(command, result, level, found, {})

        self._call(body, self._helper, "check", self._check_args(result, level), checked)

    def look(self, command: int, body: Body) -> None:
        """A look when a result is opened: presence alone, recorded where it finds something else than was known."""
        result = self._result(body)

        def looked(answer: HelperAnswer) -> None:
            found = self._found(command, answer, "The result could not be looked at.")
            if found is not None:
                self._sweep.note(result, found, "presence")
                self._instance.reply(command, {"run": result.run, **found, "details": {}}, None)

        self._helper.call("check", self._check_args(result, "presence"), looked)

    def rebuild(self, command: int, body: Body) -> None:
        """Make the derived tables again where they alone are damaged; a damaged authority is refused in words."""
        result = self._result(body)
        self._serial += 1
        flow = self._rebuilt(result, self._serial)

        def done(outcome: Mapping[str, Any] | ActumError) -> None:
            if isinstance(outcome, ActumError):
                self._instance.reply(command, None, outcome)
            else:
                told = {"rebuilt": outcome["rebuilt"], "kept": outcome["kept"]}
                self._record(command, result, "content", outcome["found"], told)

        flows.run(flow, self._instance.helpers, done)

    def pack(self, command: int, body: Body) -> None:
        """The whole result as one file of the user's; recorded like an export."""
        instance, result = self._instance, self._result(body)
        path = str(Path(body["path"]).absolute())
        args = {"package": str(instance.ws.path / result.path), "path": path, "overwrite": bool(body.get("overwrite"))}
        args["published"] = result.published.to_json()

        def packed(answer: HelperAnswer) -> None:
            made = self._found(command, answer, "The pack was not finished.")
            if made is None:
                return
            row = AddExport(
                run=result.run,
                attempt=result.attempt,
                name="result",
                format=SUFFIX.removeprefix("."),
                profile="data",
                path=made["path"],
                sha256=made["sha256"],
                size_bytes=int(made["size_bytes"]),
                rows=result.rows_total,
                options={"manifest_sha256": made["manifest_sha256"]},
                at_us=clock.utc_us(),
            )
            self._commit(command, row, lambda done: {"run": result.run, **made})

        self._call(body, instance.helpers["export"], "pack", args, packed)

    # Parts of these

    @property
    def _helper(self) -> Asked:
        return self._instance.helpers[HELPER]

    def _result(self, body: Body) -> ResultView:
        run = self._instance.reader.resolve(body["run"])
        result = self._instance.reader.result(run)
        if result is None:
            raise NotFound("no_result", f"Run {run} has no result.", remedy=f"See why: actum show {run}")
        return result

    def _check_args(self, result: ResultView, level: str) -> dict[str, Any]:
        ws = self._instance.ws
        folder = ws.attempt_folder(result.run, result.n)
        notes = str(folder / NOTES) if level == "content" and folder.is_dir() else None
        row = self._instance.reader.attempt_row(result.attempt)
        sealed_for = None if row is None else row.adopts or row
        expected = Expected(derived_sha256=result.derived_digests)
        if sealed_for is not None:
            expected = replace(expected, run=sealed_for.run, attempt=sealed_for.attempt)
        place, whose = str(ws.path / result.path), expected.to_json()
        return {"package": place, "digest": result.digest, "level": level, "expected": whose, "resume": notes}

    def _found(self, command: int, answer: HelperAnswer, what: str) -> Mapping[str, Any] | None:
        if answer.ok is None:
            self._instance.reply(command, None, answer.error or _ended(what))
        return answer.ok

    def _record(self, command: int, result: ResultView, level: str, found: Mapping[str, Any], more: Mapping[str, Any]) -> None:
        now_us = clock.utc_us()
        state, reason, details = str(found["state"]), str(found["reason"]), found.get("details") or {}
        check = AddResultCheck(result.run, result.attempt, state, reason, level, details, now_us)
        told = {"run": result.run, "level": level, **found, **more}
        key = f"result:{result.attempt}"
        alert: RaiseAlert | ClearAlert | None = None
        if state == READABLE and level in ("content", "bytes"):
            alert = ClearAlert(key, now_us)
        elif state not in (READABLE, "unchecked"):
            data = {"state": state, "message": reason, "path": result.path, "remedy": found.get("remedy", "")}
            alert = RaiseAlert(key, "result_changed", "bad", now_us, data, result.run)
        if alert is not None:
            note = Note(alerts=(alert,), run=result.run, attempt=result.attempt)
            self._instance.persist(note, lambda answer: None)
        self._commit(command, check, lambda done: told)

    def _rebuilt(self, result: ResultView, serial: int) -> Flow[Mapping[str, Any] | ActumError]:
        answer = yield HelperCall(HELPER, "check", self._check_args(result, "content"))
        if answer.ok is None:
            return answer.error or _ended("The result could not be checked.")
        if answer.ok["state"] == READABLE:
            return {"rebuilt": False, "kept": None, "found": answer.ok}
        if not answer.ok["rebuildable"]:
            return _not_rebuildable(answer.ok)
        ws = self._instance.ws
        package = ws.path / result.path
        home = ws.attempt_folder(result.run, result.n)
        place = home if home.is_dir() else package.parent
        fresh = place / f".derive-{self._instance.writer.opened.epoch}-rebuild-{serial}"
        derived = yield HelperCall("derive", "derive", {"package": str(package), "out": str(fresh)})
        if derived.ok is None:
            rebuild.discard(fresh)
            return derived.error or _ended("The derived tables were not made again.")
        reason, label = str(answer.ok["reason"]), f"{result.run}-{result.n}"
        try:
            kept = rebuild.replace_derived(ws, package, fresh, label, reason, clock.utc_us())
        except StorageFailed as error:
            rebuild.discard(fresh)
            return error
        self._journal(result, reason, derived.ok["derived_sha256"], kept)
        again = yield HelperCall(HELPER, "check", self._check_args(result, "content"))
        if again.ok is None:
            return again.error or _ended("The result could not be checked.")
        return {"rebuilt": True, "kept": str(kept) if kept else None, "found": again.ok}

    def _journal(self, result: ResultView, reason: str, derived_sha256: str, kept: Path | None) -> None:
        data = {
            "reason": reason,
            "derived_sha256": derived_sha256,
            "as_published": derived_sha256 == result.derived_digest,
            "kept": str(kept) if kept else None,
        }
        entry = JournalEntry("derived_rebuilt", clock.utc_us(), data)
        self._instance.persist(Note((entry,), run=result.run, attempt=result.attempt), lambda answer: None)


def _not_rebuildable(found: Mapping[str, Any]) -> CheckFailed:
    return CheckFailed(
        "not_rebuildable",
        "The derived tables cannot be made again.",
        f"{found['reason']} A damaged authority is never repaired.",
        str(found["remedy"]),
        state=found["state"],
    )


def _ended(what: str) -> CannotTell:
    return CannotTell("helper_crashed", what, "The helper ended unexpectedly.", "Try again.")
