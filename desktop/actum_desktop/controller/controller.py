"""The controller: owns the supervisor and everything it needs, in one thread with an event loop (§3).

Events are queued and handled one at a time: handle → effects → performed, and what a performed effect answers is queued
behind. The store's answers come from its own thread by a queued signal. Everything that is shown leaves through `updated`,
at most CHANGES_PER_S_MAX times a second. The same object runs in the window's controller thread and, headless, in the main
thread.
"""

from __future__ import annotations

import logging
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial, wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec

from actum import clock, faults
from actum.errors import ActumError, Busy
from actum.ipc.framing import FrameTooLong
from actum.ipc.session import Expected
from actum.limits import CHANGES_PER_S_MAX, LOCK_LOOK_EVERY_S, OFFERS_AFTER_MS, TICK_MS
from actum.lock import Lock
from actum.model.changes import MISPLACED, Answer, Changes, ClearAlert, Note, RaiseAlert, Request
from actum.processes import identity
from actum.results import inputstore
from actum.settings import merged
from actum.store.queries import Reader
from actum.store.writer import Writer
from actum.supervise import deadlines, effects, events
from actum.supervise.machine import Machine
from actum.supervise.supervisor import Supervisor
from actum.workspace import Workspace
from PySide6.QtCore import QObject, Qt, QTimer, Signal

from actum_desktop.controller import latehosts, leaving, live, place
from actum_desktop.controller.adoption import Offers
from actum_desktop.controller.attested import with_words
from actum_desktop.controller.awake import KeepAwake
from actum_desktop.controller.backgroundsweep import BackgroundSweep
from actum_desktop.controller.capacity import Capacity
from actum_desktop.controller.clocks import Clocks
from actum_desktop.controller.commands import Commands
from actum_desktop.controller.deliveries import Deliveries
from actum_desktop.controller.events import Awake, Progressed, Supervising, Update, Verdict
from actum_desktop.controller.helpers import Helpers
from actum_desktop.controller.instance import Reply
from actum_desktop.controller.performer import Performer
from actum_desktop.controller.reach import Reach
from actum_desktop.controller.reconciling import Reconciling
from actum_desktop.controller.server import Channel, Greeting, answer
from actum_desktop.controller.spoolreading import SpoolReading

log = logging.getLogger(__name__)
P = ParamSpec("P")
Method = Callable[Concatenate["Controller", P], None]


