"""The world of one seed: who may do what next, in which order, and what goes wrong; then peace, in which all must settle (R18).

First comes trouble: service instances, hosts, store, files and people take their steps in an order drawn from the seed, and
faults are drawn among them. Each decision is a `decisions.Step`; a world given such a list lives through that instead. Then
comes peace: no more faults, everything readable and running again, and whoever has something to do does it. By the end every
run must be terminal, every attempt released, every process gone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from actum.clock import US
from actum.ipc.session import Guard
from actum.limits import TICK_LATE_S
from actum.model.identity import ProcessIdentity
from actum.model.run import AttemptRow
from actum.model.status import Phase, Status
from actum.supervise import effects, events, policies, retry

import tests.simulation.rules  # noqa: F401  (registers the checks)
from tests.simulation import faults
from tests.simulation.checks import Ledger
from tests.simulation.clocks import Clocks
from tests.simulation.decisions import Step
from tests.simulation.driver import App
from tests.simulation.files import Folder, Machine, Process
from tests.simulation.host import Channel, Host, Plan
from tests.simulation.people import People
from tests.simulation.scenario import Scenario
from tests.simulation.store import Store

TROUBLE_STEPS = 260
PEACE_STEPS_MAX = 30_000
ASK_AGAIN_STEPS = 1_500
AIMED = ("kill app", "take over", "touch package", "take package", "power cut", "second app", "unmount", "restart without disk")
Action = Callable[[], Any]


@dataclass(slots=True)
class World:
    """Attributes: the parts of the world; steps (what was decided so far); and what is true of it, for the checks."""

    seed: int
    armed: bool = True
    off: frozenset[str] = frozenset()
    tracing: bool = False
    rng: random.Random = field(init=False)
    scenario: Scenario = field(init=False)
    clocks: Clocks = field(default_factory=Clocks)
    machine: Machine = field(default_factory=Machine)
    folders: dict[str, Folder] = field(default_factory=dict)
    hosts: list[Host] = field(default_factory=list)
    apps: list[App] = field(default_factory=list)
    people: People = field(init=False)
    store: Store = field(init=False)
    ledger: Ledger = field(init=False)
    steps: list[Step] = field(default_factory=list)
    peace: bool = False
    disk_full: bool = False
    never_again: frozenset[str] = frozenset(retry.NEVER)
    started: dict[str, int] = field(default_factory=dict)  # attempt → how often its work was started
    launched: dict[str, int] = field(default_factory=dict)
    claimed_at: dict[str, int] = field(default_factory=dict)  # active µs
    finished_at: dict[str, int] = field(default_factory=dict)  # active µs at which its outcome was durable
    arrow_at: dict[str, int] = field(default_factory=dict)  # active µs of the last arrow
    outcome_read_s: dict[str, float] = field(default_factory=dict)  # active seconds at which a look last found none
    rejections: set[str] = field(default_factory=set)  # attempts whose package verification rejects
    stopped_before: dict[str, bool] = field(default_factory=dict)  # attempt → a stop was on record before it was made
    accepted: set[int] = field(default_factory=set)  # runs whose stop was answered “accepted”
    timed_out: set[str] = field(default_factory=set)  # attempts that were timed out before their outcome was durable
    log: list[str] = field(default_factory=list)
    channels: int = 0
    _seen: tuple[int, int] = (-1, -1)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        random.seed(self.seed)  # the jitter of a retry
        self.scenario = Scenario.draw(self.rng, list(faults.FAULTS))
        self.ledger = Ledger(self.machine, self.folders, self.armed, self.off, self)
        tasks = self.scenario.contracts()
        self.store = Store(tasks["plain"], self.ledger, tasks)
        self.people = People(self)

    def aim(self, at: Mapping[str, Any]) -> None:
        """Set parts of the scenario, before anything has happened."""
        if not at:
            return
        self.scenario = replace(self.scenario, **at)
        self.store.tasks = self.scenario.contracts()
        self.store.contract = self.store.tasks["plain"]

    # What the checks ask

    @property
    def stop_after_s(self) -> float | None:
        return self.scenario.stop_after_s

    def limits_s(self, row: AttemptRow) -> list[float]:
        """The deadlines that the task of this attempt declares, in active seconds."""
        of = policies.of(row.contract)
        return [each for each in (of.deadline_s, *of.stage_deadlines_s.values()) if each is not None]

    def active_s(self, attempt: str) -> float:
        """Active seconds since the claim."""
        return (self.clocks.active_us - self.claimed_at.get(attempt, self.clocks.active_us)) / US

    def since_arrow_s(self, attempt: str) -> float:
        """Active seconds since the attempt's pair last changed."""
        return (self.clocks.active_us - self.arrow_at.get(attempt, 0)) / US

    # What is told

    def trace(self, line: str) -> None:
        if self.tracing:
            self.log.append(f"{self.clocks.lapsed_us / US:10.3f} {line}")

    def short(self, thing: Any) -> str:
        """An event or an effect in one line that is the same in every replay (no random token in it)."""
        attempt = getattr(thing, "attempt", None) or getattr(getattr(thing, "row", None), "attempt", None)
        where = f" {self.label(attempt)}" if attempt else ""
        said = []
        for each in fields(thing):
            value = getattr(thing, each.name)
            if isinstance(value, bool | int) or (isinstance(value, str) and len(value) < 30 and each.name != "attempt"):
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
        return newest if newest is not None and newest.alive and newest.place == "here" else None

    def lock_is_held(self) -> bool:
        """Whether some service instance holds the workspace's lock, wherever it runs."""
        return any(app.alive for app in self.apps)

    def connect(self, app: App, attempt: str) -> Channel:
        self.channels += 1
        channel = Channel(f"channel-{self.channels}", app, attempt, Guard(app.expected))
        app.channels.append(channel)
        return channel

    def spawn(self, row: AttemptRow) -> str | None:
        self.launched[row.attempt] = self.launched.get(row.attempt, 0) + 1
        self.ledger.see("spawn", row, self.launched[row.attempt])
        if self.happens(self.scenario.spawn_errors):
            return "no process could be made"
        process = self.machine.spawn("host", row.attempt)
        self.hosts.append(Host(self, row, self.folders[row.attempt], self._plan(), process))
        return None

    def _plan(self) -> Plan:
        rng = self.rng
        if self.scenario.aimed and rng.random() < 0.8:
            return Plan(lasts_s=0.1)
        return Plan(
            lasts_s=rng.choice((0.1, 2.0, 15.0, 15.0 if self.scenario.deadline_s is None or self.peace else 500.0)),
            ends=rng.choice(("ok", "ok", "ok", "ok", "fail", "crash", "incomplete")),
            daemon=rng.choice((None, None, "cookie", "hidden")),
            deaf=rng.random() < 0.2,
            records=rng.choice((0, 3)),
        )

    def work_started(self, row: AttemptRow) -> None:
        self.started[row.attempt] = self.started.get(row.attempt, 0) + 1
        self.ledger.see("work", self.store.row(row.attempt), self.started[row.attempt])

    def signal(self, effect: effects.EndTree, identity: ProcessIdentity) -> str:
        process = self.machine.find(identity)
        if process is None:
            return "gone"
        self.ledger.see("signal", effect, process, self.store.row(effect.attempt))
        if effect.level == "insist" or not (process.deaf or process.frozen or process.role == "host"):
            self.kill(process)
        return "sent"

    def kill(self, process: Process) -> None:
        self.machine.end(process)
        for host in self.hosts:
            if host.process is process:
                host.died()

    def happens(self, probability: float) -> bool:
        return not self.peace and probability > 0 and self.rng.random() < probability

    def slow(self) -> bool:
        return self.happens(0.8 if self.scenario.aimed else self.scenario.slowness)

    def store_fault(self) -> str:
        if self.disk_full:
            return "storage"
        if self.happens(self.scenario.lost_answers):
            return self.rng.choice(("storage", "lost before", "lost after"))
        return ""

    def freeze_fault(self, *, again: bool = False) -> str | None:
        if not self.happens(self.scenario.freeze_errors):
            return None
        return "input_changed" if again else "input_unreadable"

    def host_disk_full(self) -> bool:
        return self.disk_full and self.happens(0.8)

    def helper_crashes(self) -> bool:
        return self.happens(self.scenario.helper_crashes)

    def disk_refuses(self) -> str | None:
        return self.rng.choice(("disk_full", "io_error")) if self.happens(self.scenario.disk_refusals) else None

    def rejected(self, row: AttemptRow, one_in: int) -> bool:
        """Whether the package of this attempt is one that verification rejects; the same at every look."""
        bad = (self.seed * 31 + row.run * 7 + row.n) % (3 * one_in) == 0
        if bad:
            self.rejections.add(row.attempt)
        return bad

    def rename_fails(self) -> bool:
        return self.happens(self.scenario.rename_failures)

    def maybe_kill(self, app: App) -> None:
        if self.happens(self.scenario.kill_at_effect):
            self.kill_app(app)

    def kill_app(self, app: App) -> None:
        self.trace(f"app {app.epoch} is gone")
        app.alive = False
        for channel in app.channels:
            channel.open = False

    def open_app(self, *, place: str = "here") -> App:
        app = App(self, self.store.open(), place, asleep_us=self.clocks.boottime_us - self.clocks.monotonic_us)
        self.apps.append(app)
        rows = self.store.open_rows()
        launched = (Status.STARTING, Status.RUNNING, Status.STOPPING)
        app.inherited = {
            row.attempt
            for row in rows
            if (row.pair.status in launched or not row.released) and row.pair.phase not in (Phase.VERIFYING, Phase.CLOSED)
            if row.pair.status is not Status.CREATED
        }
        paused, held = app.epoch > 1, self.scenario.held_at_start and not self.peace
        app.handle(events.Opened(f"instance-{app.epoch}", app.epoch, rows, self.scenario.slots, paused, held))
        return app

    # Trouble

    def run(self, steps: Sequence[Step] | None = None) -> World:
        """Live through trouble, drawn from the seed or as `steps` say, then through peace. Raises Violation."""
        self._salted(self.rng.getrandbits(32), lambda: self.people.admit(self.open_app()))
        if steps is None:
            chance = random.Random(f"{self.seed} decides")
            for _ in range(TROUBLE_STEPS):
                self._take(self._decide(chance))
        else:
            for step in steps:
                self._take(step)
        self._salted(self.seed, self._make_peace)
        return self

    def _salted(self, salt: int, act: Action) -> None:
        self.rng.seed(salt)
        act()

    def _decide(self, chance: random.Random) -> Step:
        """What happens next, by weight, of what could."""
        after_us = chance.randint(1, 40_000)
        offered = self.offers()
        aim = self.scenario.aimed
        ripe = aim is not None and any(row.pair.phase is aim for row in self.store.rows())
        if self.scenario.faults and chance.random() < (0.12 if ripe else 0.002 if self.scenario.aimed else 0.04):
            self.scenario.faults -= 1
            names = [*(AIMED if ripe else faults.FAULTS), *self.scenario.favourites * (1 if ripe else 8)]
            return Step(after_us, f"fault: {chance.choice(names)}", chance.getrandbits(32))
        extra = self.people.offers(chance, ripe=ripe)
        weights = [(name, weight) for name, (weight, _) in {**offered, **extra}.items()]
        names = [name for name, _ in weights]
        action = chance.choices(names, [weight for _, weight in weights])[0]
        return Step(after_us, action, chance.getrandbits(32))

    def _take(self, step: Step) -> None:
        """Let one step happen, if the world still offers it."""
        action = self._action(step.action)
        if action is None:
            return
        self.steps.append(step)
        self.clocks.run(step.after_us)
        self.trace(f"· {step.action}")
        self._salted(step.salt, action)
        self.look()

    def _action(self, name: str) -> Action | None:
        if name.startswith("fault: "):
            return lambda: faults.FAULTS[name.removeprefix("fault: ")](self)
        offered = self.offers().get(name) or self.people.actions().get(name)
        return offered[1] if offered is not None else None

    def offers(self) -> dict[str, tuple[float, Action]]:
        """Everything that somebody could do now: name → (weight, what it is)."""
        found: dict[str, tuple[float, Action]] = {}
        for app in self.apps:
            if app.acts:
                self._app_offers(app, found)
        for host in self.hosts:
            if host.runs:
                found[f"host {host.row.run}/{host.row.n}"] = (4, host.step)
        found["tick"] = (1 if len(found) > 1 else 3, self._tick)
        if not any(app.alive and app.epoch == self.store.epoch for app in self.apps):
            found["open"] = (self.scenario.absence, self.open_app)
        return found

    def _app_offers(self, app: App, found: dict[str, tuple[float, Action]]) -> None:
        who = f"app {app.epoch}:"
        for source, queue in app.queues.items():
            if queue:
                label = self.label(source.removeprefix("look ")) if source.startswith("look ") else source
                found[f"{who} event {label}"] = (6, lambda queue=queue: app.handle(queue.popleft()))  # type: ignore[misc]
        if app.writes:
            found[f"{who} commit"] = (6, app.step_write)
        for name, step in app.jobs:
            found.setdefault(f"{who} {name}", (3, lambda name=name, step=step: self._job(app, name, step)))  # type: ignore[misc]
        for channel in app.channels:
            if channel.to_app or not channel.open:
                name = f"{who} channel {self.label(channel.attempt)}"
                found.setdefault(name, (4, lambda channel=channel: app.step_channel(channel)))  # type: ignore[misc]
        for attempt, identity in app.watches.items():
            if self.machine.find(identity) is None:
                found[f"{who} exit {self.label(attempt)}"] = (4, lambda attempt=attempt: app.step_watch(attempt))  # type: ignore[misc]

    @staticmethod
    def _job(app: App, name: str, step: Callable[[], bool]) -> None:
        if step():
            app.jobs.remove((name, step))

    def _tick(self) -> None:
        """Time passes: at once, for nobody was scheduled meanwhile; or second by second, lived through by all who can."""
        seconds = self.rng.choice((0.25, 0.25, 1, 1, 3, 12, 40))
        together = seconds > 3 and self.rng.random() < 0.5
        for _ in range(int(seconds) if together else 1):
            self.clocks.run(US if together else int(seconds * US))
            for host in self.hosts if together else ():
                if host.runs:
                    host.step()
            for app in self.apps:
                if app.acts:
                    self._listen(app, 1 if together else seconds, whole=together)

    def _listen(self, app: App, seconds: float, *, whole: bool) -> None:
        """The tick of an instance after so long; with `whole` it has heard everything before."""
        for channel in list(app.channels) if whole else ():
            while channel.to_app and app.acts:
                app.step_channel(channel)
        for host in self.hosts:
            app.unheard_s[host.attempt] = app.unheard_s.get(host.attempt, 0.0) + min(seconds, TICK_LATE_S)
        if app.acts:
            app.tick()
        self.look()

    def look(self) -> None:
        """The checks of a state, where something has changed since they looked."""
        if (self.store.version, self.machine.version) != self._seen:
            self._seen = self.store.version, self.machine.version
            self.ledger.see("state", self.store.rows())

    # Peace

    def _make_peace(self) -> None:
        """No more faults; everybody who can do something does it, and time passes when nobody can. Raises Violation."""
        self.trace("peace")
        self.peace, self.disk_full, self.clocks.wall_stands = True, False, False
        for folder in self.folders.values():
            folder.readable = folder.writable = True
        for process in self.machine.alive():
            process.frozen = False
        for app in self.apps:
            app.stalled = False
            if app.alive and (app.epoch < self.store.epoch or app.place != "here"):
                self.kill_app(app)
        app = self.apps[-1] if self.apps[-1].alive else self.open_app()
        for step in range(PEACE_STEPS_MAX):
            if step % ASK_AGAIN_STEPS == 0:
                self.people.ask_for_all(app)
            if not self._peaceful_step(app):
                break
            self.look()
        self.ledger.see("settled", app, self.store.rows())

    def _peaceful_step(self, app: App) -> bool:
        """One step; False when there is nothing left to do."""
        choices = self.offers()
        del choices["tick"]
        busy = sum(host.runs for host in self.hosts)
        if choices and (len(choices) > busy or self.rng.random() < 0.7):
            name = self.rng.choice(list(choices))
            self.trace(f"· {name}")
            choices[name][1]()
            self.clocks.run(2_000)
            return True
        if app.supervisor.idle and not busy and not choices:
            return False
        self.clocks.run(US)
        self._listen(app, 1, whole=False)
        return True
