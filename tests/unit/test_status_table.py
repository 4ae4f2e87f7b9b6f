"""The status table of §4 (R02, R03, R06): every (status, phase, event) triple is tried against a copy written by hand.

`EXPECTED` is transcribed from PROTOCOL §4 row by row, without looking at the code: the two tables are compared, so a
change of one without the other fails.
"""

from __future__ import annotations

from itertools import product

import pytest
from actum.errors import ActumError
from actum.model.status import (
    ARROWS,
    LEGAL,
    PAIRS,
    RELEASING,
    RETRYABLE,
    RUN_TERMINAL,
    TERMINAL,
    AttemptEvent,
    FailureCode,
    IllegalArrow,
    Pair,
    Phase,
    RunStatus,
    Status,
    after,
    arrows,
    run_status,
)

LEGAL_PAIRS = """
CREATED QUEUED|FREEZING; STARTING LAUNCHING; RUNNING COMPUTING|SEALING|CLEANING_UP|VERIFYING|PUBLISHING|PUBLISH_PENDING;
STOPPING CLEANING_UP; FAILED CLEANING_UP|CLOSED; START_FAILED CLEANING_UP|CLOSED; TIMEOUT CLEANING_UP|CLOSED;
STOPPED CLOSED; SUCCEEDED CLOSED
"""

# status / phases | event | next status / next phase
EXPECTED = """
CREATED / QUEUED                                                      | slot_granted    | CREATED / FREEZING
CREATED / QUEUED                                                      | adopted         | RUNNING / VERIFYING
CREATED / FREEZING                                                    | inputs_frozen   | STARTING / LAUNCHING
CREATED / FREEZING                                                    | freeze_failed   | START_FAILED / CLOSED
CREATED / QUEUED FREEZING                                             | stop_asked      | STOPPED / CLOSED
STARTING / LAUNCHING                                                  | contact_made    | RUNNING / COMPUTING
STARTING / LAUNCHING                                                  | spawn_failed    | START_FAILED / CLOSED
STARTING / LAUNCHING                                                  | launch_lost     | START_FAILED / CLEANING_UP
STARTING / LAUNCHING                                                  | stop_asked      | STOPPING / CLEANING_UP
RUNNING / COMPUTING SEALING CLEANING_UP VERIFYING PUBLISH_PENDING     | stop_asked      | STOPPING / CLEANING_UP
RUNNING / PUBLISHING                                                  | stop_asked      | RUNNING / PUBLISHING
STOPPING / CLEANING_UP                                                | stop_asked      | STOPPING / CLEANING_UP
RUNNING / COMPUTING                                                   | work_completed  | RUNNING / SEALING
RUNNING / COMPUTING SEALING                                           | outcome_sealed  | RUNNING / CLEANING_UP
RUNNING / COMPUTING SEALING                                           | outcome_failed  | FAILED / CLEANING_UP
RUNNING / COMPUTING SEALING                                           | deadline_passed | TIMEOUT / CLEANING_UP
RUNNING / CLEANING_UP                                                 | tree_clear      | RUNNING / VERIFYING
RUNNING / VERIFYING                                                   | verified        | RUNNING / PUBLISHING
RUNNING / VERIFYING                                                   | rejected        | FAILED / CLOSED
RUNNING / PUBLISHING                                                  | rename_failed   | RUNNING / PUBLISH_PENDING
RUNNING / PUBLISH_PENDING                                             | retry_due       | RUNNING / PUBLISHING
RUNNING / PUBLISHING                                                  | recorded        | SUCCEEDED / CLOSED
RUNNING / PUBLISHING                                                  | package_lost    | FAILED / CLOSED
STOPPING / CLEANING_UP                                                | tree_clear      | STOPPED / CLOSED
FAILED / CLEANING_UP                                                  | tree_clear      | FAILED / CLOSED
START_FAILED / CLEANING_UP                                            | tree_clear      | START_FAILED / CLOSED
TIMEOUT / CLEANING_UP                                                 | tree_clear      | TIMEOUT / CLOSED
"""

EVERY = tuple(product(Status, Phase, AttemptEvent))


def expected() -> dict[tuple[str, str, str], tuple[str, str]]:
    table = {}
    for line in EXPECTED.strip().splitlines():
        before, event, target = (part.strip() for part in line.split("|"))
        status, _, phases = before.partition(" / ")
        next_status, _, next_phase = target.partition(" / ")
        for phase in phases.split():
            assert (status, phase, event) not in table, line
            table[status, phase, event] = (next_status, next_phase)
    return table


def test_r02_every_triple_does_what_the_protocol_says() -> None:
    """1,710 triples: the arrow of the hand-written table, or IllegalArrow and no change."""
    table, allowed = expected(), 0
    for status, phase, event in EVERY:
        before = Pair(status, phase)
        target = table.get((status.value, phase.value, event.value))
        if target is None:
            with pytest.raises(IllegalArrow) as caught:
                after(before, event)
            assert caught.value.code == "illegal_arrow"
            assert (caught.value.before, caught.value.event) == (before, event)
        else:
            assert after(before, event) == target, f"{before} on {event}"
            allowed += 1
    assert (len(EVERY), allowed) == (9 * 10 * 19, len(table))
    assert len(arrows()) == len(table)