def _guarded(method: Method[P]) -> Method[P]:
    """For what the event loop calls: an exception that nobody foresaw is a defect, and retires the instance."""

    @wraps(method)
    def guarded(self: Controller, /, *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            method(self, *args, **kwargs)
        except Exception:
            self.met_defect()

    return guarded


class Controller(QObject):
    """Signals: updated(Update), supervising(Supervising), retired(str: why this instance may do nothing more),
    handed_over() when a successor was let in, window_asked() when a second start wants to see the window."""

    updated = Signal(object)
    progressed = Signal(object)
    supervising = Signal(object)
    retired = Signal(str)
    handed_over = Signal()
    window_asked = Signal()
    _from_store = Signal()  # from the writer thread: one more thing is to be heard

    def __init__(self, ws: Workspace, lock: Lock, *, window: bool = False) -> None:
        super().__init__()
        self.ws = ws
        self.window = window
        self.supervisor = Supervisor()
        self._lock = lock
        self._writer = Writer(ws)
        self._performer = Performer(ws, self._writer, self._emit_answer, self.tell, self._folder_of, self.met_defect, self)
        self._queue: deque[events.Event] = deque()
        self._busy = False
        self._heard: deque[tuple[int | None, Any]] = deque()  # (token, Answer) or (None, Changes), by the writer thread
        self._leaving = self._gone = False
        self._replies: dict[int, Reply] = {}
        self._command = 0
        self._persisted = 0
        self._thens: dict[int, Callable[[Answer], None]] = {}
        self._changes = Changes()
        self._reach: Reach | None = None
        self._reader: Reader | None = None
        self.offers = Offers(self)
        self.reconciling = Reconciling(self, self.offers)
        self.awake = KeepAwake(self)
        self.deliveries = Deliveries(self)
        self._commands = Commands(self, self.reconciling, self.awake, self.deliveries)
        self._background = BackgroundSweep(self)
        self._lock_looked_us = 0
        self._clocks = Clocks(self)
        self._spool = SpoolReading(self, lambda attempt: attempt in self._performer.channels)
        self._retired = False
        self._shown_beside: tuple[object, ...] = (False, False, Awake(), 0)
        self._from_store.connect(self._on_from_store, Qt.ConnectionType.QueuedConnection)

    # Life

    def start(self) -> None:
        """Open the epoch, listen, and look at everything left over. Raises WorkspaceUnusable, StorageFailed."""
        instance = str(uuid.uuid4())
        opened = self._writer.start(instance, identity=identity.own().to_json())
        self._writer.subscribe(partial(self._emit_answer, None))
        self._reader = Reader(self.ws)
        inputstore.drop_unfinished(self.ws.inputs)
        self._commands.define_built_in_tasks()
        self._reach = Reach(self.ws, Greeting(instance, opened.epoch), self, self, self._record)
        self._reach.begin(window=self.window)
        settings = merged(self._reader.setting_rows())
        rows = with_words(self._reader, self._reader.attempt_rows(open_only=True))
        doubtful = opened.recovery or opened.log_lost or opened.generation_lost
        paused = doubtful or not (opened.previous_clean or settings["resume_queue_after_crash"])
        slots = 0 if opened.recovery else int(settings["slots"])
        self._start_timers()
        self.tell(events.Opened(instance, opened.epoch, rows, slots, paused, bool(settings["queue_paused"])))
        self.capacity = Capacity(self, recovery=opened.recovery)
        self.note("recovery", "bad", opened.recovery)
        self.note("log_lost", "warning", opened.log_lost)
        self.note("generation_lost", "warning", opened.generation_lost)
        self._record(place.note(self.ws, clock.utc_us()))
        self.awake.read_setting()
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.timeout.connect(self._look_for_offers)
        self._later.start(OFFERS_AFTER_MS)

    @_guarded
    def _look_for_offers(self) -> None:
        if not self.left:
            self.reconciling.launch()
            self.deliveries.begin()

    def _start_timers(self) -> None:
        self._tick = QTimer(self)
        self._tick.setInterval(TICK_MS)
        self._tick.timeout.connect(self._on_tick)
        self._tick.start()
        self._show = QTimer(self)
        self._show.setInterval(-(-1000 // CHANGES_PER_S_MAX))
        self._show.setTimerType(Qt.TimerType.PreciseTimer)  # a coarse one comes up to 5 % early
        self._show.timeout.connect(self._on_show)
        self._show.start()
        self._clocks.begin(clock.read())

    def note(self, code: str, severity: str, holds: bool) -> None:
        """An alert about the store as it was found, or its end."""
        now_us = clock.utc_us()
        alert: RaiseAlert | ClearAlert = RaiseAlert(code, code, severity, now_us) if holds else ClearAlert(code, now_us)
        self._record(Note(alerts=(alert,)))

    def _record(self, note: Note) -> None:
        """Commit something to be read later, by whoever looks; nothing here waits for it."""
        self._writer.submit(note, lambda answer: None)

    def leave(self, why: str = "") -> None:
        """Carry through what is being committed, stop listening, let go of the lock; twice is once.

        Hosts go on and find the next supervisor. A command that has no answer by then is told that the supervisor left.
        """
        self._leaving = True
        for timer in (getattr(self, "_tick", None), getattr(self, "_show", None), getattr(self, "_later", None)):
            if timer is not None:
                timer.stop()
        if self._reach is not None:
            self._reach.hush()
        self.awake.close()
        self._performer.close()
        self._hear_store()  # launches on record are performed, hellos that have come are answered
        if self._reach is not None:
            self._reach.close()
            self._reach = None
        self._writer.close()
        self._hear_store()
        self._gone = True
        self.supervisor.retired = self.supervisor.retired or why or None
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        self._lock.release()
        for command in list(self._replies):
            self.reply(command, None, self.left_error())

    @property
    def idle(self) -> bool:
        """Nothing in flight, nothing asked."""
        asked = self._queue or self._replies or self._thens
        return self.supervisor.idle and not asked and not self._follows

    @property
    def settling(self) -> bool:
        """Whether a change is being recorded, or what follows the end of a run is being done: exports, the offer of a package
        nobody awaits. A reader may know of the end a moment sooner than the supervisor whose commit it was."""
        return self._follows or any(m.pending is not None for m in self.supervisor.machines.values())

    @property
    def _follows(self) -> bool:
        return self.deliveries.busy or self.offers.busy or self.reconciling.busy

    @property
    def left(self) -> bool:
        """Whether this instance lets go of the workspace, has let go of it, or never had it."""
        return self._leaving or self._reader is None

    @property
    def reader(self) -> Reader:
        assert self._reader is not None, "the controller was started"
        return self._reader

    @property
    def writer(self) -> Writer:
        return self._writer

    @property
    def helpers(self) -> Helpers:
        return self._performer.helpers

    # Events

    def tell(self, event: events.Event) -> None:
        """Queue an event; handled at once unless another is being handled. Whoever has left hears nothing."""
        if self._gone:
            return
        self._queue.append(event)
        if self._busy:
            return
        self._busy = True
        try:
            while self._queue:
                for effect in self.supervisor.handle(self._queue.popleft(), clock.read()):
                    self._perform(effect)
        except Exception:
            self.met_defect()
        finally:
            self._busy = False

    def _perform(self, effect: effects.Effect) -> None:
        if isinstance(effect, effects.Reply):
            self.reply(effect.command, effect.ok, effect.error)
        elif isinstance(effect, effects.Retire):
            self._retire(effect.why)
        elif not self._leaving or leaving.still_done(effect, store_closed=self._writer.closed):
            self._performer.perform(effect)
            if isinstance(effect, effects.Forget):
                self.offers.closed(effect.attempt)

    def met_defect(self) -> None:
        """Called where an exception is handled that nobody foresaw.

        A defect must not leave a supervisor that looks alive: hosts go on, and the next instance reconciles.
        """
        log.exception("the supervisor met a defect and retires")
        self._queue.clear()
        self._retire("it met a defect in Actum; the work goes on, and the next start looks at everything again")

    def _retire(self, why: str) -> None:
        """This instance does nothing more; at the next turn of the loop it leaves, so that another can begin."""
        if self._retired:
            return
        self._retired = True
        self.supervisor.retired = why
        self.soon(self._leave_retired)

    def _leave_retired(self) -> None:
        self.leave()
        self.retired.emit(self.supervisor.retired or "")

    def _emit_answer(self, token: int | None, answer: Any) -> None:
        self._heard.append((token, answer))  # in the writer thread
        self._from_store.emit()

    def _hear_store(self) -> None:
        """Hear the store until it has no more to say. No event comes meanwhile, so every machine comes to rest."""
        self._writer.settle()
        while self._heard:
            self._on_from_store()
            if not self._heard:
                self._writer.settle()

    @_guarded
    def _on_from_store(self) -> None:
        if not self._heard:  # it was heard while leaving
            return
        token, what = self._heard.popleft()
        if token is None:
            self._changes |= what
            if what.settings and not self.left:
                self.awake.read_setting()
                self.capacity.read_settings()
        elif token < 0:
            self._thens.pop(token)(what)
        else:
            self._performer.committed(token)
            self.tell(events.Committed(token, what))
            self.deliveries.committed(what)
        if token is not None and (why := leaving.retires(what)):
            self._retire(why)

    # Commands

    def command(self, body: Mapping[str, Any], reply: Reply) -> int:
        """One command of this process's own user; `reply` gets exactly one of the answer and the error, after the commit."""
        number = self.expect(reply)
        if self.supervisor.retired is not None or self.left:
            self.reply(number, None, self.left_error())
        else:
            self._commands.handle(number, body)
        return number

    def expect(self, reply: Reply) -> int:
        """The number of a command whose answer goes to `reply`."""
        self._command += 1
        self._replies[self._command] = reply
        return self._command

    def persist(self, request: Request, then: Callable[[Answer], None]) -> None:
        """Commit a request that is about no attempt; `then` is called in this thread, after the commit.

        Never, when this instance has closed the store: then whoever waits is told that it left.
        """
        if self._leaving and self._writer.closed:
            return
        self._persisted += 1
        self._thens[-self._persisted] = then
        token = -self._persisted
        self._writer.submit(request, lambda answer: self._emit_answer(token, answer))

    def show_progress(self, progress: Progressed) -> None:
        self.progressed.emit(progress)

    def show_window(self) -> None:
        self.window_asked.emit()

    def soon(self, then: Callable[[], None]) -> None:
        QTimer.singleShot(0, self, then)

    def hand_over(self) -> None:
        """Let a successor in: leave at the next turn of the loop, when the answer has been sent."""
        self.soon(self._leave_for_successor)

    def _leave_for_successor(self) -> None:
        faults.point("controller.handover.before")
        self.leave("another supervisor took over")
        faults.point("controller.handover.after")
        self.handed_over.emit()

    def left_error(self) -> Busy:
        """The answer to a command that this instance does not answer any more."""
        why = f"Why: {self.supervisor.retired}." if self.supervisor.retired else ""
        return Busy("supervisor_left", "The supervisor left before it answered.", why, "Ask again.")

    def reply(self, command: int, ok: Mapping[str, Any] | None, error: ActumError | None) -> None:
        then = self._replies.pop(command, None)
        if then is not None:
            then(ok, error)

    # Time

    @_guarded
    def _on_tick(self) -> None:
        now = clock.read()
        self._clocks.look(now)
        self.awake.look(now)
        self.capacity.look(now)
        due = now.monotonic_us - self._lock_looked_us > LOCK_LOOK_EVERY_S * clock.US
        if due or (self._reach is not None and self._reach.disturbed()):
            self._lock_looked_us = now.monotonic_us if due else self._lock_looked_us
            if why := self._why_lost():
                self._retire(why)
                return
            if self._reach is not None:
                self._reach.mend()
        self._spool.look(now)
        self.tell(events.Tick())
        self.reconciling.tick(now)
        self._background.tick(now)

    def _why_lost(self) -> str:
        """Why this instance has lost the workspace, or ""."""
        if not self._lock.still_mine():
            return "the workspace's lock file was replaced"
        return MISPLACED.get(self._writer.misplaced(), "")

    @_guarded
    def _on_show(self) -> None:
        now = clock.read()
        shown = tuple(live.of(m, now) for m in self.supervisor.machines.values() if m.touched or _has_warning(m, now))
        for m in self.supervisor.machines.values():
            m.touched = False
        changes, self._changes = self._changes, Changes()
        beside = (self.supervisor.paused, self.supervisor.held, self.awake.truth, self.reconciling.version)
        if not changes and not shown and beside == self._shown_beside:
            return
        self._shown_beside = beside
        self.updated.emit(Update(changes, shown))
        self.supervising.emit(self.state())
        self._tell_followers(changes, shown)

    def state(self) -> Supervising:
        """What the supervisor is doing, for the status line and the launch screen."""
        s = self.supervisor
        found = [*s.verdicts(), *self.reconciling.verdicts]
        verdicts = tuple(Verdict(**{key: v[key] for key in Verdict.__dataclass_fields__}) for v in found)
        error = ActumError("retired", "This window no longer supervises.", s.retired) if s.retired else None
        paused = s.paused or s.held
        seen = (verdicts, not s.unjudged, error, s.held, self.awake.truth, not self.reconciling.complete)
        return Supervising(s.instance, s.epoch, s.slots_taken, s.slots, paused, *seen)

    def _tell_followers(self, changes: Changes, shown: tuple[Any, ...]) -> None:
        if self._reach is None:
            return
        by_run = {each.run: each for each in shown}
        for channel in list(self._reach.server.channels):
            for run in channel.following & (changes.runs | by_run.keys()):
                body = {"run": run, "changed": run in changes.runs, "live": live.to_json(by_run.get(run))}
                try:
                    channel.send("change", {"body": body})
                except FrameTooLong:  # news that can be read elsewhere; nobody else's is held up by it
                    channel.send("change", {"body": {**body, "live": None}})

    # The server's owner

    def expected(self, hello: Mapping[str, Any]) -> Expected | None:
        """The attempt that a hello names, open or closed; None when nobody here knows it."""
        if self._reader is None:
            return None
        m = self.supervisor.machines.get(hello["attempt"])
        row = m.row if m is not None else self._reader.attempt_row(hello["attempt"])
        if row is None or row.session is None or row.secret_sha256 is None:
            return None
        return Expected(row.run, row.attempt, row.session, row.secret_sha256)

    @_guarded
    def on_host_frame(self, channel: Channel, frame: Mapping[str, Any]) -> None:
        attempt = frame["attempt"]
        if attempt not in self.supervisor.machines:
            channel.send("dismiss", {"why": "the attempt is closed"})
            self._record(latehosts.late(frame))
            return
        if frame["type"] == "hello":
            self._performer.channels[attempt] = channel
            self.tell(events.Hello(attempt, frame["channel"], frame["identity"], bool(frame["claimed"])))
        else:
            self.tell(events.Frame(attempt, frame["channel"], frame["type"], frame))

    @_guarded
    def on_unknown_host(self, hello: Mapping[str, Any]) -> None:
        self._record(latehosts.unknown(hello))

    @_guarded
    def on_violation(self, channel: Channel, why: str, *, closed: bool) -> None:
        expected = channel.expected
        self.tell(events.Violation(expected.attempt if expected else None, channel.id, why, closed))

    @_guarded
    def on_client_command(self, channel: Channel, body: Mapping[str, Any]) -> None:
        if body.get("verb") == "follow":
            runs = body.get("runs")
            channel.following = {run for run in runs if type(run) is int} if isinstance(runs, list) else set()
            answer(channel, {"following": sorted(channel.following)}, None)
            return
        number = self.command(body, lambda ok, error: answer(channel, ok, error))
        channel.admitting = {each for each in (*channel.admitting, number) if self._commands.admits(each)}

    @_guarded
    def on_closed(self, channel: Channel) -> None:
        for number in channel.admitting:
            self._commands.give_up(number)
        expected = channel.expected
        if expected is not None and self._performer.channels.get(expected.attempt) is channel:
            del self._performer.channels[expected.attempt]
            self.tell(events.ChannelClosed(expected.attempt, channel.name, "the channel was closed"))

    def _folder_of(self, attempt: str) -> Path | None:
        m = self.supervisor.machines.get(attempt)
        return self.ws.attempt_folder(m.row.run, m.row.n) if m is not None else None


def _has_warning(m: Machine, now: clock.Now) -> bool:
    return bool(deadlines.warnings(m, now))
