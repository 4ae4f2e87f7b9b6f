"""The supervisor by hand: leftovers, late words, a store that refuses (R03, R07–R09, R12, R18, P01, P08, P13, P23)."""

from __future__ import annotations

import pytest
from actum import limits
from actum.model.changes import RecordRow, RefusalKind
from actum.model.evidence import ClaimSeen, HostSeen, OutcomeSeen, PackageSeen, TreeSeen
from actum.model.facts import FactName
from actum.model.status import Contact, Phase, RunStatus, Status
from actum.supervise import effects, events

from tests.helpers.supervised import DAEMON, HOST, METHOD, RETRY, Bench, computing

# Absences, claims, late messages


def test_r07_two_absences_a_second_apart_and_not_one() -> None:
    bench = computing()
    bench.open()
    bench.looked(claim=ClaimSeen.HOST)
    assert bench.row().failure_code == "host_lost"
    bench.looked(claim=ClaimSeen.HOST)
    assert "tree_gone" not in bench.facts()
    bench.wait(0.5)
    bench.looked(claim=ClaimSeen.HOST)
    assert "tree_gone" not in bench.facts()
    bench.wait(0.6)
    bench.looked(claim=ClaimSeen.HOST)
    assert "tree_gone" in bench.facts()


def test_r07_a_living_member_between_two_absences_discards_the_first() -> None:
    bench = computing()
    bench.open()
    bench.looked(claim=ClaimSeen.HOST)
    bench.looked(claim=ClaimSeen.HOST)
    bench.wait(2)
    bench.looked(claim=ClaimSeen.HOST, tree=TreeSeen.LEFT, members=(DAEMON,))
    assert bench.kinds(effects.EndTree)[0].members == (DAEMON,)
    bench.tell(events.Signalled(bench.row().attempt, "ask", ()))
    bench.wait(2)
    bench.looked(claim=ClaimSeen.HOST)
    assert "tree_gone" not in bench.facts()


def test_r07_the_hosts_own_word_needs_no_scan_where_its_exit_was_observed() -> None:
    bench = Bench()
    bench.admit()
    bench.to_cleaning_up()
    bench.done.clear()
    bench.tell(events.HostGone(bench.row().attempt, "pidfd", True))
    bench.no_records()
    assert not bench.kinds(effects.Look)
    assert bench.row().facts["tree_gone"]["method"] == "subreaper"  # type: ignore[index]


def test_p08_a_look_that_began_before_a_hello_concludes_nothing() -> None:
    bench = Bench()
    bench.admit()
    bench.to_starting()
    bench.open()
    bench.hello()
    assert bench.pair() == (Status.RUNNING, Phase.COMPUTING)
    said = bench.looked()
    assert bench.pair() == (Status.RUNNING, Phase.COMPUTING), "the evidence is older than the hello"
    assert bench.kinds(effects.Look, said), "it is gathered again"


def test_p08_a_host_seen_gone_leaves_its_outcome_to_be_taken() -> None:
    bench = computing()
    bench.open()
    bench.looked(claim=ClaimSeen.HOST, outcome=OutcomeSeen.SEALED, outcome_document=bench.outcome())
    assert bench.pair() == (Status.RUNNING, Phase.CLEANING_UP)
    assert bench.facts()[4:] == ["computation_ended", "sealed", "host_exited"]


def test_p01_a_launch_without_a_trace_is_revoked_before_it_is_called_lost() -> None:
    bench = Bench()
    bench.admit()
    attempt = bench.to_starting().attempt
    bench.open()
    bench.looked()
    assert not bench.kinds(effects.RevokeClaim), "one absence is none"
    bench.wait(61)
    said = bench.looked()
    assert bench.kinds(effects.RevokeClaim, said)
    assert bench.pair() == (Status.STARTING, Phase.LAUNCHING)
    bench.tell(events.ClaimAnswered(attempt, True))
    assert bench.pair() == (Status.START_FAILED, Phase.CLEANING_UP)


@pytest.mark.parametrize("stopped", [False, True])
def test_p01_a_claim_found_while_revoking_gives_way(stopped: bool) -> None:
    bench = Bench()
    bench.admit()
    attempt = bench.to_starting().attempt
    if stopped:
        bench.stop()
        bench.looked()
    else:
        bench.wait(66)
        bench.looked(host=HostSeen.ALIVE)
    assert bench.kinds(effects.RevokeClaim)
    claim = {"by": "host", "session": bench.row().session, "identity": HOST.to_json(), "at": bench.utc_us}
    said = bench.tell(events.ClaimAnswered(attempt, False, claim))
    wanted = (Status.STOPPING, Phase.CLEANING_UP) if stopped else (Status.RUNNING, Phase.COMPUTING)
    assert bench.pair() == wanted
    assert bench.kinds(effects.Look, said), "it looks again"
    assert "host_exited" not in bench.facts()


