"""The read side: keyset pages, filters, snapshots, and that the indices serve (R11)."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum import limits
from actum.errors import NotFound
from actum.model.changes import Change, SetSetting
from actum.model.status import AttemptEvent, Pair, Phase, RunStatus, Status
from actum.store import contractcache, runlists
from actum.store.queries import Reader
from actum.store.selects import _counts
from actum.workspace import Workspace

from tests.helpers import seed
from tests.helpers import workspaces as w

COMPUTING = Pair(Status.RUNNING, Phase.COMPUTING)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """1,200 runs of two tasks: mostly succeeded, each tenth failed, each hundredth running."""
    ws = w.make(tmp_path_factory.mktemp("queries") / "ws")
    seed.fill(ws, 1200)
    return ws


@pytest.fixture
def reader(place: Workspace) -> Iterator[Reader]:
    with Reader(place) as reader:
        yield reader


def test_pages_join_without_gap_or_overlap(reader: Reader) -> None:
    """PAGE_ROWS_MAX: a page that is asked for larger is cut to it; the next begins below its last number."""
    numbers: list[int] = []
    before = None
    while page := reader.runs_page(before=before, limit=limits.PAGE_ROWS_MAX + 1):
        assert len(page) <= limits.PAGE_ROWS_MAX
        numbers += [row.number for row in page]
        before = page[-1].number
    assert numbers == list(range(1200, 0, -1))
    assert len(reader.runs_page(limit=limits.PAGE_ROWS_MAX)) == limits.PAGE_ROWS_MAX


@pytest.mark.parametrize("statuses", [None, ["FAILED"], ["RUNNING", "FAILED"], ["STOPPED"]])
@pytest.mark.parametrize("task", [None, "other", "nobody"])
@pytest.mark.parametrize("text", [None, "key-11", "k%y"])
def test_filters_agree_with_looking_at_every_row(
    reader: Reader, statuses: list[str] | None, task: str | None, text: str | None
) -> None:
    everything = [row for before in (None, 701, 201) for row in reader.runs_page(before=before)]
    wanted = [
        row
        for row in everything
        if (statuses is None or row.status in statuses)
        and (task is None or row.task == task)
        and (text is None or text in row.key)
    ]
    assert reader.runs_page(statuses=statuses, task=task, text=text, limit=50) == wanted[:50]
    assert (
        reader.runs_page(statuses=statuses, task=task, text=text, limit=50, before=600)
        == [row for row in wanted if row.number < 600][:50]
    )


@pytest.mark.parametrize(
    ("statuses", "task", "index"),
    [(1, False, "run_by_status"), (3, False, "run_by_status"), (0, True, "run_by_task"), (2, True, "run_by_task_status")],
)
def test_the_partial_indices_serve_and_nothing_is_sorted(reader: Reader, statuses: int, task: bool, index: str) -> None:
    statement = runlists._page(statuses, task, False, "none")
    values: dict[str, object] = {"v_before": 900, "v_limit": 200, "v_task": "sample"}
    values |= {f"v_status_{number}": "FAILED" for number in range(statuses)}
    sql = "EXPLAIN QUERY PLAN " + statement.text
    plan = [row["detail"] for row in reader.connection.execute(sql, {**statement._fixed, **values})]
    assert any(f"USING COVERING INDEX {index} " in line or f"USING INDEX {index} " in line for line in plan), plan
    assert not any(line.startswith("SCAN run") for line in plan), plan


def test_runs_are_counted_by_status_and_deleted_ones_are_left_out(reader: Reader, tmp_path: Path) -> None:
    """Succeeded ones are what is left when the others are counted: the same numbers as counting each."""
    one_by_one = "SELECT status, count(*) FROM run WHERE deletion = 'none' GROUP BY status"
    assert reader.counts() == dict(reader.connection.execute(one_by_one).fetchall()) == {
        "SUCCEEDED": 1080, "FAILED": 108, "RUNNING": 12,
    }  # fmt: skip
    plan = [row["detail"] for row in reader.connection.execute(f"EXPLAIN QUERY PLAN {_counts.text}", _counts._fixed)]
    assert "SCAN run USING INDEX run_deleted" in plan, plan
    assert "SCAN run" not in plan, plan

    ws = w.make(tmp_path / "ws")
    seed.fill(ws, 100)
    with sqlite3.connect(ws.database) as connection:
        connection.execute("UPDATE run SET deletion = 'soft' WHERE number IN (1, 3, 10, 100)")
    connection.close()
    with Reader(ws) as deleted:
        assert deleted.counts() == {"SUCCEEDED": 88, "FAILED": 8}


def test_a_run_is_found_by_number_and_by_id(reader: Reader) -> None:
    row = reader.run(17)
    assert reader.run("17") == reader.run(row.id) == reader.run(row.id.upper()) == row
    for unknown in (0, 99999, "99999", "no-such-id", "9" * 40, "１７"):
        with pytest.raises(NotFound):
            reader.run(unknown)
    with pytest.raises(NotFound):
        reader.task("nobody")
    with pytest.raises(NotFound):
        reader.task("sample", "9")


def test_open_attempts_are_what_a_supervisor_starts_from(tmp_path: Path) -> None:
    """Non-terminal, unreleased, and the newest attempt of a RETRYING run; nothing else."""
    ws = w.make(tmp_path / "ws")
    with w.writing(ws) as writer:
        digest = w.add_task(writer)
        running = w.bring_to(writer, w.admit(writer, digest), COMPUTING)
        verifying = w.bring_to(writer, w.admit(writer, digest), Pair(Status.RUNNING, Phase.VERIFYING))
        held = w.bring_to(writer, w.admit(writer, digest), Pair(Status.FAILED, Phase.CLEANING_UP))
        retrying = w.bring_to(writer, w.admit(writer, digest), COMPUTING)
        retrying = w.move(writer, retrying, AttemptEvent.OUTCOME_FAILED, retry_at_us=1)
        retrying = w.move(writer, retrying, AttemptEvent.TREE_CLEAR)
        w.succeed(writer, w.admit(writer, digest))
        with Reader(ws) as reader:
            rows = reader.attempt_rows()
            assert rows == [running, verifying, held, retrying]
            assert rows[-1].run_status is RunStatus.RETRYING
            assert reader.current_attempt(held.run) == held
            assert reader.find_key(held.key) == reader.run(held.run)
            assert reader.find_key("nobody") is None


def test_a_snapshot_is_one_moment(tmp_path: Path) -> None:
    ws = w.make(tmp_path / "ws")
    with w.writing(ws) as writer, Reader(ws) as reader:
        digest = w.add_task(writer)
        with reader.snapshot():
            assert reader.counts() == {}
            w.admit(writer, digest)
            with reader.snapshot():
                assert reader.counts() == {}
        assert reader.counts() == {"CREATED": 1}


def test_settings_are_read_with_their_defaults(tmp_path: Path) -> None:
    ws = w.make(tmp_path / "ws")
    with w.writing(ws) as writer, Reader(ws) as reader:
        assert reader.settings()["resume_queue_after_crash"] is False
        writer.ask(SetSetting("resume_queue_after_crash", True, 1))
        assert reader.settings()["resume_queue_after_crash"] is True
        assert reader.setting_rows()["database_uuid"] == writer.opened.database_uuid == reader.database_uuid()


def test_labels_are_found(tmp_path: Path) -> None:
    ws = w.make(tmp_path / "ws")
    with w.writing(ws) as writer, Reader(ws) as reader:
        row = w.admit(writer, w.add_task(writer))
        w.persisted(writer.ask(Change(row.attempt, row.run, run_columns={"labels": ["Q3 report"]})))
        assert [found.labels for found in reader.runs_page(text="q3")] == [("Q3 report",)]


def test_contracts_are_kept_up_to_a_bound() -> None:
    """CONTRACTS_CACHED_MAX: at it nothing goes; one more, and the oldest does."""
    contractcache._contracts.clear()
    for number in range(limits.CONTRACTS_CACHED_MAX):
        contractcache.contract_of(f"d{number}", "{}")
    assert len(contractcache._contracts) == limits.CONTRACTS_CACHED_MAX
    contractcache.contract_of("one more", "{}")
    assert len(contractcache._contracts) == limits.CONTRACTS_CACHED_MAX
    assert "d0" not in contractcache._contracts


def test_a_reader_reads_while_the_writer_writes(tmp_path: Path) -> None:
    """Every page seen is consistent: no run without its current attempt, no success without fourteen facts."""
    ws = w.make(tmp_path / "ws")
    with w.writing(ws) as writer:
        digest = w.add_task(writer)
        ended = threading.Event()

        def write() -> None:
            for _ in range(30):
                w.succeed(writer, w.admit(writer, digest))
            ended.set()

        thread = threading.Thread(target=write)
        thread.start()
        with Reader(ws) as reader:
            while not ended.is_set():
                with reader.snapshot():
                    for row in reader.runs_page(statuses=["SUCCEEDED"]):
                        assert len(reader.facts(row.number)) == 14
                        assert row.result_digest is not None
        thread.join()
