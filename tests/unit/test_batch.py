"""Many exports in one go, as plain data: names, progress, outcomes, trying again (§8, R10, R11)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from actum import limits
from actum.errors import ActumError, WrongUse
from actum_desktop.commands.export import chosen_format
from actum_desktop.models import batch, batchmodel
from actum_desktop.models.batch import Batch, Item

ANSWER: dict[str, Any] = {"rows": 3, "size_bytes": 10, "losses": []}


def items(count: int, folder: Path = Path("/f")) -> list[Item]:
    return [Item(1, f"t{number}", folder / f"t{number}.csv", "csv", "data", weight=10) for number in range(count)]


def answered(item: Item) -> dict[str, Any]:
    return {**ANSWER, "path": str(item.path)}


def test_one_file_after_the_other_and_the_bar_never_goes_back() -> None:
    work = Batch(items(3))
    seen = [work.fraction]
    while (item := work.next()) is not None:
        for done in (1, 2, 1, 4):
            work.advance(done, 4)
            seen.append(work.fraction)
        assert work.fraction < 1 or work.ended
        work.settle(answered(item), None)
        seen.append(work.fraction)
    assert seen == sorted(seen)
    assert (work.ended, work.fraction, work.count(batch.WRITTEN)) == (True, 1.0, 3)


def test_what_fails_does_not_stop_the_rest_and_is_tried_again() -> None:
    work = Batch(items(3), "keep_both")
    for number in range(3):
        item = work.next()
        assert item is not None
        assert item.body(work.existing)["existing"] == "keep_both"
        work.settle(*((None, ActumError("disk_full", "No room.")) if number == 1 else (answered(item), None)))
    assert [item.state for item in work.items] == ["written", "failed", "written"]
    again = work.again()
    assert [(item.name, item.state, item.error) for item in again.items] == [("t1", "waiting", None)]
    assert again.existing == "keep_both"
    assert work.items[1].to_json()["error"]["code"] == "disk_full"


def test_a_cancelled_batch_begins_nothing_more() -> None:
    work = Batch(items(3))
    work.next()
    work.cancel()
    work.settle(None, ActumError("cancelled", "Cancelled."))
    assert work.next() is None
    assert [item.state for item in work.items] == ["cancelled"] * 3
    assert len(work.again().items) == 3


def test_whole_files_that_are_there_are_left_out_and_half_ones_are_not(tmp_path: Path) -> None:
    work = Batch(items(2, tmp_path), skip_there=True)
    for name in ("t0.csv", "t0.csv.actum.json", "t1.csv"):  # the second has no sidecar: it may be anybody's
        (tmp_path / name).touch()
    item = work.next()
    assert item is not None
    assert item.name == "t1"
    assert work.items[0].state == "there"
    assert work.fraction == 0.5


def test_r19_names_of_tables_are_no_paths_and_never_meet(tmp_path: Path) -> None:
    tables = [{"name": name} for name in ("a/b", "a:b", "..", "A_b", "x" * 300, "名字")]
    made = batch.plan([(7, tables, True)], tmp_path, "xlsx", "spreadsheet")
    names = [item.path.name for item in made]
    assert names[:2] == ["a_b-7.xlsx", "a_b-7 (2).xlsx"]
    assert names[3] == "A_b-7 (3).xlsx"  # some file systems do not tell it apart
    assert names[-1] == "metrics-7.xlsx"
    assert all(item.path.parent == tmp_path and len(item.path.name.encode()) < 255 for item in made)
    assert len({name.lower() for name in names}) == len(names)
    most = limits.EXPORT_NAME_BYTES_MAX
    for length, kept in ((most, most), (most + 1, most)):
        assert batch.file_name("x" * length) == "x" * kept


def test_r11_a_batch_has_so_many_files_and_one_at_least(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BATCH_FILES_MAX", 3)
    for count, code in ((3, ""), (4, "too_many_files"), (0, "nothing_to_export")):
        tables = [{"name": f"t{number}"} for number in range(count)]
        if not code:
            assert len(batch.plan([(1, tables, False)], tmp_path, "csv", "data")) == count
            continue
        with pytest.raises(WrongUse) as refused:
            batch.plan([(1, tables, False)], tmp_path, "csv", "data")
        assert refused.value.code == code


def test_the_next_free_name_passes_files_and_sidecars(tmp_path: Path) -> None:
    assert batch.free_path(tmp_path / "t.csv") == tmp_path / "t.csv"
    (tmp_path / "t.csv").touch()
    (tmp_path / "t (2).csv.actum.json").touch()
    assert batch.free_path(tmp_path / "t.csv") == tmp_path / "t (3).csv"


def test_each_file_says_in_words_how_it_stands() -> None:
    work = Batch(items(4))
    item = work.next()
    assert item is not None
    work.settle({**answered(item), "losses": [{"column": "n", "code": "long_numbers", "count": 1, "lossy": True}]}, None)
    work.next()
    work.settle(None, ActumError("disk_full", "There is no room.", "1 byte is free.", "Free some space."))
    work.next()
    assert [batchmodel.words(item) for item in work.items] == [
        "t0.csv: 3 rows, 10 B, 1 named loss",
        "t1.csv: There is no room. 1 byte is free. Free some space.",
        "t2.csv: being written",
        "t3.csv: waits",
    ]


@pytest.mark.parametrize(
    ("path", "profile", "format"),
    [
        (None, None, "csv"),
        (None, "spreadsheet", "xlsx"),
        ("a.ndjson", None, "jsonl"),
        ("a.FEATHER", None, "arrow"),
        ("a.xlsx", None, "xlsx"),
    ],
)
def test_the_format_follows_the_name_and_the_profile(path: str | None, profile: str | None, format: str) -> None:
    assert chosen_format(None, path, profile) == format
