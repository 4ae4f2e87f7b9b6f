"""The supervisor: every open attempt of a workspace, its slots, its commands. Events in, effects out, no I/O (§3).

Theory. `handle` notes an event and then lets each machine it touched advance; what follows costs what was touched, not what
is open. Only here are slots counted (R06, `slots`), is the queue held until every leftover has a verdict (R09), and are
commands answered, after the commit of what they asked (R04).
A refusal with EPOCH retires this instance at once: it signals nothing and launches nothing any more (P23).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from heapq import heappop, heappush
from typing import Any

from actum.clock import US, Now
from actum.errors import WorkspaceUnusable
from actum.limits import LOOK_AGAIN_S, RECONCILE_EVERY_S, STORE_RETRY_S
from actum.model.changes import Answer, JournalEntry, Note, Persisted, RefusalKind, Refused, Request, StopRun
from actum.model.run import AttemptRow
from actum.model.status import TERMINAL, AttemptEvent, Phase, RunStatus
from actum.supervise import advancing, attesting, deadlines, events, policies, retry, slots
from actum.supervise.commands import Reconcile, Stopping, misplaced, refusal_error
from actum.supervise.effects import Effect, Forget, Persist, Reply, Retire
from actum.supervise.looking import looked
from actum.supervise.machine import Machine


class Supervisor:
    """Attributes: machines (open attempts by UUID), retrying (runs between two attempts), slots, retired,
    paused (after a crash: earlier runs wait), held (by a person: every waiting run waits)."""

    def __init__(self) -> None:
        self.instance, self.epoch, self._token = "", 0, 0
        self._slots = slots.Slots()
        self.paused = self.held = False
        self.retired: str | None = None
        self.machines: dict[str, Machine] = {}
        self.retrying: dict[int, AttemptRow] = {}
        self.unjudged: set[str] = set()
        self._commands: dict[int, Callable[[Answer, Now], list[Effect]]] = {}
        self._stops: dict[str, list[int]] = {}
        self._stopping: dict[int, Stopping] = {}
        self._beginning: dict[int, list[events.StopAsked]] = {}  # attempt n+1 is being recorded; stops wait for its answer
        self._admitting: set[int] = set()  # commands whose admission is not known yet
        self._postponed: list[tuple[int, Callable[[Now], list[Effect]]]] = []  # from when (monotonic), what
        self._retry_due_us: dict[int, int] = {}  # monotonic
        self._retries: list[tuple[int, int]] = []  # heap of (due, run); an entry that `_retry_due_us` contradicts is old
        self._barred: list[tuple[int, int]] = []  # due, and the queue is paused for them
        self._touched: dict[str, Machine] = {}  # by the event under way
        self._owners: dict[int, Machine] = {}  # token of a Persist → the machine that waits for its answer
        self._judged: dict[str, Mapping[str, Any]] = {}
        self._reconciles: list[Reconcile] = []
        self._next_pass_us = 0
        self._ticks = deadlines.Ticks(0)

    # Events in, effects out

    def handle(self, event: events.Event, now: Now) -> list[Effect]:
        """Note one event and answer with what is to be done now."""
        if self.retired is not None:
            return []
        effects = _NOTE[type(event)](self, event, now)
        return effects + self._settle(now)

    @property
    def idle(self) -> bool:
        """Nothing non-terminal, unreleased or retrying; a hold is not idle."""
        return not (self.machines or self.retrying or self._commands or self._postponed)

    @property
    def slots(self) -> int:
        return self._slots.total

    @property
    def slots_taken(self) -> int:
        return len(self._slots.holders)

    def next_token(self) -> int:
        self._token += 1
        return self._token

    # After every event

    def _settle(self, now: Now) -> list[Effect]:
        """Let go of what is closed, grant slots, start due attempts: of the machines that this event touched."""
        effects: list[Effect] = []
        touched, self._touched = self._touched, {}
        for m in touched.values():
            if m.pending is not None:
                self._owners[m.pending] = m
            elif m.closed and self.machines.pop(m.attempt, None) is not None:
                self._slots.forget(m.attempt)
                effects += self._close(m, now)
                continue
            self._slots.note(m)
        if self.retired is None and not self.unjudged:
            effects += self._grant(now) + self._retry(now)
        return effects

    def _grant(self, now: Now) -> list[Effect]:
        effects: list[Effect] = []
        while (m := self._slots.take(self.machines, lambda m: self._open_for(m.row), now)) is not None:
            effects += advancing.grant(m, now)
            self._slots.note(m)
            if m.pending is not None:
                self._owners[m.pending] = m
        return effects

    def _open_for(self, row: AttemptRow) -> bool:
        return not self.held and (not self.paused or row.admitted_epoch >= self.epoch or row.run in self._slots.resumed)

    def _await_retry(self, row: AttemptRow, now: Now, at_least_s: float = 0.0) -> None:
        """The run waits for its next attempt; never further than its longest back-off, whatever the wall clock does."""
        longest_s = policies.of(row.contract).retry.longest_delay_s
        wait_us = min(max(0, (row.retry_at_us or 0) - now.utc_us), longest_s * US)
        self.retrying[row.run] = row
        self._retry_due_us[row.run] = due_us = now.monotonic_us + int(max(wait_us, at_least_s * US))
        heappush(self._retries, (due_us, row.run))

    def _retry(self, now: Now) -> list[Effect]:
        effects: list[Effect] = []
        while self._retries and self._retries[0][0] <= now.monotonic_us:
            due_us, run = heappop(self._retries)
            row = self.retrying.get(run)
            if row is None or self._retry_due_us[run] != due_us:
                continue
            if not self._open_for(row):
                self._barred.append((due_us, run))
            elif row.released and row.stop_requested_at_us is None:
                del self.retrying[run]
                effects += self._begin_next(row, now)
        return effects

    def _open_queue(self) -> None:
        """A pause is over: whoever it barred may begin."""
        self._slots.opened()
        for each in self._barred:
            heappush(self._retries, each)
        self._barred.clear()

    def _begin_next(self, row: AttemptRow, now: Now) -> list[Effect]:
        """Attempt n+1. A commit that failed, or whose answer was lost, is tried again: the run never waits for nothing."""
        self._beginning[row.run] = []

        def answered(answer: Answer, now: Now) -> list[Effect]:
            fresh = answer.row or row
            if isinstance(answer, Persisted) or fresh.run_status is not RunStatus.RETRYING:
                if fresh.pair.phase is not Phase.CLOSED and fresh.attempt not in self.machines:
                    self._machine(fresh, now)
            else:
                self._await_retry(fresh, now, STORE_RETRY_S)
            stops = self._beginning.pop(row.run)
            return [effect for stop in stops for effect in self._on_stop_asked(stop, now)]

        return self._ask(retry.next_attempt(row, now), now, answered)

    def _close(self, m: Machine, now: Now) -> list[Effect]:
        """The attempt is closed and released: its slot was freed by that very commit."""
        self.unjudged.discard(m.attempt)
        for each in self._reconciles:
            self._tell_verdict(each, m)
        stops = self._stops.pop(m.attempt, [])
        effects: list[Effect] = [Forget(m.attempt), *self._finish_reconciles()]
        if m.row.run_status is not RunStatus.RETRYING:
            return [*(Reply(command, {"run": m.row.run, "answer": "closed"}) for command in stops), *effects]
        if m.row.run in self._stopping:
            self._stopping[m.row.run].row = m.row
        elif m.seen.stop_cause is not None:
            effects += self._stop_between(m.row, stops, now)
        else:
            self._await_retry(m.row, now)
        return effects

    def _ask(self, request: Request, now: Now, then: Callable[[Answer, Now], list[Effect]]) -> list[Effect]:
        token = self.next_token()
        self._commands[token] = then
        return [Persist(token, request)]

    def _later(self, now: Now, then: Callable[[Now], list[Effect]], after_s: float = STORE_RETRY_S) -> None:
        """Do this when the store has had its time."""
        self._postponed.append((now.monotonic_us + int(after_s * US), then))

    def _advance(self, m: Machine, now: Now) -> list[Effect]:
        self._touched[m.attempt] = m
        m.gated = bool(self.unjudged) or not self._open_for(m.row)
        asked = m.seen.stop_cause is not None and m.row.stop_requested_at_us is None
        if asked and m.row.run_status is RunStatus.RETRYING and m.row.run not in self._stopping and not m.closed:
            return self._stop_between(m.row, self._stops.pop(m.attempt, []), now) + advancing.advance(m, now)
        return advancing.advance(m, now)

    # Opening and committing

    def _on_opened(self, event: events.Opened, now: Now) -> list[Effect]:
        self.instance, self.epoch, self._slots.total = event.instance, event.epoch, event.slots
        self.paused, self.held = event.paused, event.held
        self._next_pass_us, self._ticks.last_us = now.monotonic_us + RECONCILE_EVERY_S * US, now.monotonic_us
        effects: list[Effect] = []
        for row in event.rows:
            if row.run_status is RunStatus.RETRYING and row.released:
                self._await_retry(row, now)
                continue
            m = self._machine(row, now)
            m.restored = True
            m.live |= attesting.remembered(row)
            if advancing.needs_look(m):
                self.unjudged.add(row.attempt)
                effects += m.look(now)
            else:
                m.verdict = self._judged[m.attempt] = advancing.unlooked_verdict(m)
        for m in self.machines.values():
            if m.attempt not in self.unjudged:
                effects += self._advance(m, now)
        return effects

    def _machine(self, row: AttemptRow, now: Now) -> Machine:
        m = Machine(row, self.next_token, self.epoch, step_started_us=now.monotonic_us)
        self.machines[row.attempt] = self._touched[row.attempt] = m
        return m

    def _on_committed(self, event: events.Committed, now: Now) -> list[Effect]:
        if isinstance(event.answer, Refused) and event.answer.kind is RefusalKind.EPOCH:
            return self._retire("a newer service instance has opened its epoch")
        then = self._commands.pop(event.token, None)
        if then is not None:
            return then(event.answer, now)
        m = self._owners.pop(event.token, None)
        if m is None or m.pending != event.token:
            return []
        return self._on_machine_committed(m, event.answer, now)

    def _on_machine_committed(self, m: Machine, answer: Answer, now: Now) -> list[Effect]:
        self._touched[m.attempt] = m
        then, m.pending, m.on_persisted = m.on_persisted, None, None
        m.touched = True
        slots.answered(m, answer)
        if isinstance(answer, Refused):
            return self._on_refused(m, answer, now)
        m.committed(answer.row, now)
        effects = self._answer_stops(m) + (then(now) if then is not None else [])
        return effects + self._advance(m, now)

    def _on_refused(self, m: Machine, refused: Refused, now: Now) -> list[Effect]:
        """Zero rows: read again, decide again (R02). A store that cannot commit is tried again later."""
        before, change = m.row, m.change
        m.refused(refused.row, now, unsure=refused.kind is RefusalKind.LOST)
        was_stop = change is not None and change.arrow is not None and change.arrow.event is AttemptEvent.STOP_ASKED
        if refused.kind in (RefusalKind.STORAGE, RefusalKind.LOST) or m.row == before:
            m.wait(now, STORE_RETRY_S)
        if was_stop and refused.kind is RefusalKind.LOST:
            m.live["stop_unsure"] = True
        if was_stop and refused.kind is RefusalKind.STORAGE and not m.live.get("stop_unsure"):
            return self._stop_not_recorded(m, refused)
        return self._answer_stops(m) + ([] if was_stop and m.row == before else self._advance(m, now))

    def _stop_not_recorded(self, m: Machine, refused: Refused) -> list[Effect]:
        """Said at once, and then not done behind the user's back."""
        m.seen.stop_cause = None
        what, remedy = "The stop could not be recorded.", "Free some space, then stop it again."
        error = misplaced(refused) or WorkspaceUnusable("stop_not_recorded", what, refused.message, remedy)
        return [Reply(command, error=error) for command in self._stops.pop(m.attempt, [])]

    def _answer_stops(self, m: Machine) -> list[Effect]:
        over = m.row.pair.status in TERMINAL and m.row.run_status is not RunStatus.RETRYING
        if m.row.stop_requested_at_us is None and not over:
            return []
        word = advancing.stop_answer(m)
        return [Reply(command, {"run": m.row.run, "answer": word}) for command in self._stops.pop(m.attempt, [])]

    def _retire(self, why: str) -> list[Effect]:
        self.retired = why
        return [Retire(why)]

    # Commands

    def _on_admit_asked(self, event: events.AdmitAsked, now: Now, *, unsure: bool = False) -> list[Effect]:
        """Answered after the commit (R04). Where the commit's answer is lost, the same key is asked again until it is known."""

        def answered(answer: Answer, now: Now) -> list[Effect]:
            lost = (RefusalKind.LOST, RefusalKind.STORAGE) if unsure else (RefusalKind.LOST,)
            if isinstance(answer, Refused) and answer.kind in lost:
                self._later(now, lambda later: self._on_admit_asked(event, later, unsure=True))
                return []
            self._admitting.discard(event.command)
            if isinstance(answer, Refused):
                return [Reply(event.command, error=refusal_error(answer))]
            row = answer.row
            assert row is not None, "an admission answers with its attempt"
            first: list[Effect] = []
            known = row.attempt in self.machines or row.run in self.retrying or row.run in self._beginning
            if not known and row.pair.phase is not Phase.CLOSED:
                first = self._advance(self._machine(row, now), now)  # a run that adopts begins at once
            reply = {"run": row.run, "id": row.run_id, "created": answer.created, "request_digest": row.request_digest}
            return [Reply(event.command, reply), *first]

        self._admitting.add(event.command)
        return self._ask(event.request, now, answered)

    def _on_stop_asked(self, event: events.StopAsked, now: Now) -> list[Effect]:
        if event.run in self._beginning:
            self._beginning[event.run].append(event)
            return []
        if event.run in self._stopping:
            self._stopping[event.run].commands.append(event.command)
            return []
        if event.run in self.retrying:
            return self._stop_between(self.retrying[event.run], [event.command], now)
        m = next((m for m in self.machines.values() if m.row.run == event.run and m.row.current), None)
        if m is None and self._admitting:  # perhaps the very run whose admission is not known yet
            self._later(now, lambda later: self._on_stop_asked(event, later), LOOK_AGAIN_S)
            return []
        if m is None or m.closed:
            return [Reply(event.command, {"run": event.run, "answer": "closed"})]
        m.seen.insist = m.seen.insist or event.insist
        self._stops.setdefault(m.attempt, []).append(event.command)
        effects = self._answer_stops(m)
        if not effects:
            m.seen.stop_cause = m.seen.stop_cause or "user"
        return effects + self._advance(m, now)

    def _stop_between(self, row: AttemptRow, commands: list[int], now: Now) -> list[Effect]:
        """A run between two attempts becomes STOPPED; its attempt keeps its status (P10)."""
        self.retrying.pop(row.run, None)
        self._stopping[row.run] = Stopping(row, commands)

        def answered(answer: Answer, now: Now) -> list[Effect]:
            stopping = self._stopping.pop(row.run)
            m = self.machines.get(row.attempt)
            if m is not None:
                self._touched[m.attempt] = m
                m.seen.stop_cause = None
                m.take(answer.row, now)
            fresh = answer.row or stopping.row
            if fresh.stop_requested_at_us is not None:
                return [Reply(command, {"run": row.run, "answer": "accepted"}) for command in stopping.commands]
            if m is None and fresh.run_status is RunStatus.RETRYING:
                self._await_retry(fresh, now, STORE_RETRY_S)
            elif m is None and fresh.pair.phase is not Phase.CLOSED:  # the next attempt was on record already: that is stopped
                self._machine(fresh, now)
                return [e for one in stopping.commands for e in self._on_stop_asked(events.StopAsked(one, row.run), now)]
            assert isinstance(answer, Refused), "a stop on record is in the row"
            return [Reply(command, error=refusal_error(answer)) for command in stopping.commands]

        entry = JournalEntry("stop_requested", now.utc_us, {"cause": "user", "between_attempts": True})
        return self._ask(StopRun(row.run, now.utc_us, (entry,)), now, answered)

    def _on_reconcile_asked(self, event: events.ReconcileAsked, now: Now) -> list[Effect]:
        if event.resume:
            self.paused = False
            self._open_queue()
        effects: list[Effect] = []
        pending = Reconcile(event.command, set())
        for m in self.machines.values():
            m.tries.clear()  # a person asks: a helper that crashed too often is tried again
            if advancing.needs_look(m):
                pending.waiting.add(m.attempt)
                effects += m.look_now(now)
            else:
                pending.verdicts.append(m.verdict or advancing.unlooked_verdict(m))
        self._reconciles.append(pending)
        return effects + self._finish_reconciles()

    def _tell_verdict(self, reconcile: Reconcile, m: Machine) -> None:
        if m.attempt in reconcile.waiting:
            reconcile.waiting.discard(m.attempt)
            reconcile.verdicts.append(m.verdict or advancing.unlooked_verdict(m))

    def _finish_reconciles(self) -> list[Effect]:
        done = [each for each in self._reconciles if not each.waiting]
        self._reconciles = [each for each in self._reconciles if each.waiting]
        return [Reply(each.command, {"verdicts": sorted(each.verdicts, key=lambda v: (v["run"], v["n"]))}) for each in done]

    def _on_attested(self, event: events.Attested, now: Now) -> list[Effect]:
        m = self.machines.get(event.attempt)
        note = attesting.asked(m, event, now)
        if m is None or isinstance(note, Reply):
            return [note] if isinstance(note, Reply) else []
        return self._ask(note, now, lambda answer, now: attesting.answered(m, event, answer, now))

    def _on_capacity(self, event: events.Capacity, now: Now) -> list[Effect]:
        self._slots.total, self._slots.room = event.slots, event.room
        return []

    def _on_queue_paused(self, event: events.QueuePaused, now: Now) -> list[Effect]:
        self.held = True
        return [Reply(event.command, {"paused": True})]

    def _on_queue_resumed(self, event: events.QueueResumed, now: Now) -> list[Effect]:
        self._slots.resumed |= event.runs
        self.paused, self.held = self.paused and bool(event.runs), self.held and not event.held
        self._open_queue()
        return [Reply(event.command, {"paused": self.held})]

    # What is seen of one attempt

    def _on_looked(self, event: events.Looked, now: Now) -> list[Effect]:
        m = self.machines.get(event.attempt)
        if m is None:
            return []
        m.doing.discard("look")
        if m.stale:  # it began before something that voids it: nothing is concluded, it is made again
            m.stale = False
            return m.look_now(now) + self._advance(m, now)
        m.touched = True
        effects = looked(m, event.evidence, now)
        self.unjudged.discard(m.attempt)
        if m.restored and m.verdict is not None:
            self._judged[m.attempt] = m.verdict
        for each in self._reconciles:
            self._tell_verdict(each, m)
        return effects + self._finish_reconciles() + self._advance(m, now)

    def _on_attempt(self, event: Any, now: Now) -> list[Effect]:
        """Any other event about one attempt: noted by its kind, then the machine advances."""
        m = self.machines.get(event.attempt)
        if m is None:
            return []
        m.touched = True
        return advancing.note(m, event, now) + self._advance(m, now)

    def _on_violation(self, event: events.Violation, now: Now) -> list[Effect]:
        """Journalled, and nothing else follows; a proven channel that was closed for it raises an alert."""
        m = self.machines.get(event.attempt) if event.attempt else None
        data = {"why": event.why, "channel": event.channel, "closed": event.closed}
        entry = JournalEntry("protocol_violation", now.utc_us, data)
        if m is None:
            return self._ask(Note(journal=(entry,)), now, lambda answer, now: [])
        alerts = (m.alert(now, "violation", "protocol_violation", why=event.why),) if event.closed else ()
        note = Note(journal=(entry,), alerts=alerts, run=m.row.run, attempt=m.attempt)
        return self._ask(note, now, lambda answer, now: [])

    def _on_tick(self, event: events.Tick, now: Now) -> list[Effect]:
        due = [then for at_us, then in self._postponed if at_us <= now.monotonic_us]
        self._postponed = [each for each in self._postponed if each[0] > now.monotonic_us]
        effects = [effect for then in due for effect in then(now)]
        reconcile = now.monotonic_us >= self._next_pass_us
        if reconcile:
            self._next_pass_us = now.monotonic_us + RECONCILE_EVERY_S * US
        self._slots.time_passed()
        missed_us = self._ticks.missed_us(now)
        for m in list(self.machines.values()):
            if advancing.only_waits(m):
                continue
            deadlines.not_listened(m, missed_us)
            overdue, just_now = deadlines.overdue(m, now)
            if just_now:
                effects += m.look_now(now)
            elif advancing.needs_look(m) and (reconcile or overdue or m.held):
                effects += m.look(now)
            effects += self._advance(m, now)
        return effects

    def _on_woke(self, event: events.Woke, now: Now) -> list[Effect]:
        """After sleep: say so, and look at everything again."""
        self._next_pass_us = now.monotonic_us
        entry = JournalEntry("slept", now.utc_us, deadlines.slept(event.slept_us, now))
        return self._ask(Note(journal=(entry,)), now, lambda answer, now: [])

    def verdicts(self) -> Iterable[dict[str, Any]]:
        """The verdicts of every attempt taken over from an earlier service instance, so far."""
        return [dict(verdict) for verdict in self._judged.values()]


