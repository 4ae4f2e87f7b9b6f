"""One attempt as the supervisor knows it: what is committed, what was seen since, and what is under way.

Theory. The machine is *level-triggered*. Events only note what was seen (`Seen`); `advance` then asks one question: given
the committed row and what was seen, what is the next thing to establish? It answers with at most one Persist, and waits for
its answer before anything that depends on it (R01: each fact is committed before the effect of the next step). So a lost
event costs time, never correctness: whatever a frame would have said, the next look at the spool says again.

The steps themselves stand in `opening` (queue, freeze, launch), `computing` (contact, work, outcome), `clearing` (host, tree,
release) and `finishing` (derive, verify, publish, commit). Each is a function (machine, now) → effects.
Keeps R01–R03, R06, R09.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from actum.clock import US, Now
from actum.limits import LOOK_AGAIN_S, NOTICES_WAITING_MAX, STORE_RETRY_S
from actum.model.changes import Arrow, Change, ClearAlert, JournalEntry, RaiseAlert
from actum.model.evidence import Evidence
from actum.model.facts import Fact, FactName
from actum.model.identity import ProcessIdentity
from actum.model.run import AttemptRow
from actum.model.status import RELEASING, RETRYABLE, AttemptEvent, Contact, Phase, after
from actum.supervise import policies, retry
from actum.supervise.effects import Effect, Look, Persist
from actum.supervise.events import Derived, Frozen, Prepared, Published, Spawned, Verified

PASSING_ALERTS = (
    *("cannot_tell", "lost_contact", "stall", "tree_left", "helper", "publish_pending", "waits"),
    *("records", "quarantine", "stop_file", "signals"),  # of steps that are tried again (supervise/waiting.py)
)


@dataclass(slots=True)
class Seen:
    """What has been seen of an attempt since it was last committed; volatile, rebuilt after a restart by looking."""

    stop_cause: str | None = None
    insist: bool = False
    frozen: Frozen | None = None
    tokens: Mapping[str, str] | None = None  # of the launch being prepared; the secret lives only in its effect and file
    prepared: Prepared | None = None
    spawned: Spawned | None = None
    sign: Mapping[str, Any] | None = None  # the first proven sign of the session: {method, at_us, …}
    identity: ProcessIdentity | None = None
    channel: str | None = None
    ended: Mapping[str, Any] | None = None
    outcome: Mapping[str, Any] | None = None
    outcome_digest: str | None = None
    host_exit: Mapping[str, Any] | None = None
    exit_observed: bool = False
    tree_gone: Mapping[str, Any] | None = None
    absent_since_us: int | None = None  # monotonic time of the first of two absences
    evidence: Evidence | None = None
    derived: Derived | None = None
    verified: Verified | None = None
    published: Published | None = None
    records_done: bool = False
    records_final: bool = False  # the reading under way was begun when nobody wrote any more
    silent_deadline: str | None = None  # failure code of a deadline that passed while the host was silent
    claim_revoked: bool = False
    package_only: str | None = None  # after a restart in PUBLISHING: "staging" | "results" | "differs" | "neither"
    rejected_in: str | None = None  # where the package was when verification last rejected it
    quarantined: bool = False
    ended_pids: Mapping[str, Any] | None = None  # what the last signals came to, so that the journal says it once


@dataclass(slots=True)
class Machine:
    """Attributes: row (committed), seen (since), doing (names of effects under way), pending (token of the Persist awaited)."""

    row: AttemptRow
    next_token: Callable[[], int]
    epoch: int
    seen: Seen = field(default_factory=Seen)
    doing: set[str] = field(default_factory=set)
    pending: int | None = None
    on_persisted: Callable[[Now], list[Effect]] | None = None
    not_before_us: int = 0  # monotonic; a step that could not be done waits until then
    tries: dict[str, int] = field(default_factory=dict)
    failing: dict[str, str] = field(default_factory=dict)  # steps that are tried again (waiting.py) → the error they met
    said: dict[str, str] = field(default_factory=dict)  # of these, what their alerts on record say
    passed: set[str] = field(default_factory=set)  # steps done by this instance, whose alerts of earlier ones are closed
    says_not_before_us: int = 0  # monotonic; after a refusal of the store
    held: str | None = None  # why the machine cannot tell, while it cannot
    holds: int = 0  # looks in a row that could not tell
    gated: bool = False  # no new launch: leftovers are not judged yet (R09), or the queue is paused
    restored: bool = False  # taken over from an earlier service instance
    live: dict[str, Any] = field(default_factory=dict)
    stop_sent: dict[str, int] = field(default_factory=dict)  # level → monotonic time of sending
    next_look_us: int = 0
    stale: bool = False  # the look under way began before something that voids it
    step_started_us: int = 0  # monotonic; when this pair was entered, or taken over
    alerts: set[str] = field(default_factory=set)  # open alerts as far as committed by this instance
    verdict: Mapping[str, Any] | None = None
    touched: bool = True  # live state changed since it was last shown
    policies: policies.Policies = field(init=False)
    change: Change | None = None  # what `pending` asked for

    def __post_init__(self) -> None:
        self.policies = policies.of(self.row.contract)

    # What the machine is

    @property
    def attempt(self) -> str:
        return self.row.attempt

    @property
    def closed(self) -> bool:
        return self.row.pair.phase is Phase.CLOSED

    @property
    def holds_slot(self) -> bool:
        return not self.row.released and self.row.pair.phase is not Phase.QUEUED

    @property
    def contact(self) -> Contact:
        """What is on record of the host now."""
        return self.row.contact

    def has(self, fact: FactName) -> bool:
        return fact in self.row.facts

    @property
    def host(self) -> ProcessIdentity | None:
        """The host's identity, from its hello or claim, in this life or an earlier one."""
        if self.seen.identity is not None:
            return self.seen.identity
        document = self.row.host_identity
        return ProcessIdentity.from_json(document) if document else None

    # What it asks for

    def begin(self, name: str, effect: Effect) -> list[Effect]:
        """Do this effect once; `doing` remembers it until its answer."""
        if name in self.doing:
            return []
        self.doing.add(name)
        return [effect]

    def persist(
        self,
        now: Now,
        event: AttemptEvent | None = None,
        *facts: Fact,
        journal: tuple[JournalEntry, ...] = (),
        alerts: tuple[RaiseAlert | ClearAlert, ...] = (),
        columns: Mapping[str, Any] | None = None,
        then: Callable[[Now], list[Effect]] | None = None,
        **more: Any,
    ) -> list[Effect]:
        """Ask for one transaction about this attempt; nothing else of this machine moves until it is answered."""
        arrow = None if event is None else Arrow(self.row.pair, event)
        notices: list[JournalEntry] = self.live.pop("notices", [])
        self.live["journalled"] = notices
        columns = {**stop_stage(notices), **(columns or {})}
        if event is not None and after(self.row.pair, event) in RELEASING:  # what these warned of is over
            alerts = (*(alert for kind in PASSING_ALERTS for alert in self.no_alert(now, kind)), *alerts)
            if self.contact is Contact.CANNOT_TELL:
                columns = {"contact": "none", "contact_since_us": now.utc_us, "contact_why": "", **(columns or {})}
        change = Change(
            self.attempt,
            self.row.run,
            arrow=arrow,
            expects=self.row.pair,
            facts=facts,
            journal=(*notices, *journal),
            alerts=alerts,
            columns=columns,
            **more,
        )
        token = self.next_token()
        self.pending, self.on_persisted, self.change = token, then, change
        return [Persist(token, change)]

    def greets(self) -> Callable[[Now], list[Effect]]:
        """What a commit that was asked for since the newest hello leads to: that hello may be answered."""
        channel = self.seen.channel

        def noted(now: Now) -> list[Effect]:
            self.live["greeted"] = channel
            return []

        return noted

    def committed(self, row: AttemptRow | None, now: Now) -> None:
        """The change awaited is on record: take the row as it now stands, and the alerts that were opened and closed."""
        for alert in self.change.alerts if self.change is not None else ():
            if isinstance(alert, RaiseAlert):
                self.alerts.add(alert.key)
            else:
                self.alerts.discard(alert.key)
        self.change = None
        self.take(row, now)

    def refused(self, row: AttemptRow | None, now: Now, *, unsure: bool) -> None:
        """Nothing was written, or nobody can tell: what was to be journalled waits for the next change (R12)."""
        if unsure and self.change is not None:  # an alert that may be open is closed in its time
            self.alerts |= {alert.key for alert in self.change.alerts if isinstance(alert, RaiseAlert)}
        notices: list[JournalEntry] = self.live.pop("journalled", [])
        self.says_not_before_us = now.monotonic_us + int(STORE_RETRY_S * US)
        if notices:
            self.live["notices"] = waiting = [*notices, *self.live.get("notices", [])]
            self._bound_notices(waiting, now.utc_us)
        self.change = None
        self.take(row, now)

    def take(self, row: AttemptRow | None, now: Now) -> None:
        """The row as the store has it. A status change discards every absence noted before it (§6), and what was measured
        of the phase that is over: each has a progress of its own (R10)."""
        before = self.row.pair
        self.row = row or self.row
        if self.row.pair == before:
            return
        self.live.pop("step", None)
        if self.failing.pop("claim", None) is not None:
            self.held = None
        if self.row.pair in RELEASING:
            self.failing.clear()  # the arrow has closed their alerts
        self.forget_absence()
        self.step_started_us = now.monotonic_us
        self.next_look_us = 0
        if self.row.pair.status is not before.status:
            self.not_before_us = 0

    def establish(self, now: Now, name: FactName, evidence: Mapping[str, Any], at_us: int | None = None) -> list[Effect]:
        """One fact in a transaction of its own."""
        return self.persist(now, None, Fact(name, at_us or now.utc_us, dict(evidence)))

    def fail(
        self,
        now: Now,
        event: AttemptEvent,
        code: str,
        message: str,
        details: Mapping[str, Any] | None = None,
        alerts: tuple[RaiseAlert | ClearAlert, ...] = (),
        work_started: bool | None = None,
    ) -> list[Effect]:
        """An arrow that ends the attempt unsuccessfully, with its code, its words, and its retry if it has one."""
        target = after(self.row.pair, event)
        started = self.has(FactName.CONTACT_MADE) if work_started is None else work_started
        journal = (JournalEntry("failed", now.utc_us, {"code": code, "message": message}),)
        due = None
        if target.status in RETRYABLE and self.row.current and self.row.adopts is None:  # there is no work to repeat
            due = retry.retry_at_us(self.policies, self.row.n, code, work_started=started, now_us=now.utc_us)
        columns: dict[str, Any] = {"failure_code": code, "failure_message": message, **self.parting()}
        columns["failure_details"] = dict(details) if details else None
        return self.persist(now, event, journal=journal, alerts=alerts, columns=columns, retry_at_us=due)

    def parting(self) -> dict[str, Any]:
        """The last progress, activity and exit seen, kept with the attempt when its work is over."""
        ended = self.seen.ended or (self.seen.outcome or {}).get("ended") or {}
        columns: dict[str, Any] = {}
        if self.live.get("progress"):
            columns["progress"] = self.live["progress"]
        if self.live.get("activity"):
            columns["activity"] = {**self.live["activity"], "active_s": self.live.get("active_s")}
        if ended:
            columns["exit_code"] = ended.get("exit_code")
            columns["exit_signal"] = ended.get("signal")
        return columns

    def look(self, now: Now) -> list[Effect]:
        """Another look at the world, not more often than due; with the package while it is being published."""
        if now.monotonic_us < self.next_look_us:
            return []
        self.next_look_us = now.monotonic_us + int(LOOK_AGAIN_S * US)
        package = self.row.pair.phase in (Phase.PUBLISHING, Phase.PUBLISH_PENDING)
        return self.begin("look", Look(self.row, package=package))

    def look_now(self, now: Now) -> list[Effect]:
        """A look that is due at once; one that is under way began before what made it due, and is made again."""
        self.next_look_us = 0
        self.stale = self.stale or "look" in self.doing
        return self.look(now)

    def wait(self, now: Now, seconds: float) -> None:
        """Try this step again not before `seconds` from now."""
        self.not_before_us = now.monotonic_us + int(seconds * 1_000_000)

    def forget_absence(self) -> None:
        """A hello, a claim or a status change discards every absence noted before it (§6)."""
        self.seen.absent_since_us = None
        self.stale = "look" in self.doing

    def note(self, entry: JournalEntry) -> None:
        """To be journalled with the next change. While the store takes none, the oldest make room and are counted (R11)."""
        waiting: list[JournalEntry] = self.live.setdefault("notices", [])
        waiting.append(entry)
        self._bound_notices(waiting, entry.at_us)

    @staticmethod
    def _bound_notices(waiting: list[JournalEntry], at_us: int) -> None:
        if len(waiting) <= NOTICES_WAITING_MAX:
            return
        lost = waiting[: len(waiting) - NOTICES_WAITING_MAX + 1]
        count = sum(int(each.data["count"]) if each.kind == "notices_dropped" else 1 for each in lost)
        waiting[: len(lost)] = [JournalEntry("notices_dropped", at_us, {"count": count})]

    def alert(self, now: Now, kind: str, code: str, severity: str = "warning", **data: Any) -> RaiseAlert:
        """An alert about this attempt; one open alert per kind."""
        return RaiseAlert(f"{kind}:{self.attempt}", code, severity, now.utc_us, data, self.row.run)

    def raised(self, kind: str) -> bool:
        return f"{kind}:{self.attempt}" in self.alerts

    def no_alert(self, now: Now, kind: str) -> tuple[ClearAlert, ...]:
        """Closes this attempt's alert of that kind, if this instance or an earlier one may have raised it."""
        key = f"{kind}:{self.attempt}"
        if key not in self.alerts and not self.restored:
            return ()
        return (ClearAlert(key, now.utc_us),)


def stop_stage(notices: Sequence[JournalEntry]) -> dict[str, Any]:
    """The column that the newest word about a stop stands for: delivered, or the host's own asked and insisting."""
    for entry in reversed(notices):
        stage = entry.data.get("stage") if entry.kind == "stop_stage" else entry.kind
        if stage in ("delivered", "asked", "insisting"):
            return {"stop_stage": {**dict(entry.data.get("data") or {}), "stage": stage, "at_us": entry.at_us}}
    return {}
