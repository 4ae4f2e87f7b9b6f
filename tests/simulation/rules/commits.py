"""Checks at a commit: before it is written, what is asked; after it, whether it is true of the machine (R01–R03, R05–R08)."""

from __future__ import annotations

from actum.model.changes import Change
from actum.model.facts import FACTS, POSITION, FactName
from actum.model.run import AttemptRow
from actum.model.status import RETRYABLE, RUN_TERMINAL, TERMINAL, AttemptEvent, Pair, Phase, RunStatus, Status

from tests.simulation.checks import Ledger, at
from tests.simulation.files import Folder

Said = str | None
LOST_CODES = ("host_lost", "launch_lost", "start_deadline")


@at("change", "R01")
def facts_come_in_their_order(ledger: Ledger, before: AttemptRow, request: Change, target: Pair) -> Said:
    newest = max((POSITION[name] for name in before.facts), default=-1)
    for fact in request.facts:
        if fact.name in before.facts:
            continue
        if POSITION[fact.name] <= newest:
            return f"{fact.name} comes after {FACTS[newest]}"
        newest = POSITION[fact.name]
    return None


@at("change", "R01")
def a_fact_is_established_once(ledger: Ledger, before: AttemptRow, request: Change, target: Pair) -> Said:
    twice = [fact.name.value for fact in request.facts if fact.name in before.facts]
    return f"{twice} is established twice" if twice and before.attempt not in ledger.unsure else None


@at("change", "R01")
def a_fact_names_its_method(ledger: Ledger, before: AttemptRow, request: Change, target: Pair) -> Said:
    nameless = [fact.name.value for fact in request.facts if "method" not in fact.evidence]
    return f"{nameless} names no method" if nameless else None


@at("change", "R02")
def a_change_has_a_condition(ledger: Ledger, before: AttemptRow, request: Change, target: Pair) -> Said:
    return None if request.arrow or request.expects else "a change of an attempt depends on nothing"


@at("illegal", "R02")
def every_arrow_is_in_the_table(ledger: Ledger, before: AttemptRow, request: Change) -> Said:
    return f"{request.arrow} is not in the table"


@at("change", "R03")
def terminal_is_final(ledger: Ledger, before: AttemptRow, request: Change, target: Pair) -> Said:
    final = before.pair.status in TERMINAL
    return f"{before.pair} became {target}" if final and target.status is not before.pair.status else None


@at("run", "R03")
def a_run_that_ended_stays_as_it_is(ledger: Ledger, before: RunStatus, after: RunStatus) -> Said:
    return f"a run that was {before} became {after}" if before in RUN_TERMINAL and after is not before else None


@at("change", "P08")
def sealed_work_is_never_called_lost(ledger: Ledger, before: AttemptRow, request: Change, target: Pair) -> Said:
    folder = ledger.folders.get(before.attempt)
    sealed = folder is not None and (folder.outcome or {}).get("kind") == "sealed"
    code = request.columns.get("failure_code")
    failed = target.status in (Status.FAILED, Status.START_FAILED) and request.arrow is not None
    return f"sealed work is recorded as {code}" if sealed and failed and code in LOST_CODES else None


@at("change", "P19")
def finished_work_has_not_timed_out(ledger: Ledger, before: AttemptRow, request: Change, target: Pair) -> Said:
    """A deadline is judged only after the outcome was read, and read when the deadline had passed already."""
    if target.status is not Status.TIMEOUT or before.pair.status is Status.TIMEOUT:
        return None
    kind = (ledger.folders[before.attempt].outcome or {}).get("kind")
    read_s = ledger.truth.outcome_read_s.get(before.attempt, -1.0)
    in_time = read_s >= min(ledger.truth.limits_s(before), default=0.0)
    if before.attempt not in ledger.truth.finished_at or kind not in ("sealed", "failed"):
        return None
    return None if in_time else f"TIMEOUT, its outcome is {kind}, and nobody looked after the deadline"


