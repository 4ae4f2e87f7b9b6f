"""A look at published results: what holds of each now, recorded where it changed (§6 row 3, R16).

The newest results (RESULTS_SWEPT_MAX at launch, after sleep and when asked; fewer with the pass of each minute) are looked at,
one at a time, by the verifying helper at the level *presence*: manifest and derived.json as recorded, every listed file there
with its size. History is not touched: a result that is damaged or missing gets a check row and an alert, and the run stays
SUCCEEDED. The alert closes when the result is readable again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from actum import clock
from actum.model.changes import AddResultCheck, ClearAlert, Note, RaiseAlert
from actum.results.report import Expected
from actum.store import resultlists
from actum.store.rows import ResultView

from actum_desktop.controller.helpers import HelperAnswer
from actum_desktop.controller.instance import Instance

Done = Callable[[list[dict[str, Any]]], None]
LEVEL = "presence"


class ResultSweep:
    """One pass at a time."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._done: Done = lambda found: None
        self._left: list[int] = []
        self._found: list[dict[str, Any]] = []

    def begin(self, done: Done, newest: int, also: Sequence[int] = ()) -> None:
        """Look at the newest results and at those of the runs `also`; `done` gets a verdict for each that is not readable."""
        self._done, self._found = done, []
        page = resultlists.page(self._instance.reader.connection, None, newest)
        self._left = list(dict.fromkeys([*(row.run for row in page), *also]))
        self._next()

    def _next(self) -> None:
        while self._left:
            result = self._instance.reader.result(self._left.pop(0))
            if result is not None:
                self._look(result)
                return
        self._done(self._found)

    def _look(self, result: ResultView) -> None:
        package = self._instance.ws.path / result.path
        args: dict[str, Any] = {"package": str(package), "digest": result.digest, "level": LEVEL}
        args["expected"] = Expected(derived_sha256=result.derived_digests).to_json()

        def looked(answer: HelperAnswer) -> None:
            if answer.ok is not None:
                self._found += self.note(result, answer.ok, LEVEL)
            else:  # nothing was found out about this one; the others are looked at all the same, and it is at the next pass
                why = str(answer.error) if answer.error is not None else "The helper that looks ended unexpectedly."
                self._found.append(_verdict(result, "unchecked", why, clock.utc_us()))
            self._next()

        self._instance.helpers["check"].call("check", args, looked)

    def note(self, result: ResultView, found: Mapping[str, Any], level: str, *, always: bool = False) -> list[dict[str, Any]]:
        """Record what a look found, where it is something else than was known, or `always`. Returns its verdict, if bad."""
        state, reason, now_us = str(found["state"]), str(found["reason"]), clock.utc_us()
        readable = state == "readable"
        known = result.check.state if result.check is not None else "readable"
        verdicts = [] if readable else [_verdict(result, state, reason, now_us, told_before=state == known)]
        if state == known and not always:
            return verdicts
        if known == "damaged" and readable and level == LEVEL and result.check is not None and result.check.level != LEVEL:
            return verdicts  # that a file is there says nothing against a thorough look that found its bytes changed
        check = AddResultCheck(result.run, result.attempt, state, reason, level, found.get("details") or {}, now_us)
        key = f"result:{result.attempt}"
        alert: RaiseAlert | ClearAlert = ClearAlert(key, now_us)
        if not readable and state != "unchecked":
            data = {"state": state, "message": reason, "path": result.path, "remedy": found.get("remedy", "")}
            alert = RaiseAlert(key, "result_changed", "bad", now_us, data, result.run)
        self._instance.persist(check, lambda answer: None)
        self._instance.persist(Note(alerts=(alert,), run=result.run, attempt=result.attempt), lambda answer: None)
        return verdicts


def _verdict(result: ResultView, state: str, reason: str, at_us: int, *, told_before: bool = False) -> dict[str, Any]:
    """`told_before` = this very state is on record since an earlier look, and its alert stands."""
    word = "result_unchecked" if state in ("unchecked", "forbidden") else "result_damaged"  # what may not be read is unknown
    return {
        "run": result.run,
        "attempt": result.attempt,
        "n": result.n,
        "row": 3,
        "verdict": word,
        "action": word,
        "recorded": {"status": "SUCCEEDED", "phase": "CLOSED"},
        "evidence": {"package": state, "why": {"package": reason}, "pids": [], "at": at_us, "told_before": told_before},
    }