def test_p01_a_claim_made_during_a_look_shows_a_living_host() -> None:
    bench = Bench()
    bench.admit()
    bench.to_starting()
    bench.stop()
    bench.looked(claim=ClaimSeen.HOST, host_identity=None)
    assert "host_exited" not in bench.facts()
    assert bench.machine().seen.host_exit is None


def test_p01_a_hello_after_the_claim_was_revoked_starts_nothing() -> None:
    bench = Bench()
    bench.admit()
    attempt = bench.to_starting().attempt
    bench.wait(66)
    assert bench.kinds(effects.RevokeClaim)
    bench.hello()
    assert bench.pair() == (Status.STARTING, Phase.LAUNCHING), "whether it may start is being settled"
    bench.tell(events.ClaimAnswered(attempt, True))
    assert bench.pair() == (Status.START_FAILED, Phase.CLEANING_UP)
    assert not [each for each in bench.kinds(effects.Send) if each.type == "hello-ack"]


def test_r03_late_frames_of_an_old_channel_change_nothing_and_are_journalled() -> None:
    bench = computing()
    bench.hello(channel="c2", claimed=True)
    bench.frame("failed", channel="c1", outcome=bench.outcome("failed", code="work_failed"), digest="d")
    assert bench.pair() == (Status.RUNNING, Phase.COMPUTING)
    assert bench.journal("late_message") == [{"type": "failed", "channel": "c1"}]


def test_r03_an_outcome_of_another_session_changes_nothing() -> None:
    bench = computing()
    bench.frame("failed", outcome=bench.outcome("failed", session="another"), digest="d")
    assert bench.pair() == (Status.RUNNING, Phase.COMPUTING)


def test_p13_a_host_that_comes_after_release_is_dismissed() -> None:
    bench = Bench()
    bench.admit()
    bench.to_verifying()
    said = bench.hello(channel="c9", claimed=True)
    assert [each.type for each in bench.kinds(effects.Send, said)] == ["dismiss"]
    assert bench.pair() == (Status.RUNNING, Phase.VERIFYING)


def test_r09_cannot_tell_holds_with_an_alert_and_both_go_away() -> None:
    bench = computing()
    bench.open()
    why = {"host": "Its alive file is missing."}
    bench.looked(host=HostSeen.UNKNOWN, outcome=OutcomeSeen.UNKNOWN, tree=TreeSeen.UNKNOWN, why=why)
    assert bench.row().contact is Contact.CANNOT_TELL
    assert bench.alerts() == {"cannot_tell"}
    assert bench.supervisor.slots_taken == 1
    assert not bench.supervisor.idle
    bench.wait(61)
    bench.looked(host=HostSeen.ALIVE, host_identity=HOST, claim=ClaimSeen.HOST)
    assert bench.alerts() == set()
    assert bench.row().contact is Contact.LOST


def test_r09_a_hold_noted_while_the_store_is_busy_is_said_afterwards() -> None:
    bench = computing()
    bench.open()
    bench.hold_commits()
    bench.stop()
    bench.looked(host=HostSeen.UNKNOWN, outcome=OutcomeSeen.UNKNOWN, tree=TreeSeen.UNKNOWN)
    bench.release_commits()
    bench.looked(host=HostSeen.UNKNOWN, outcome=OutcomeSeen.UNKNOWN, tree=TreeSeen.UNKNOWN)
    assert bench.alerts() == {"cannot_tell"}


# Publication


@pytest.mark.parametrize(
    ("where", "wanted"),
    [(PackageSeen.RESULTS, "verify there"), (PackageSeen.STAGING, "verify"), (PackageSeen.UNKNOWN, "hold")],
)
def test_r18_publication_begins_again_where_the_package_is(where: PackageSeen, wanted: str) -> None:
    bench = Bench()
    bench.admit()
    attempt = bench.to_publishing().attempt
    bench.done.clear()
    bench.open()
    assert bench.kinds(effects.Look)[0].package
    bench.looked(package=where)
    verify = bench.kinds(effects.Verify)
    if wanted == "hold":
        assert not verify
        assert bench.alerts() == {"cannot_tell"}
        return
    assert [each.published for each in verify] == [wanted == "verify there"]
    assert not bench.kinds(effects.Publish), "verified again first"
    bench.tell(bench.verified())
    assert bench.kinds(effects.Publish)
    bench.tell(events.Published(attempt, METHOD))
    assert bench.row().run_status is RunStatus.SUCCEEDED


