"""What a run is in plain words: a sentence for each state, a word for each failure, in English and Chinese (R08, R10, R16)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from actum.model.status import LEGAL, FailureCode, RunStatus
from actum_desktop import failures, i18n, measures, wording
from actum_desktop.alerts import alert_words
from actum_desktop.ledger import Kind

from tests.helpers import showdocs

STATES = showdocs.states()
HAN = re.compile(r"[\u4e00-\u9fff]")


@pytest.fixture(params=["en", "zh_CN"])
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    i18n.use(request.param)
    yield request.param
    i18n.use("en")


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    i18n.use("en")
    yield
    i18n.use("en")


def _said_in(language: str, text: str) -> bool:
    return bool(text) and bool(HAN.search(text)) is (language == "zh_CN")


@pytest.mark.parametrize("name", sorted(STATES))
def test_every_state_has_a_first_line(name: str, language: str) -> None:
    assert _said_in(language, wording.sentence(STATES[name], showdocs.NOW))


def test_r07_what_a_nested_run_goes_on_with_is_named_where_a_stop_is_told(language: str) -> None:
    """“Nothing of it runs any more” is said only where nothing was left alone."""
    show = STATES["stopped"]
    gone = {
        "fact": "tree_gone",
        "at": show["finished_at"],
        "evidence": {"method": "subreaper, nested left out", "pids": [4711, 4712]},
    }
    left = {**show, "facts": [*(fact for fact in show["facts"] if fact["fact"] != "tree_gone"), gone]}
    said = wording.sentence(left, showdocs.NOW)
    assert _said_in(language, said)
    assert "4711, 4712" in said
    nothing = {"en": "Nothing of it runs", "zh_CN": "已没有任何进程在运行"}[language]
    assert (nothing in said, nothing in wording.sentence(show, showdocs.NOW)) == (False, True)
    lines = [line for row in wording.ledger(left) for line in row.evidence]
    assert [line for line in lines if "4711, 4712" in line]


@pytest.mark.parametrize("status", list(RunStatus))
def test_every_status_has_a_word_an_icon_and_a_tone(status: RunStatus, language: str) -> None:
    from actum_desktop.icons import GLYPHS

    word = wording.status(status.value)
    assert _said_in(language, word.word)
    assert word.icon in GLYPHS
    assert word.tone in ("ok", "warn", "bad", "accent", "text2")


def test_every_legal_pair_has_a_word_of_a_known_icon() -> None:
    from actum_desktop.icons import GLYPHS

    for status, phases in LEGAL.items():
        for phase in phases:
            assert wording.status(status.value, phase.value).icon in GLYPHS


@pytest.mark.parametrize("code", list(FailureCode))
def test_every_failure_code_has_a_short_form_a_sentence_and_a_remedy(code: FailureCode, language: str) -> None:
    said = (failures.failure_short(code), failures.failure_sentence(code), failures.failure_remedy(code))
    assert all(_said_in(language, text) for text in said)


def test_the_failure_codes_in_words_are_the_closed_list() -> None:
    assert {code.value for code in FailureCode} == failures.FAILURE_CODES


@pytest.mark.parametrize("code", failures.WARNING_CODES)
def test_r08_a_warning_observes_and_says_what_it_is_not(code: str, language: str) -> None:
    data = {"for_s": 2520.0, "cpu_percent": 0.0, "heartbeat_age_s": 2.0, "free_bytes": 1_000_000}
    title, text = failures.warning(code, data)
    assert _said_in(language, title)
    assert _said_in(language, text)
    assert "{" not in title + text


def test_r08_no_progress_reads_as_the_design_says() -> None:
    data = {"for_s": 2520.0, "cpu_percent": 0.0, "heartbeat_age_s": 2.0, "read_bytes_s": 0, "written_bytes_s": 0}
    title, text = failures.warning("no_progress", data)
    assert title == "No progress for 42 min, and the work is idle"
    assert text.startswith("It is alive: the last heartbeat came 2 s ago. CPU 0 %, nothing read or written.")
    assert text.endswith("Actum will not end it.")


def test_r09_cannot_tell_outranks_an_open_status_and_never_a_closed_one() -> None:
    assert wording.status("RUNNING", "COMPUTING", False, contact="cannot_tell").word == "Cannot tell"
    assert wording.status("SUCCEEDED", "CLOSED", True, contact="cannot_tell").word == "Succeeded"


def test_r10_nothing_says_done_before_it_is_recorded(language: str) -> None:
    done = "Done" if language == "en" else "已完成"
    for name, show in STATES.items():
        said = wording.sentence(show, showdocs.NOW)
        assert said.startswith(done) is (name == "succeeded"), said


def test_r16_history_and_availability_are_two_badges() -> None:
    damaged = STATES["damaged"]
    badge = wording.result_badge(damaged["result"])
    assert badge is not None
    assert (wording.status(damaged["status"]).word, badge.word) == ("Succeeded", "Damaged")
    assert wording.result_badge(None) is None


KINDS = {
    "queued": "established waiting not_yet" + " not_yet" * 7,
    "starting": "established established waiting" + " not_yet" * 7,
    "running": "established established established waiting" + " not_yet" * 6,
    "verifying": "established " * 7 + "waiting not_yet not_yet",
    "succeeded": "established " * 10,
    "refused": "established " * 7 + "refused never never",
    "failed": "established " * 3 + "refused never established established never never never",
    "timeout": "established " * 3 + "never never established established never never never",
    "stopping": "established " * 3 + "never never waiting not_yet never never never",
    "stopped": "established " * 3 + "never never established established never never never",
    "cannot_tell": "established " * 6 + "cannot_tell not_yet not_yet not_yet",
    "start_failed": "established refused" + " never" * 8,
}


@pytest.mark.parametrize("name", sorted(KINDS))
def test_r01_the_ledger_shows_ten_rows_of_the_right_kind(name: str) -> None:
    rows = wording.ledger(STATES[name], now=showdocs.NOW)
    assert [row.kind.value for row in rows] == KINDS[name].split()


def test_r01_at_most_one_row_is_waited_for_in_any_state() -> None:
    for show in STATES.values():
        rows = wording.ledger(show, now=showdocs.NOW)
        assert sum(row.kind in (Kind.WAITING, Kind.CANNOT_TELL) for row in rows) <= 1


def test_the_double_rule_means_terminal_and_released_and_nothing_else() -> None:
    for name, show in STATES.items():
        closed = show["phase"] == "CLOSED"
        assert (wording.ledger_foot(show).rule == "double") is closed, name
        assert wording.strip(show).closed is closed, name


def test_verified_always_has_two_lines_of_evidence() -> None:
    row = next(row for row in wording.ledger(STATES["succeeded"]) if row.key == "verified")
    assert len(row.evidence) == 2
    assert row.evidence[0].startswith("bytes:")
    assert row.evidence[1].startswith("content:")


def test_a_late_fact_belongs_to_its_own_attempt_only() -> None:
    second = {**STATES["running"]["attempts"][0], "attempt": "a-2", "n": 2}
    first = {**second, "attempt": "a-1", "n": 1, "status": "FAILED", "phase": "CLOSED", "released": True}
    rows = [*showdocs.facts(showdocs.first(4)), *showdocs.facts(showdocs.first(2), "a-2")]
    show = {**STATES["running"], "attempts": [first, second], "facts": rows}
    assert wording.on_record(wording.ledger(show)) == 0
    assert [row.established for row in wording.ledger(show, "a-1")][:3] == [True, True, True]
    assert [row.established for row in wording.ledger(show)][:3] == [True, True, False]


def test_the_ledger_as_text_has_a_line_for_each_row_and_the_rule() -> None:
    text = "\n".join(wording.ledger_lines(STATES["succeeded"], now=showdocs.NOW))
    assert text.count("✓") == 10
    assert "═" in text
    assert "Succeeded." in text


def test_all_facts_are_listed_with_their_method() -> None:
    assert len(wording.facts_lines(STATES["succeeded"])) == 14


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0.4 s"),
        (2, "2 s"),
        (59.4, "59 s"),
        (252, "4 min 12 s"),
        (1860, "31 min"),
        (13500, "3 h 45 min"),
        (90000, "1 d 1 h"),
    ],
)
def test_durations_have_two_units_at_most(seconds: float, text: str) -> None:
    assert measures.duration(seconds) == text


def test_sizes_counts_and_missing_values() -> None:
    assert [measures.size(n) for n in (0, 999, 84_200_000, 640_000_000)] == ["0 B", "999 B", "84.2 MB", "640 MB"]
    assert measures.count(1_204_331) == "1,204,331"
    assert measures.count(-3) == "−3"
    assert {measures.size(None), measures.count(None), measures.duration(None), measures.when(None)} == {"–"}


def test_r10_a_percentage_is_rounded_down() -> None:
    assert measures.percent(0.9999) == "99 %"


def test_r19_a_message_with_braces_and_markup_is_shown_as_it_is() -> None:
    failure = {"code": "work_failed", "message": "{0} %s <b>", "details": {}}
    show = {**STATES["failed"], "failure": failure}
    assert "{0} %s <b>" in wording.sentence(show)
    assert any("{0} %s <b>" in line for row in wording.ledger(show) for line in row.evidence)


def test_an_empty_document_still_reads() -> None:
    assert wording.sentence({})
    assert len(wording.ledger({})) == 10
    assert wording.measure({})


@pytest.mark.parametrize("code", ["cannot_tell", "host_lost", "no_progress", "result_rejected", "recovery", "never heard of"])
def test_an_alert_says_what_happened_even_if_it_is_unknown(code: str) -> None:
    words = alert_words(code, "warning", {"pids": [12], "message": ""}, "Sync users table")
    assert words.title.startswith("Sync users table: ")
    assert ("pids", "[12]") in words.evidence


def test_r17_pinned_inputs_are_named_with_what_is_not_excluded() -> None:
    """R17, R11: up to PINNED_NAMED_MAX names, then an ellipsis; the program file is pinned as a matter of course."""
    from actum import limits
    from actum_desktop.ledgertext import _pinned

    def rows(count: int) -> list[dict[str, str]]:
        return [{"name": f"big{n}", "policy": "pin"} for n in range(count)] + [{"name": "@code", "policy": "pin"}]

    assert _pinned(rows(0)) == []
    at, above = _pinned(rows(limits.PINNED_NAMED_MAX))[0], _pinned(rows(limits.PINNED_NAMED_MAX + 1))[0]
    assert "…" not in at
    assert "big2, …" in above
    assert "not excluded" in at


@pytest.mark.parametrize(
    ("level", "words"),
    [
        ("content", "Readable, checked"),
        ("bytes", "Readable, bytes checked"),
        ("presence", "There, seen"),
        ("chunks:1-2", "Readable in part, checked"),
        ("sample:5", "Readable in part, checked"),
    ],
)
def test_a_readable_result_is_said_to_be_so_as_far_as_was_looked(level: str, words: str) -> None:
    """R16: the levels are never confused."""
    badge = wording.result_badge({"state": "readable", "checked_at": "2026-01-01T00:00:00.000000Z", "checked_level": level})
    assert badge is not None
    assert badge.word.startswith(f"{words} ")


def test_the_evidence_of_an_alert_is_told_in_words_and_measures() -> None:
    data = {"cpu_percent": 0.0, "ever": True, "for_s": 926.981, "heartbeat_age_s": 2.0, "odd_key": 7, "log_bytes": 2048}
    assert set(alert_words("stall", "warning", data).evidence) == {
        ("CPU", "0 %"),
        ("Progress was seen before", "yes"),
        ("Without progress for", "15 min"),
        ("Age of the last heartbeat", "2 s"),
        ("odd key", "7"),
        ("log bytes", "2.0 KB"),
    }
