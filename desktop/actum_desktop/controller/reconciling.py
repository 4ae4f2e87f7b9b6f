"""Reconciliation of what is closed: what lives of it, its results, and the packages nobody awaits (§6 rows 2, 3 and 8).

Open attempts are the supervisor's. Of the closed ones a bounded number of the newest is looked at: at launch, after sleep and
when a person asks, all three rows; with the pass of each minute what lives, and the newest results beside those that were not
readable. One pass at a time. The newest verdict of each is kept for as long as this instance lives, and stands on the launch
screen beside those of the open attempts; what was set right since says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from actum import clock
from actum.limits import RECONCILE_EVERY_S, RESULTS_A_MINUTE_MAX, RESULTS_SWEPT_MAX, SLEEP_NOTICED_S

from actum_desktop.controller.adoption import Offers
from actum_desktop.controller.instance import Instance
from actum_desktop.controller.leftovers import Leftovers
from actum_desktop.controller.resultsweep import ResultSweep

Verdict = dict[str, Any]
Done = Callable[[list[Verdict]], None]
LIVES, RESULT, PACKAGE = "lives", "result", "package"


class Reconciling:
    """Attributes: sweep (looks at results, for whoever wants one), complete (the pass of the launch is over), version (grows
    with every change of a verdict)."""

    def __init__(self, instance: Instance, offers: Offers) -> None:
        self._instance = instance
        self._offers = offers
        self._leftovers = Leftovers(instance, lambda verdict: self._keep(LIVES, [verdict]))
        self.sweep = ResultSweep(instance)
        self.complete = False
        self.version = 0
        self._verdicts: dict[tuple[str, str], Verdict] = {}
        self._asked: list[Done] = []  # for a pass that has not begun
        self._running = False
        self._next_us = 0
        self._slept_us: int | None = None

    @property
    def busy(self) -> bool:
        """Whether what was found is being ended: nobody leaves before."""
        return self._leftovers.busy

    @property
    def verdicts(self) -> list[Verdict]:
        return list(self._verdicts.values())

    def launch(self) -> None:
        """The pass of the launch, unless somebody has asked for one already."""
        if not (self.complete or self._asked or self._running):
            self.begin(lambda found: None)

    def begin(self, done: Done) -> None:
        """Look at all three rows; `done` gets the verdicts of what was found, when nothing else is looked at any more."""
        self._asked.append(done)
        self._instance.soon(self._go_on)

    def tick(self, now: clock.Now) -> None:
        """With every tick of the controller, from the launch on."""
        slept_us, self._slept_us = self._slept_us, now.boottime_us - now.monotonic_us
        if not self.complete:
            return
        self._leftovers.tick(now)
        if slept_us is not None and self._slept_us - slept_us > SLEEP_NOTICED_S * clock.US:
            self.begin(lambda found: None)
        elif now.monotonic_us >= self._next_us and not self._running:
            self._run([], RESULTS_A_MINUTE_MAX)

    def _go_on(self) -> None:
        if not self._asked or self._running or self._instance.left:
            return
        asked, self._asked = self._asked, []
        try:
            self._run(asked, RESULTS_SWEPT_MAX)
        except Exception:
            self._instance.met_defect()

    def _run(self, asked: list[Done], results: int) -> None:
        """One pass, one row after another; with nobody who asked it is that of the minute, without the offers."""
        self._running = True
        found: list[Verdict] = []

        def looked(late: list[Verdict]) -> None:
            found.extend(late)
            self.sweep.begin(swept, results, self._bad_results())

        def swept(bad: list[Verdict]) -> None:
            self._keep(RESULT, bad)
            self._readable_again(bad)
            found.extend(bad)
            if asked:
                self._offers.begin(offered)
            else:
                self._over()

        def offered(offers: list[Verdict]) -> None:
            self._keep(PACKAGE, offers)
            self._taken(offers)
            found.extend(offers)
            self._over()
            for done in asked:
                done(found)

        self._leftovers.begin(looked)

    def _over(self) -> None:
        self._running = False
        self._next_us = clock.read().monotonic_us + RECONCILE_EVERY_S * clock.US
        if not self.complete:
            self.complete = True
            self.version += 1
        self._instance.soon(self._go_on)

    # What was found

    def _keep(self, kind: str, verdicts: list[Verdict]) -> None:
        for verdict in verdicts:
            key = (kind, str(verdict["attempt"]))
            if self._verdicts.get(key) != verdict:
                self._verdicts[key] = verdict
                self.version += 1

    def _bad_results(self) -> list[int]:
        return [v["run"] for (kind, _), v in self._verdicts.items() if kind == RESULT and v["action"] != "nothing"]

    def _readable_again(self, bad: list[Verdict]) -> None:
        """Every result that was bad was looked at in this pass; those that are not among the bad ones are readable."""
        found = {str(verdict["attempt"]) for verdict in bad}
        for (kind, attempt), known in list(self._verdicts.items()):
            if kind == RESULT and attempt not in found and known["action"] != "nothing":
                seen = {"package": "results", "why": {}, "pids": [], "at": clock.utc_us()}
                self._keep(RESULT, [{**known, "verdict": "nothing", "action": "nothing", "evidence": seen}])

    def _taken(self, offers: list[Verdict]) -> None:
        """An offer that stands no more was taken up, or its package is gone: no verdict is left of it."""
        found = {str(verdict["attempt"]) for verdict in offers}
        for key in [key for key in self._verdicts if key[0] == PACKAGE and key[1] not in found]:
            del self._verdicts[key]
            self.version += 1