def test_the_legal_pairs_are_those_of_the_protocol() -> None:
    by_hand = set()
    for part in LEGAL_PAIRS.split(";"):
        status, phases = part.split()
        by_hand |= {(status, phase) for phase in phases.split("|")}
    assert {(pair.status.value, pair.phase.value) for pair in PAIRS} == by_hand
    assert set(ARROWS) == set(PAIRS)
    assert set(LEGAL) == set(Status)


def test_every_arrow_stays_within_the_legal_pairs() -> None:
    assert {target for _, _, target in arrows()} <= set(PAIRS)


def test_every_event_and_every_phase_is_used() -> None:
    assert {event for _, event, _ in arrows()} == set(AttemptEvent)
    assert {pair.phase for pair in PAIRS} == set(Phase)


def test_every_pair_can_be_reached_and_can_reach_closure() -> None:
    ways = [(before, target) for before, _, target in arrows()]
    reached = {Pair(Status.CREATED, Phase.QUEUED)}
    while grown := {target for before, target in ways if before in reached} - reached:
        reached |= grown
    assert reached == set(PAIRS)
    closing = {pair for pair in PAIRS if pair.phase is Phase.CLOSED}
    while grown := {before for before, target in ways if target in closing} - closing:
        closing |= grown
    assert closing == set(PAIRS)


def test_r03_no_arrow_leads_out_of_a_terminal_status() -> None:
    assert {status.value for status in TERMINAL} == {"STOPPED", "FAILED", "START_FAILED", "TIMEOUT", "SUCCEEDED"}
    for before, event, target in arrows():
        if before.status in TERMINAL:
            assert target.status is before.status, f"{before} on {event}"
    for pair in PAIRS:
        if pair.phase is Phase.CLOSED:
            assert pair.status in TERMINAL
            assert ARROWS[pair] == {}, f"{pair} is closed and has a way out"


def test_r06_released_is_entered_on_every_way_to_closure_and_never_left() -> None:
    assert {pair for pair in PAIRS if pair.phase is Phase.CLOSED} < RELEASING
    assert RELEASING - {pair for pair in PAIRS if pair.phase is Phase.CLOSED} == {Pair(Status.RUNNING, Phase.VERIFYING)}
    holding = {Phase.FREEZING, Phase.LAUNCHING, Phase.COMPUTING, Phase.SEALING}
    assert not any(pair.phase in holding for pair in RELEASING)


def test_r06_status_alone_does_not_release() -> None:
    """A terminal status that is still cleaning up keeps its slot until the tree is clear."""
    for status in RETRYABLE:
        assert Pair(status, Phase.CLEANING_UP) not in RELEASING
        assert after(Pair(status, Phase.CLEANING_UP), AttemptEvent.TREE_CLEAR) in RELEASING


def test_r01_success_has_one_way_in() -> None:
    ways = [(before, event) for before, event, target in arrows() if target.status is Status.SUCCEEDED]
    assert ways == [(Pair(Status.RUNNING, Phase.PUBLISHING), AttemptEvent.RECORDED)]


def test_a_stop_is_answered_in_every_open_pair_and_in_no_closed_or_failed_one() -> None:
    for pair in PAIRS:
        assert (AttemptEvent.STOP_ASKED in ARROWS[pair]) == (pair.status not in TERMINAL), str(pair)


@pytest.mark.parametrize("status", list(Status))
@pytest.mark.parametrize("retries", [False, True])
def test_the_run_follows_its_attempt_or_waits_for_the_next(status: Status, retries: bool) -> None:
    found = run_status(status, retries=retries)
    waiting = retries and status.value in ("FAILED", "START_FAILED", "TIMEOUT")
    assert found is (RunStatus.RETRYING if waiting else RunStatus(status.value))
    assert RunStatus.RETRYING not in RUN_TERMINAL


def test_an_illegal_arrow_is_a_known_error_in_words() -> None:
    error = IllegalArrow(Pair(Status.SUCCEEDED, Phase.CLOSED), AttemptEvent.STOP_ASKED)
    assert isinstance(error, ActumError)
    assert error.what == "“stop_asked” is not possible in SUCCEEDED / CLOSED."


def test_the_failure_codes_are_the_closed_list() -> None:
    closed = (
        "start_error start_deadline launch_lost input_unreadable input_changed contract_invalid work_failed "
        "work_crashed out_of_memory limit_exceeded disk_full io_error supervisor_lost host_lost result_incomplete "
        "result_rejected package_lost workspace_copied stage_deadline overall_deadline"
    )
    assert [code.value for code in FailureCode] == closed.split()
