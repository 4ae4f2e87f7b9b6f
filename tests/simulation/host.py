"""A host as PROTOCOL §5 and §7 describe it: lock, hello, claim, work, end of its tree, seal, outcome, terminal frame, exit.

Each `step` does one thing that another process could come between. Its work is a plan drawn from the seed. Its frames are
whole documents, and the real guard of the supervisor's end reads them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from actum.clock import US
from actum.ipc import messages
from actum.ipc.session import Guard
from actum.model.run import AttemptRow
from actum.supervise import policies

from tests.simulation.files import Folder, Process
from tests.simulation.ports import ACTIVITY, outcome_digest

if TYPE_CHECKING:
    from tests.simulation.driver import App
    from tests.simulation.world import World

ACK_WAIT_S = 10
HEARTBEAT_S = 2
KILL_AFTER_S = 3


@dataclass(slots=True)
class Plan:
    """What the work will do. `ends` ok | fail | crash | incomplete; `daemon` None | cookie | hidden."""

    lasts_s: float
    ends: str = "ok"
    daemon: str | None = None
    deaf: bool = False
    records: int = 0


@dataclass(slots=True)
class Channel:
    """One connection to one service instance, with the real guard at its end; buffer bounds are the outbox's business."""

    name: str
    app: App
    attempt: str
    guard: Guard
    to_app: deque[dict[str, Any]] = field(default_factory=deque)
    to_host: deque[dict[str, Any]] = field(default_factory=deque)
    open: bool = True
    row_at_hello: AttemptRow | None = None  # on record when its hello came