def test_r18_an_altered_package_is_quarantined_before_the_run_fails() -> None:
    bench = Bench()
    bench.admit()
    attempt = bench.to_publishing().attempt
    bench.open()
    bench.looked(package=PackageSeen.DIFFERS)
    assert bench.kinds(effects.Quarantine)
    assert bench.pair() == (Status.RUNNING, Phase.PUBLISHING)
    bench.tell(events.Quarantined(attempt))
    assert (bench.row().pair.status, bench.row().failure_code) == (Status.FAILED, "result_rejected")


def test_r18_a_package_in_neither_place_is_lost_and_said() -> None:
    bench = Bench()
    bench.admit()
    bench.to_publishing()
    bench.open()
    bench.looked(package=PackageSeen.NEITHER)
    assert (bench.row().pair.status, bench.row().failure_code) == (Status.FAILED, "package_lost")


def test_a_rename_that_fails_waits_and_is_published_from_the_start() -> None:
    """Row 7: PUBLISHING is committed and matched again, so what lay there meanwhile is verified again."""
    bench = Bench()
    bench.admit()
    attempt = bench.to_publishing().attempt
    bench.tell(events.Published(attempt, failure="rename", message="no space is left"))
    assert bench.pair() == (Status.RUNNING, Phase.PUBLISH_PENDING)
    assert bench.alerts() == {"publish_pending"}
    bench.done.clear()
    bench.wait(19)
    assert bench.pair() == (Status.RUNNING, Phase.PUBLISH_PENDING)
    bench.wait(2)
    assert not bench.kinds(effects.Publish), "verified again first"
    bench.looked(package=PackageSeen.STAGING)
    bench.tell(bench.verified())
    assert bench.kinds(effects.Publish)
    bench.tell(events.Published(attempt, METHOD))
    assert bench.row().run_status is RunStatus.SUCCEEDED
    assert bench.alerts() == set()


def test_p07_a_stop_kept_while_publishing_holds_once_the_rename_has_failed() -> None:
    """Answered “finishing”, and then there is nothing that could finish: it ends STOPPED, its package is offered."""
    bench = Bench()
    bench.admit()
    attempt = bench.to_publishing().attempt
    reply = bench.stop()
    assert reply is not None
    assert reply.ok is not None
    assert reply.ok["answer"] == "finishing"
    bench.tell(events.Published(attempt, failure="rename", message="no space is left"))
    assert bench.pair() == (Status.STOPPED, Phase.CLOSED)


def test_r18_a_rejection_counts_only_where_the_package_still_is() -> None:
    """Another instance may have published while this one verified in staging: then it is whole, in the other place."""
    bench = Bench()
    bench.admit()
    attempt = bench.to_publishing().attempt
    bench.open()
    bench.looked(package=PackageSeen.STAGING)
    bench.done.clear()
    bench.tell(events.Verified(attempt, code="result_rejected", error="another digest"))
    assert not bench.kinds(effects.Quarantine)
    bench.looked(package=PackageSeen.RESULTS)
    assert [each.published for each in bench.kinds(effects.Verify)] == [True]
    bench.tell(bench.verified())
    bench.tell(events.Published(attempt, METHOD))
    assert bench.row().run_status is RunStatus.SUCCEEDED


def test_p23_a_package_goes_to_quarantine_only_after_a_commit_of_this_epoch() -> None:
    bench = Bench()
    bench.admit()
    attempt = bench.to_publishing().attempt
    bench.open()
    for _ in range(2):
        bench.looked(package=PackageSeen.STAGING)
        bench.done.clear()
        bench.tell(events.Verified(attempt, code="result_rejected", error="another digest"))
    assert bench.kinds(effects.Quarantine)
    assert [entry["message"] for entry in bench.journal("package_differs")] == ["another digest"]
    bench.tell(events.Quarantined(attempt))
    assert (bench.row().pair.status, bench.row().failure_code) == (Status.FAILED, "result_rejected")


def test_p23_a_package_is_renamed_only_after_a_commit_made_since_it_was_verified() -> None:
    """R18: of two instances of which each believes the workspace its own, the elder publishes nothing more, though the younger
    may have stopped the run since."""
    bench = Bench()
    bench.admit()
    bench.to_publishing()
    bench.open()
    bench.looked(package=PackageSeen.STAGING)
    bench.done.clear()
    elder, bench.held = bench.supervisor, []
    bench.tell(bench.verified())
    assert not bench.kinds(effects.Publish)
    bench.store.open()
    bench.release_commits()
    assert not bench.kinds(effects.Publish)
    assert bench.kinds(effects.Retire), "its epoch is over"
    assert elder is bench.supervisor


