"""The About page says what was tried with its age and limits, and claims nothing that did not run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from actum import limits
from actum.model.changes import AddResultCheck
from actum.store.observed import Observed, observed
from actum.store.queries import Reader
from actum.tried import Entry, Kind, NotThere, Tried, by_hand, not_yet
from actum_desktop import i18n
from actum_desktop.models import about
from actum_desktop.models.details import Detail, Pair, Section

from tests.helpers import workspaces as w

NOW = 1_800_000_000_000_000
HOUR = 3_600_000_000
OWN, OTHER = "a" * 40, "b" * 40


def entry(kind: Kind, part: str = "suite", **changes: object) -> Entry:
    known: dict[str, object] = {
        "at_us": NOW - 2 * HOUR,
        "commit": OWN,
        "dirty": False,
        "complete": True,
        "counts": (("passed", 1_200),),
    }
    return Entry(kind, part, **{**known, **changes})  # type: ignore[arg-type]


def shown(evidence: Tried | NotThere, use: Observed | None = None, own: str | None = OWN) -> list[Detail]:
    return about.rows(about.Known("0.1.0", evidence, False, own, use, ()), NOW)


def text(rows: list[Detail]) -> str:
    return "\n".join(f"{row.title} {row.note}" if isinstance(row, Section) else f"{row.label}: {row.value}" for row in rows)


def tried_of(*entries: Entry) -> Tried:
    kinds = {kind: tuple(each for each in entries if each.kind is kind) for kind in Kind}
    return Tried({kind: found for kind, found in kinds.items() if found}, (("python", "CPython 3.11"),))


def test_without_evidence_it_says_that_there_is_none() -> None:
    assert "No evidence is here." in text(shown(NotThere("absent")))
    assert "it is no JSON" in text(shown(NotThere("unreadable", "it is no JSON")))


def test_each_kind_has_counts_age_and_what_did_not_run_is_named() -> None:
    skips = (("there is no such device here", 3),)
    said = text(shown(tried_of(entry(Kind.UNIT, skips=skips), entry(Kind.FUZZ, "long", counts=(("executions", 5_000_000),)))))
    assert "Units: 1,200 passed" in said
    assert "2 h ago" in said
    assert "3 skipped: there is no such device here" in said
    assert "Fuzzing: 5,000,000 executions" in said
    assert "Did not run: " in said
    assert "Soak" in said.split("Did not run: ")[1]
    assert "Units" not in said.split("Did not run: ")[1].split("\n")[0]
    assert "It does not show that nothing else is wrong." in said


def test_the_whole_and_a_newer_part_are_both_shown_with_their_age() -> None:
    whole = entry(Kind.FAULTS, "long", counts=(("cases", 700),), at_us=NOW - 72 * HOUR, commit=OTHER)
    part = entry(Kind.FAULTS, "long newest", counts=(("cases", 90),), complete=False)
    said = text(shown(tried_of(part, whole)))
    assert "Fault injection: 90 cases · in part · " in said
    assert ": 700 cases · " in said
    assert "2 h ago" in said
    assert "3 d ago" in said
    assert f"commit {OTHER[:7]}" in said


def test_evidence_of_another_commit_of_changed_files_or_in_part_is_called_that() -> None:
    said = text(shown(tried_of(entry(Kind.UNIT, commit=OTHER, dirty=True, complete=False))))
    assert f"partly of another commit than this one, {OWN[:7]}" in said
    assert f"commit {OTHER[:7]}" in said
    assert "with changes not committed" in said
    assert "in part" in said
    assert "of this commit" in text(shown(tried_of(entry(Kind.UNIT))))


def test_what_did_not_hold_stands_out() -> None:
    rows = shown(tried_of(entry(Kind.UNIT, counts=(("passed", 1), ("failed", 2)))))
    assert [row.token for row in rows if isinstance(row, Pair) and row.label == "Units"] == ["bad"]


def test_use_is_counted_from_the_workspace(tmp_path: Path) -> None:
    ws = w.make(tmp_path / "ws")
    with w.writing(ws) as writer:
        digest = w.add_task(writer)
        done = w.succeed(writer, w.admit(writer, digest))
        w.admit(writer, digest)
        checked = AddResultCheck(done.run, done.attempt, "readable", "ok", "bytes", {}, NOW)
        w.persisted(writer.ask(checked))
    with w.writing(ws):
        pass
    with Reader(ws) as reader:
        use = observed(reader)
    assert (dict(use.runs), use.instances, use.unclean, use.resumed) == ({"SUCCEEDED": 1, "CREATED": 1}, 2, 0, 0)
    assert dict(use.checks)["readable"] >= 1
    assert use.whole
    said = text(about.rows(about.look(ws, "0.1.0")))
    assert "2 in all, 1 succeeded" in said
    assert "0 of 2 supervisors were ended from outside" in said


def test_r11_use_is_counted_among_the_newest_and_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert limits.OBSERVED_ROWS_MAX >= 1_000
    ws = w.make(tmp_path / "ws")
    with w.writing(ws) as writer:
        digest = w.add_task(writer)
        for _ in range(3):
            w.admit(writer, digest)
    with Reader(ws) as reader:
        events = len(reader.journal_tail(100))
        for bound, whole in ((events + 1, True), (events, False)):
            monkeypatch.setattr("actum.store.observed.OBSERVED_ROWS_MAX", bound)
            assert observed(reader).whole is whole
            assert ("newest events and checks" in text(shown(NotThere("absent"), observed(reader)))) is not whole


def test_nothing_was_ever_done_here(tmp_path: Path) -> None:
    assert "no run was ever supervised here" in text(about.rows(about.look(w.make(tmp_path / "ws"), "0.1.0")))


def test_the_list_by_hand_is_dated_and_says_what_was_not_done() -> None:
    path = i18n.resources() / "by_hand.json"
    done = by_hand(path)
    assert done == sorted(done, key=lambda each: each.day, reverse=True)
    assert len(done) == len(json.loads(path.read_bytes())["entries"])
    assert "Windows and macOS" in not_yet(path)


@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_has_a_word(kind: Kind) -> None:
    assert kind in about._KINDS
