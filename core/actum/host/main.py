"""The host of one attempt: starts the work, watches it, ends and confirms its tree, seals, and writes the outcome (§5, §7).

Theory. One thread, one loop, one *phase* at a time:

    starting   no claim yet: waits for the hello's answer (where no socket serves, for nothing); without a claim the host
               ends with nothing done when its channel closes, when a stop comes, when the claim is taken, or at its start
               deadline (P01, P03)
    computing  the work runs; whatever happens to the channel, the host goes on
    ending     the tree is being ended, for a stop, a deadline, a limit, or because its root has failed
    sealing    tree confirmed gone (P14): digests, fsync, manifest, in a thread
    done       outcome.json durable: the terminal frame until it is acknowledged, at most ACK_WAIT_S

Each turn waits for something to happen, at most HOST_TURN_S; then hears the channel, the stop file and the signals; then
does the phase's step; then reports. A stop is a cause that is remembered: the first one counts, a later one can only be
harder. Whatever the outcome, nothing is written before the tree is proven gone. Keeps R07, R08, R12, R18.
"""

from __future__ import annotations

import select
import signal
import time
from typing import Any

from actum import clock, faults, limits
from actum.host import judging, memory, work
from actum.host.bounds import Bounds
from actum.host.channel import Channel
from actum.host.deadlines import Deadlines
from actum.host.ending import Ending
from actum.host.family import Family
from actum.host.judging import Failure
from actum.host.launch import Launch
from actum.host.logs import LogWriter
from actum.host.messages import Collected, MessageFile
from actum.host.pause import Pause
from actum.host.place import Signals, note
from actum.host.pump import Pump
from actum.host.report import Report
from actum.host.restoring import Restorer, is_gone
from actum.host.supervision import Supervision
from actum.host.whereabouts import Whereabouts
from actum.ipc import regular, spool
from actum.ipc.messages import CAUSES, LEVELS
from actum.ipc.outbox import Outbox
from actum.model.identity import ProcessIdentity
from actum.processes import containment, terminate
from actum.processes import identity as identities

Document = dict[str, Any]

_NOTHING_DONE = 0  # the host's own exit code says nothing; the spool does


