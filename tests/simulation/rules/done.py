"""Checks at an effect: whether what it rests on is on record (R01, R04, R06–R09, R17, P-numbers of §5 and §6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actum.limits import HOST_SILENT_S
from actum.model.changes import Change
from actum.model.facts import FactName
from actum.model.run import AttemptRow
from actum.model.status import TERMINAL, AttemptEvent, Phase, Status
from actum.supervise import effects

from tests.simulation.checks import Ledger, at
from tests.simulation.files import Process

if TYPE_CHECKING:
    from tests.simulation.driver import App

GRACE_S = 19.0  # HOST_EXIT_GRACE_S, and the commit is answered a little later than it was made

Said = str | None
Row = AttemptRow | None


def _is(row: AttemptRow) -> str:
    return f"{row.run}/{row.n} is {row.pair}"


@at("effect", "P23")
def a_deposed_instance_does_nothing(ledger: Ledger, app: App, effect: effects.Effect, row: Row) -> Said:
    told = app.deposed and not isinstance(effect, effects.Retire)
    return f"a newer epoch was told of, and then comes {type(effect).__name__}" if told else None


@at("effect", "R01")
def a_launch_is_on_record(ledger: Ledger, app: App, effect: effects.Effect, row: Row) -> Said:
    if not isinstance(effect, effects.Launch) or row is None or app.epoch != ledger.truth.store.epoch:
        return None
    if effect.row.session != row.session:
        return "a launch of a session that is not on record"
    stopped = row.stop_requested_at_us is not None  # one that came between the commit and the spawn
    return None if row.pair.phase is Phase.LAUNCHING or stopped else f"a launch, and {_is(row)}"


@at("effect", "R04")
def nothing_is_launched_after_a_stop(ledger: Ledger, app: App, effect: effects.Effect, row: Row) -> Said:
    """An instance whose epoch is over cannot know of the stop: what it launches gives way at the claim (P01)."""
    launches = isinstance(effect, effects.Launch | effects.Freeze | effects.Prepare) and app.epoch == ledger.truth.store.epoch
    stopped = launches and row is not None and row.stop_requested_at_us is not None
    return f"{type(effect).__name__} after a stop on record" if stopped else None


@at("effect", "R09")
def nothing_is_launched_before_the_verdicts(ledger: Ledger, app: App, effect: effects.Effect, row: Row) -> Said:
    request = effect.request if isinstance(effect, effects.Persist) else None
    arrow = request.arrow if isinstance(request, Change) else None
    granted = arrow is not None and arrow.event is AttemptEvent.SLOT_GRANTED
    begins = granted or isinstance(effect, effects.Launch | effects.Freeze)
    left = begins and app.unlooked()
    return f"{type(effect).__name__} before {left} has a verdict" if left else None


@at("effect", "R08")
def silence_was_listened_to(ledger: Ledger, app: App, effect: effects.Effect, row: Row) -> Said:
    """Time in which this instance was not there to listen is no silence of the host: judged when it asks for the TIMEOUT."""
    request = effect.request if isinstance(effect, effects.Persist) else None
    arrow = request.arrow if isinstance(request, Change) else None
    timed_out = arrow is not None and arrow.event is AttemptEvent.DEADLINE_PASSED
    if not timed_out or request is None or ledger.folders[request.attempt].outcome:
        return None
    silent = app.unheard_s.get(request.attempt, 0.0)
    return f"TIMEOUT, and the silence that was listened to is {silent:.1f} s" if silent < HOST_SILENT_S else None


@at("effect", "R01")
def a_package_is_touched_only_after_release(ledger: Ledger, app: App, effect: effects.Effect, row: Row) -> Said:
    if not isinstance(effect, effects.Derive | effects.Verify) or row is None:
        return None
    return None if FactName.RELEASED in row.facts else f"{type(effect).__name__}, and {_is(row)}"


@at("effect", "R01")
def only_what_is_verified_is_published(ledger: Ledger, app: App, effect: effects.Effect, row: Row) -> Said:
    if not isinstance(effect, effects.Publish) or row is None:
        return None
    return None if FactName.CONTENT_VERIFIED in row.facts else f"publish, and {_is(row)}"


@at("effect", "P07")
def publishing_is_on_record_before_the_rename(ledger: Ledger, app: App, effect: effects.Effect, row: Row) -> Said:
    if not isinstance(effect, effects.Publish) or row is None or app.epoch != ledger.truth.store.epoch:
        return None
    return None if row.pair.phase is Phase.PUBLISHING else f"publish, and {_is(row)}"


@at("effect", "R06")
def inputs_are_frozen_in_a_slot(ledger: Ledger, app: App, effect: effects.Effect, row: Row) -> Said:
    if not isinstance(effect, effects.Freeze) or row is None or app.epoch != ledger.truth.store.epoch:
        return None
    return None if row.pair.phase is Phase.FREEZING else f"freeze, and {_is(row)}"


@at("effect", "R17")
def frozen_inputs_are_only_compared(ledger: Ledger, app: App, effect: effects.Effect, row: Row) -> Said:
    if not isinstance(effect, effects.Freeze) or row is None:
        return None
    frozen = FactName.INPUTS_FROZEN in row.facts
    if frozen and not effect.again:
        return "inputs that are frozen are frozen anew"
    return "inputs that nobody froze are compared" if effect.again and not frozen else None


@at("effect", "R08")
def a_stop_is_sent_only_for_a_reason(ledger: Ledger, app: App, effect: effects.Effect, row: Row) -> Said:
    """A user's stop, a passed deadline, or an attempt that is over: nothing else tells a host to stop."""
    if isinstance(effect, effects.WriteStop):
        over = row is not None and row.pair.status in TERMINAL
        asked = row is not None and (row.stop_requested_at_us is not None or over)
        return None if asked else "a stop is written, and nothing on record asks for it"
    return None


