"""What the supervisor wants done: one frozen dataclass per effect, named by verbs. A driver does them and answers by events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from actum.errors import ActumError
from actum.model.changes import Request
from actum.model.evidence import Member
from actum.model.identity import ProcessIdentity
from actum.model.run import AttemptRow


@dataclass(frozen=True, slots=True)
class Persist:
    """Commit this request; answered by Committed(token). Effects that depend on it come only after that."""

    token: int
    request: Request


@dataclass(frozen=True, slots=True)
class Freeze:
    """Copy or pin the inputs and identify the code; answered by Frozen. `again` = they are frozen: compare with what was."""

    row: AttemptRow
    again: bool = False


@dataclass(frozen=True, slots=True)
class Prepare:
    """Make the attempt's folder with everything its host needs; answered by Prepared.

    Before STARTING is committed: a missing folder would be “cannot tell” for ever after a crash.
    """

    row: AttemptRow
    session: str
    cookie: str
    secret: str
    code: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Launch:
    """Spawn the host of a committed launch; answered by Spawned."""

    row: AttemptRow


@dataclass(frozen=True, slots=True)
class Watch:
    """Observe the exit of this host; answered by HostGone, once."""

    attempt: str
    identity: ProcessIdentity


@dataclass(frozen=True, slots=True)
class Send:
    """One frame to the host on its channel; a missing channel is no error, the spool serves too."""

    attempt: str
    type: str
    body: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WriteStop:
    """Write spool/stop; answered by StopWritten."""

    row: AttemptRow
    level: str  # ask | insist | dismiss
    cause: str


@dataclass(frozen=True, slots=True)
class Look:
    """Gather the evidence of §6 in its order; answered by Looked. With `package`, compare the package with the digest."""

    row: AttemptRow
    package: bool = False


@dataclass(frozen=True, slots=True)
class RevokeClaim:
    """Make spool/claim, revoked; answered by ClaimAnswered."""

    row: AttemptRow


@dataclass(frozen=True, slots=True)
class EndTree:
    """Signal these processes by proven identity, the host last; answered by Signalled."""

    attempt: str
    level: str  # ask | insist
    members: tuple[Member, ...]
    host: ProcessIdentity | None = None


@dataclass(frozen=True, slots=True)
class ReadRecords:
    """Read new records from the spool; answered by RecordsRead."""

    row: AttemptRow


@dataclass(frozen=True, slots=True)
class Derive:
    """Derive the other formats from the authority in a helper; answered by Derived."""

    row: AttemptRow


@dataclass(frozen=True, slots=True)
class Verify:
    """Check pins, then bytes and content in another helper; answered by Verified. `published` = look at the target."""

    row: AttemptRow
    published: bool = False


@dataclass(frozen=True, slots=True)
class Publish:
    """The durable steps and the one rename; answered by Published."""

    row: AttemptRow
    recorded: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Quarantine:
    """Move the package that differs out of the results, where it can be looked at."""

    row: AttemptRow


@dataclass(frozen=True, slots=True)
class Forget:
    """Nothing more is expected of this attempt: channels, watches and helpers may go."""

    attempt: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a command, after its commit: exactly one of `ok` and `error`."""

    command: int
    ok: Mapping[str, Any] | None = None
    error: ActumError | None = None


@dataclass(frozen=True, slots=True)
class Retire:
    """This instance may do nothing more: a newer epoch exists (P23), or the lock is gone."""

    why: str


Effect = (
    Persist
    | Freeze
    | Prepare
    | Launch
    | Watch
    | Send
    | WriteStop
    | Look
    | RevokeClaim
    | EndTree
    | ReadRecords
    | Derive
    | Verify
    | Publish
    | Quarantine
    | Forget
    | Reply
    | Retire
)
