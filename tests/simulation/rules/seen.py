"""Checks in every state, and of what comes in: slots, resources, bounds, contact, old sessions (R03, R06, R09, R11, R18)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from actum.limits import NOTICES_WAITING_MAX
from actum.model.run import AttemptRow
from actum.model.status import Contact, Phase, Status
from actum.supervise import effects

from tests.simulation.checks import Ledger, at

if TYPE_CHECKING:
    from tests.simulation.driver import App

Said = str | None
WAITING_MAX = 400  # postponed commands of one instance, in a world this small
UNSAID_TICKS_MAX = 2  # in which an instance could have said what fails


@at("state", "R06")
def slots_are_not_exceeded(ledger: Ledger, rows: list[AttemptRow]) -> Said:
    taken = sum(not row.released and row.pair.phase is not Phase.QUEUED and row.adopts is None for row in rows)
    slots = ledger.truth.scenario.slots
    return f"{taken} attempts hold {slots} slots" if taken > slots else None


@at("state", "R06")
def a_resource_has_one_holder(ledger: Ledger, rows: list[AttemptRow]) -> Said:
    held = Counter(
        name
        for row in rows
        if not row.released and row.pair.phase is not Phase.QUEUED
        for name in row.contract["policies"].get("resources", ())
    )
    twice = [name for name, count in held.items() if count > 1]
    return f"the resource {twice} has several holders" if twice else None


@at("state", "R06")
def nothing_lives_after_release(ledger: Ledger, rows: list[AttemptRow]) -> Said:
    for row in rows:
        if row.released and ledger.work_of(row.attempt):
            return f"{row.run}/{row.n} is released, and a process lives"
    return None


@at("state", "R18")
def one_attempt_of_a_run_computes(ledger: Ledger, rows: list[AttemptRow]) -> Said:
    busy = Counter(row.run for row in rows if ledger.work_of(row.attempt))
    twice = [run for run, count in busy.items() if count > 1]
    return f"two attempts of run {twice} compute at once" if twice else None


@at("state", "R18")
def nothing_published_is_called_a_failure(ledger: Ledger, rows: list[AttemptRow]) -> Said:
    for row in rows:
        folder = ledger.folders.get(row.attempt)
        ended = row.pair.status in (Status.STOPPED, Status.FAILED, Status.TIMEOUT, Status.START_FAILED)
        mine = folder is not None and folder.adopter in (None, row.attempt)
        if ended and mine and folder is not None and folder.published is not None and not folder.touched:
            return f"{row.run}/{row.n} is {row.pair}, and its package is published"
    return None


@at("state", "R09")
def a_hold_is_said(ledger: Ledger, rows: list[AttemptRow]) -> Said:
    """Who cannot tell has an alert open that says what is waited for."""
    for row in rows:
        holds = row.contact is Contact.CANNOT_TELL
        if holds and f"cannot_tell:{row.attempt}" not in ledger.truth.store.alerts and row.attempt not in ledger.unsure:
            return f"{row.run}/{row.n} cannot tell, and no alert says so"
    return None


@at("looked", "R09")
def cannot_tell_is_a_hold(ledger: Ledger, app: App, row: AttemptRow, verdict: Any) -> Said:
    """What could not be told concludes nothing: the pair stays as it is, whatever it was (§6 rows 9, 14, 16, 19)."""
    seen = verdict["evidence"]
    unknown = seen["host"] == "unknown" and row.pair.phase not in (Phase.PUBLISHING, Phase.PUBLISH_PENDING, Phase.VERIFYING)
    final = ("host_lost", "launch_lost", "sealed_clear", "stopped_clear", "release", "end_tree")
    return f"the host is unknown, and the verdict is {verdict['verdict']}" if unknown and verdict["action"] in final else None


@at("bounds", "R11")
def what_waits_is_bounded(ledger: Ledger, app: App) -> Said:
    waiting = max((len(m.live.get("notices", ())) for m in app.supervisor.machines.values()), default=0)
    if waiting > NOTICES_WAITING_MAX:
        return f"{waiting} journal rows of one attempt wait for the store"
    commands = len(app.supervisor._postponed)
    return f"{commands} commands are postponed" if commands > WAITING_MAX else None


@at("frame", "R03")
def a_frame_is_of_its_session(ledger: Ledger, app: App, frame: dict[str, Any], row: AttemptRow) -> Said:
    if frame["session"] != row.session:
        return f"a {frame['type']} of another session is accepted for {row.run}/{row.n}"
    return None if frame["run"] == row.run else f"a {frame['type']} of run {frame['run']} is accepted for run {row.run}"


@at("frame", "R03")
def frames_come_in_their_order(ledger: Ledger, app: App, frame: dict[str, Any], row: AttemptRow) -> Said:
    last = app.last_seq.get(frame["channel"], -1)
    app.last_seq[frame["channel"]] = frame["seq"]
    return f"frame {frame['seq']} is accepted after {last}" if frame["seq"] <= last else None


@at("frame", "R07")
def a_hello_proves_its_secret(ledger: Ledger, app: App, frame: dict[str, Any], row: AttemptRow) -> Said:
    if frame["type"] != "hello":
        return None
    secret = ledger.folders[row.attempt].secret
    return "a hello is accepted with a secret that is not its session's" if frame["secret"] != secret else None


@at("greeted", "P13")
def a_host_nobody_waits_for_is_dismissed(ledger: Ledger, row: AttemptRow, said: list[effects.Effect]) -> Said:
    if not row.released:
        return None
    answers = {each.type for each in said if isinstance(each, effects.Send)}
    return None if answers == {"dismiss"} else f"the host of a released attempt is answered {sorted(answers)}"


@at("greeted", "P04")
def a_host_of_a_stopped_attempt_may_not_go_on(ledger: Ledger, row: AttemptRow, said: list[effects.Effect]) -> Said:
    answers = {each.type for each in said if isinstance(each, effects.Send)}
    stopping = row.pair.status is Status.STOPPING
    return "a host is told to go on, and its attempt is STOPPING" if stopping and "hello-ack" in answers else None


@at("bounds", "R09")
def a_step_that_fails_is_said(ledger: Ledger, app: App) -> Said:
    """What is tried again has an open alert, or is a hold: never an error of which nobody hears."""
    for (attempt, kind), step in app.failing.steps.items():
        if step.ticks > UNSAID_TICKS_MAX:
            return f"{ledger.truth.label(attempt)} is {step.pair}, a step of it fails ({kind}), and nothing says so"
    return None
