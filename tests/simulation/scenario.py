"""What a seed has in store: how many slots and faults, how often things go wrong, and the tasks with their policies."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from actum.model.status import FailureCode, Phase

TASKS = ("plain", "shares", "shares too")  # the last two need the same exclusive resource


# Short phases in which much can go wrong.
RIPE = (Phase.SEALING, Phase.VERIFYING, Phase.PUBLISHING, Phase.PUBLISH_PENDING)


@dataclass(slots=True)
class Scenario:
    """Each is a number of times, a number of seconds, or a probability; `favourites` are faults that strike oftener."""

    slots: int
    faults: int
    stops: int
    runs: int
    spool_only: bool
    held_at_start: bool
    absence: float
    kill_at_effect: float
    lost_answers: float
    rename_failures: float
    helper_crashes: float
    disk_refusals: float
    spawn_errors: float
    freeze_errors: float
    slowness: float
    deadline_s: float | None
    stage_s: float | None
    stop_after_s: float | None
    retries: int
    safe: bool
    stall_s: float | None
    aimed: Phase | None  # a short phase for which this seed keeps its faults and stops
    favourites: tuple[str, ...]

    @classmethod
    def draw(cls, rng: random.Random, faults: list[str]) -> Scenario:
        def sometimes(p: float) -> float:
            return p if rng.random() < 0.3 else 0.0

        return cls(
            slots=rng.choice((1, 1, 2, 3)),
            faults=rng.choice((0, 1, 2, 3, 5, 8)),
            stops=rng.choice((0, 1, 2, 4)),
            runs=rng.choice((1, 2, 4, 6)),
            spool_only=rng.random() < 0.15,
            held_at_start=rng.random() < 0.05,
            absence=rng.choice((4.0, 4.0, 1.0, 0.2)),
            kill_at_effect=sometimes(0.02),
            lost_answers=sometimes(0.05),
            rename_failures=sometimes(0.5),
            helper_crashes=sometimes(0.3),
            disk_refusals=sometimes(0.2),
            spawn_errors=sometimes(0.3),
            freeze_errors=sometimes(0.15),
            slowness=sometimes(0.7),
            deadline_s=rng.choice((None, None, 20.0, 60.0)),
            stage_s=rng.choice((None, None, 25.0)),
            stop_after_s=rng.choice((None, None, None, 10.0)),
            retries=rng.choice((0, 0, 1, 2)),
            safe=rng.random() < 0.7,
            stall_s=rng.choice((None, None, 20.0)),
            aimed=rng.choice((*RIPE, None, None, None, None, None, None)),
            favourites=tuple(rng.choice(faults) for _ in range(2)),
        )

    def contracts(self) -> dict[str, dict[str, Any]]:
        """A contract for each of TASKS."""
        retry = {"maximum": self.retries, "first_delay": "5s", "longest_delay": "20s"}
        policies: dict[str, Any] = {"grace": "10s", "start_deadline": "30s", "safe_to_repeat": self.safe}
        policies["retry"] = {**retry, "codes": [code.value for code in FailureCode]}
        if self.deadline_s is not None:
            policies["deadline"] = f"{self.deadline_s:.0f}s"
        if self.stage_s is not None:
            policies["stage_deadlines"] = {"load": f"{self.stage_s:.0f}s"}
        if self.stall_s is not None:
            policies["stall_after"] = f"{self.stall_s:.0f}s"
        if self.stop_after_s is not None:
            policies["when_supervisor_is_lost"] = {"stop_after": f"{self.stop_after_s:.0f}s"}
        resources = {"plain": [], "shares": ["licence"], "shares too": ["licence", "card"]}
        return {task: {"policies": {**policies, "resources": resources[task]}} for task in TASKS}
