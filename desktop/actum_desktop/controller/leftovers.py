"""What lives of attempts that are closed: found, said, and ended by proven identity (§6 rows 2 and 8; R07).

The newest CLOSED_LOOKED_MAX closed attempts are looked at by one pass over the processes, at launch, with each pass of
reconciliation, and when a person asks. A host that lives is dismissed through its spool and ends its tree itself; what is left
of it after the task's grace, or without a host, is asked, and after the grace made, to end: the work first, the host last.
What was found is on record, with its pids, before the first signal; the status of the attempt is never touched.

Only what is proven an attempt's own is signalled, by the one place that signals. Nothing is looked for of an attempt that was
launched for another workspace (this one is a copy: its processes belong to the original), none in a database that is older
than its workspace, and none of the attempt whose work started this very program.
"""

from __future__ import annotations

import json
import os
import signal
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from actum import clock
from actum.errors import StorageFailed
from actum.ipc import spool
from actum.limits import CLOSED_A_TURN_MAX, CLOSED_LOOKED_MAX, HOST_EXIT_GRACE_S, LOOK_AGAIN_S
from actum.model.changes import ClearAlert, JournalEntry, Note, Persisted, RaiseAlert
from actum.model.evidence import Evidence, HostSeen, TreeSeen
from actum.model.identity import ProcessIdentity
from actum.model.run import AttemptRow
from actum.processes import evidence, terminate
from actum.processes.tree import Snapshot
from actum.supervise import policies
from actum.supervise.reconcile import Action, decide

from actum_desktop.controller.instance import Instance

Verdict = dict[str, Any]
ENDING, ENDED, REFUSED = "ending", "ended", "refused"
CODE = "remains"  # of the alert


@dataclass(slots=True)
class _Remains:
    """What was found of one closed attempt, and how far its ending has come. Times are monotonic."""

    row: AttemptRow
    number: int  # the row of §6 that matched
    seen: Evidence
    since_us: int
    looked_us: int
    recorded: bool = False
    state: str = ENDING
    dismissed: bool = False
    why: str = ""
    signals: list[dict[str, Any]] = field(default_factory=list)

    @property
    def host(self) -> ProcessIdentity | None:
        return self.seen.host_identity if self.seen.host is HostSeen.ALIVE else None

    @property
    def grace_us(self) -> int:
        return int(policies.of(self.row.contract).grace_s * clock.US)

    @property
    def pids(self) -> list[int]:
        return [member.identity.pid for member in self.seen.members]