@at("change", "P01")
def start_failed_leaves_no_claim(ledger: Ledger, before: AttemptRow, request: Change, target: Pair) -> Said:
    folder = ledger.folders.get(before.attempt)
    claimed = folder is not None and (folder.claim or {}).get("by") == "host"
    late = before.pair.status is Status.STARTING and target == Pair(Status.START_FAILED, Phase.CLEANING_UP)
    if not late or request.arrow is None or request.arrow.event is AttemptEvent.STOP_ASKED:
        return None
    if claimed:
        return "START_FAILED, and the host holds its claim"
    return None if folder is not None and folder.claim else "START_FAILED, and the claim is free for a late host"


@at("change", "R01")
def success_has_every_fact(ledger: Ledger, before: AttemptRow, request: Change, target: Pair) -> Said:
    if target.status is not Status.SUCCEEDED:
        return None
    missing = sorted(set(FACTS) - {*before.facts, *(fact.name for fact in request.facts)})
    if request.result is None and before.pair.status is not Status.SUCCEEDED:
        return "SUCCEEDED without a result row"
    return f"SUCCEEDED without {missing}" if missing else None


@at("change", "P11")
def published_means_there_and_durable(ledger: Ledger, before: AttemptRow, request: Change, target: Pair) -> Said:
    claimed = any(fact.name in (FactName.PUBLISHED, FactName.SUCCEEDED) for fact in request.facts)
    folder = ledger.folders.get(before.attempt)
    if not claimed or (folder is not None and folder.touched):
        return None
    if folder is None or folder.published is None:
        return "published, and no package is at its target"
    return None if folder.published_durable else "published, and a power cut can still take the package back"


@at("change", "P09")
def a_retry_is_recorded_with_the_failure(ledger: Ledger, before: AttemptRow, request: Change, target: Pair) -> Said:
    if request.arrow is None or target.status not in RETRYABLE or before.pair.status in TERMINAL or not before.current:
        return None
    retry = before.contract["policies"]["retry"]
    allowed = before.n <= retry["maximum"] and request.columns.get("failure_code") in retry["codes"]
    allowed = allowed and request.columns.get("failure_code") not in ledger.truth.never_again
    allowed = allowed and before.adopts is None  # nothing of it is to be done again
    safe = before.contract["policies"]["safe_to_repeat"]
    if allowed and safe and request.retry_at_us is None:
        return f"{target} on {request.columns.get('failure_code')}, and its retry is not part of the transaction"
    return "a retry that the policy does not have" if request.retry_at_us is not None and not allowed else None


@at("change", "R05")
def unsafe_work_is_not_repeated(ledger: Ledger, before: AttemptRow, request: Change, target: Pair) -> Said:
    safe = before.contract["policies"]["safe_to_repeat"]
    started = ledger.truth.started.get(before.attempt, 0) > 0
    return "work that is not safe to repeat is repeated" if request.retry_at_us and started and not safe else None


@at("changed", "R08")
def stopped_means_somebody_asked(ledger: Ledger, before: AttemptRow, row: AttemptRow, request: Change) -> Said:
    stopped = row.pair.status in (Status.STOPPED, Status.STOPPING)
    return f"{row.pair}, and nobody asked for it" if stopped and row.stop_requested_at_us is None else None


@at("changed", "R08")
def timeout_means_a_deadline_has_passed(ledger: Ledger, before: AttemptRow, row: AttemptRow, request: Change) -> Said:
    if row.pair.status is not Status.TIMEOUT or before.pair.status is Status.TIMEOUT:
        return None
    limits = ledger.truth.limits_s(row)
    if not limits:
        return "TIMEOUT, and the task declares no deadline"
    if row.attempt not in ledger.truth.claimed_at:
        return None  # its work never began, and its host stood still for longer than it may take to begin and to work
    active = ledger.truth.active_s(row.attempt)
    return f"TIMEOUT after {active:.0f} s, and the deadlines are {limits}" if active < min(limits) - 0.001 else None


@at("changed", "P20")
def a_stop_nobody_asked_for_is_a_failure(ledger: Ledger, before: AttemptRow, row: AttemptRow, request: Change) -> Said:
    lost = (_folder(ledger, row).outcome or {}).get("cause") == "supervisor_lost" if row.attempt in ledger.folders else False
    ended = before.pair.status is Status.RUNNING and row.pair.status in TERMINAL and row.pair.phase is Phase.CLEANING_UP
    if not lost or not ended or row.pair.status is Status.TIMEOUT:
        return None
    code = request.columns.get("failure_code")
    return None if (row.pair.status, code) == (Status.FAILED, "supervisor_lost") else f"{row.pair} with {code}"