@at("effect", "R12")
def records_are_read_from_where_they_are_known(ledger: Ledger, app: App, effect: effects.Effect, row: Row) -> Said:
    if not isinstance(effect, effects.ReadRecords) or row is None:
        return None
    late = effect.row.records_offset > row.records_offset
    return "records are read beyond what is on record: some would be lost" if late else None


@at("signal", "R07")
def only_processes_of_the_attempt_are_signalled(
    ledger: Ledger, effect: effects.EndTree, process: Process, row: AttemptRow
) -> Said:
    return "a process of another attempt is signalled" if process.attempt != effect.attempt else None


@at("signal", "R08")
def work_under_a_living_host_is_left_alone(ledger: Ledger, effect: effects.EndTree, process: Process, row: AttemptRow) -> Said:
    """While the attempt computes, only its host may end the work; a dead host's tree may be ended."""
    computing = row.pair.status in (Status.STARTING, Status.RUNNING) and row.pair.phase is not Phase.CLEANING_UP
    host = ledger.machine.lives(effect.attempt, "host")
    asked = row.stop_requested_at_us is not None
    return f"{row.pair}, its host lives, and its {process.role} is ended" if computing and host and not asked else None


@at("signal", "R08")
def a_success_under_way_is_not_pressed_too_early(
    ledger: Ledger, effect: effects.EndTree, process: Process, row: AttemptRow
) -> Said:
    """A host that has its outcome written gets its time to leave (§6 row 12)."""
    waits = row.pair.status is Status.RUNNING and row.pair.phase is Phase.CLEANING_UP and process.role == "host"
    waited_s = ledger.truth.since_arrow_s(effect.attempt)
    return f"the host is ended {waited_s:.0f} s after its outcome was recorded" if waits and waited_s < GRACE_S else None


@at("spawn", "R18")
def an_attempt_is_launched_once(ledger: Ledger, row: AttemptRow, count: int) -> Said:
    return f"{row.run}/{row.n} is launched {count} times" if count > 1 else None


@at("work", "R18")
def work_starts_once(ledger: Ledger, row: AttemptRow, count: int) -> Said:
    return f"the work of {row.run}/{row.n} starts {count} times" if count > 1 else None


@at("work", "P01")
def no_work_starts_after_its_end_is_on_record(ledger: Ledger, row: AttemptRow, count: int) -> Said:
    late = row.released or row.pair.status in (Status.STOPPED, Status.START_FAILED)
    return f"the work of {row.run}/{row.n} starts, and it is {row.pair}" if late else None


@at("work", "R06")
def work_runs_in_a_slot(ledger: Ledger, row: AttemptRow, count: int) -> Said:
    return f"the work of {row.run}/{row.n} starts without a slot" if row.released else None
