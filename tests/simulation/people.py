"""What people and their commands do in the simulated world: admit, admit again, stop, reconcile, pause, resume."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from actum.model.changes import Admit
from actum.model.facts import Fact, FactName
from actum.model.run import AttemptRow
from actum.model.status import Phase, Status
from actum.supervise import events

from tests.simulation.scenario import TASKS

if TYPE_CHECKING:
    from tests.simulation.driver import App
    from tests.simulation.world import World

Action = Callable[[], Any]


@dataclass(slots=True)
class People:
    """Attributes: commands (how many were given)."""

    world: World
    commands: int = 0

    def offers(self, chance: random.Random, *, ripe: bool) -> dict[str, tuple[float, Action]]:
        """What somebody may ask for now, if anybody is in the mood."""
        scenario, actions = self.world.scenario, self.actions()
        if not actions:
            return {}
        if len(self.world.store.runs) < scenario.runs and chance.random() < 0.05:
            return {"admit": actions["admit"]}
        if scenario.stops and chance.random() < (0.12 if ripe else 0.002 if scenario.aimed else 0.04):
            scenario.stops -= 1
            return {"stop": actions["stop"]}
        if chance.random() < 0.03:
            name = chance.choice(("reconcile", "resume", "resume", "pause", "admit again", "adopt", "adopt"))
            return {name: actions[name]}
        return {}

    def actions(self) -> dict[str, tuple[float, Action]]:
        """Every command by its name; none where nobody supervises."""
        living = [app for app in self.world.apps if app.acts and app.epoch == self.world.store.epoch]
        if not living:
            return {}
        app = living[-1]
        return {
            "admit": (30, lambda: self.admit(app)),
            "admit again": (30, lambda: self.admit_again(app)),
            "adopt": (60, lambda: self.adopt(app)),
            "stop": (100, lambda: self.stop(app)),
            "reconcile": (20, lambda: self._ask(app, events.ReconcileAsked(self._next(), resume=True))),
            "resume": (20, lambda: self._ask(app, events.QueueResumed(self._next(), held=self.world.rng.random() < 0.7))),
            "pause": (20, lambda: self._ask(app, events.QueuePaused(self._next()))),
        }

    def admit(self, app: App) -> None:
        number, at = self._next(), self.world.clocks.utc_us
        fact = Fact(FactName.ADMITTED, at, {"method": "one transaction"})
        task = self.world.rng.choice(TASKS)
        names = (f"run-{number}", f"attempt-{number}", task, "1", "contract", f"key-{number}", f"request-{number}", "{}")
        self._ask(app, events.AdmitAsked(number, Admit(*names, {}, (), "manual", (), at, fact)))

    def admit_again(self, app: App) -> None:
        """The same key once more: with the same request, or with another (R05)."""
        runs = list(self.world.store.runs.values())
        if not runs:
            return
        number, request = self._next(), self.world.rng.choice(runs).request
        again = replace(request, run_id=f"run-{number}", attempt=f"attempt-{number}")
        if self.world.rng.random() < 0.3:
            again = replace(again, request_digest="another request")
        self._ask(app, events.AdmitAsked(number, again))

    def adopt(self, app: App) -> None:
        """Take up the sealed package of an attempt that did not succeed, as a new run (P16)."""
        found = [row for row in self.world.store.rows() if self._adoptable(row)]
        if not found:
            return
        origin, number, at = self.world.rng.choice(found), self._next(), self.world.clocks.utc_us
        folder = self.world.folders[origin.attempt]
        outcome = folder.outcome or {}
        sealed = {"manifest_sha256": outcome["manifest_sha256"], "sealed_by": "outcome", "ended": outcome["ended"]}
        fact = Fact(FactName.ADMITTED, at, {"method": "adoption", "sealed_at_us": at, **sealed})
        names = (f"run-{number}", f"attempt-{number}", origin.task, "1", "contract", f"key-{number}", f"request-{number}", "{}")
        request = Admit(*names, {}, (), "adoption", (), at, fact, adopts=origin.attempt)
        self.world.folders[request.attempt] = folder  # its package stays where it was sealed
        folder.adopter = request.attempt
        self._ask(app, events.AdmitAsked(number, request))

    def _adoptable(self, row: AttemptRow) -> bool:
        folder = self.world.folders.get(row.attempt)
        if folder is None or not row.released or row.adopts is not None or row.pair.status is Status.SUCCEEDED:
            return False
        sealed = (folder.outcome or {}).get("kind") == "sealed" and folder.package is not None
        free = self.world.store.adopter(row.attempt) is None  # an adoption that was stopped or refused bars no other
        return sealed and free and row.pair.phase is Phase.CLOSED and not folder.touched

    def stop(self, app: App) -> None:
        if self.world.store.runs:
            rows = self.world.store.rows()
            busy = [row.run for row in rows if row.pair.status in (Status.RUNNING, Status.STARTING)]
            late = [row.run for row in rows if row.pair.phase in (Phase.PUBLISHING, Phase.PUBLISH_PENDING)]
            run = self.world.rng.choice([*self.world.store.runs, *busy * 3, *late * 30])
            self._ask(app, events.StopAsked(self._next(), run, insist=self.world.rng.random() < 0.2))

    def ask_for_all(self, app: App) -> None:
        """Peace: the queue goes on, and everything is looked at."""
        self._ask(app, events.QueueResumed(self._next()))
        self._ask(app, events.ReconcileAsked(self._next(), resume=True))

    def _ask(self, app: App, event: Any) -> None:
        app.asked[event.command] = event
        app.open_when_asked[event.command] = frozenset(app.supervisor.machines)
        app.handle(event)

    def _next(self) -> int:
        self.commands += 1
        return self.commands
