"""What the host tells of itself while it lives: frames for the quick, spool/state.json and tree.json for the truth."""

from __future__ import annotations

from typing import Any

from actum import clock, limits
from actum.host.deadlines import Deadlines
from actum.host.family import Family
from actum.host.history import History
from actum.host.launch import Launch
from actum.host.messages import Collected
from actum.host.place import note
from actum.ipc import spool
from actum.ipc.outbox import Outbox

Document = dict[str, Any]


class Report:
    """Attributes: phase, root ({pid, alive}), last_progress_s (active seconds), ended (once the computation has), completed
    (and as it should)."""

    def __init__(self, launch: Launch, family: Family, collected: Collected, deadlines: Deadlines, outbox: Outbox) -> None:
        self._launch, self._family, self._collected = launch, family, collected
        self._deadlines, self._outbox = deadlines, outbox
        self._history = History(launch.folder)
        self._seq = 0
        self._state_due = self._heartbeat_due = 0.0
        self._recorded: object = None
        self._notices: dict[str, int] = {}
        self.phase = "starting"
        self.ended: Document | None = None
        self.root: Document | None = None
        self.last_progress_s = 0.0
        self.completed = False
        self.container = ""  # the name of the container of the tree, where another process can find it by that
        self._conditions: set[str] = set()

    def enter(self, phase: str) -> None:
        """Another phase: told at once."""
        self.phase = phase
        self._state_due = self._heartbeat_due = 0.0

    def notice(self, code: str, text: str, data: Document) -> None:
        """Something worth a line that changes nothing; of one code at most NOTICES_PER_CODE_MAX."""
        self._notices[code] = self._notices.get(code, 0) + 1
        if self._notices[code] <= limits.NOTICES_PER_CODE_MAX:
            self._outbox.put("notice", {"code": code, "text": text, "data": data})
            note(f"notice {code}: {text}")

    def condition(self, code: str, text: str, holds: bool) -> None:
        """Something that holds for a while: a notice each time it begins or ends, with `holds` in its data."""
        if holds != (code in self._conditions):
            self.notice(code, text if holds else "It goes on.", {"holds": holds})
        (self._conditions.add if holds else self._conditions.discard)(code)

    def moved_on(self, changed: str, now: float) -> None:
        """The work entered a stage or made progress."""
        self.last_progress_s = self._deadlines.active_s(now)
        if changed == "stage" and self._collected.stage:
            stage = self._collected.stage
            self._outbox.put("stage", {"name": stage["name"], "total": stage["total"]})
            self._deadlines.enter_stage(stage["name"], now)
        self._put_progress()

    def to_new_supervisor(self) -> None:
        """A channel was established: what the last one may not have heard."""
        if self._collected.stage:
            stage = self._collected.stage
            self._outbox.put("stage", {"name": stage["name"], "total": stage["total"]})
        self._put_progress()
        if self.ended and self.completed:
            self._outbox.put("ended", {"ended": self.ended})
        self._heartbeat_due = 0.0

    def turn(self, now: float) -> None:
        """Whatever is due: heartbeat, state, a line of history."""
        if now >= self._heartbeat_due:
            self._heartbeat_due = now + limits.HEARTBEAT_EVERY_S
            self._outbox.put("heartbeat", self._heartbeat(now))
        if now >= self._state_due:
            self._state_due = now + limits.STATE_EVERY_S
            self._write_state(now)
        over = self.ended is not None
        if self._history.due(now, last=over):
            self._history.keep(self._sample(now), now, last=over)

    def recorded_nothing(self) -> None:
        """The spool is a new one: everything is written to it again."""
        self._recorded, self._state_due = None, 0.0
        self.tree()

    def tree(self) -> None:
        """tree.json, when the members have changed, or who is left out."""
        family = self._family
        lives = (family.members.keys() | set(), family.nested.keys() | set())
        if lives == self._recorded:
            return
        document: Document = {"v": 1, "session": self._launch.session, "at": clock.utc_us(), "members": family.to_json()}
        if family.nested:
            document["nested"] = family.nested_json()
        if self.container:
            document["cgroup"] = self.container
        try:
            spool.write_tree(self._launch.folder, document)
            self._recorded = lives
        except OSError as error:
            note(f"tree.json cannot be written: {error}")

    def _put_progress(self) -> None:
        if self._collected.progress:
            fields = {name: value for name, value in self._collected.progress.items() if name != "at"}
            self._outbox.put("progress", fields)

    def _heartbeat(self, now: float) -> Document:
        return {
            "activity": self._family.activity(),
            "active_s": round(self._deadlines.active_s(now), 3),
            "processes": len(self._family.members),
            "phase": self.phase,
            "last_progress_active_s": round(self.last_progress_s, 3),
        }

    def _sample(self, now: float) -> Document:
        """How far the work has come and what it used, for its history."""
        progress, stage = self._collected.progress or {}, self._collected.stage or {}
        return {
            "done": progress.get("done"),
            "total": progress.get("total"),
            "stage": progress.get("stage") or stage.get("name"),
            "active_s": round(self._deadlines.active_s(now), 1),
            "progress_s": round(self.last_progress_s, 1),
            **self._family.activity(),
        }

    def _write_state(self, now: float) -> None:
        self._seq += 1
        at = clock.utc_us()
        document = {
            "v": 1,
            "session": self._launch.session,
            "seq": self._seq,
            "at": at,
            "monotonic_at": clock.monotonic_us(),
            "heartbeat_at": at,
            "progress": self._collected.progress,
            "stage": self._collected.stage,
            "root": self.root,
            "ended": self.ended,
            "notices": dict(self._notices),
            **self._heartbeat(now),
        }
        try:
            spool.write_state(self._launch.folder, document)
        except OSError as error:
            note(f"state.json cannot be written: {error}")
