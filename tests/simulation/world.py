"""The world of one seed: what may happen next, in which order, and what goes wrong; then peace, in which all must settle (R18).

First comes trouble: service instances, hosts, store, files and people take their steps in an order drawn from the seed, and
faults are drawn among them. Then comes peace: no more faults, everything readable and running again, and whoever has
something to do does it. By the end every run must be terminal, every attempt released, every process gone.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

from actum.clock import US, Now
from actum.model.changes import Admit, Change
from actum.model.facts import Fact, FactName
from actum.model.identity import ProcessIdentity
from actum.model.run import AttemptRow
from actum.model.status import RUN_TERMINAL, AttemptEvent, Contact, FailureCode, Phase, RunStatus, Status
from actum.supervise import effects, events
from actum.supervise.machine import PASSING_ALERTS

from tests.simulation import faults
from tests.simulation.checks import Ledger
from tests.simulation.driver import App
from tests.simulation.files import Folder, Machine, Process
from tests.simulation.host import Channel, Host, Plan
from tests.simulation.store import Store

TROUBLE_STEPS = 260
PEACE_STEPS_MAX = 9_000
RUNS_MAX = 4


@dataclass(slots=True)
class Scenario:
    """What a seed has in store. Each is a number of times or a probability."""

    slots: int
    faults: int
    stops: int
    kill_at_effect: float
    lost_answers: float
    rename_failures: float
    helper_crashes: float
    spawn_errors: float
    freeze_errors: float
    deadline_s: float | None
    retries: int
    stage_s: float | None

    @classmethod
    def draw(cls, rng: random.Random) -> Scenario:
        def sometimes(p: float) -> float:
            return p if rng.random() < 0.3 else 0.0

        return cls(
            slots=rng.choice((1, 1, 2)),
            faults=rng.choice((0, 1, 2, 3, 5)),
            stops=rng.choice((0, 1, 2, 4)),
            kill_at_effect=sometimes(0.02),
            lost_answers=sometimes(0.05),
            rename_failures=sometimes(0.5),
            helper_crashes=sometimes(0.2),
            spawn_errors=sometimes(0.3),
            freeze_errors=sometimes(0.1),
            deadline_s=rng.choice((None, None, 20.0, 60.0)),
            retries=rng.choice((0, 0, 1, 2)),
            stage_s=rng.choice((None, None, 25.0)),
        )


@dataclass(slots=True)
class World:
    """Attributes: the parts of the world, and the clocks: utc_us jumps, monotonic_us only rises."""

    seed: int
    armed: bool = True
    rng: random.Random = field(init=False)
    scenario: Scenario = field(init=False)
    machine: Machine = field(default_factory=Machine)
    folders: dict[str, Folder] = field(default_factory=dict)
    hosts: list[Host] = field(default_factory=list)
    apps: list[App] = field(default_factory=list)
    store: Store = field(init=False)
    ledger: Ledger = field(init=False)
    utc_us: int = 1_800_000_000 * US
    monotonic_us: int = 1_000 * US
    peace: bool = False
    disk_full: bool = False
    started: dict[str, int] = field(default_factory=dict)  # attempt → how often its work was started
    launched: dict[str, int] = field(default_factory=dict)
    accepted: set[int] = field(default_factory=set)  # runs whose stop was answered “accepted”
    log: list[str] = field(default_factory=list)
    commands: int = 0

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        random.seed(self.seed)  # the jitter of a retry
        self.scenario = Scenario.draw(self.rng)
        self.ledger = Ledger(self.machine, self.folders, self.armed)
        policies: dict[str, Any] = {"grace": "10s", "start_deadline": "30s", "safe_to_repeat": self.rng.random() < 0.7}
        retry = {"maximum": self.scenario.retries, "first_delay": "5s", "longest_delay": "20s"}
        policies["retry"] = {**retry, "codes": [code.value for code in FailureCode]}
        if self.scenario.deadline_s is not None:
            policies["deadline"] = f"{self.scenario.deadline_s:.0f}s"
        if self.scenario.stage_s is not None:
            policies["stage_deadlines"] = {"load": f"{self.scenario.stage_s:.0f}s"}
        if self.rng.random() < 0.3:
            policies["stall_after"] = "20s"
        self.store = Store({"policies": policies}, self.ledger)

    @property
    def deadline_s(self) -> float | None:
        return self.scenario.deadline_s

    @property
    def start_deadline_s(self) -> float:
        return 30.0

    def now(self) -> Now:
        return Now(self.utc_us, self.monotonic_us, self.monotonic_us)

    def trace(self, line: str) -> None:
        self.log.append(f"{self.monotonic_us / US - 1000:9.3f} {line}")

    def short(self, thing: Any) -> str:
        """An event or an effect in one line that is the same in every replay (no random token in it)."""
        attempt = getattr(thing, "attempt", None) or getattr(getattr(thing, "row", None), "attempt", None)
        where = f" {self.label(attempt)}" if attempt else ""
        said = []
        for each in fields(thing):
            value = getattr(thing, each.name)
            if isinstance(value, bool | int) or (isinstance(value, str) and len(value) < 30):
                said.append(f"{each.name}={value}")
        if isinstance(thing, events.Looked):
            e = thing.evidence
            said += [f"{e.host}/{e.outcome}/{e.tree}/{e.claim}/{e.package}"]
        if isinstance(thing, events.Committed):
            said.append(type(thing.answer).__name__ + str(getattr(thing.answer, "kind", "")))
        return f"{type(thing).__name__}{where} {' '.join(said)}"

    def label(self, attempt: str) -> str:
        row = self.store.attempts.get(attempt)
        return f"{row.run}/{row.n}" if row is not None else "?"

    # What the parts ask of the world

    def endpoint(self) -> App | None:
        """The service instance that the endpoint file names."""
        newest = self.apps[-1] if self.apps else None
        return newest if newest is not None and newest.alive and not newest.foreign else None

    def connect(self, app: App, attempt: str) -> Channel:
        self.commands += 1
        channel = Channel(f"channel-{self.commands}", app, attempt)
        app.channels.append(channel)
        return channel

    def spawn(self, row: AttemptRow) -> str | None:
        self.launched[row.attempt] = self.launched.get(row.attempt, 0) + 1
        self.ledger.check(self.launched[row.attempt] == 1, "R18", f"{row.run}/{row.n} is launched twice")
        if self.happens(self.scenario.spawn_errors):
            return "no process could be made"
        process = self.machine.spawn("host", row.attempt)
        self.hosts.append(Host(self, row, self.folders[row.attempt], self._plan(), process))
        return None

    def _plan(self) -> Plan:
        rng = self.rng
        return Plan(
            lasts_s=rng.choice((0.1, 2.0, 15.0, 15.0 if self.scenario.deadline_s is None else 500.0)),
            ends=rng.choice(("ok", "ok", "ok", "fail", "crash", "incomplete")),
            daemon=rng.choice((None, None, "cookie", "hidden")),
            deaf=rng.random() < 0.2,
            records=rng.choice((0, 3)),
        )

    def work_started(self, row: AttemptRow) -> None:
        self.started[row.attempt] = self.started.get(row.attempt, 0) + 1
        self.ledger.check(self.started[row.attempt] == 1, "R18", f"the work of {row.run}/{row.n} starts twice")
        stored = self.store.row(row.attempt)
        late = stored.pair.status in (Status.STOPPED, Status.START_FAILED)
        self.ledger.check(not late, "P01", f"the work of {row.run}/{row.n} starts, and it is {stored.pair}")

    def signal(self, effect: effects.EndTree, identity: ProcessIdentity) -> str:
        process = self.machine.find(identity)
        if process is None:
            return "gone"
        self.ledger.check(process.attempt == effect.attempt, "R07", "a process of another attempt is signalled")
        if effect.level == "insist" or not (process.deaf or process.frozen or process.role == "host"):
            self.kill(process)
        return "sent"

    def kill(self, process: Process) -> None:
        process.alive = False
        for host in self.hosts:
            if host.process is process:
                host.died()

    def happens(self, probability: float) -> bool:
        return not self.peace and probability > 0 and self.rng.random() < probability

    def store_fault(self) -> str:
        if self.disk_full:
            return "storage"
        if self.happens(self.scenario.lost_answers):
            return self.rng.choice(("storage", "lost before", "lost after"))
        return ""

    def freeze_fault(self) -> str | None:
        return "input_unreadable" if self.happens(self.scenario.freeze_errors) else None

    def helper_crashes(self) -> bool:
        return self.happens(self.scenario.helper_crashes)

    def rejected(self, row: AttemptRow, one_in: int) -> bool:
        """Whether the package of this attempt is one that verification rejects; the same at every look."""
        return (self.seed * 31 + row.run * 7 + row.n) % (3 * one_in) == 0

    def rename_fails(self) -> bool:
        return self.happens(self.scenario.rename_failures)

    def maybe_kill(self, app: App) -> None:
        if self.happens(self.scenario.kill_at_effect):
            self.kill_app(app)

    def retire(self, app: App) -> None:
        self.ledger.check(app.epoch < self.store.epoch, "P23", "an instance retires, and no newer one exists")
        self.kill_app(app)

    def kill_app(self, app: App) -> None:
        self.trace(f"app {app.epoch} is gone")
        app.alive = False
        for channel in app.channels:
            channel.open = False

    # Checks at an effect

    def check_effect(self, app: App, effect: effects.Effect) -> None:
        row = getattr(effect, "row", None)
        if row is not None and app.epoch == self.store.epoch:
            self._check_step(app, effect, self.store.row(row.attempt))
        request = effect.request if isinstance(effect, effects.Persist) else None
        if isinstance(request, Change) and request.arrow is not None and request.arrow.event is AttemptEvent.SLOT_GRANTED:
            self.ledger.check(not app.supervisor.unjudged, "R09", "a slot is granted before every leftover is judged")
        if isinstance(effect, effects.Reply) and effect.ok is not None and "answer" in effect.ok:
            run = self.store.runs[int(effect.ok["run"])]
            told = effect.ok["answer"]
            recorded = run.stop_requested_at_us is not None or run.status in RUN_TERMINAL
            self.ledger.check(told == "closed" or recorded, "R04", f"a stop is answered {told}, and is not on record")
            over = told != "closed" or run.status in RUN_TERMINAL
            self.ledger.check(over, "R04", f"a stop is answered closed, and the run is {run.status}")

    def _check_step(self, app: App, effect: effects.Effect, stored: AttemptRow) -> None:
        check, where = self.ledger.check, f"{stored.run}/{stored.n} is {stored.pair}"
        match effect:
            case effects.Launch():
                check(stored.pair.phase is Phase.LAUNCHING, "R01", f"a launch, and {where}")
                check(not app.supervisor.unjudged, "R09", "a launch before every leftover is judged")
                check(stored.stop_requested_at_us is None, "R04", "a launch after a stop on record")
            case effects.Derive():
                check(FactName.RELEASED in stored.facts, "R01", f"derive, and {where}")
            case effects.Verify():
                check(FactName.RELEASED in stored.facts, "R01", f"verify, and {where}")
            case effects.Publish():
                check(FactName.CONTENT_VERIFIED in stored.facts, "R01", f"publish, and {where}")
                check(stored.pair.phase is Phase.PUBLISHING, "P07", f"publish, and {where}")
            case effects.Freeze():
                check(stored.pair.phase is Phase.FREEZING, "R06", f"freeze, and {where}")

    # People

    def admit(self, app: App) -> None:
        number = len(self.store.runs) + 1
        at = self.utc_us
        fact = Fact(FactName.ADMITTED, at, {"method": "one transaction"})
        request = Admit(
            f"run-{number}-{self.commands}",
            f"attempt-{number}-{self.commands}",
            "simulated",
            "1",
            "contract",
            f"key-{self.commands}",
            "request",
            "{}",
            {},
            (),
            "manual",
            (),
            at,
            fact,
        )
        self._command(app, events.AdmitAsked(self._next_command(), request))

    def stop(self, app: App) -> None:
        if not self.store.runs:
            return
        run = self.rng.choice(list(self.store.runs))
        self._command(app, events.StopAsked(self._next_command(), run, insist=self.rng.random() < 0.2))

    def _command(self, app: App, event: Any) -> None:
        app.asked[event.command] = event
        app.handle(event)

    def _next_command(self) -> int:
        self.commands += 1
        return self.commands

    def open_app(self, *, foreign: bool = False) -> App:
        app = App(self, self.store.open(), foreign)
        self.apps.append(app)
        app.handle(
            events.Opened(f"instance-{app.epoch}", app.epoch, self.store.open_rows(), self.scenario.slots, app.epoch > 1)
        )
        return app

    # Trouble and peace

    def run(self) -> World:
        """Live through trouble, then peace. Raises Violation."""
        self.admit(self.open_app())
        for _ in range(TROUBLE_STEPS):
            self.step()
            self.ledger.state(self.store.rows(), self.scenario.slots)
        self.make_peace()
        return self

    def step(self) -> None:
        """One thing happens."""
        self.pass_time(self.rng.randint(1, 40_000))
        choices = self.enabled()
        choices.append((1 if len(choices) > 2 else 3, self._tick))
        if self.scenario.faults and self.rng.random() < 0.04:
            self.scenario.faults -= 1
            faults.strike(self)
            return
        living = [app for app in self.apps if app.alive and app.epoch == self.store.epoch]
        if not living:
            choices.append((4, self.open_app))
        elif len(self.store.runs) < RUNS_MAX and self.rng.random() < 0.04:
            choices.append((30, lambda: self.admit(living[-1])))
        elif self.scenario.stops and self.rng.random() < 0.04:
            self.scenario.stops -= 1
            choices.append((100, lambda: self.stop(living[-1])))
        elif self.rng.random() < 0.02:
            asked = self.rng.choice((events.QueueResumed, lambda command: events.ReconcileAsked(command, resume=True)))
            choices.append((20, lambda: self._command(living[-1], asked(self._next_command()))))
        weights = [weight for weight, _ in choices]
        self.rng.choices(choices, weights)[0][1]()

    def enabled(self) -> list[tuple[int, Callable[[], Any]]]:
        """Everything that somebody could do now."""
        found: list[tuple[int, Callable[[], Any]]] = []
        for app in self.apps:
            if app.alive:
                found += self._app_choices(app)
        for host in self.hosts:
            if host.runs:
                found.append((4, host.step))
        return found

    def _app_choices(self, app: App) -> list[tuple[int, Callable[[], Any]]]:
        found: list[tuple[int, Callable[[], Any]]] = []
        for queue in app.queues.values():
            if queue:
                found.append((6, lambda queue=queue: app.handle(queue.popleft())))  # type: ignore[misc]
        if app.writes:
            found.append((6, app.step_write))
        for job in app.jobs:
            found.append((3, lambda job=job: self._job(app, job)))  # type: ignore[misc]
        for channel in app.channels:
            if channel.to_app or not channel.open:
                found.append((4, lambda channel=channel: app.step_channel(channel)))  # type: ignore[misc]
        for attempt, identity in app.watches.items():
            if self.machine.find(identity) is None:
                found.append((4, lambda attempt=attempt: app.step_watch(attempt)))  # type: ignore[misc]
        return found

    @staticmethod
    def _job(app: App, job: tuple[str, Callable[[], bool]]) -> None:
        if job[1]():
            app.jobs.remove(job)

    def _tick(self) -> None:
        self.pass_time(int(self.rng.choice((0.25, 0.25, 1, 1, 3, 12, 40)) * US))
        for app in self.apps:
            if app.alive:
                app.tick()

    def pass_time(self, us: int) -> None:
        self.utc_us += us
        self.monotonic_us += us

    def make_peace(self) -> None:
        """No more faults; everybody who can do something does it, and time passes when nobody can. Raises Violation."""
        self.trace("peace")
        self.peace, self.disk_full = True, False
        for folder in self.folders.values():
            folder.readable = True
        for process in self.machine.processes:
            process.frozen = False
        if self.apps[-1].foreign and self.apps[-1].alive:
            self.kill_app(self.apps[-1])
        for app in self.apps[:-1]:
            if app.alive:
                self.kill_app(app)
        app = self.apps[-1] if self.apps[-1].alive else self.open_app()
        self._command(app, events.ReconcileAsked(self._next_command(), resume=True))
        for _ in range(PEACE_STEPS_MAX):
            choices = self.enabled()
            busy = [host for host in self.hosts if host.runs]
            if choices and (len(choices) > len(busy) or self.rng.random() < 0.7):
                self.rng.choice(choices)[1]()
                self.pass_time(2_000)
            elif app.supervisor.idle and not busy and not choices:
                break
            else:
                self.pass_time(int(0.25 * US))
                app.tick()
            self.ledger.state(self.store.rows(), self.scenario.slots)
        self.settled(app)

    def settled(self, app: App) -> None:
        """All is quiet: nothing is left over. Raises Violation."""
        check = self.ledger.check
        for run in self.store.runs.values():
            check(run.status in RUN_TERMINAL, "R18", f"run {run.number} never ends: {run.status}")
        for row in self.store.rows():
            where = f"{row.run}/{row.n} ({row.pair})"
            check(row.pair.phase is Phase.CLOSED and row.released, "R18", f"{where} is never closed")
            check(row.contact is not Contact.CANNOT_TELL, "R09", f"{where} cannot tell for ever")
            self._settled_package(row, where)
            if FactName.LAUNCHED in row.facts:
                folder, kept = self.folders[row.attempt], [key for key in self.store.records if key[0] == row.attempt]
                check(len(kept) == folder.records, "R12", f"{where} has {len(kept)} of {folder.records} records")
        living = [each.role for each in self.machine.processes if each.alive]
        check(not living, "R18", f"processes are left: {living}")
        check(app.supervisor.idle, "R18", "the supervisor is never idle")
        check(app.supervisor.slots_taken == 0, "R06", "a slot is never freed")
        open_alerts = {key.split(":")[0] for key in self.store.alerts} & set(PASSING_ALERTS)
        check(not open_alerts, "R08", f"alerts never go away: {open_alerts}")
        unanswered = app.asked.keys() - app.replies.keys()
        check(not unanswered, "R04", f"commands are never answered: {[type(app.asked[n]).__name__ for n in unanswered]}")

    def _settled_package(self, row: AttemptRow, where: str) -> None:
        folder = self.folders.get(row.attempt)
        if row.pair.status is Status.SUCCEEDED:
            kept = folder is not None and (folder.published is not None or folder.touched)
            self.ledger.check(kept, "R18", f"{where}, and its package is lost")
            self.ledger.check(row.attempt in self.store.results, "R01", f"{where} has no result row")
            self.ledger.check(row.run_status is RunStatus.SUCCEEDED, "R02", f"{where}, and the run is {row.run_status}")
