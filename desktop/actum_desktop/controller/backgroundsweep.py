"""A look at every byte of what is published, in the background, slowly: so that damage is found before it is needed (R16).

While nothing computes and nothing is asked, one result after another is digested again (level *bytes*), the newest first, each
whose last thorough look is longer ago than the setting `sweep_again_days`. It reads at most `sweep_mib_per_s` (0 = never).
A run that begins ends the look at once; it is taken up again when all is idle. What it finds is a check on record, and an alert
where it is not what was published. It is no reason to stay: a supervisor that waits for idleness does not wait for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actum import clock
from actum.limits import SWEEP_IDLE_S, SWEEP_PAUSE_S, SWEEP_STEP_ROWS
from actum.results.report import Expected
from actum.settings import merged
from actum.store import resultlists

from actum_desktop.controller.helpers import HelperAnswer
from actum_desktop.controller.instance import Instance
from actum_desktop.controller.resultsweep import ResultSweep

if TYPE_CHECKING:
    from actum.store.rows import ResultView


_DAY_US = 86_400 * clock.US
LEVEL = "bytes"


class BackgroundSweep:
    """Looks with every tick of the controller whether there is something to do, and time for it."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._sweep = ResultSweep(instance)
        self._before: int | None = None  # results of runs below this were not looked at in this pass
        self._idle_since_us = 0
        self._again_us = 0
        self._call = 0  # of the helper, while one is under way

    @property
    def looking(self) -> bool:
        return self._call != 0

    def tick(self, now: clock.Now) -> None:
        if not self._instance.idle:
            self._idle_since_us = 0
            self._give_way()
            return
        self._idle_since_us = self._idle_since_us or now.monotonic_us
        rested = now.monotonic_us - self._idle_since_us >= SWEEP_IDLE_S * clock.US
        if rested and not self._call and now.monotonic_us >= self._again_us and not self._instance.helpers["check"].busy:
            self._go_on(now)

    def _give_way(self) -> None:
        if self._call:
            self._instance.helpers["check"].cancel(self._call)

    def _go_on(self, now: clock.Now) -> None:
        values = merged(self._instance.reader.setting_rows())
        rate, days = int(values["sweep_mib_per_s"]) << 20, int(values["sweep_again_days"])
        result = self._due(now.utc_us - days * _DAY_US) if rate else None
        if result is None:
            return
        package = self._instance.ws.path / result.path
        args: dict[str, Any] = {"package": str(package), "digest": result.digest, "level": LEVEL, "bytes_per_s": rate}
        args["expected"] = Expected(derived_sha256=result.derived_digests).to_json()
        self._call = -1
        number = self._instance.helpers["check"].call("check", args, lambda answer: self._looked(result, answer))
        self._call = number if self._call else 0

    def _due(self, older_than_us: int) -> ResultView | None:
        """The next result whose last thorough look is older, or None: this step has none, or the pass has come to its end."""
        reader = self._instance.reader
        page = resultlists.page(reader.connection, self._before, SWEEP_STEP_ROWS)
        for row in page:
            self._before = row.run
            seen_us = resultlists.last_thorough_us(reader.connection, row.run)
            if (seen_us if seen_us is not None else row.committed_at_us) < older_than_us:
                return reader.result(row.run)
        if len(page) < SWEEP_STEP_ROWS:
            self._before = None
            self._again_us = clock.read().monotonic_us + SWEEP_PAUSE_S * clock.US
        return None

    def _looked(self, result: ResultView, answer: HelperAnswer) -> None:
        self._call = 0
        if answer.ok is not None:
            self._sweep.note(result, answer.ok, LEVEL, always=True)
        else:
            self._before = result.run + 1  # it gave way, or its helper ended: the same one again
