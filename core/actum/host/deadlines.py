"""The task's deadlines, counted in active time: pure arithmetic on CLOCK_MONOTONIC seconds (R08, §12).

The start deadline runs until the claim, the stage deadlines each from their stage's first message, the overall deadline
from the claim; none runs beyond the end of the computation. CLOCK_MONOTONIC stands still while the machine sleeps.
"""

from __future__ import annotations

from actum.host.launch import Launch


class Deadlines:
    """Attributes: begun (monotonic seconds), claimed, stage."""

    def __init__(self, launch: Launch, now: float) -> None:
        self._launch = launch
        self.begun = now
        self.claimed: float | None = None
        self._stage: tuple[str, float] | None = None
        self._lost: float | None = None

    def claim(self, now: float) -> None:
        self.claimed = now

    def enter_stage(self, name: str, now: float) -> None:
        """A stage that is entered again goes on with its first clock only while it is the current one."""
        if self._stage is None or self._stage[0] != name:
            self._stage = (name, now)

    def supervised(self, alive: bool, now: float) -> None:
        """Whether a supervisor is on the channel; `stop_after` counts from the last time one was."""
        if alive:
            self._lost = None
        elif self._lost is None:
            self._lost = now

    def active_s(self, now: float) -> float:
        """Active seconds since the claim, or since the start of this host while there is none."""
        return now - (self.begun if self.claimed is None else self.claimed)

    def start_passed(self, now: float) -> bool:
        return self.claimed is None and now - self.begun >= self._launch.start_s

    def passed(self, now: float) -> str | None:
        """The cause to stop the computation for, or None: stage_deadline, overall_deadline, supervisor_lost."""
        if self.claimed is None:
            return None
        launch = self._launch
        if launch.overall_s is not None and now - self.claimed >= launch.overall_s:
            return "overall_deadline"
        if self._stage is not None:
            name, since = self._stage
            if name in launch.stages and now - since >= launch.stages[name]:
                return "stage_deadline"
        if launch.stop_after_s is not None and self._lost is not None and now - self._lost >= launch.stop_after_s:
            return "supervisor_lost"
        return None