def test_p04_each_hello_is_answered_after_a_commit_made_since_it_came() -> None:
    """An instance whose epoch is over never tells a host to go on whose attempt its successor may have stopped."""
    bench = computing()
    bench.done.clear()
    bench.hold_commits()
    bench.hello(channel="c2", claimed=True)
    assert not bench.kinds(effects.Send)
    bench.store.open()
    bench.release_commits()
    assert not bench.kinds(effects.Send)
    assert bench.kinds(effects.Retire), "its epoch is over"


def test_a_host_that_comes_back_is_told_to_go_on_and_nothing_is_said_of_it() -> None:
    bench = computing()
    bench.hello(channel="c2", claimed=True)
    bench.hello(channel="c3", claimed=True)
    assert [each.type for each in bench.kinds(effects.Send)] == ["hello-ack"] * 3
    assert bench.journal("contact_resumed") == []


def test_a_helper_that_crashes_is_no_rejection_and_holds_after_three_tries() -> None:
    bench = Bench()
    bench.admit()
    attempt = bench.to_verifying().attempt
    for _ in range(3):
        bench.tell(events.Derived(attempt, crashed=True))
    assert len(bench.kinds(effects.Derive)) == 3
    assert bench.pair() == (Status.RUNNING, Phase.VERIFYING)
    assert bench.alerts() == {"helper"}
    bench.wait(120)
    assert len(bench.kinds(effects.Derive)) == 3
    bench.tell(events.ReconcileAsked(bench.command(), resume=True))
    bench.wait(1)
    assert len(bench.kinds(effects.Derive)) == 4, "a person's word tries again"


# The store


def test_a_lost_answer_to_starting_still_launches_once() -> None:
    bench = Bench()
    attempt = bench.admit().attempt
    bench.tell(events.Frozen(attempt, evidence=METHOD))
    bench.refusals = [RefusalKind.LOST]
    bench.tell(events.Prepared(attempt))
    assert bench.pair() == (Status.STARTING, Phase.LAUNCHING)
    assert not bench.kinds(effects.Launch)
    bench.wait(6)
    assert len(bench.kinds(effects.Launch)) == 1
    bench.tell(events.Spawned(attempt, evidence=METHOD))
    bench.wait(6)
    assert len(bench.kinds(effects.Launch)) == 1


@pytest.mark.parametrize("kind", [RefusalKind.STORAGE, RefusalKind.LOST])
def test_a_next_attempt_that_could_not_be_recorded_is_tried_again(kind: RefusalKind) -> None:
    bench = Bench(retry=RETRY, safe_to_repeat=True)
    bench.tell(events.Frozen(bench.admit().attempt, code="input_unreadable", message="gone"))
    bench.refusals = [kind]
    bench.wait(11)
    assert not bench.supervisor.idle
    bench.wait(6)
    assert bench.row().n == 2
    assert bench.pair() == (Status.CREATED, Phase.FREEZING)


def test_retry_at_is_never_further_than_the_back_off_whatever_the_wall_clock_does() -> None:
    bench = Bench(retry=RETRY, safe_to_repeat=True)
    bench.tell(events.Frozen(bench.admit().attempt, code="input_unreadable", message="gone"))
    bench.utc_us -= 86_400 * 1_000_000
    bench.open()
    bench.wait(61)
    assert bench.row().n == 2


def test_r12_records_that_could_not_be_written_are_read_again() -> None:
    bench = Bench()
    bench.admit()
    attempt = bench.to_cleaning_up().attempt
    bench.tell(events.HostGone(attempt, "pidfd", True))
    bench.refusals = [RefusalKind.STORAGE]
    record = RecordRow(0, 0, "trade", {})
    bench.tell(events.RecordsRead(attempt, (record,), 1, False))
    assert bench.pair() == (Status.RUNNING, Phase.CLEANING_UP)
    assert bench.kinds(effects.ReadRecords, bench.wait(6))
    bench.tell(events.RecordsRead(attempt, (record,), 1, False))
    assert len(bench.store.records) == 1
    assert bench.pair() == (Status.RUNNING, Phase.VERIFYING)


