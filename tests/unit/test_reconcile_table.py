"""The reconciliation table of §6, proved whole and compared with a copy written by hand (R07, R09, R03).

`EXPECTED` is transcribed from PROTOCOL §6, row by row and without looking at the code. Over every combination of record and
evidence: some row matches, no row is dead, nothing is concluded from “cannot tell”, nothing is released before the tree is
clear, and no row leads out of a terminal status.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from actum.model.evidence import ClaimSeen, Evidence, HostSeen, OutcomeSeen, PackageSeen, TreeSeen
from actum.model.status import PAIRS, TERMINAL, Pair, Phase, Status
from actum.supervise.reconcile import ROWS, Action, decide

# number | status | phase | released | host | outcome | tree | claim | package | action       (* = any, a|b = either)
EXPECTED = """
1  | CREATED | * | * | * | * | * | * | * | queue
2  | SUCCEEDED | * | * | alive | * | * | * | * | late
2  | SUCCEEDED | * | * | * | * | left | * | * | late
3  | SUCCEEDED | * | * | * | * | * | * | unknown | result_unchecked
3  | SUCCEEDED | * | * | * | * | * | * | results | nothing
3  | SUCCEEDED | * | * | * | * | * | * | * | result_damaged
4  | RUNNING | PUBLISHING | * | * | * | * | * | unknown | hold
5  | RUNNING | PUBLISHING | * | * | * | * | * | results | commit
5  | RUNNING | PUBLISHING | * | * | * | * | * | staging | publish
6  | RUNNING | PUBLISHING | * | * | * | * | * | differs | package_differs
6  | RUNNING | PUBLISHING | * | * | * | * | * | neither | package_lost
7  | RUNNING | PUBLISH_PENDING | * | * | * | * | * | * | publish_again
7  | RUNNING | VERIFYING | * | * | * | * | * | * | verify
8  | STOPPED|FAILED|START_FAILED|TIMEOUT | * | yes | alive | * | * | * | * | late
8  | STOPPED|FAILED|START_FAILED|TIMEOUT | * | yes | * | * | left | * | * | late
8  | STOPPED|FAILED|START_FAILED|TIMEOUT | * | yes | * | sealed | * | * | * | offer
8  | STOPPED|FAILED|START_FAILED|TIMEOUT | * | yes | * | * | * | * | * | nothing
9  | * | * | * | unknown | * | * | * | * | hold
10 | STARTING | * | * | alive | * | * | * | * | adopt
11 | RUNNING | * | * | alive | none|unknown | * | * | * | adopt
12 | RUNNING | * | * | alive | * | * | * | * | await_exit
13 | * | * | * | alive | * | * | * | * | stop_again
14 | * | * | * | * | unknown | * | * | * | hold
15 | STARTING | * | * | * | none | clear | none|revoked | * | launch_lost
16 | STARTING | * | * | * | none | unknown | none|revoked | * | hold
16 | STARTING | * | * | * | none | clear|unknown | unknown | * | hold
17 | STARTING | * | * | * | * | * | * | * | sign_of_work
18 | RUNNING | * | * | * | none | * | * | * | host_lost
18 | RUNNING | * | * | * | failed | * | * | * | outcome_failed
18 | RUNNING | * | * | * | stopped | * | * | * | outcome_stopped
18 | RUNNING | * | * | * | deadline | * | * | * | outcome_deadline
19 | * | * | * | * | * | unknown | * | * | hold
20 | * | * | * | * | * | left | * | * | end_tree
21 | RUNNING | * | * | * | sealed | clear | * | * | sealed_clear
22 | STOPPING | * | * | * | * | clear | * | * | stopped_clear
22 | FAILED|START_FAILED|TIMEOUT | * | no | * | * | clear | * | * | release
"""

ENDS = {Action.HOST_LOST, Action.OUTCOME_FAILED, Action.OUTCOME_STOPPED, Action.OUTCOME_DEADLINE, Action.LAUNCH_LOST}
SETTLES = {Action.SEALED_CLEAR, Action.STOPPED_CLEAR, Action.RELEASE, Action.LAUNCH_LOST}
HARMLESS_WHEN_TERMINAL = {
    Action.LATE,
    Action.RESULT_UNCHECKED,
    Action.RESULT_DAMAGED,
    Action.NOTHING,
    Action.OFFER,
    Action.HOLD,
    Action.STOP_AGAIN,
    Action.END_TREE,
    Action.RELEASE,
}

Row = tuple[int, tuple[frozenset[str], ...], str]


def transcribed() -> list[Row]:
    rows = []
    for line in EXPECTED.strip().splitlines():
        number, *columns, action = (column.strip() for column in line.split(" | "))
        rows.append((int(number), tuple(frozenset(column.split("|")) for column in columns), action))
    return rows


def released_values(pair: Pair) -> tuple[bool, ...]:
    """Closed means released; VERIFYING and later are released too; a stop there is STOPPING and released."""
    if pair.phase is Phase.CLOSED or pair.phase in (Phase.VERIFYING, Phase.PUBLISHING, Phase.PUBLISH_PENDING):
        return (True,)
    return (False, True) if pair.status is Status.STOPPING else (False,)


def combinations() -> Iterator[tuple[Pair, bool, Evidence]]:
    seen = product(HostSeen, OutcomeSeen, TreeSeen, ClaimSeen, PackageSeen)
    evidence = [Evidence(0, host, outcome, tree, claim, package) for host, outcome, tree, claim, package in seen]
    for pair in PAIRS:
        for released in released_values(pair):
            for each in evidence:
                yield pair, released, each


ALL = list(combinations())


def by_hand(rows: list[Row], pair: Pair, released: bool, seen: Evidence) -> tuple[int, str, int]:
    key = (pair.status, pair.phase, "yes" if released else "no", seen.host, seen.outcome, seen.tree, seen.claim, seen.package)
    for index, (number, columns, action) in enumerate(rows):
        if all("*" in column or value in column for column, value in zip(columns, key, strict=True)):
            return number, action, index
    raise AssertionError(f"no row for {key}")


def test_the_code_decides_as_the_protocol_says() -> None:
    rows = transcribed()
    used = set()
    for pair, released, seen in ALL:
        number, action, index = by_hand(rows, pair, released, seen)
        used.add(index)
        decision = decide(pair, released, seen)
        assert (decision.number, decision.action.value) == (number, action), (pair, released, seen)
    assert used == set(range(len(rows))), "a transcribed row is dead"


def test_no_row_is_dead() -> None:
    used = {next(i for i, row in enumerate(ROWS) if row.matches(pair, released, seen)) for pair, released, seen in ALL}
    assert used == set(range(len(ROWS))), [ROWS[i] for i in set(range(len(ROWS))) - used]
    assert {row.number for row in ROWS} == set(range(1, 23))


def test_r09_nothing_is_concluded_from_cannot_tell() -> None:
    for pair, released, seen in ALL:
        if pair.phase in (Phase.VERIFYING, Phase.PUBLISHING, Phase.PUBLISH_PENDING):
            continue
        action = decide(pair, released, seen).action
        if seen.host is HostSeen.UNKNOWN and pair.status is not Status.CREATED:
            assert action not in ENDS | SETTLES, (pair, seen)
        if seen.outcome is OutcomeSeen.UNKNOWN and pair.status not in TERMINAL:
            assert action not in ENDS | SETTLES, (pair, seen)
        if pair.status is Status.STARTING and seen.claim is ClaimSeen.UNKNOWN:
            assert action is not Action.LAUNCH_LOST, (pair, seen)


def test_r07_nothing_is_settled_before_the_tree_is_clear() -> None:
    for pair, released, seen in ALL:
        if seen.tree is not TreeSeen.CLEAR or seen.host is not HostSeen.GONE:
            assert decide(pair, released, seen).action not in SETTLES, (pair, seen)


def test_r03_no_row_leads_out_of_a_terminal_status() -> None:
    for pair, released, seen in ALL:
        if pair.status in TERMINAL:
            assert decide(pair, released, seen).action in HARMLESS_WHEN_TERMINAL, (pair, seen)


def test_r18_a_package_at_its_target_is_committed_or_quarantined_never_dropped() -> None:
    pair = Pair(Status.RUNNING, Phase.PUBLISHING)
    wanted = {
        PackageSeen.UNKNOWN: Action.HOLD,
        PackageSeen.RESULTS: Action.COMMIT,
        PackageSeen.STAGING: Action.PUBLISH,
        PackageSeen.DIFFERS: Action.PACKAGE_DIFFERS,
        PackageSeen.NEITHER: Action.PACKAGE_LOST,
    }
    for where, action in wanted.items():
        for host in HostSeen:
            seen = Evidence(0, host, OutcomeSeen.UNKNOWN, TreeSeen.UNKNOWN, ClaimSeen.HOST, where)
            assert decide(pair, True, seen).action is action


def test_a_combination_without_a_row_is_a_bug_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actum.supervise.reconcile.ROWS", ROWS[:-1])
    seen = Evidence(0, HostSeen.GONE, OutcomeSeen.NONE, TreeSeen.CLEAR, ClaimSeen.HOST)
    with pytest.raises(AssertionError, match="§6 has no row"):
        decide(Pair(Status.FAILED, Phase.CLEANING_UP), False, seen)
