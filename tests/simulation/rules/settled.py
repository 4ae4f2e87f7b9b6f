"""Checks when all is quiet: everything ended, nothing is left over or lost (R02, R04, R06, R08, R09, R12, R18)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actum.model.facts import FactName
from actum.model.run import AttemptRow
from actum.model.status import RETRYABLE, RUN_TERMINAL, Contact, Phase, RunStatus, Status
from actum.supervise.machine import PASSING_ALERTS

from tests.simulation.checks import Ledger, at

if TYPE_CHECKING:
    from tests.simulation.driver import App

Said = str | None
Rows = list[AttemptRow]


@at("settled", "R18")
def every_run_ends(ledger: Ledger, app: App, rows: Rows) -> Said:
    for run in ledger.truth.store.runs.values():
        if run.status not in RUN_TERMINAL:
            return f"run {run.number} never ends: {run.status}"
    return None


@at("settled", "R18")
def every_attempt_is_closed(ledger: Ledger, app: App, rows: Rows) -> Said:
    open_ = [f"{row.run}/{row.n} ({row.pair})" for row in rows if row.pair.phase is not Phase.CLOSED or not row.released]
    return f"never closed: {open_}" if open_ else None


@at("settled", "R09")
def no_hold_lasts_for_ever(ledger: Ledger, app: App, rows: Rows) -> Said:
    held = [f"{row.run}/{row.n}" for row in rows if row.contact is Contact.CANNOT_TELL]
    return f"{held} cannot tell for ever" if held else None


@at("settled", "R18")
def no_success_is_lost(ledger: Ledger, app: App, rows: Rows) -> Said:
    for row in rows:
        folder = ledger.folders.get(row.attempt)
        kept = folder is not None and (folder.published is not None or folder.touched)
        if row.pair.status is Status.SUCCEEDED and not kept:
            return f"{row.run}/{row.n} is SUCCEEDED, and its package is lost"
    return None


@at("settled", "R18")
def good_work_succeeds(ledger: Ledger, app: App, rows: Rows) -> Said:
    """Sealed, durable, never touched, and nobody stopped or rejected it: a crash of the app alone does not fail it.

    What was not durable yet when a deadline ended it may still become so, and is offered for adoption.
    """
    for row in rows:
        folder = ledger.folders.get(row.attempt)
        good = folder is not None and folder.package_durable and folder.outcome_durable and not folder.touched
        good = good and (folder.outcome or {}).get("kind") == "sealed" and row.attempt not in ledger.truth.rejections
        good = good and folder is not None and folder.adopter in (None, row.attempt)
        good = good and row.attempt not in ledger.truth.timed_out
        if good and row.stop_requested_at_us is None and row.pair.status is not Status.SUCCEEDED and row.current:
            return f"{row.run}/{row.n} was sealed, and is {row.pair} ({row.failure_code})"
    return None


@at("settled", "R01")
def a_success_has_its_result_row(ledger: Ledger, app: App, rows: Rows) -> Said:
    without = [row.run for row in rows if row.pair.status is Status.SUCCEEDED and row.attempt not in ledger.truth.store.results]
    return f"{without} has no result row" if without else None


@at("settled", "R02")
def a_run_has_the_status_of_its_attempt(ledger: Ledger, app: App, rows: Rows) -> Said:
    for row in rows:
        stopped_between = row.run_status is RunStatus.STOPPED and row.pair.status in RETRYABLE
        if row.current and row.run_status.value != row.pair.status.value and not stopped_between:
            return f"{row.run}/{row.n} is {row.pair}, and the run is {row.run_status}"
    return None


@at("settled", "R12")
def every_record_is_kept(ledger: Ledger, app: App, rows: Rows) -> Said:
    for row in rows:
        if FactName.LAUNCHED in row.facts and row.adopts is None:
            folder = ledger.folders[row.attempt]
            kept = sum(key[0] == row.attempt for key in ledger.truth.store.records)
            written = folder.records - len(folder.spoiled)
            if kept != written:
                return f"{row.run}/{row.n} has {kept} of {written} records"
    return None


@at("settled", "R18")
def no_process_is_left(ledger: Ledger, app: App, rows: Rows) -> Said:
    living = [each.role for each in ledger.machine.alive() if each.role != "stranger"]
    return f"processes are left: {living}" if living else None


@at("settled", "R07")
def strangers_live(ledger: Ledger, app: App, rows: Rows) -> Said:
    ended = [each.identity.pid for each in ledger.machine.strangers if not each.alive]
    return f"processes that are nobody's here were ended: {ended}" if ended else None


@at("settled", "R18")
def the_supervisor_is_idle(ledger: Ledger, app: App, rows: Rows) -> Said:
    return None if app.supervisor.idle else "the supervisor is never idle"


@at("settled", "R06")
def every_slot_is_free(ledger: Ledger, app: App, rows: Rows) -> Said:
    return f"{app.supervisor.slots_taken} slots are never freed" if app.supervisor.slots_taken else None


@at("settled", "R08")
def warnings_go_away(ledger: Ledger, app: App, rows: Rows) -> Said:
    left = {key.split(":")[0] for key in ledger.truth.store.alerts} & set(PASSING_ALERTS)
    return f"alerts never go away: {left}" if left else None


@at("settled", "R04")
def every_command_is_answered(ledger: Ledger, app: App, rows: Rows) -> Said:
    unanswered = app.asked.keys() - app.replies.keys()
    return f"never answered: {[type(app.asked[n]).__name__ for n in unanswered]}" if unanswered else None


@at("settled", "P10")
def a_stop_forbids_what_comes_after(ledger: Ledger, app: App, rows: Rows) -> Said:
    """After an accepted stop no further attempt of the run was created."""
    for row in rows:
        if row.n > 1 and ledger.truth.stopped_before.get(row.attempt):
            return f"attempt {row.run}/{row.n} was created after a stop on record"
    return None


@at("settled", "P05")
def a_stopped_run_is_not_turned_into_a_success(ledger: Ledger, app: App, rows: Rows) -> Said:
    """A stop that was answered “accepted” ends STOPPED or with the failure that came first, whatever the outcome says."""
    for number in ledger.truth.accepted:
        run = ledger.truth.store.runs[number]
        if run.status is RunStatus.SUCCEEDED:
            return f"the stop of run {number} was accepted, and it is {run.status}"
    return None