_NOTE: dict[type, Callable[[Supervisor, Any, Now], list[Effect]]] = {
    events.Opened: Supervisor._on_opened,
    events.Committed: Supervisor._on_committed,
    events.AdmitAsked: Supervisor._on_admit_asked,
    events.StopAsked: Supervisor._on_stop_asked,
    events.ReconcileAsked: Supervisor._on_reconcile_asked,
    events.Attested: Supervisor._on_attested,
    events.Capacity: Supervisor._on_capacity,
    events.QueuePaused: Supervisor._on_queue_paused,
    events.QueueResumed: Supervisor._on_queue_resumed,
    events.Looked: Supervisor._on_looked,
    events.Violation: Supervisor._on_violation,
    events.Tick: Supervisor._on_tick,
    events.Woke: Supervisor._on_woke,
    **dict.fromkeys(
        (
            events.Frozen,
            events.Prepared,
            events.Spawned,
            events.Hello,
            events.Frame,
            events.StateRead,
            events.OutcomeFound,
            events.ChannelClosed,
            events.HostGone,
            events.ClaimAnswered,
            events.RecordsRead,
            events.Derived,
            events.Verified,
            events.Published,
            events.Quarantined,
            events.Signalled,
            events.StopWritten,
            events.Step,
        ),
        Supervisor._on_attempt,
    ),
}