class Host:
    """One attempt. `run` returns when all is said and done."""

    def __init__(self, launch: Launch, identity: ProcessIdentity, signals: Signals) -> None:
        """Raises OSError where the attempt's folder does not take its files."""
        now = time.monotonic()
        self._launch, self._identity, self._signals = launch, identity, signals
        self._outbox = Outbox()
        self._channel = Channel(launch, identity, self._outbox)
        self._family = Family(launch.cookie, spool.spool_path(launch.folder, "alive"))
        self._deadlines = Deadlines(launch, now)
        self._collected = Collected(launch.folder, self._notice)
        self._report = Report(launch, self._family, self._collected, self._deadlines, self._outbox)
        self._messages = MessageFile(launch.path("messages.jsonl"), self._notice)
        self._bounds = Bounds(launch)
        self._pause = Pause(self._family)
        self._restorer = Restorer(launch)
        self._whereabouts = Whereabouts(launch.folder)
        self._supervision = Supervision(launch)
        self._container: containment.Container = containment.NoContainer()
        self._work: work.Work | None = None
        self._pump: Pump | None = None
        self._ending: Ending | None = None
        self._sealing: Any = None  # closing.Sealing, imported when it is time
        self._cause: str | None = None  # why the work is being stopped
        self._insist = False
        self._failure: Failure | None = None
        self._outcome: Document | None = None
        self._oom_kills = memory.oom_kills()
        self._reaped = False  # a child has ended in this turn
        self._look_soon = False  # one has ended since the root has, and the tree was not looked at since
        self._supervised = False
        self._stop_look_due = self._messages_due = self._step_due = self._record_due = self._spool_due = 0.0
        self._done_at = self._again_at = 0.0
        self._leave = False
        faults.roles["work"] = self._kill_work
        faults.roles["app"] = self._kill_app

    def run(self) -> int:
        """Until the attempt is over for this process; its exit code."""
        self._turn(time.monotonic())
        while not self._leave:
            self._wait()
            self._turn(time.monotonic())
        self._channel.close()
        self._container.close()
        self._whereabouts.close()
        return _NOTHING_DONE

    # One turn.

    def _wait(self) -> None:
        poll = select.poll()
        poll.register(self._signals.descriptor, select.POLLIN)
        if self._pump is not None:
            for descriptor in self._pump.descriptors():
                poll.register(descriptor, select.POLLIN)
        if self._channel.fileno() >= 0:
            events = select.POLLIN | (select.POLLOUT if self._channel.wants_write else 0)
            poll.register(self._channel.fileno(), events)
        poll.poll(self._patience_s() * 1000)

    def _patience_s(self) -> float:
        if self._report.phase == "starting":
            return limits.RECONNECT_FIRST_S
        if self._report.phase == "ending":
            return limits.ENDING_EVERY_S
        more = self._report.phase == "computing" and self._messages.backlog > 0 and not self._collected.waits
        return 0.0 if more else limits.HOST_TURN_S

    def _turn(self, now: float) -> None:
        numbers = self._signals.take()
        if self._signals.ends_host(numbers):
            self._stop("signal", insist=False)
        for message in self._channel.step(now, claimed=self._deadlines.claimed is not None):
            self._hear(message)
        self._look_for_stop_file(now)
        self._note_supervision(now)
        _STEPS[self._report.phase](self, now)
        if self._deadlines.claimed is not None:
            self._keep_spool(now)
            self._report.turn(now)
        self._channel.send(now)

    def _hear(self, message: Document) -> None:
        kind = message["type"]
        if kind == "stop":
            self._stop(message["cause"], insist=message["level"] == "insist")
        elif kind == "dismiss":
            self._stop("dismissed", insist=True)
        elif kind == "ack" and self._outbox.acknowledge(message["digest"]):
            faults.point("host.ack.after")
            self._leave = True

    def _look_for_stop_file(self, now: float) -> None:
        if now < self._stop_look_due:
            return
        self._stop_look_due = now + limits.HOST_TURN_S
        found = spool.read_stop(self._launch.folder)
        if isinstance(found, dict) and found.get("level") in LEVELS:
            level = found["level"]
            self._stop("dismissed" if level == "dismiss" else str(found.get("cause")), insist=level != "ask")

    def _keep_spool(self, now: float, *, at_once: bool = False) -> None:
        """Work can delete its own spool. Whoever was dismissed ends without a trace and makes none (P13).

        One whose folder was moved is not made anew: it comes back with the folder, and nothing may stand in its way.
        """
        if (now < self._spool_due and not at_once) or self._cause == "dismissed":
            return
        self._spool_due = now + limits.STATE_EVERY_S
        if self._is_away():
            return
        if not is_gone(self._launch):
            self._mend_spool()
        elif self._collected.reopen(self._restorer.restore):
            self._whereabouts.look_up()
            self._report.notice("spool_restored", "The spool was deleted from outside of Actum; the host made it anew.", {})
            self._report.recorded_nothing()

    def _mend_spool(self) -> None:
        """Nobody can read a FIFO, a folder or a link in the place of a file, neither the supervisor nor whoever comes next."""
        mended = self._collected.mend(self._restorer.mend)
        if mended:
            words = f"What stood in the spool was not the host's, or {regular.WORDS}; it was made anew: {', '.join(mended)}."
            self._report.notice("spool_restored", words, {"files": mended})
            self._report.recorded_nothing()

    def _is_away(self) -> bool:
        """Whether the attempt's folder was moved elsewhere, and so with it everything that could be concluded from."""
        place = self._whereabouts.moved()
        words = f"The folder of this attempt was moved to {place}. It goes on when it is back at {self._launch.folder}."
        self._report.condition("folder_moved", words, bool(place))
        return bool(place)

    def _note_supervision(self, now: float) -> None:
        established = self._channel.established
        if established and not self._supervised and self._deadlines.claimed is not None:
            self._report.to_new_supervisor()
        self._supervised = established
        self._deadlines.supervised(self._supervision.goes_on(established, self._channel.spool_only, now), now)

    def _stop(self, cause: str, *, insist: bool) -> None:
        """Remember to stop. The first cause counts; a dismissal overrides, for then nobody waits for an outcome."""
        cause = cause if cause in CAUSES else "user"
        if self._cause is None or cause == "dismissed":
            self._cause = cause
        self._insist = self._insist or insist

    # starting

    def _starting(self, now: float) -> None:
        why = self._why_leave(now)
        if why:
            note(f"nothing done: {why}")
            self._leave = True
        elif self._channel.established or self._channel.spool_only:
            self._claim(now)

    def _why_leave(self, now: float) -> str:
        if self._cause is not None:
            return f"stopped ({self._cause}) before the claim"
        if self._channel.was_closed:
            return "the channel closed before the claim"
        return "the start deadline passed without a claim" if self._deadlines.start_passed(now) else ""

    def _claim(self, now: float) -> None:
        document = {
            "v": 1,
            "by": "host",
            "session": self._launch.session,
            "identity": self._identity.to_json(),
            "at": clock.utc_us(),
        }
        try:
            claimed = spool.create_claim(self._launch.folder, document)
        except OSError as error:
            claimed = False
            note(f"the claim cannot be made: {error}")
        if not claimed:
            note("nothing done: the claim is not ours")
            self._leave = True
            return
        self._restorer.claim = document
        self._deadlines.claim(now)
        self._report.enter("computing")
        self._start_work()

    def _start_work(self) -> None:
        try:
            log = LogWriter(self._launch.path("log"))
            self._container = containment.for_session(self._launch.session)
            self._report.container = self._container.name
            self._work = work.start(self._launch, self._container)
        except work.CannotStart as error:
            self._failure = Failure("start_error", f"{error.what} {error.why}", error.details)
        except OSError as error:
            from actum.errors import storage_code

            self._failure = Failure(storage_code(error), f"The work's log cannot be written: {error}.", {})
        else:
            self._family.expect(self._work.identity)
            self._report.root = {"pid": self._work.pid, "alive": True}
            self._report.tree()
            self._pump = Pump(self._work, log)
            return
        self._family.reap()
        self._report.ended = self._ended_now(0)
        self._conclude()

    # computing

    def _computing(self, now: float) -> None:
        self._watch(now)
        assert self._work is not None
        cause = self._deadlines.passed(now)
        if cause is not None:
            self._stop(cause, insist=False)
        if self._work.status is not None and self._failure is None:
            self._failure = self._root_failure()
        if self._cause is not None or self._failure is not None or self._end_at_exit():
            self._begin_ending(now)
        elif self._work.status is not None and self._family.gone():
            self._computation_ended(now)

    def _watch(self, now: float) -> None:
        """Everything that is looked at while processes of the tree may live."""
        self._reap()
        assert self._pump is not None
        printed = self._pump.turn()
        if printed and not self._collected.spoke:
            self._collected.printed(*printed)
            self._report.moved_on("progress", now)
        self._report.condition("log_waits", "The log cannot be written, so the work waits.", self._pump.log.blocked)
        if now >= self._messages_due or self._reaped:
            self._read_messages(now)
            more = self._messages.backlog > 0 and not self._collected.waits
            self._messages_due = now if more else now + limits.HOST_TURN_S
        self._look_soon = self._look_soon or (self._reaped and self._work is not None and self._work.status is not None)
        if self._family.look(now, soon=self._look_soon):
            self._look_soon = False
            self._report.tree()
            self._check_bounds(now)

    def _reap(self) -> None:
        ended = self._family.reap()
        self._reaped = bool(ended)
        if self._work is not None and self._work.pid in ended:
            self._work.status = ended[self._work.pid]
            self._report.root = {"pid": self._work.pid, "alive": False}
            self._report.enter(self._report.phase)

    def _read_messages(self, now: float, *, final: bool = False) -> bool:
        """One bounded piece of the message file; whether there was any. Nothing is read while the disk takes no records."""
        self._collected.write_records()
        lines = [] if self._collected.waits else self._messages.next_lines(final=final)
        for changed in self._collected.take(lines):
            self._report.moved_on(changed, now)
        self._collected.write_records()
        waits = self._collected.waits
        self._report.condition("records_wait", "Records cannot be written, so the work waits.", waits)
        if self._report.phase == "computing":
            self._pause.hold(waits or self._messages.wants_pause(self._pause.held))
        return bool(lines)

    def _check_bounds(self, now: float) -> None:
        assert self._pump is not None
        failure = self._bounds.broken(self._family.activity(), self._pump.log.bytes_total, now)
        if self._report.phase == "computing" and self._failure is None:
            self._failure = failure
        self._report.condition("disk_low", "The disk of the workspace is almost full.", self._bounds.disk_low)

    def _root_failure(self) -> Failure | None:
        assert self._work is not None
        assert self._pump is not None
        kills = memory.oom_kills()
        out_of_memory = kills is not None and self._oom_kills is not None and kills > self._oom_kills
        self._pump.turn()
        return judging.root_failed(self._launch, self._work, out_of_memory=out_of_memory, last_words=self._pump.last_words())

    def _end_at_exit(self) -> bool:
        """Whether the root has ended, others live, and the task says to end them."""
        assert self._work is not None
        return self._work.status is not None and self._launch.after_exit == "end" and not self._family.gone()

    # ending

    def _begin_ending(self, now: float) -> None:
        self._pause.hold(False)  # who is paused cannot hear SIGTERM
        self._ending = Ending(self._family, self._launch.grace_s, now)
        self._report.enter("ending")
        self._end(now)

    def _end(self, now: float) -> None:
        assert self._ending is not None
        self._watch(now)
        if self._insist:
            self._ending.insist(now)
        if now < self._step_due and not self._reaped:
            return
        self._step_due = now + limits.ENDING_EVERY_S
        if self._ending.step(now):
            self._computation_ended(now)

    def _computation_ended(self, now: float) -> None:
        """The tree is proven gone: nobody writes any more."""
        assert self._pump is not None
        if self._is_away() and self._cause is None:
            return  # what the work wrote is not there to be looked at; that it is missing would be no finding
        self._keep_spool(now, at_once=True)
        drained = self._pump.drain()
        while self._read_messages(now, final=True) or (self._messages.backlog > 0 and not self._collected.waits):
            pass  # a piece of a line that is too long holds no message, and others may follow
        if (not drained or self._collected.waits) and not self._insist:
            return  # the disk takes nothing; what the work said is not thrown away before somebody insists
        self._pump.close()
        self._report.tree()
        faults.point("host.ended.before")
        self._report.ended = self._ended_now(self._ending.ended if self._ending else 0)
        if self._cause is None and self._failure is None:
            self._failure = self._bounds.output_broken() or judging.incomplete(self._launch, self._collected)
        try:
            self._pump.log.close()
            self._collected.settle()
        except OSError as error:
            note(f"closing log and records: {error}")
        self._conclude()
        faults.point("host.ended.after")

    def _ended_now(self, descendants_left: int) -> Document:
        root = self._work
        return {
            "exit_code": root.exit_code if root else None,
            "signal": root.signal if root else None,
            "descendants_left": descendants_left,
            "at": clock.utc_us(),
        }

    def _conclude(self) -> None:
        """From here the attempt is sealed, or it is over without a result."""
        from actum.host import closing

        if self._cause is not None:
            self._make_outcome("stopped", cause=self._cause, code=self._cause if "deadline" in self._cause else None)
        elif self._failure is not None:
            self._make_failed(self._failure)
        else:
            self._report.completed = True
            self._outbox.put("ended", {"ended": self._report.ended or {}})
            self._report.enter("sealing")
            self._sealing = closing.Sealing(self._launch, self._whereabouts.here, self._collected, self._signals.wake)

    # sealing

    def _seal(self, now: float) -> None:
        self._reap()
        if self._outcome is not None:
            self._record(now)
        elif self._insist and self._cause is not None:
            self._make_outcome("stopped", cause=self._cause)  # the thread is left; exit ends it
        elif self._sealing.done:
            if self._sealing.failure is not None:
                self._make_failed(self._sealing.failure)
            else:
                sha256 = self._sealing.manifest_sha256
                self._make_outcome("sealed", manifest_sha256=sha256, details=self._sealing.details)

    # done

    def _make_failed(self, failure: Failure) -> None:
        self._make_outcome("failed", code=failure.code, message=failure.message, details=failure.details)

    def _make_outcome(self, kind: str, **members: Any) -> None:
        from actum.host import closing

        confirmed = {"at": clock.utc_us(), **self._family.confirmation()}
        if (inside := self._container.members()) is not None:
            confirmed |= {"container": self._container.method, "left_inside": len(inside)}
        self._outcome = closing.outcome(self._launch, kind, ended=self._report.ended, tree=confirmed, **members)
        self._report.enter("sealing")
        self._record(time.monotonic())

    def _record(self, now: float) -> None:
        """Make the outcome durable; where the disk refuses, again every second: it is the truth that others wait for."""
        from actum.host import closing

        if now < self._record_due:
            return
        assert self._outcome is not None
        self._keep_spool(now, at_once=True)
        try:
            if closing.set_aside_foreign(self._launch, self._outcome):
                words = "An outcome stood in the spool that the host did not write; it is set aside."
                self._report.notice("outcome_foreign", words, {})
                self._channel.send(now)  # the terminal frame closes the outbox for everything else
            self._outcome = closing.record(self._launch, self._outcome)
        except OSError as error:
            self._record_due = now + limits.STATE_EVERY_S
            self._report.condition("outcome_waits", f"The outcome cannot be written: {error.strerror}.", True)
            self._leave = self._cause == "dismissed"  # the folder may be gone, and nobody waits for it
            return
        digest = spool.outcome_digest(self._outcome)
        self._report.enter("done")
        self._report.turn(now)
        if self._cause != "dismissed":
            self._outbox.put(self._outcome["kind"], {"outcome": self._outcome, "digest": digest})
        self._done_at, self._again_at = now, now + limits.ACK_AGAIN_S

    def _done(self, now: float) -> None:
        if self._cause == "dismissed" or self._channel.spool_only or now - self._done_at >= limits.ACK_WAIT_S:
            self._leave = True
        elif now >= self._again_at:
            self._again_at = now + limits.ACK_AGAIN_S
            self._outbox.again()

    # Small things.

    def _notice(self, code: str, text: str, data: Document) -> None:
        self._report.notice(code, text, data)

    def _kill_work(self) -> bool:
        self._family.look(time.monotonic(), at_once=True)
        members = self._family.members.values()
        return "sent" in [terminate.signal(member.identity, signal.SIGKILL) for member in members]

    def _kill_app(self) -> bool:
        identity = identities.of(self._channel.supervisor_pid) if self._channel.supervisor_pid else None
        return identity is not None and terminate.signal(identity, signal.SIGKILL) == "sent"


_STEPS = {
    "starting": Host._starting,
    "computing": Host._computing,
    "ending": Host._end,
    "sealing": Host._seal,
    "done": Host._done,
}
