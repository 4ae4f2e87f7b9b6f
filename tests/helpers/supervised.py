"""The real supervisor with a store in memory, one attempt's life at the fingertips of a directed test.

`tell` hands it one event and commits what it asks for, until nothing more is asked; the other effects are kept in order.
`store.refuse` makes the next commits fail. Folders and processes are what the test says they are: it tells the events.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from actum.clock import US, Now
from actum.model.changes import Admit, RefusalKind, Refused, Request, ResultRow
from actum.model.evidence import ClaimSeen, Evidence, HostSeen, Member, OutcomeSeen, PackageSeen, TreeSeen
from actum.model.facts import Fact, FactName
from actum.model.identity import ProcessIdentity
from actum.model.run import AttemptRow
from actum.model.status import Phase, Status
from actum.supervise import effects, events
from actum.supervise.machine import Machine
from actum.supervise.supervisor import Supervisor

from tests.simulation import files
from tests.simulation.checks import Ledger
from tests.simulation.store import Store

HOST = ProcessIdentity("here", "boot-1", "ns", 100, 1)
DAEMON = Member(ProcessIdentity("here", "boot-1", "ns", 101, 2), "daemon", "recorded")
RETRY = {
    "maximum": 2,
    "codes": ["input_unreadable", "work_failed", "host_lost"],
    "first_delay": "10s",
    "longest_delay": "60s",
}
METHOD: Mapping[str, Any] = {"method": "told by the test"}
E = TypeVar("E")


class Bench:
    """Attributes: supervisor, store, done (every effect but Persist, in order), refusals (kinds for the next commits),
    requests (every one that was to be committed, in order)."""

    def __init__(self, *, slots: int = 1, **policies: Any) -> None:
        machine = files.Machine()
        self.folders: dict[str, files.Folder] = {}
        self.store = Store({"policies": {"grace": "10s", **policies}}, Ledger(machine, self.folders, armed=False))
        self.slots = slots
        self.utc_us, self.monotonic_us = 1_800_000_000 * US, 1_000 * US
        self.done: list[effects.Effect] = []
        self.refusals: list[RefusalKind] = []
        self.held: list[effects.Persist] | None = None
        self.requests: list[Request] = []
        self.commands = 0
        self.open()

    def open(self, *, paused: bool = False) -> list[effects.Effect]:
        """A new service instance takes over; the earlier one is gone with all it knew."""
        self.supervisor = Supervisor()
        epoch = self.store.open()
        opened = events.Opened(f"instance-{epoch}", epoch, self.store.open_rows(), self.slots, paused)
        return self.tell(opened)

    def tell(self, event: Any) -> list[effects.Effect]:
        """Hand over one event; what is to be committed is, at once. Answers with the other effects, in order."""
        effects_now = self.supervisor.handle(event, self.now())
        seen: list[effects.Effect] = []
        while effects_now:
            effect = effects_now.pop(0)
            if not isinstance(effect, effects.Persist):
                seen.append(effect)
            elif self.held is not None:
                self.held.append(effect)
            else:
                effects_now += self.supervisor.handle(events.Committed(effect.token, self._answer(effect)), self.now())
        self.done += seen
        return seen

    def hold_commits(self) -> None:
        """Requests wait for `release_commits`, as they do while the writer is busy."""
        self.held = []

    def release_commits(self) -> list[effects.Effect]:
        held, self.held = self.held or [], None
        return [each for one in held for each in self.tell(events.Committed(one.token, self._answer(one)))]

    def _answer(self, effect: effects.Persist) -> Any:
        self.requests.append(effect.request)
        kind = self.refusals.pop(0) if self.refusals else None
        if kind is RefusalKind.STORAGE:
            return Refused(kind, "no space is left")
        answer = self.store.submit(self.supervisor.epoch, effect.request)
        return Refused(kind, "the answer was lost") if kind is RefusalKind.LOST else answer

    def now(self) -> Now:
        return Now(self.utc_us, self.monotonic_us, self.monotonic_us)

    def wait(self, seconds: float) -> list[effects.Effect]:
        """Time passes, then one tick: what an instance finds that was not there meanwhile."""
        self.utc_us += int(seconds * US)
        self.monotonic_us += int(seconds * US)
        return self.tell(events.Tick())

    def live(self, seconds: float) -> list[effects.Effect]:
        """Time passes with a tick at least once a second, as it does for an instance that is there."""
        effects: list[Any] = []
        while seconds > 0:
            effects += self.wait(min(1.0, seconds))
            seconds -= 1.0
        return effects

    # People

    def command(self) -> int:
        self.commands += 1
        return self.commands

    def admit(self) -> AttemptRow:
        number = self.command()
        fact = Fact(FactName.ADMITTED, self.utc_us, METHOD)
        names = (f"run-{number}", f"attempt-{number}", "simulated", "1", "contract", f"key-{number}", "request", "{}")
        self.tell(events.AdmitAsked(number, Admit(*names, {}, (), "manual", (), self.utc_us, fact)))
        return self.row(len(self.store.runs))

    def stop(self, run: int = 1, *, insist: bool = False) -> effects.Reply | None:
        """Ask for a stop; the answer, if it has come."""
        number = self.command()
        said = self.tell(events.StopAsked(number, run, insist))
        return next((each for each in said if isinstance(each, effects.Reply) and each.command == number), None)

    # What is

    def row(self, run: int = 1) -> AttemptRow:
        return self.store.row(self.store.runs[run].current)

    def pair(self, run: int = 1) -> tuple[Status, Phase]:
        return tuple(self.row(run).pair)

    def machine(self, run: int = 1) -> Machine:
        return self.supervisor.machines[self.row(run).attempt]

    def facts(self, run: int = 1) -> list[str]:
        return [name.value for name in self.row(run).facts]

    def journal(self, kind: str) -> list[Mapping[str, Any]]:
        return [entry.data for _, entry in self.store.journal if entry.kind == kind]

    def alerts(self) -> set[str]:
        return {key.split(":")[0] for key in self.store.alerts}

    def kinds(self, kind: type[E], among: list[effects.Effect] | None = None) -> list[E]:
        return [each for each in (self.done if among is None else among) if isinstance(each, kind)]

    # One attempt's life

    def to_starting(self, run: int = 1) -> AttemptRow:
        attempt = self.row(run).attempt
        self.folders[attempt] = files.Folder(attempt)
        self.tell(events.Frozen(attempt, evidence=METHOD))
        self.tell(events.Prepared(attempt))
        self.tell(events.Spawned(attempt, evidence=METHOD))
        return self.row(run)

    def hello(self, run: int = 1, channel: str = "c1", *, claimed: bool = False) -> list[effects.Effect]:
        return self.tell(events.Hello(self.row(run).attempt, channel, HOST.to_json(), claimed))

    def frame(self, kind: str, channel: str = "c1", run: int = 1, **body: Any) -> list[effects.Effect]:
        return self.tell(events.Frame(self.row(run).attempt, channel, kind, body))

    def to_computing(self, run: int = 1) -> AttemptRow:
        self.to_starting(run)
        self.hello(run)
        assert self.pair(run) == (Status.RUNNING, Phase.COMPUTING)
        return self.row(run)

    def outcome(self, kind: str = "sealed", run: int = 1, **members: Any) -> dict[str, Any]:
        return {
            "session": self.row(run).session,
            "kind": kind,
            "code": None,
            "cause": None,
            "message": "",
            "details": {},
            "ended": {"exit_code": 0, "signal": None, "descendants_left": 0, "at": self.utc_us},
            "tree": {"method": "subreaper", "at": self.utc_us, "nested": 0},
            "manifest_sha256": "digest" if kind == "sealed" else None,
            "at": self.utc_us,
            **members,
        }

    def to_cleaning_up(self, run: int = 1) -> AttemptRow:
        self.to_computing(run)
        self.frame("sealed", run=run, outcome=self.outcome(run=run), digest="d")
        assert self.pair(run) == (Status.RUNNING, Phase.CLEANING_UP)
        return self.row(run)

    def to_verifying(self, run: int = 1) -> AttemptRow:
        attempt = self.to_cleaning_up(run).attempt
        self.tell(events.HostGone(attempt, "pidfd", True))
        self.no_records(run)
        assert self.pair(run) == (Status.RUNNING, Phase.VERIFYING)
        return self.row(run)

    def no_records(self, run: int = 1) -> list[effects.Effect]:
        return self.tell(events.RecordsRead(self.row(run).attempt, (), 0, False))

    def to_publishing(self, run: int = 1) -> AttemptRow:
        attempt = self.to_verifying(run).attempt
        self.tell(events.Derived(attempt))
        self.tell(self.verified(run))
        assert self.pair(run) == (Status.RUNNING, Phase.PUBLISHING)
        return self.row(run)

    def verified(self, run: int = 1) -> events.Verified:
        result = ResultRow(f"results/{run}/1", "digest", None, (), (), (), 0, 0)
        return events.Verified(self.row(run).attempt, METHOD, METHOD, {"manifest_sha256": "digest"}, result)

    def looked(self, run: int = 1, **seen: Any) -> list[effects.Effect]:
        return self.tell(events.Looked(self.row(run).attempt, evidence(self.utc_us, **seen)))


GONE = Evidence(0, HostSeen.GONE, OutcomeSeen.NONE, TreeSeen.CLEAR, ClaimSeen.NONE, host_method="identity")


def evidence(at_us: int = 0, **seen: Any) -> Evidence:
    """Host gone, no outcome, tree clear, no claim, unless said otherwise; a claim of the host is known beforehand."""
    if seen.get("claim") is ClaimSeen.HOST:
        seen = {"claim_document": {"by": "host", "identity": HOST.to_json(), "at": at_us}, "host_identity": HOST, **seen}
    return replace(GONE, at_us=at_us, **{"package": PackageSeen.UNKNOWN, **seen})


def computing(**policies: Any) -> Bench:
    """A bench whose run 1 computes, its host connected on channel c1."""
    bench = Bench(**policies)
    bench.admit()
    bench.to_computing()
    return bench