@dataclass(slots=True)
class Host:
    """One life of a host."""

    world: World
    row: AttemptRow
    folder: Folder
    plan: Plan
    process: Process
    phase: str = "exec"
    begun_us: int = 0
    claimed_us: int = 0
    lost_us: int | None = None
    stage: tuple[str, int] = ("", 0)
    channel: Channel | None = None
    acknowledged: bool = False
    greeted: bool = False
    cause: str | None = None
    insist: bool = False
    ending_us: int = 0
    result: dict[str, Any] = field(default_factory=dict)
    done_us: int = 0
    heard_us: int = 0
    sent_us: int = -1
    seq: int = 0
    frames: int = 0
    limits: policies.Policies = field(init=False)

    def __post_init__(self) -> None:
        self.limits = policies.of(self.row.contract)

    @property
    def attempt(self) -> str:
        return self.row.attempt

    @property
    def runs(self) -> bool:
        return self.process.alive and not self.process.frozen

    @property
    def monotonic_us(self) -> int:
        return self.world.clocks.monotonic_us

    def step(self) -> None:
        """One step of its own."""
        self._hear()
        if not self.process.alive:
            return
        _STEPS[self.phase](self)
        if self.process.alive and self.phase in ("computing", "ending", "sealing"):
            self._tell_state()

    # Channel

    def _hear(self) -> None:
        if self.phase == "exec":
            return
        self._connect()
        while self.channel is not None and self.channel.to_host:
            message = self.channel.to_host.popleft()
            if message["type"] in ("hello-ack", "stop"):
                self.greeted = True
            if message["type"] == "stop":
                self._asked(message["cause"], message["level"])
            elif message["type"] == "dismiss":
                self._asked("dismissed", "insist")
            elif message["type"] == "ack" and message["digest"] == outcome_digest(self.folder.outcome):
                self.acknowledged = True
        stop = self.folder.stop
        if stop is not None and self.folder.readable:
            self._asked(stop["cause"], stop["level"])

    def _asked(self, cause: str, level: str) -> None:
        self.cause = self.cause or cause
        self.insist = self.insist or level == "insist"

    def _connect(self) -> None:
        if self.channel is not None and (not self.channel.open or not self.channel.app.alive):
            self.channel, self.greeted = None, False
            if self.claimed_us == 0:
                self._exit()  # the channel closed before the claim (P03)
                return
        app = self.world.endpoint()
        if self.channel is None and app is not None and not self.world.scenario.spool_only:
            self.channel = self.world.connect(app, self.attempt)
            self.heard_us = self.monotonic_us
            identity = self.process.identity.to_json()
            fields = {"secret": self.folder.secret, "protocol": messages.PROTOCOL, "claimed": self.claimed_us > 0}
            self.send("hello", identity=identity, **fields)
        supervised = self.greeted or (self.world.scenario.spool_only and self.world.lock_is_held())
        self.lost_us = None if supervised else (self.lost_us or self.monotonic_us)

    def send(self, kind: str, /, **fields: Any) -> None:
        if self.channel is None or not self.channel.open:
            return
        self.frames += 1
        about = {"run": self.row.run, "attempt": self.attempt, "session": self.row.session}
        where = {"channel": self.channel.name, "seq": self.frames, "at": self.world.clocks.utc_us}
        self.channel.to_app.append({"v": messages.VERSION, "type": kind, **about, **where, **fields})

    # Phases

    def _exec(self) -> None:
        """Through exec: the lock is taken before anything else."""
        self.folder.alive_held_by = self.process.identity
        self.phase, self.begun_us = "starting", self.monotonic_us

    def _starting(self) -> None:
        waited_s = (self.monotonic_us - self.begun_us) / US
        if self.cause is not None or waited_s > self.limits.start_deadline_s:
            self._exit()
        elif (self.greeted or self.world.scenario.spool_only) and self.folder.takes:
            self._claim()

    def _claim(self) -> None:
        if self.folder.claim is not None:
            self._exit()
            return
        at = self.world.clocks.utc_us
        identity = self.process.identity.to_json()
        self.folder.claim = {"v": 1, "by": "host", "session": self.row.session, "identity": identity, "at": at}
        self.phase, self.claimed_us = "claimed", self.monotonic_us
        self.world.claimed_at[self.attempt] = self.world.clocks.active_us

    def _start_work(self) -> None:
        self.world.work_started(self.row)
        work = self.world.machine.spawn("work", self.attempt, deaf=self.plan.deaf)
        self.folder.tree.append(work.identity)
        self.phase, self.stage = "computing", ("load", self.monotonic_us)
        if self.plan.daemon is not None:
            shows = self.plan.daemon == "cookie"
            daemon = self.world.machine.spawn("daemon", self.attempt, shows_cookie=shows, deaf=self.plan.deaf)
            self.folder.tree.append(daemon.identity)

    def _computing(self) -> None:
        living = self.world.machine.living(self.attempt, "work")
        self.cause = self.cause or self._deadline_passed()
        if self.cause is not None:
            self.phase, self.ending_us = "ending", self.monotonic_us
            self.result = {"kind": "stopped", "cause": self.cause}
        elif living and self._active_s() < self.plan.lasts_s:
            self.folder.records += self.folder.records < self.plan.records
        else:
            self._work_ended(living)

    def _deadline_passed(self) -> str | None:
        """The host enforces deadlines, whoever supervises; sleep does not count."""
        if self.limits.deadline_s is not None and self._active_s() >= self.limits.deadline_s:
            return "overall_deadline"
        name, since_us = self.stage
        limit_s = self.limits.stage_deadlines_s.get(name)
        if limit_s is not None and (self.monotonic_us - since_us) / US >= limit_s:
            return "stage_deadline"
        lost_s = self.world.stop_after_s
        if lost_s is not None and self.lost_us is not None and (self.monotonic_us - self.lost_us) / US >= lost_s:
            return "supervisor_lost"
        return None

    def _work_ended(self, living: list[Process]) -> None:
        killed = not living  # by somebody else than its own end
        for process in living:
            self.world.machine.end(process)
        self.folder.records = max(self.folder.records, self.plan.records)
        ends = "crash" if killed else self.plan.ends
        code, number = {"crash": (None, 9), "fail": (3, None)}.get(ends, (0, None))
        ended = {"exit_code": code, "signal": number, "descendants_left": 0, "at": self.world.clocks.utc_us}
        failure = {"crash": "work_crashed", "fail": "work_failed", "incomplete": "result_incomplete"}.get(ends)
        self.result = {"kind": "failed", "code": failure, "ended": ended} if failure else {"kind": "sealed", "ended": ended}
        self.phase, self.ending_us = "ending", self.monotonic_us

    def _ending(self) -> None:
        """The tree first (P14); SIGTERM, then SIGKILL."""
        waited_s = (self.monotonic_us - self.ending_us) / US
        left = self.world.machine.living(self.attempt, "work", "daemon")
        for process in left:
            if not process.deaf or self.insist or waited_s > KILL_AFTER_S:
                self.world.machine.end(process)
                return
        if not left:
            if self.result["kind"] == "sealed":
                self.send("ended", ended=self.result["ended"])
            self.phase = "sealing"

    def _sealing(self) -> None:
        if not self.folder.takes or self.world.host_disk_full():
            return
        if self.result["kind"] == "sealed" and self.folder.package is None:
            self.folder.package = f"package-{self.row.run}-{self.row.n}"
        self.phase = "fsync"

    def _fsync(self) -> None:
        """Files and folders of the package reach the disk before the outcome names them."""
        if self.folder.takes:
            self.folder.package_durable = self.folder.package is not None
            self.phase = "outcome"

    def _outcome(self) -> None:
        if not self.folder.takes:
            return
        at = self.world.clocks.utc_us
        sealed = self.result["kind"] == "sealed"
        self.folder.outcome = {
            "v": 1,
            "run": self.row.run,
            "attempt": self.attempt,
            "session": self.row.session,
            "code": None,
            "cause": None,
            "message": "",
            "details": {},
            "ended": None,
            "tree": {"method": "subreaper", "at": at, "nested": 0},
            "manifest_sha256": self.folder.package if sealed else None,
            "at": at,
            **self.result,
        }
        self.phase = "synced"

    def _synced(self) -> None:
        if not self.folder.takes:
            return
        self.folder.outcome_durable = True
        self.phase, self.done_us = "done", self.monotonic_us
        self.world.finished_at[self.attempt] = self.world.clocks.active_us

    def _done(self) -> None:
        now = self.monotonic_us
        if self.acknowledged or now - self.done_us > ACK_WAIT_S * US:
            self._exit()
        elif now - self.sent_us > 2 * US or self.sent_us < 0:
            self.sent_us = now
            document = dict(self.folder.outcome or {})
            self.send(document["kind"], outcome=document, digest=outcome_digest(document))

    def _exit(self) -> None:
        self.world.machine.end(self.process)
        if self.folder.alive_held_by == self.process.identity:
            self.folder.alive_held_by = None
        if self.channel is not None:
            self.channel.open = False

    def _active_s(self) -> float:
        return (self.monotonic_us - self.claimed_us) / US

    def _tell_state(self) -> None:
        if self.monotonic_us - self.heard_us < HEARTBEAT_S * US:
            return
        self.heard_us = self.monotonic_us
        self.seq += 1
        active_s = self._active_s()
        said = {"activity": ACTIVITY, "active_s": active_s, "processes": 1, "last_progress_active_s": 0.0}
        phase = self.phase if self.phase in messages.PHASES else "sealing"
        self.send("heartbeat", phase=phase, **said)
        if self.seq % 3 == 1:
            self._move_on()
        if self.phase == "ending" and self.cause is not None:
            self.send("notice", code="asked", text="", data={"next_in_s": 3.0})
        at = self.world.clocks.utc_us
        progress = {**self._progress(), "at": at}
        ended = self.result.get("ended") if self.result.get("kind") == "sealed" and self.phase == "sealing" else None
        stage = {"name": self.stage[0], "total": 3, "at": at}
        self.folder.state = {"session": self.row.session, "seq": self.seq, "at": at, "progress": progress, "stage": stage,
                             "ended": ended, "heartbeat_at": at, "monotonic_at": self.monotonic_us, **said}  # fmt: skip

    def _move_on(self) -> None:
        name = "load" if self.seq < 6 else "compute"
        if name != self.stage[0]:
            self.stage = (name, self.monotonic_us)
        self.send("stage", name=name, total=3)
        self.send("progress", **self._progress())
        if self.world.happens(0.1):
            holds = self.world.rng.random() < 0.5
            self.send("notice", code="log_waits", text="The log cannot be written.", data={"holds": holds})

    def _progress(self) -> dict[str, Any]:
        """Work says that all is done long before it has ended."""
        return {"done": min(self.seq, 4), "total": 4, "unit": "rows", "stage": self.stage[0], "message": None}

    def died(self) -> None:
        """Killed: the kernel lets go of its lock and closes its channel."""
        self._exit()


_STEPS: dict[str, Callable[[Host], None]] = {
    "exec": Host._exec,
    "starting": Host._starting,
    "claimed": Host._start_work,
    "computing": Host._computing,
    "ending": Host._ending,
    "sealing": Host._sealing,
    "fsync": Host._fsync,
    "outcome": Host._outcome,
    "synced": Host._synced,
    "done": Host._done,
}