@at("changed", "R01")
def host_exited_is_true(ledger: Ledger, before: AttemptRow, row: AttemptRow, request: Change) -> Said:
    if FactName.HOST_EXITED not in row.facts or FactName.HOST_EXITED in before.facts or row.adopts is not None:
        return None
    folder = _folder(ledger, row)
    late = (folder.claim or {}).get("by") == "supervisor"  # it can do nothing but leave
    return None if late or folder.alive_held_by is None else "host_exited, and the host holds its lock"


@at("changed", "R07")
def tree_gone_is_true(ledger: Ledger, before: AttemptRow, row: AttemptRow, request: Change) -> Said:
    new = FactName.TREE_GONE in row.facts and FactName.TREE_GONE not in before.facts
    return "tree_gone, and a process lives" if new and ledger.work_of(row.attempt) else None


@at("changed", "R07")
def tree_gone_names_what_it_rests_on(ledger: Ledger, before: AttemptRow, row: AttemptRow, request: Change) -> Said:
    new = FactName.TREE_GONE in row.facts and FactName.TREE_GONE not in before.facts
    if not new or row.adopts is not None:
        return None
    method = str(row.facts[FactName.TREE_GONE].get("method"))
    if "scan" in method and "not_excluded" not in row.facts[FactName.TREE_GONE]:
        return "tree_gone by a scan, and what that cannot exclude is not said"
    return None if method else "tree_gone names no method"


@at("changed", "R06")
def released_is_true(ledger: Ledger, before: AttemptRow, row: AttemptRow, request: Change) -> Said:
    new = row.released and not before.released
    if not new:
        return None
    if ledger.work_of(row.attempt):
        return "released, and a process lives"
    launched = FactName.LAUNCHED in row.facts
    return "released, and tree_gone is not on record" if launched and FactName.TREE_GONE not in row.facts else None


@at("changed", "R16")
def a_closed_attempt_is_history(ledger: Ledger, before: AttemptRow, row: AttemptRow, request: Change) -> Said:
    if before.pair.phase is not Phase.CLOSED:
        return None
    same = (before.pair, before.facts, before.failure_code) == (row.pair, row.facts, row.failure_code)
    return None if same else f"{before.pair} was closed, and its history was changed"


@at("changed", "R10")
def success_and_reference_are_one(ledger: Ledger, before: AttemptRow, row: AttemptRow, request: Change) -> Said:
    done, recorded = row.pair.status is Status.SUCCEEDED, FactName.REFERENCE_COMMITTED in row.facts
    return f"{row.pair}, and the reference is {'' if recorded else 'not '}committed" if done != recorded else None


@at("changed", "R17")
def inputs_are_frozen_once(ledger: Ledger, before: AttemptRow, row: AttemptRow, request: Change) -> Said:
    if FactName.INPUTS_FROZEN in before.facts and before.inputs != row.inputs:
        return "the frozen inputs were changed"
    first = next(each for each in ledger.truth.store.rows() if each.run == row.run and each.n == 1)
    frozen = FactName.INPUTS_FROZEN in first.facts and FactName.INPUTS_FROZEN in row.facts
    return f"attempt {row.n} has other inputs than the first" if frozen and first.inputs != row.inputs else None


@at("changed", "R17")
def a_launch_has_frozen_inputs(ledger: Ledger, before: AttemptRow, row: AttemptRow, request: Change) -> Said:
    launched = row.pair.phase is Phase.LAUNCHING
    return "STARTING, and the inputs are not frozen" if launched and FactName.INPUTS_FROZEN not in row.facts else None


@at("record", "R12")
def a_record_is_written_once(ledger: Ledger, attempt: str, seq: int, twice: bool) -> Said:
    return f"record {seq} is written twice" if twice and attempt not in ledger.unsure else None


def _folder(ledger: Ledger, row: AttemptRow) -> Folder:
    return ledger.folders[row.attempt]