def test_r12_a_reading_begun_before_the_host_ended_is_not_the_last_one() -> None:
    bench = computing()
    bench.wait(2)
    assert bench.kinds(effects.ReadRecords), "read while it computes"
    attempt = bench.row().attempt
    bench.frame("sealed", outcome=bench.outcome(), digest="d")
    bench.tell(events.HostGone(attempt, "pidfd", True))
    said = bench.tell(events.RecordsRead(attempt, (), 0, False))
    assert bench.pair() == (Status.RUNNING, Phase.CLEANING_UP)
    assert bench.kinds(effects.ReadRecords, said)


def test_p23_a_newer_epoch_retires_this_instance_at_once() -> None:
    bench = computing()
    bench.store.open()
    bench.done.clear()
    said = bench.stop()
    assert said is None
    assert [type(each) for each in bench.done] == [effects.Retire]
    assert not bench.wait(100)


def test_r04_an_admission_whose_answer_was_lost_is_asked_again_and_its_run_goes_on() -> None:
    bench = Bench()
    bench.refusals = [RefusalKind.LOST]
    bench.admit()
    assert not bench.kinds(effects.Reply)
    assert not bench.supervisor.idle
    bench.wait(6)
    assert [each.ok and each.ok["run"] for each in bench.kinds(effects.Reply)] == [1]
    assert bench.pair() == (Status.CREATED, Phase.FREEZING)


def test_a_reconcile_is_answered_even_when_an_attempt_closes_meanwhile() -> None:
    bench = Bench()
    attempt = bench.admit().attempt
    bench.to_starting()
    number = bench.command()
    bench.tell(events.ReconcileAsked(number, resume=False))
    bench.hold_commits()
    bench.release_commits()
    bench.tell(events.Spawned(attempt, error="no process"))
    bench.looked(host=HostSeen.ALIVE)
    assert [each.command for each in bench.kinds(effects.Reply)][-1] == number


@pytest.mark.parametrize("observed", [True, False], ids=["its exit was observed", "two looks"])
@pytest.mark.parametrize("count", [limits.PIDS_NAMED_MAX, limits.PIDS_NAMED_MAX + 1])
def test_r07_the_fact_names_whom_the_host_left_alone(observed: bool, count: int) -> None:
    """Of a nested Actum, PIDS_NAMED_MAX at most; nothing that is no pid is taken over from a file the work can write."""
    bench = computing()
    tree = {"method": "subreaper, nested left out", "at": 1, "nested": count, "nested_pids": ["x", *range(7, 7 + count)]}
    outcome = bench.outcome("stopped", cause="signal", tree=tree)
    bench.frame("stopped", outcome=outcome, digest="d")
    if observed:
        bench.tell(events.HostGone(bench.row().attempt, "pidfd", True))
    for _ in range(2):
        bench.looked(claim=ClaimSeen.HOST, outcome=OutcomeSeen.STOPPED, outcome_document=outcome, tree_method="subreaper")
        bench.wait(limits.ABSENCE_APART_S + 0.1)
    gone = bench.row().facts[FactName.TREE_GONE]
    assert (gone["nested_left_alone"], gone["pids"]) == (count, list(range(7, 7 + limits.PIDS_NAMED_MAX)))
    assert "ECHILD" not in gone["seen"]


def test_row_15_the_second_absence_is_looked_for_within_seconds_not_at_the_next_pass() -> None:
    bench = Bench()
    bench.admit()
    bench.to_starting()
    bench.open()
    bench.looked(host=HostSeen.GONE, outcome=OutcomeSeen.NONE, tree=TreeSeen.CLEAR, claim=ClaimSeen.NONE)
    assert bench.kinds(effects.Look, bench.wait(limits.ABSENCE_APART_S + 0.1))


def test_r11_a_spawned_host_that_says_nothing_is_looked_for_after_a_while_and_lost_after_two_absences() -> None:
    """At LAUNCH_DOUBTED_S nothing is concluded yet; after it, two absences and a revoked claim end the wait (row 15, P01)."""
    bench = Bench()
    bench.admit()
    bench.to_starting()
    nobody = {"host": HostSeen.GONE, "outcome": OutcomeSeen.NONE, "tree": TreeSeen.CLEAR, "claim": ClaimSeen.NONE}
    assert not bench.kinds(effects.Look, bench.wait(limits.LAUNCH_DOUBTED_S))
    assert bench.kinds(effects.Look, bench.wait(0.1))
    bench.looked(**nobody)
    assert bench.kinds(effects.Look, bench.wait(limits.ABSENCE_APART_S + 0.1))
    assert bench.kinds(effects.RevokeClaim, bench.looked(**nobody))
