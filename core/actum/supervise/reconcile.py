"""The reconciliation table of §6: what was recorded × what was seen → what follows. First matching row counts.

Theory. `ROWS` is data: each row has the number it has in the protocol, the recorded pairs, and the evidence it wants. A test
proves it total, without dead rows, with no way out of a terminal status, and that nothing is concluded from “cannot tell”.
`decide` is the one look-up. What a decision *does* is the business of `machine`; here is only which one it is.
Keeps R07, R09.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from actum.model.evidence import ClaimSeen, Evidence, HostSeen, OutcomeSeen, PackageSeen, TreeSeen
from actum.model.status import RETRYABLE, TERMINAL, Pair, Phase, Status


class Action(StrEnum):
    QUEUE = "queue"  # drop unfinished inputs, wait for the queue
    LATE = "late"  # dismiss the host or end the tree, and say so
    RESULT_UNCHECKED = "result_unchecked"
    RESULT_DAMAGED = "result_damaged"
    NOTHING = "nothing"
    HOLD = "hold"  # cannot tell: alert, next pass
    COMMIT = "commit"  # verify at the target, make durable, commit
    PUBLISH = "publish"  # verify in staging, rename, commit
    PACKAGE_DIFFERS = "package_differs"
    PACKAGE_LOST = "package_lost"
    PUBLISH_AGAIN = "publish_again"
    VERIFY = "verify"
    OFFER = "offer"  # a sealed package nobody awaits: offer adoption
    ADOPT = "adopt"
    AWAIT_EXIT = "await_exit"
    STOP_AGAIN = "stop_again"
    LAUNCH_LOST = "launch_lost"
    SIGN_OF_WORK = "sign_of_work"
    HOST_LOST = "host_lost"
    OUTCOME_FAILED = "outcome_failed"
    OUTCOME_STOPPED = "outcome_stopped"
    OUTCOME_DEADLINE = "outcome_deadline"
    END_TREE = "end_tree"
    SEALED_CLEAR = "sealed_clear"
    STOPPED_CLEAR = "stopped_clear"
    RELEASE = "release"


@dataclass(frozen=True, slots=True)
class Row:
    """One row; an empty set means “any”."""

    number: int
    action: Action
    statuses: frozenset[Status] = frozenset()
    phases: frozenset[Phase] = frozenset()
    released: bool | None = None
    host: frozenset[HostSeen] = frozenset()
    outcome: frozenset[OutcomeSeen] = frozenset()
    tree: frozenset[TreeSeen] = frozenset()
    claim: frozenset[ClaimSeen] = frozenset()
    package: frozenset[PackageSeen] = frozenset()

    def matches(self, pair: Pair, released: bool, seen: Evidence) -> bool:
        wanted = (
            (self.statuses, pair.status),
            (self.phases, pair.phase),
            (self.host, seen.host),
            (self.outcome, seen.outcome),
            (self.tree, seen.tree),
            (self.claim, seen.claim),
            (self.package, seen.package),
        )
        return self.released in (None, released) and all(not want or value in want for want, value in wanted)


def _row(number: int, action: Action, *wanted: object, released: bool | None = None) -> Row:
    """A row from loose words: each one falls into the column of its type."""
    columns: dict[type, tuple[str, set[object]]] = {
        Status: ("statuses", set()),
        Phase: ("phases", set()),
        HostSeen: ("host", set()),
        OutcomeSeen: ("outcome", set()),
        TreeSeen: ("tree", set()),
        ClaimSeen: ("claim", set()),
        PackageSeen: ("package", set()),
    }
    for word in wanted:
        columns[type(word)][1].add(word)
    return Row(number, action, released=released, **{name: frozenset(words) for name, words in columns.values()})  # type: ignore[arg-type]


_A, _S, _P, _H, _O, _T, _C, _K = Action, Status, Phase, HostSeen, OutcomeSeen, TreeSeen, ClaimSeen, PackageSeen

ROWS: tuple[Row, ...] = (
    _row(1, _A.QUEUE, _S.CREATED),
    _row(2, _A.LATE, _S.SUCCEEDED, _H.ALIVE),
    _row(2, _A.LATE, _S.SUCCEEDED, _T.LEFT),
    _row(3, _A.RESULT_UNCHECKED, _S.SUCCEEDED, _K.UNKNOWN),
    _row(3, _A.NOTHING, _S.SUCCEEDED, _K.RESULTS),
    _row(3, _A.RESULT_DAMAGED, _S.SUCCEEDED),
    _row(4, _A.HOLD, _S.RUNNING, _P.PUBLISHING, _K.UNKNOWN),
    _row(5, _A.COMMIT, _S.RUNNING, _P.PUBLISHING, _K.RESULTS),
    _row(5, _A.PUBLISH, _S.RUNNING, _P.PUBLISHING, _K.STAGING),
    _row(6, _A.PACKAGE_DIFFERS, _S.RUNNING, _P.PUBLISHING, _K.DIFFERS),
    _row(6, _A.PACKAGE_LOST, _S.RUNNING, _P.PUBLISHING, _K.NEITHER),
    _row(7, _A.PUBLISH_AGAIN, _S.RUNNING, _P.PUBLISH_PENDING),
    _row(7, _A.VERIFY, _S.RUNNING, _P.VERIFYING),
    _row(8, _A.LATE, *TERMINAL, _H.ALIVE, released=True),
    _row(8, _A.LATE, *TERMINAL, _T.LEFT, released=True),
    _row(8, _A.OFFER, *TERMINAL, _O.SEALED, released=True),
    _row(8, _A.NOTHING, *TERMINAL, released=True),
    _row(9, _A.HOLD, _H.UNKNOWN),
    _row(10, _A.ADOPT, _S.STARTING, _H.ALIVE),
    _row(11, _A.ADOPT, _S.RUNNING, _H.ALIVE, _O.NONE, _O.UNKNOWN),
    _row(12, _A.AWAIT_EXIT, _S.RUNNING, _H.ALIVE),
    _row(13, _A.STOP_AGAIN, _H.ALIVE),
    _row(14, _A.HOLD, _O.UNKNOWN),
    _row(15, _A.LAUNCH_LOST, _S.STARTING, _O.NONE, _T.CLEAR, _C.NONE, _C.REVOKED),
    _row(16, _A.HOLD, _S.STARTING, _O.NONE, _T.UNKNOWN, _C.NONE, _C.REVOKED),
    _row(16, _A.HOLD, _S.STARTING, _O.NONE, _C.UNKNOWN, _T.CLEAR, _T.UNKNOWN),
    _row(17, _A.SIGN_OF_WORK, _S.STARTING),
    _row(18, _A.HOST_LOST, _S.RUNNING, _P.COMPUTING, _P.SEALING, _P.CLEANING_UP, _O.NONE),
    _row(18, _A.OUTCOME_FAILED, _S.RUNNING, _P.COMPUTING, _P.SEALING, _P.CLEANING_UP, _O.FAILED),
    _row(18, _A.OUTCOME_STOPPED, _S.RUNNING, _P.COMPUTING, _P.SEALING, _P.CLEANING_UP, _O.STOPPED),
    _row(18, _A.OUTCOME_DEADLINE, _S.RUNNING, _P.COMPUTING, _P.SEALING, _P.CLEANING_UP, _O.DEADLINE),
    _row(19, _A.HOLD, _T.UNKNOWN),
    _row(20, _A.END_TREE, _T.LEFT),
    _row(21, _A.SEALED_CLEAR, _S.RUNNING, _O.SEALED, _T.CLEAR),
    _row(22, _A.STOPPED_CLEAR, _S.STOPPING, _T.CLEAR),
    _row(22, _A.RELEASE, *RETRYABLE, _T.CLEAR, released=False),
)


@dataclass(frozen=True, slots=True)
class Decision:
    """The row that matched."""

    number: int
    action: Action


def decide(pair: Pair, released: bool, seen: Evidence) -> Decision:
    """The first matching row. The table is total: a test proves it over every combination."""
    for row in ROWS:
        if row.matches(pair, released, seen):
            return Decision(row.number, row.action)
    raise AssertionError(f"§6 has no row for {pair}, released={released}, {seen}")
