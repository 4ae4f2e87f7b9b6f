"""A service instance: the real supervisor and the real guards, and a driver that does effects on the simulated machine.

Each thing a driver does takes its own time: commits are answered later, looks are gathered step by step, helpers work on the
side, frames wait in buffers. The world decides what comes next, so every order that a real driver can show occurs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from actum.clock import US
from actum.ipc.framing import Violation
from actum.ipc.session import Accepted, Expected, Unknown
from actum.model.changes import Change, JournalEntry, Note, RecordRow, RefusalKind, Refused, Request
from actum.model.facts import FactName
from actum.model.identity import ProcessIdentity
from actum.model.run import AttemptRow
from actum.model.status import Phase
from actum.supervise import effects, events
from actum.supervise.machine import Machine
from actum.supervise.supervisor import Supervisor

from tests.simulation.failing import Failing
from tests.simulation.files import Folder
from tests.simulation.gathering import Gathering
from tests.simulation.helpers import Helping
from tests.simulation.host import Channel

if TYPE_CHECKING:
    from tests.simulation.world import World

Job = Callable[[], bool]  # one step of something that takes time; True = done
SLEEP_NOTICED_US = 5 * US


@dataclass(slots=True)
class App:
    """Attributes: place (here | namespace | machine: what it can tell), queues (of events to handle, by source), writes (to
    commit), jobs (under way), channels, watches, replies; stalled (alive, and not scheduled); deposed (it was told so)."""

    world: World
    epoch: int
    place: str = "here"
    supervisor: Supervisor = field(default_factory=Supervisor)
    alive: bool = True
    stalled: bool = False
    deposed: bool = False
    queues: dict[str, deque[events.Event]] = field(default_factory=dict)
    writes: deque[effects.Persist] = field(default_factory=deque)
    jobs: list[tuple[str, Job]] = field(default_factory=list)
    channels: list[Channel] = field(default_factory=list)
    current: dict[str, Channel] = field(default_factory=dict)
    watches: dict[str, ProcessIdentity] = field(default_factory=dict)
    replies: dict[int, effects.Reply] = field(default_factory=dict)
    asked: dict[int, Any] = field(default_factory=dict)
    inherited: set[str] = field(default_factory=set)  # attempts there is something to look for, from before
    last_seq: dict[str, int] = field(default_factory=dict)
    unheard_s: dict[str, float] = field(default_factory=dict)  # attempt → seconds listened since its host last said anything
    states_read: dict[str, int] = field(default_factory=dict)  # attempt → seq of the state file last read
    asleep_us: int = 0
    failing: Failing = field(default_factory=Failing)
    looked_at: dict[str, int] = field(default_factory=dict)  # attempt → when its newest look was begun or over (monotonic)
    open_when_asked: dict[int, frozenset[str]] = field(default_factory=dict)  # command → the attempts it could be about

    @property
    def acts(self) -> bool:
        return self.alive and not self.stalled

    def tell(self, source: str, event: events.Event) -> None:
        self.queues.setdefault(source, deque()).append(event)

    def unlooked(self) -> str:
        """An attempt of an earlier instance of which this one has seen no evidence yet, as “run/n”."""
        return next((self.world.label(attempt) for attempt in self.inherited if self._open(attempt)), "")

    def _open(self, attempt: str) -> bool:
        return self.world.store.row(attempt).pair.phase is not Phase.CLOSED

    def _note_heard(self, attempt: str, state: Mapping[str, Any]) -> None:
        """A state file says something when it is another than before. The first one read may itself be old, but how long this
        instance has listened it does not say."""
        if self.states_read.get(attempt) != state["seq"]:
            self.unheard_s[attempt] = 0.0
        self.states_read[attempt] = state["seq"]

    def handle(self, event: events.Event) -> list[effects.Effect]:
        """Let the supervisor handle one event, and begin its effects. The app may be killed between any two of them."""
        world = self.world
        if world.tracing:
            world.trace(f"app {self.epoch}: {world.short(event)}")
        if isinstance(event, events.Committed) and isinstance(event.answer, Refused):
            self.deposed = self.deposed or event.answer.kind is RefusalKind.EPOCH
        if isinstance(event, events.Frame | events.Hello):
            self.unheard_s[event.attempt] = 0.0
        elif isinstance(event, events.StateRead):
            self._note_heard(event.attempt, event.state)
        looking = self.supervisor.machines.get(event.attempt) if isinstance(event, events.Looked) else None
        judges = looking is not None and not looking.stale  # one that is made again judges nothing
        self.failing.note(event, self.supervisor.machines, world.clocks.monotonic_us)
        wanted = self.supervisor.handle(event, world.clocks.now())
        if looking is not None and judges and looking.verdict is not None:
            self._judged(looking.row, looking.verdict)
        for effect in wanted:
            if not self.alive:
                return wanted
            if world.tracing:
                world.trace(f"  → {world.short(effect)}")
            row = getattr(effect, "row", None)
            world.ledger.see("effect", self, effect, world.store.row(row.attempt) if row is not None else None)
            world.maybe_kill(self)
            if self.alive:
                _DO[type(effect)](self, effect)
        for m in self._touched(event):
            world.ledger.see("shown", m, world.store.row(m.attempt))
        return wanted

    def _touched(self, event: events.Event) -> list[Machine]:
        """The machines whose live state a window would be told of after this event: its attempt's, or with the time all."""
        if isinstance(event, events.Tick):
            return list(self.supervisor.machines.values())
        m = self.supervisor.machines.get(getattr(event, "attempt", None) or "")
        return [] if m is None else [m]

    def _judged(self, row: AttemptRow, verdict: Mapping[str, Any]) -> None:
        self.looked_at[row.attempt] = self.world.clocks.monotonic_us
        self.inherited.discard(row.attempt)
        rows = self.world.ledger.rows
        rows[verdict["row"]] = rows.get(verdict["row"], 0) + 1
        self.world.ledger.see("looked", self, row, verdict)

    def step_write(self) -> None:
        """Commit the oldest request; its answer may fail or get lost on the way."""
        effect = self.writes.popleft()
        fault = self.world.store_fault()
        if fault == "storage":
            self._answer(effect.token, Refused(RefusalKind.STORAGE, "no space is left"))
            return
        if fault == "lost before":
            self._answer(effect.token, Refused(RefusalKind.LOST, "the answer was lost"))
            return
        answer = self.world.store.submit(self.epoch, effect.request)
        if self.world.tracing:
            said = f"{type(answer).__name__} {getattr(answer, 'kind', '')}"
            self.world.trace(f"store: {said} {_asked_for(effect.request)}")
        if fault == "lost after":
            self.world.ledger.unsure.add(getattr(effect.request, "attempt", None) or "")
            answer = Refused(RefusalKind.LOST, "the answer was lost")
        self._answer(effect.token, answer)

    def _answer(self, token: int, answer: Any) -> None:
        self.tell("store", events.Committed(token, answer))

    def tick(self) -> None:
        """Notice sleep, read the spool of what computes without a channel, then let time pass."""
        clocks = self.world.clocks
        asleep_us = clocks.boottime_us - clocks.monotonic_us
        if asleep_us - self.asleep_us > SLEEP_NOTICED_US:
            self.handle(events.Woke(asleep_us - self.asleep_us))
        self.asleep_us = asleep_us
        for m in list(self.supervisor.machines.values()):
            folder = self.world.folders.get(m.attempt)
            silent = m.attempt not in self.current and m.row.pair.phase in (Phase.COMPUTING, Phase.SEALING)
            if folder is None or not folder.readable or not silent or not self.alive:
                continue
            if folder.state is not None:
                self.handle(events.StateRead(m.attempt, folder.state))
            if self.alive and m.seen.outcome is None and folder.outcome is not None:
                self.handle(events.OutcomeFound(m.attempt))
        if self.alive:
            self.failing.tick(self.supervisor.machines, world=self.world, epoch=self.epoch)
            self.handle(events.Tick())
            self.world.ledger.see("bounds", self)

    # Channels

    def expected(self, hello: Mapping[str, Any]) -> Expected | None:
        """The attempt that a hello names, open or closed; None when nobody here knows it."""
        store = self.world.store
        row = store.row(hello["attempt"]) if hello["attempt"] in store.attempts else None
        if row is None or row.session is None or row.secret_sha256 is None:
            return None
        return Expected(row.run, row.attempt, row.session, row.secret_sha256)

    def step_channel(self, channel: Channel) -> None:
        """Read one frame of a channel, or its end."""
        if channel.to_app:
            seen = channel.guard.feed(channel.to_app.popleft())
            if isinstance(seen, Accepted):
                self._frame(channel, seen.frame)
            elif isinstance(seen, Violation):
                expected = channel.guard.expected
                attempt = expected.attempt if expected is not None else None
                self.handle(events.Violation(attempt, channel.name, str(seen), channel.guard.closed))
            elif isinstance(seen, Unknown):
                self._note("unknown_host")
            channel.open = channel.open and not channel.guard.closed
            return
        self.channels.remove(channel)
        if self.current.get(channel.attempt) is channel:
            del self.current[channel.attempt]
            self.handle(events.ChannelClosed(channel.attempt, channel.name, "the channel was closed"))

    def _frame(self, channel: Channel, frame: dict[str, Any]) -> None:
        attempt = frame["attempt"]
        row = self.world.store.row(attempt)
        self.world.ledger.see("frame", self, frame, row)
        if attempt not in self.supervisor.machines:
            channel.to_host.append({"type": "dismiss", "why": "the attempt is closed"})
            self._note("late_host")
        elif frame["type"] == "hello":
            self.current[attempt] = channel
            channel.row_at_hello = row
            released = self.supervisor.machines[attempt].row.released
            said = self.handle(events.Hello(attempt, channel.name, frame["identity"], frame["claimed"]))
            if released and self.alive:
                self.world.ledger.see("greeted", row, said)
        else:
            self.handle(events.Frame(attempt, channel.name, frame["type"], frame))

    def _note(self, kind: str) -> None:
        """What the real driver records by itself."""
        entry = JournalEntry(kind, self.world.clocks.utc_us)
        self.world.store.submit(self.epoch, Note(journal=(entry,)))

    def step_watch(self, attempt: str) -> None:
        """The exit of a host is noticed; its last frames and its last state are read before that is told."""
        del self.watches[attempt]
        channel = self.current.get(attempt)
        while channel is not None and channel.to_app and self.alive:
            self.step_channel(channel)
        folder = self._folder(attempt)
        if self.alive and folder.readable and folder.state is not None:
            self.handle(events.StateRead(attempt, folder.state, final=True))
        if self.alive:
            self.handle(events.HostGone(attempt, "pidfd", folder.readable and folder.alive_held_by is None))

    def _folder(self, attempt: str) -> Folder:
        return self.world.folders[attempt]

    def leave(self) -> None:
        """An orderly end: what is queued is committed, then the lock is let go."""
        while self.writes:
            self.step_write()
        self.world.kill_app(self)

    # Effects

    def _persist(self, effect: effects.Persist) -> None:
        self.writes.append(effect)

    def _launch(self, effect: effects.Launch) -> None:
        error = self.world.spawn(effect.row)
        self.tell("own", events.Spawned(effect.row.attempt, error, evidence={"method": "the spawn returned"}))

    def _watch(self, effect: effects.Watch) -> None:
        self.watches[effect.attempt] = effect.identity

    def _send(self, effect: effects.Send) -> None:
        channel = self.current.get(effect.attempt)
        if channel is not None and channel.open:
            if effect.type == "hello-ack":  # an instance can know no more than its last commit told it
                mine = self.epoch == self.world.store.epoch
                row = self.world.store.row(effect.attempt) if mine else channel.row_at_hello
                self.world.ledger.see("greeted", row, [effect])
            channel.to_host.append({"type": effect.type, **effect.body})

    def _write_stop(self, effect: effects.WriteStop) -> None:
        folder = self._folder(effect.row.attempt)
        error = None if folder.takes else "it cannot be written"
        if error is None:
            folder.stop = {"level": effect.level, "cause": effect.cause}
        self.tell("own", events.StopWritten(effect.row.attempt, effect.level, error))

    def _revoke_claim(self, effect: effects.RevokeClaim) -> None:
        folder = self._folder(effect.row.attempt)
        revoked = folder.claim is None
        if not folder.takes and (revoked or not folder.readable):
            self.tell("own", events.ClaimAnswered(effect.row.attempt, False, error="it cannot be written"))
            return
        if revoked:
            folder.claim = {"v": 1, "by": "supervisor", "revoked": True, "epoch": self.epoch}
        self.tell("own", events.ClaimAnswered(effect.row.attempt, revoked, folder.claim or {}))

    def _end_tree(self, effect: effects.EndTree) -> None:
        members = [member.identity for member in effect.members if member.identity != effect.host]
        targets = members or ([effect.host] if effect.host is not None else [])
        results = tuple({"pid": each.pid, "result": self.world.signal(effect, each)} for each in targets)
        self.tell("own", events.Signalled(effect.attempt, effect.level, results))

    def _read_records(self, effect: effects.ReadRecords) -> None:
        folder, offset = self._folder(effect.row.attempt), effect.row.records_offset
        lines = range(offset, min(folder.records, offset + 2)) if folder.readable else range(0)
        spoiled = [line for line in lines if line in folder.spoiled]
        over = FactName.TREE_GONE in effect.row.facts
        upto = spoiled[0] if spoiled and not over else lines.stop if lines else offset
        error = None if folder.readable else "the disk is not there"
        if spoiled and not over and upto == offset:
            error = "a line is no record"
        records = tuple(RecordRow(seq, 0, "trade", {}) for seq in range(offset, upto) if seq not in folder.spoiled)
        skipped = {"lines": len(spoiled), "bytes": len(spoiled), "offset": spoiled[0], "why": "?"} if spoiled and over else None
        more = error is None and upto < folder.records
        self.tell("own", events.RecordsRead(effect.row.attempt, records, upto, more, error, skipped))

    def _prepare(self, effect: effects.Prepare) -> None:
        error = "the folder cannot be made" if self.world.freeze_fault() else None
        if error is None:
            self.world.folders[effect.row.attempt] = Folder(effect.row.attempt, secret=effect.secret)
        self.tell("own", events.Prepared(effect.row.attempt, error))

    def _look(self, effect: effects.Look) -> None:
        self.looked_at[effect.row.attempt] = self.world.clocks.monotonic_us
        self.jobs.append((f"look {self.world.label(effect.row.attempt)}", Gathering(self, effect.row, effect.package).step))

    def _helper(self, effect: Any) -> None:
        name = f"{type(effect).__name__.lower()} {self.world.label(effect.row.attempt)}"
        self.jobs.append((name, Helping(self, effect).step))

    def _forget(self, effect: effects.Forget) -> None:
        self.watches.pop(effect.attempt, None)

    def _reply(self, effect: effects.Reply) -> None:
        self.world.ledger.see("reply", self, effect, self.asked.get(effect.command))
        self.replies[effect.command] = effect
        if effect.ok is not None and effect.ok.get("answer") == "accepted":
            self.world.accepted.add(int(effect.ok["run"]))

    def _retire(self, effect: effects.Retire) -> None:
        self.world.kill_app(self)


def _asked_for(request: Request) -> str:
    if not isinstance(request, Change):
        return type(request).__name__
    arrow = f"{request.arrow.before} {request.arrow.event}" if request.arrow else ""
    return f"{request.run} {arrow} {[fact.name.value for fact in request.facts]} {[e.kind for e in request.journal]}"


_DO: Mapping[type, Callable[[App, Any], None]] = {
    effects.Persist: App._persist,
    effects.Freeze: App._helper,
    effects.Prepare: App._prepare,
    effects.Launch: App._launch,
    effects.Watch: App._watch,
    effects.Send: App._send,
    effects.WriteStop: App._write_stop,
    effects.Look: App._look,
    effects.RevokeClaim: App._revoke_claim,
    effects.EndTree: App._end_tree,
    effects.ReadRecords: App._read_records,
    effects.Derive: App._helper,
    effects.Verify: App._helper,
    effects.Publish: App._helper,
    effects.Quarantine: App._helper,
    effects.Forget: App._forget,
    effects.Reply: App._reply,
    effects.Retire: App._retire,
}
