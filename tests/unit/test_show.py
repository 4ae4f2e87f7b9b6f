"""The documents of show, runs and facts (§16), with the live state of open attempts merged in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum import clock, limits
from actum.errors import NotFound
from actum.model.changes import AddResultCheck, Change, Note, RaiseAlert
from actum.model.facts import Fact, FactName
from actum.model.run import AttemptRow
from actum.model.status import AttemptEvent, Pair, Phase, Status
from actum.store import live
from actum.store.queries import Reader
from actum.store.show import facts_document, runs_document, show_document
from actum.store.writer import Writer
from actum.workspace import Workspace

from tests.helpers import workspaces as w

E = AttemptEvent
COMPUTING = Pair(Status.RUNNING, Phase.COMPUTING)
KEYS = (
    "schema",
    "run",
    "id",
    "task",
    "task_version",
    "trigger",
    "key",
    "labels",
    "parameters",
    "status",
    "phase",
    "released",
    "contact",
    "created_at",
    "started_at",
    "finished_at",
    "duration_s",
    "progress",
    "heartbeat_at",
    "activity",
    "deadlines",
    "stop",
    "failure",
    "attempts",
    "facts",
    "result",
    "inputs",
    "environment",
    "code",
    "alerts",
    "allowed_actions",
)


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    return w.make(tmp_path / "ws")


@pytest.fixture
def writer(place: Workspace) -> Iterator[Writer]:
    with w.writing(place) as writer:
        yield writer


def show(ws: Workspace, run: int | str = 1) -> dict[str, object]:
    with Reader(ws) as reader:
        document = show_document(reader, ws, run)
    json.dumps(document, allow_nan=False)
    return document


def spool(ws: Workspace, row: AttemptRow, **state: object) -> Path:
    folder = ws.attempt_folder(row.run, row.n)
    (folder / "spool").mkdir(parents=True, exist_ok=True)
    (folder / "spool" / "state.json").write_text(json.dumps({"v": 1, "session": row.session, "seq": 1, **state}))
    return folder


def test_the_document_has_the_shape_of_the_design(place: Workspace, writer: Writer) -> None:
    row = w.succeed_with_package(place, writer, w.admit(writer, w.add_task(writer), "k", window=3))
    document = show(place)
    assert [key for key in KEYS if key not in document] == []
    assert document["schema"] == "actum.show/1"
    assert (document["run"], document["id"], document["key"]) == (1, row.run_id, "k")
    assert (document["status"], document["phase"], document["released"]) == ("SUCCEEDED", "CLOSED", True)
    assert [fact["fact"] for fact in document["facts"]] == [name.value for name in FactName]  # type: ignore[attr-defined]
    assert document["facts"][0]["evidence"]["observer"] == writer.opened.instance  # type: ignore[index]
    assert document["allowed_actions"] == ["rerun", "export", "verify"]
    assert document["unverified_files"] is None
    assert str(document["created_at"]).endswith("Z")


def test_a_result_shows_what_holds_now_beside_its_history(place: Workspace, writer: Writer) -> None:
    """R16: the newest check is the state; the run stays SUCCEEDED."""
    row = w.succeed_with_package(place, writer, w.admit(writer, w.add_task(writer)))
    assert show(place)["result"]["state"] == "unchecked"  # type: ignore[index]
    for state in ("readable", "damaged"):
        w.persisted(writer.ask(AddResultCheck(row.run, row.attempt, state, "why", "bytes", {}, clock.utc_us())))
    document = show(place)
    assert document["result"]["state"] == "damaged"  # type: ignore[index]
    assert document["result"]["files"][0]["name"] == "files/out.csv"  # type: ignore[index]
    assert document["status"] == "SUCCEEDED"


def test_the_live_part_comes_from_the_spool(place: Workspace, writer: Writer) -> None:
    digest = w.add_task(writer, deadline="2h", stage_deadlines={"load": "10m", "write": "5m"})
    row = w.bring_to(writer, w.admit(writer, digest), COMPUTING)
    now = clock.utc_us()
    spool(
        place,
        row,
        phase="computing",
        progress={"done": 3, "total": 10, "unit": "rows", "stage": "load", "message": None, "at": now},
        stage={"name": "load", "total": 10, "at": now - 60 * clock.US},
        heartbeat_at=now,
        activity={"cpu_s": 1.5, "rss_bytes": 1000, "read_bytes": 1, "written_bytes": 2},
        active_s=600.0,
        processes=2,
    )
    document = show(place)
    assert document["progress"] == {
        "done": 3,
        "total": 10,
        "unit": "rows",
        "stage": "load",
        "message": None,
        "at": clock.rfc3339(now),
    }
    assert document["heartbeat_at"] == clock.rfc3339(now)
    assert document["activity"]["rss_bytes"] == 1000  # type: ignore[index]
    deadlines = document["deadlines"]
    assert deadlines["overall"] == {"limit_s": 7200.0, "remaining_s": 6600.0}  # type: ignore[index]
    assert 538 < deadlines["stages"]["load"]["remaining_s"] <= 540  # type: ignore[index]
    assert deadlines["stages"]["write"] == {"limit_s": 300.0, "remaining_s": None}  # type: ignore[index]
    assert document["allowed_actions"] == ["stop"]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1]", '{"session": "another"}', '{"progress": 7, "stage": [], "active_s": "x", "activity": {"cpu_s": true}}'],
)
def test_a_spool_that_is_none_shows_nothing(place: Workspace, writer: Writer, text: str) -> None:
    """The host writes these files: nothing in them can break what is shown."""
    row = w.bring_to(writer, w.admit(writer, w.add_task(writer)), COMPUTING)
    folder = spool(place, row)
    (folder / "spool" / "state.json").write_text(text)
    document = show(place)
    assert (document["progress"], document["heartbeat_at"]) == (None, None)
    assert set(document["activity"].values()) == {None}  # type: ignore[attr-defined]


def test_a_closed_attempt_shows_what_was_recorded(place: Workspace, writer: Writer) -> None:
    """R03: a late state.json changes nothing that is shown."""
    row = w.bring_to(writer, w.admit(writer, w.add_task(writer)), Pair(Status.STOPPED, Phase.CLOSED))
    spool(place, row, progress={"done": 9, "total": 10, "at": 1}, heartbeat_at=5)
    assert show(place)["progress"] is None


def test_a_stop_shows_its_stage_and_counts_down(place: Workspace, writer: Writer) -> None:
    row = w.bring_to(writer, w.admit(writer, w.add_task(writer)), COMPUTING)
    assert show(place)["stop"] is None
    now = clock.utc_us()
    row = w.move(writer, row, E.STOP_ASKED, run_columns={"stop_requested_at_us": now})
    assert show(place)["stop"]["stage"] == "requested"  # type: ignore[index]
    stage = {"stage": "asked", "at_us": now, "next_in_s": 10.0}
    w.persisted(writer.ask(Change(row.attempt, row.run, columns={"stop_stage": stage})))
    stop = show(place)["stop"]
    assert stop["stage"] == "asked"  # type: ignore[index]
    assert 0 <= stop["next_in_s"] <= 10  # type: ignore[index]
    w.move(writer, row, E.TREE_CLEAR)
    assert show(place)["stop"]["next_in_s"] is None  # type: ignore[index]


def test_a_stop_between_two_attempts_shows_no_stage_of_the_failed_one(place: Workspace, writer: Writer) -> None:
    now = clock.utc_us()
    row = w.bring_to(writer, w.admit(writer, w.add_task(writer)), Pair(Status.FAILED, Phase.CLEANING_UP))
    early = {"stage": "delivered", "at_us": now - 1}
    w.persisted(writer.ask(Change(row.attempt, row.run, columns={"stop_stage": early})))
    w.move(writer, row, AttemptEvent.TREE_CLEAR, run_columns={"stop_requested_at_us": now})
    stop = show(place)["stop"]
    assert stop["stage"] == "released"  # type: ignore[index]
    assert stop["at"] == stop["asked_at"]  # type: ignore[index]


def test_r13_files_of_an_unsuccessful_attempt_are_reachable_and_labelled(place: Workspace, writer: Writer) -> None:
    """UNVERIFIED_FILES_LISTED_MAX: at it all are named, one more is counted. Links are not followed."""
    row = w.bring_to(writer, w.admit(writer, w.add_task(writer)), COMPUTING)
    columns = {"failure_code": "work_failed", "failure_message": "It exited with 3.", "exit_code": 3}
    row = w.move(writer, row, E.OUTCOME_FAILED, columns=columns)
    files = place.attempt_folder(1, 1) / "staging" / "files"
    assert show(place)["unverified_files"] is None
    (files / "sub").mkdir(parents=True)
    (files / "sub" / "part.csv").write_text("a,b\n")
    (files / "link").symlink_to("/etc")
    document = show(place)
    unverified = document["unverified_files"]
    assert unverified["label"] == "not a result, not verified"  # type: ignore[index]
    assert unverified["folder"] == str(files)  # type: ignore[index]
    assert {"name": "sub/part.csv", "size": 4} in unverified["files"]  # type: ignore[index]
    assert document["failure"] == {"code": "work_failed", "message": "It exited with 3.", "details": None}
    assert document["attempts"][0]["exit"] == {"code": 3, "signal": None}  # type: ignore[index]
    present = len(unverified["files"])  # type: ignore[index]
    for number in range(limits.UNVERIFIED_FILES_LISTED_MAX - present):
        (files / f"{number}").touch()
    assert show(place)["unverified_files"]["more"] == 0  # type: ignore[index]
    (files / "one more").touch()
    unverified = show(place)["unverified_files"]
    assert len(unverified["files"]) == limits.UNVERIFIED_FILES_LISTED_MAX  # type: ignore[index]
    assert unverified["more"] == 1  # type: ignore[index]


def test_a_retry_shows_both_attempts_and_can_be_stopped(place: Workspace, writer: Writer) -> None:
    row = w.bring_to(writer, w.admit(writer, w.add_task(writer)), COMPUTING)
    row = w.move(writer, row, E.OUTCOME_FAILED, columns={"failure_code": "work_failed"}, retry_at_us=9)
    row = w.move(writer, row, E.TREE_CLEAR)
    document = show(place)
    assert (document["status"], document["allowed_actions"]) == ("RETRYING", ["stop"])
    w.next_attempt(writer, row)
    attempts = show(place)["attempts"]
    assert [(attempt["n"], attempt["status"]) for attempt in attempts] == [(1, "FAILED"), (2, "CREATED")]  # type: ignore[attr-defined]


def test_alerts_of_the_run_are_shown(place: Workspace, writer: Writer) -> None:
    w.admit(writer, w.add_task(writer))
    writer.ask(Note(alerts=(RaiseAlert("hold:1", "tree_unknown", "warning", 5, {"pids": [7]}, run=1),)))
    assert show(place)["alerts"][0]["code"] == "tree_unknown"  # type: ignore[index]


def test_the_start_deadline_counts_from_the_launch(place: Workspace, writer: Writer) -> None:
    row = w.bring_to(writer, w.admit(writer, w.add_task(writer)), Pair(Status.STARTING, Phase.LAUNCHING))
    assert show(place)["deadlines"]["start"]["remaining_s"] is None  # type: ignore[index]
    launched = Fact(FactName.LAUNCHED, clock.utc_us(), {"method": "spawn"})
    w.persisted(writer.ask(Change(row.attempt, row.run, facts=(launched,))))
    assert 55 < show(place)["deadlines"]["start"]["remaining_s"] <= 60  # type: ignore[index]


def test_the_start_deadline_is_over_when_the_host_has_answered(place: Workspace, writer: Writer) -> None:
    row = w.bring_to(writer, w.admit(writer, w.add_task(writer)), Pair(Status.STARTING, Phase.LAUNCHING))
    launched = Fact(FactName.LAUNCHED, clock.utc_us(), {"method": "spawn"})
    row = w.row_of(writer.ask(Change(row.attempt, row.run, facts=(launched,))))
    w.move(writer, row, AttemptEvent.CONTACT_MADE)
    assert show(place)["deadlines"]["start"]["remaining_s"] is None  # type: ignore[index]


def test_the_list_has_the_progress_of_what_computes(place: Workspace, writer: Writer) -> None:
    row = w.bring_to(writer, w.admit(writer, w.add_task(writer)), Pair(Status.RUNNING, Phase.COMPUTING))
    spool(place, row, progress={"done": 40, "total": 60, "unit": None, "stage": None, "message": None, "at": clock.utc_us()})
    with Reader(place) as reader:
        [line] = reader.runs_page()
        document = runs_document(line, place)
    assert (document["progress"]["done"], document["progress"]["total"]) == (40, 60)


def test_lists_and_facts_speak_the_same_words(place: Workspace, writer: Writer) -> None:
    w.succeed(writer, w.admit(writer, w.add_task(writer)))
    with Reader(place) as reader:
        [row] = reader.runs_page()
        line, document = runs_document(row, place), show_document(reader, place, 1)
        same = ("run", "id", "task", "task_version", "key", "status", "phase", "released", "created_at", "finished_at")
        assert {key: line[key] for key in same} == {key: document[key] for key in same}
        facts = facts_document(reader, "1")
        assert [fact["fact"] for fact in facts] == [fact["fact"] for fact in document["facts"]]
        with pytest.raises(NotFound):
            show_document(reader, place, 2)


def test_a_deadline_that_cannot_be_read_is_none() -> None:
    found = live.deadlines({"policies": {"deadline": "soon", "stage_deadlines": []}}, live.LiveState(), None, 0)
    assert found == {"start": None, "stages": {}, "overall": None}
