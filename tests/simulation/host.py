"""A host as PROTOCOL §5 and §7 describe it: lock, hello, claim, work, end of its tree, seal, outcome, terminal frame, exit.

Each `step` does one thing that another process could come between. Its work is a plan drawn from the seed.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from actum.clock import US
from actum.model.run import AttemptRow

from tests.simulation.files import Folder, Process

if TYPE_CHECKING:
    from tests.simulation.driver import App
    from tests.simulation.world import World

ACK_WAIT_S = 10
HELLO_ACK_WAIT_S = 10
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
    """One connection of a host to one service instance; bounded buffers are the business of the outbox, not of this world."""

    name: str
    app: App
    attempt: str
    to_app: deque[dict[str, Any]] = field(default_factory=deque)
    to_host: deque[dict[str, Any]] = field(default_factory=deque)
    open: bool = True


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

    @property
    def attempt(self) -> str:
        return self.row.attempt

    @property
    def runs(self) -> bool:
        return self.process.alive and not self.process.frozen

    def step(self) -> None:
        """One step of its own."""
        self._hear()
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
                self._asked("dismissed", "ask")
            elif message["type"] == "ack" and message["digest"] == digest(self.folder.outcome):
                self.acknowledged = True
        stop = self.folder.stop
        if stop is not None and self.folder.readable:
            self._asked(stop["cause"], stop["level"])

    def _asked(self, cause: str, level: str) -> None:
        self.cause = self.cause or cause
        self.insist = self.insist or level == "insist"

    def _connect(self) -> None:
        app = self.world.endpoint()
        if self.channel is not None and (not self.channel.open or not self.channel.app.alive):
            self.channel, self.greeted = None, False
            if self.claimed_us == 0:
                self._exit()  # the channel closed before the claim (P03)
                return
        if self.channel is None and app is not None:
            self.channel = self.world.connect(app, self.attempt)
            self.heard_us = self.world.monotonic_us
            identity = self.process.identity.to_json()
            self._send("hello", identity=identity, claimed=self.claimed_us > 0, session=self.row.session)

    def _send(self, kind: str, /, **body: Any) -> None:
        if self.channel is not None and self.channel.open:
            self.channel.to_app.append({"type": kind, **body})

    # Phases

    def _exec(self) -> None:
        """Through exec: the lock is taken before anything else."""
        self.folder.alive_held_by = self.process.identity
        self.phase, self.begun_us = "starting", self.world.monotonic_us

    def _starting(self) -> None:
        if not self.process.alive:
            return
        waited_s = (self.world.monotonic_us - self.begun_us) / US
        if self.cause is not None or waited_s > self.world.start_deadline_s:
            self._exit()
        elif self.greeted and self.folder.readable:
            self._claim()

    def _claim(self) -> None:
        if self.folder.claim is not None:
            self._exit()
            return
        at = self.world.utc_us
        identity = self.process.identity.to_json()
        self.folder.claim = {"v": 1, "by": "host", "session": self.row.session, "identity": identity, "at": at}
        self.phase, self.claimed_us = "claimed", self.world.monotonic_us

    def _start_work(self) -> None:
        self.world.work_started(self.row)
        work = self.world.machine.spawn("work", self.attempt, deaf=self.plan.deaf)
        self.folder.tree.append(work.identity)
        self.phase = "computing"
        if self.plan.daemon is not None:
            shows = self.plan.daemon == "cookie"
            daemon = self.world.machine.spawn("daemon", self.attempt, shows_cookie=shows, deaf=self.plan.deaf)
            self.folder.tree.append(daemon.identity)

    def _computing(self) -> None:
        deadline = self.world.deadline_s
        active_s = self._active_s()
        living = self.world.machine.living(self.attempt, "work")
        if self.cause is None and deadline is not None and active_s > deadline:
            self.cause = "overall_deadline"
        if self.cause is not None:
            self.phase, self.ending_us = "ending", self.world.monotonic_us
            self.result = {"kind": "stopped", "cause": self.cause}
        elif living and active_s < self.plan.lasts_s:
            self.folder.records += self.folder.records < self.plan.records
        else:
            self._work_ended(living)

    def _work_ended(self, living: list[Process]) -> None:
        killed = not living  # by somebody else than its own end
        for process in living:
            process.alive = False
        self.folder.records = max(self.folder.records, self.plan.records)
        ends = "crash" if killed else self.plan.ends
        code, number = {"crash": (None, 9), "fail": (3, None)}.get(ends, (0, None))
        ended = {"exit_code": code, "signal": number, "descendants_left": 0, "at": self.world.utc_us}
        failure = {"crash": "work_crashed", "fail": "work_failed", "incomplete": "result_incomplete"}.get(ends)
        self.result = {"kind": "failed", "code": failure, "ended": ended} if failure else {"kind": "sealed", "ended": ended}
        self.phase, self.ending_us = "ending", self.world.monotonic_us

    def _ending(self) -> None:
        """The tree first (P14); SIGTERM, then SIGKILL."""
        waited_s = (self.world.monotonic_us - self.ending_us) / US
        left = self.world.machine.living(self.attempt, "work", "daemon")
        for process in left:
            if not process.deaf or self.insist or waited_s > KILL_AFTER_S:
                process.alive = False
                return
        if not left:
            if self.result["kind"] == "sealed":
                self._send("ended", ended=self.result["ended"])
            self.phase = "sealing"

    def _sealing(self) -> None:
        if not self.folder.readable:
            return
        if self.result["kind"] == "sealed":
            self.folder.package = f"package-{self.row.run}-{self.row.n}"
        self.phase = "outcome"

    def _outcome(self) -> None:
        if not self.folder.readable:
            return
        self.folder.outcome = {
            "session": self.row.session,
            "code": None,
            "cause": None,
            "message": "",
            "details": {},
            "ended": None,
            "tree": {"method": "subreaper", "at": self.world.utc_us, "nested": 0},
            "manifest_sha256": self.folder.package,
            "at": self.world.utc_us,
            **self.result,
        }
        self.phase = "synced"

    def _synced(self) -> None:
        self.folder.outcome_durable = True
        self.phase, self.done_us = "done", self.world.monotonic_us

    def _done(self) -> None:
        now = self.world.monotonic_us
        if self.acknowledged or now - self.done_us > ACK_WAIT_S * US:
            self._exit()
        elif now - self.sent_us > 2 * US or self.sent_us < 0:
            self.sent_us = now
            document = dict(self.folder.outcome or {})
            self._send(document["kind"], outcome=document, digest=digest(document))

    def _exit(self) -> None:
        self.process.alive = False
        self.folder.alive_held_by = None
        if self.channel is not None:
            self.channel.open = False

    def _active_s(self) -> float:
        return (self.world.monotonic_us - self.claimed_us) / US

    def _tell_state(self) -> None:
        if self.world.monotonic_us - self.heard_us < HEARTBEAT_S * US:
            return
        self.heard_us = self.world.monotonic_us
        self.seq += 1
        said = {"activity": {"cpu_s": 1.0}, "active_s": self._active_s(), "processes": 1, "last_progress_active_s": 0.0}
        self._send("heartbeat", phase="computing", **said)
        if self.seq % 3 == 1:
            self._send("stage", name="load" if self.seq < 6 else "compute", total=3)
            self._send("progress", done=self.seq, total=100, unit="rows", stage="load", message=None)
        if self.phase == "ending" and self.cause is not None:
            self._send("notice", code="asked", text="", data={"next_in_s": 3.0})
        progress = {"done": self.seq, "total": 100, "unit": "rows", "stage": "load", "message": None, "at": self.world.utc_us}
        self.folder.state = {
            "session": self.row.session,
            "seq": self.seq,
            "at": self.world.utc_us,
            "progress": progress,
            "stage": {"name": "load", "total": 3, "at": self.world.utc_us},
            "ended": self.result.get("ended") if self.result.get("kind") == "sealed" and self.phase == "sealing" else None,
            **said,
        }

    def died(self) -> None:
        """Killed: the kernel lets go of its lock and closes its channel."""
        self._exit()


def digest(outcome: Any) -> str:
    return f"{outcome['session']}-{outcome['kind']}-{outcome['at']}" if outcome else ""


_STEPS = {
    "exec": Host._exec,
    "starting": Host._starting,
    "claimed": Host._start_work,
    "computing": Host._computing,
    "ending": Host._ending,
    "sealing": Host._sealing,
    "outcome": Host._outcome,
    "synced": Host._synced,
    "done": Host._done,
}