class Leftovers:
    """One pass at a time; whoever asks during a pass gets the answer of that pass. `changed` is told of each new verdict."""

    def __init__(self, instance: Instance, changed: Callable[[Verdict], None]) -> None:
        self._instance = instance
        self._changed = changed
        self._remains: dict[str, _Remains] = {}
        self._mine: dict[str, bool] = {}
        self._left: deque[AttemptRow] = deque()
        self._snapshot: Snapshot | None = None
        self._waiting: list[Callable[[list[Verdict]], None]] = []

    @property
    def busy(self) -> bool:
        """Whether something is being ended: nobody leaves before. What refuses to end holds nobody."""
        now_us = clock.read().monotonic_us
        return any(self._is_ending(each, now_us) for each in self._remains.values())

    def _is_ending(self, remains: _Remains, now_us: int) -> bool:
        return now_us - remains.since_us < remains.grace_us + HOST_EXIT_GRACE_S * clock.US

    def begin(self, done: Callable[[list[Verdict]], None]) -> None:
        """Look at the newest closed attempts; `done` gets a verdict for each of which something lives."""
        self._waiting.append(done)
        if len(self._waiting) > 1:
            return
        rows = [] if self._instance.writer.opened.recovery else self._instance.reader.lately_closed(CLOSED_LOOKED_MAX)
        self._mine = {row.attempt: self._is_mine(row) for row in rows}
        older = [each.row for each in self._remains.values() if each.row.attempt not in self._mine]
        self._left.extend([row for row in rows if self._mine[row.attempt]] + older)
        self._snapshot = None
        self._instance.soon(self._next)

    def _is_mine(self, row: AttemptRow) -> bool:
        """Whether it was launched for this very workspace, and not by the work that started this program."""
        if row.attempt in self._mine:
            return self._mine[row.attempt]
        if row.cookie is None or row.cookie == os.environ.get("ACTUM_COOKIE"):
            return False
        try:
            told = json.loads((self._instance.ws.attempt_folder(row.run, row.n) / "launch.json").read_bytes())
        except (OSError, ValueError):
            return False
        return isinstance(told, dict) and told.get("workspace_id") == self._instance.writer.opened.database_uuid

    def _next(self) -> None:
        """Some of them a turn, so that nothing else has to wait."""
        try:
            if not self._instance.left:
                self._pass()
        except Exception:
            self._instance.met_defect()

    def _pass(self) -> None:
        self._snapshot = self._snapshot or Snapshot.take()
        rows = [self._left.popleft() for _ in range(min(len(self._left), CLOSED_A_TURN_MAX))]
        self._look(rows, self._snapshot)
        if self._left:
            self._instance.soon(self._next)
            return
        self._snapshot = None
        waiting, self._waiting = self._waiting, []
        found = [_verdict(each) for each in self._remains.values()]
        for done in waiting:
            done(found)

    def tick(self, now: clock.Now) -> None:
        """What is being ended is looked at again."""
        again_us = int(LOOK_AGAIN_S * clock.US)
        due = [
            each.row
            for each in self._remains.values()
            if each.recorded and self._is_ending(each, now.monotonic_us) and now.monotonic_us - each.looked_us >= again_us
        ]
        if due:
            self._look(due, Snapshot.take())

    def _look(self, rows: list[AttemptRow], snapshot: Snapshot) -> None:
        questions = [self._question(row) for row in rows]
        found = evidence.gather_many(questions, snapshot=snapshot, workspace_path=self._instance.ws.path)
        for row, seen in zip(rows, found, strict=True):
            self._judge(row, seen, clock.read())

    def _question(self, row: AttemptRow) -> evidence.Question:
        return evidence.Question(
            attempt_folder=self._instance.ws.attempt_folder(row.run, row.n),
            session=row.session or "",
            cookie=row.cookie,
            host_identity=ProcessIdentity.from_json(row.host_identity) if row.host_identity else None,
            again=True,
        )

    def _judge(self, row: AttemptRow, seen: Evidence, now: clock.Now) -> None:
        decision = decide(row.pair, row.released, seen)
        remains = self._remains.get(row.attempt)
        if decision.action is not Action.LATE:
            if remains is not None and seen.host is HostSeen.GONE and seen.tree is TreeSeen.CLEAR:
                self._gone(remains, now)
        elif remains is None:
            self._found(_Remains(row, decision.number, seen, now.monotonic_us, now.monotonic_us), now)
        else:
            remains.seen, remains.looked_us = seen, now.monotonic_us
            if remains.recorded:
                self._end(remains, now)

    def _found(self, remains: _Remains, now: clock.Now) -> None:
        """On record first, which only the present epoch can write (P23); only then is anything ended."""
        self._remains[remains.row.attempt] = remains
        entries = []
        if remains.seen.host is HostSeen.ALIVE:
            entries.append(JournalEntry("late_host", now.utc_us, {"pid": remains.host.pid if remains.host else None}))
        if remains.pids:
            entries.append(JournalEntry("tree_left", now.utc_us, {"pids": remains.pids, "late": True}))
        note = self._note(remains, *entries, alert=self._alert(remains, now))

        def kept(answer: object) -> None:
            if isinstance(answer, Persisted) and not self._instance.left:
                remains.recorded = True
                self._end(remains, clock.read())
                return
            self._remains.pop(remains.row.attempt, None)  # found again at the next pass
            remains.state, remains.why = REFUSED, "It could not be recorded, so nothing was ended. It is looked at again."
            self._changed(_verdict(remains))

        self._changed(_verdict(remains))
        self._instance.persist(note, kept)

    def _end(self, remains: _Remains, now: clock.Now) -> None:
        """Dismiss the host; after the grace, or without a host, end by identity what the last look proved to be left."""
        over = now.monotonic_us - remains.since_us >= remains.grace_us
        if remains.seen.host is HostSeen.ALIVE:
            self._dismiss(remains, now)
            if not over:
                return
        signum = signal.SIGKILL if over else signal.SIGTERM
        host = remains.host
        targets = [(member.identity, member.command) for member in remains.seen.members if member.identity != host]
        if not targets and host is not None:
            targets = [(host, "host")]
        results = [
            {"pid": identity.pid, "command": command, "signal": signum.name, "result": terminate.signal(identity, signum)}
            for identity, command in targets
        ]
        if not results:
            self._refused(remains, now, "Its lock is held, and who holds it cannot be seen from here.")
            return
        if results != remains.signals:
            remains.signals = results
            level = "insist" if over else "ask"
            said = JournalEntry("signalled", now.utc_us, {"level": level, "processes": results, "late": True})
            self._instance.persist(self._note(remains, said), lambda answer: None)
            self._changed(_verdict(remains))
        refused = [each for each in results if str(each["result"]).startswith("refused")]
        if refused:
            named = ", ".join(f"{each['pid']} ({str(each['result']).partition(':')[2]})" for each in refused)
            self._refused(remains, now, f"It may not be signalled: {named}.")

    def _dismiss(self, remains: _Remains, now: clock.Now) -> None:
        if remains.dismissed:
            return
        remains.dismissed = True
        folder = self._instance.ws.attempt_folder(remains.row.run, remains.row.n)
        try:
            spool.write_stop(folder, level="dismiss", cause="dismissed", at_us=now.utc_us)
        except (OSError, StorageFailed) as error:  # it is ended by identity then
            self._refused(remains, now, f"It could not be told to leave: {error}.")

    def _refused(self, remains: _Remains, now: clock.Now, why: str) -> None:
        if why != remains.why:
            remains.state, remains.why = REFUSED, why
            self._instance.persist(self._note(remains, alert=self._alert(remains, now)), lambda answer: None)
            self._changed(_verdict(remains))

    def _gone(self, remains: _Remains, now: clock.Now) -> None:
        """Nothing of it lives any more: the alert closes, the journal and the verdict keep what was found."""
        del self._remains[remains.row.attempt]
        remains.state, remains.why = ENDED, ""
        entry = JournalEntry("remains_gone", now.utc_us, {"after_s": (now.monotonic_us - remains.since_us) / clock.US})
        note = self._note(remains, entry, alert=ClearAlert(_key(remains.row), now.utc_us))
        self._instance.persist(note, lambda answer: None)
        self._changed(_verdict(remains))

    def _alert(self, remains: _Remains, now: clock.Now) -> RaiseAlert:
        data = {"pids": remains.pids, "n": remains.row.n}
        if remains.host is not None:
            data["host"] = remains.host.pid
        if remains.why:
            data["why"] = remains.why
        return RaiseAlert(_key(remains.row), CODE, "warning", now.utc_us, data, remains.row.run)

    def _note(self, remains: _Remains, *entries: JournalEntry, alert: RaiseAlert | ClearAlert | None = None) -> Note:
        return Note(tuple(entries), () if alert is None else (alert,), remains.row.run, remains.row.attempt)


def _key(row: AttemptRow) -> str:
    return f"{CODE}:{row.attempt}"


def _verdict(remains: _Remains) -> Verdict:
    row, seen = remains.row, remains.seen
    why: Mapping[str, str] = {"ending": remains.why} if remains.why else {}
    return {
        "run": row.run,
        "attempt": row.attempt,
        "n": row.n,
        "row": remains.number,
        "verdict": Action.LATE.value,
        "action": Action.LATE.value,
        "recorded": {"status": row.pair.status.value, "phase": row.pair.phase.value},
        "evidence": {
            "host": seen.host.value,
            "pid": remains.host.pid if remains.host is not None else None,
            "tree": seen.tree.value,
            "pids": remains.pids,
            "why": dict(why),
            "at": seen.at_us,
            "remains": remains.state,
            "signals": [dict(each) for each in remains.signals],
        },
    }
