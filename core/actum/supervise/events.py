"""What happens to the supervisor: one frozen dataclass per event, named by nouns. Times come with `handle(event, now)`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from actum.model.changes import Admit, Answer
from actum.model.evidence import Evidence
from actum.model.run import AttemptRow, InputRow


@dataclass(frozen=True, slots=True)
class Opened:
    """This service instance holds the lock and has opened its epoch; `rows` are all open attempts, `slots` the bound."""

    instance: str
    epoch: int
    rows: tuple[AttemptRow, ...]
    slots: int
    paused: bool  # the queue of earlier instances waits for a person
    held: bool = False  # a person paused the queue: no waiting run starts, of whatever instance


@dataclass(frozen=True, slots=True)
class Committed:
    """The store's answer to the effect Persist of this token."""

    token: int
    answer: Answer


@dataclass(frozen=True, slots=True)
class AdmitAsked:
    """A validated request with its inputs digested; `command` is whom to answer."""

    command: int
    request: Admit


@dataclass(frozen=True, slots=True)
class StopAsked:
    """A user's stop. `insist` = at once with SIGKILL."""

    command: int
    run: int
    insist: bool = False


@dataclass(frozen=True, slots=True)
class ReconcileAsked:
    command: int
    resume: bool


@dataclass(frozen=True, slots=True)
class Attested:
    """A person's word that nothing of this attempt is left anywhere. `by` = whose."""

    attempt: str
    command: int
    by: str


@dataclass(frozen=True, slots=True)
class Capacity:
    """How many attempts may compute at once, and whether there is room on the disk for another to begin."""

    slots: int
    room: bool


@dataclass(frozen=True, slots=True)
class QueuePaused:
    command: int


@dataclass(frozen=True, slots=True)
class QueueResumed:
    """`held` = a person lifts a person's pause; else only what was paused after a crash goes on. `runs`: these alone, since
    somebody who asked for them waits."""

    command: int
    held: bool = True
    runs: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Frozen:
    """The freeze helper's answer: the inputs as they are in the input store, or why not."""

    attempt: str
    inputs: tuple[InputRow, ...] = ()
    code: str | None = None  # failure code
    message: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    evidence: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)  # code, environment
    crashed: bool = False  # the helper died: nothing was found out about any input


@dataclass(frozen=True, slots=True)
class Prepared:
    """The attempt's folder is there (`error` None), or could not be made."""

    attempt: str
    error: str | None = None
    code: str = "start_error"


@dataclass(frozen=True, slots=True)
class Spawned:
    """The host was spawned (`error` None), or no process came into being."""

    attempt: str
    error: str | None = None
    code: str = "start_error"
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hello:
    """A host has proven its session on a channel."""

    attempt: str
    channel: str
    identity: Mapping[str, Any]
    claimed: bool


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame accepted from a proven channel."""

    attempt: str
    channel: str
    type: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StateRead:
    """spool/state.json as the driver found it, where no frames come; `final` = after its host has gone."""

    attempt: str
    state: Mapping[str, Any]
    final: bool = False


@dataclass(frozen=True, slots=True)
class OutcomeFound:
    """The spool holds an outcome, or its host's claim, that no frame has brought: look now."""

    attempt: str


@dataclass(frozen=True, slots=True)
class ChannelClosed:
    attempt: str
    channel: str
    why: str


@dataclass(frozen=True, slots=True)
class HostGone:
    """The exit of the host was observed. `alive_free` = the alive lock was found free right after it."""

    attempt: str
    method: str  # pidfd | wait
    alive_free: bool


@dataclass(frozen=True, slots=True)
class Looked:
    """What one look at the world found (answer to the effect Look)."""

    attempt: str
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class ClaimAnswered:
    """The claim was revoked, or it was there already (by the host, or by an earlier revocation)."""

    attempt: str
    revoked: bool
    claim: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None


@dataclass(frozen=True, slots=True)
class RecordsRead:
    """New complete lines of records.jsonl up to `offset`; `more` = another batch waits; `error` = it could not be read now;
    `skipped` = lines that are no records, passed over since nobody writes any more: {lines, bytes, offset, why}."""

    attempt: str
    records: tuple[Any, ...]
    offset: int
    more: bool
    error: str | None = None
    skipped: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Derived:
    attempt: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None  # a rejection in words, or how the helper crashed
    code: str = "result_rejected"  # disk_full, io_error and busy are no rejection either
    crashed: bool = False  # the helper died: no rejection


@dataclass(frozen=True, slots=True)
class Verified:
    """The verifier's report: `bytes` and `content` evidence, or the rejection."""

    attempt: str
    bytes: Mapping[str, Any] = field(default_factory=dict)
    content: Mapping[str, Any] = field(default_factory=dict)
    recorded: Mapping[str, Any] = field(default_factory=dict)  # digests of manifest.json and derived.json
    result: Any = None  # ResultRow
    error: str | None = None
    code: str = "result_rejected"
    details: Mapping[str, Any] = field(default_factory=dict)
    crashed: bool = False


@dataclass(frozen=True, slots=True)
class Published:
    """The package is at its target, durable and read-only; or why not.

    `failure`: None | "rename" (it is in staging, and nothing at the target) | "unsure" (it may be at the target, and is not
    durable there: nobody can tell, or the disk does not serve) | "differs" | "neither".
    """

    attempt: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    failure: str | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Quarantined:
    """The package that differs was moved out of the results (`error` None), or could not be."""

    attempt: str
    path: str = ""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Signalled:
    """What came of the effect EndTree: one line per process."""

    attempt: str
    level: str
    results: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class StopWritten:
    """spool/stop was written (`error` None) by the effect WriteStop."""

    attempt: str
    level: str
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Violation:
    """A frame that broke the protocol; journalled, and nothing else follows from it."""

    attempt: str | None
    channel: str
    why: str
    closed: bool


@dataclass(frozen=True, slots=True)
class Step:
    """Progress of a helper's step, shown and never stored."""

    attempt: str
    verb: str
    done: int
    total: int
    unit: str


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed (every limits.TICK_MS)."""


@dataclass(frozen=True, slots=True)
class Woke:
    """The machine slept for `slept_us`."""

    slept_us: int


Event = (
    Opened
    | Committed
    | AdmitAsked
    | StopAsked
    | ReconcileAsked
    | Attested
    | Capacity
    | QueuePaused
    | QueueResumed
    | Frozen
    | Prepared
    | Spawned
    | Hello
    | Frame
    | StateRead
    | OutcomeFound
    | ChannelClosed
    | HostGone
    | Looked
    | ClaimAnswered
    | RecordsRead
    | Derived
    | Verified
    | Published
    | Quarantined
    | Signalled
    | StopWritten
    | Violation
    | Step
    | Tick
    | Woke
)
