"""Where exports go: names, parts, room on the disk, what is left behind when something fails (R14, R18, §8)."""

from __future__ import annotations

import csv
import decimal
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from actum import faults, limits
from actum.contracts.tables import Column
from actum.errors import CheckFailed, Conflict, StorageFailed, WrongUse
from actum.results import digests, export, export_arrow, export_csv, export_xlsx, exportplace, exportsource, xlsxread
from actum.results.exportsource import Source
from actum.results.manifest import Messages
from actum.results.spreadsheet import Survey

from tests.helpers import everyarrow, packages


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table handed over as Arrow, with every type that a package holds, and one of plain rows."""
    folder = tmp_path_factory.mktemp("package")
    place = packages.staging(folder)
    held = everyarrow.table(name for name in everyarrow.cases() if name not in ("interval", "union"))
    for name, table in (("every", held), ("plain", pa.table({"n": range(10), "t": ["=1", None] * 5}))):
        with pa.ipc.new_file(str(place / "files" / f"{name}.arrow"), table.schema) as writer:
            writer.write_table(table)
    messages = Messages(
        tables=[{"table": name, "path": f"{name}.arrow"} for name in ("every", "plain")],
        metrics=[
            {"metric": "sharpe", "value": 0.62},
            {"unavailable": "sortino", "reason": "insufficient_observations", "observations": 3, "needed": 30},
        ],
    )
    return packages.finish(place, messages, contract={**packages.CONTRACT, "tables": [], "required": []}, required=[]).path


def source(table: pa.Table, rows: int = 3) -> Source:
    return Source("t", "t", "", table.schema, table.num_rows, lambda: iter(table.to_batches(max_chunksize=rows)))


def write(table: pa.Table, format: str, profile: str, path: Path, existing: str = "refuse") -> Any:
    return export.Job(source(table), format, profile, path.parent, digests.no_progress).run(path, existing)


@pytest.mark.parametrize("format", export.DATA_FORMATS)
def test_every_type_a_package_holds_goes_from_its_arrow_authority_to_every_format(
    package: Path, tmp_path: Path, format: str
) -> None:
    done = export.export(package, "every", format, "data", tmp_path / f"t.{format}")
    assert (done.exact, done.compared_rows) == (True, done.rows)
    sidecar = json.loads((tmp_path / f"t.{format}.actum.json").read_bytes())
    assert [item["arrow"] for item in sidecar["columns"]] == [str(field.type) for field in schema_of(package, "every")]
    assert sidecar["compared"] == "every value, read back from the file"


def schema_of(package: Path, name: str) -> pa.Schema:
    return pq.read_schema(package / "derived" / f"{name}.parquet")


def test_a_hostile_decimal_context_changes_no_export(package: Path, tmp_path: Path) -> None:
    calm = {}
    for format, profile in (("csv", "data"), ("jsonl", "data"), ("csv", "spreadsheet")):
        export.export(package, "every", format, profile, tmp_path / "calm")
        calm[format, profile] = (tmp_path / "calm").read_bytes()
        (tmp_path / "calm").unlink()
        (tmp_path / "calm.actum.json").unlink()
    traps = [decimal.Inexact, decimal.Rounded, decimal.FloatOperation]
    with decimal.localcontext(decimal.Context(prec=1, rounding=decimal.ROUND_UP, Emax=1, Emin=-1, traps=traps)):
        for (format, profile), content in calm.items():
            export.export(package, "every", format, profile, tmp_path / "hostile", overwrite=True)
            assert (tmp_path / "hostile").read_bytes() == content


def test_what_a_query_leaves_is_exported_in_its_order_and_recorded(package: Path, tmp_path: Path) -> None:
    done = export.export(package, "plain", "csv", "data", tmp_path / "t.csv", options={"query": packages.QUERY})
    with open(tmp_path / "t.csv", newline="") as file:
        assert [row[0] for row in csv.reader(file)] == ["n", "9", "8", "7", "6", "5", "4"]
    sidecar = json.loads((tmp_path / "t.csv.actum.json").read_bytes())
    assert (sidecar["options"], sidecar["rows"], sidecar["of_rows"]) == ({"query": packages.QUERY}, 6, 10)
    assert done.to_json()["options"] == {"query": packages.QUERY}
    told = export.preview(package, "plain", query=packages.QUERY)
    assert (told["rows"], told["of"]) == (6, 10)
    some = {**packages.QUERY, "columns": ["t"], "where": None}
    export.export(package, "plain", "parquet", "data", tmp_path / "t.parquet", options={"query": some})
    assert pq.read_table(tmp_path / "t.parquet").column_names == ["t"]
    for wrong in (
        {**packages.QUERY, "more": 1},
        {**packages.QUERY, "where": {"op": ">", "column": "x", "value": "3"}},
    ):
        with pytest.raises(WrongUse):
            export.export(package, "plain", "csv", "data", tmp_path / "u.csv", options={"query": wrong})
    with pytest.raises(WrongUse, match="exported whole"):
        export.export(package, "metrics", "csv", "data", tmp_path / "u.csv", options={"query": packages.QUERY})
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("t.csv", "t.csv.actum.json"),
        *("t.parquet", "t.parquet.actum.json"),
    ]


def test_r15_a_missing_metric_says_of_how_many_observations_in_every_profile(package: Path, tmp_path: Path) -> None:
    for format, profile in (("csv", "data"), ("jsonl", "data"), ("xlsx", "spreadsheet")):
        export.export(package, "metrics", format, profile, tmp_path / f"m.{format}", overwrite=True)
    rows = [json.loads(line) for line in (tmp_path / "m.jsonl").read_bytes().splitlines()]
    sortino = {"value": None, "status": "unavailable", "reason": "insufficient_observations", "observation_count": 3}
    assert rows[1].items() >= (sortino | {"observations_needed": 30}).items()
    assert (rows[0]["value"], rows[0]["raw"], rows[0]["conversion"]) == ("0.620000", "0.62", "float64")
    with open(tmp_path / "m.csv", newline="") as file:
        assert next(row for row in csv.DictReader(file) if row["name"] == "sortino")["observations_needed"] == "30"
    sheet = openpyxl.load_workbook(tmp_path / "m.xlsx").active
    titles = [cell.value for cell in sheet[1]]
    assert dict(zip(titles, (cell.value for cell in sheet[3]), strict=True))["observations_needed"] == 30


def test_r11_more_rows_than_a_sheet_has_go_to_further_files_and_sheets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SHEET_ROWS_MAX", 5)
    table = pa.table({"n": range(9), "t": [f"x{number}" for number in range(9)]})
    for rows, parts in ((4, 1), (5, 2), (8, 2), (9, 3)):
        written = write(table.slice(0, rows), "csv", "spreadsheet", tmp_path / f"{rows}.csv")
        names = [part["file"] for part in written.parts]
        assert names == ([f"{rows}.csv"] if parts == 1 else [f"{rows}-{number}.csv" for number in range(1, parts + 1)])
        found: list[str] = []
        for name in names:
            with open(tmp_path / name, newline="", encoding="utf-8-sig") as file:
                content = list(csv.reader(file))
            assert content[0] == ["n", "t"]
            found += [row[0] for row in content[1:]]
        assert found == [str(number) for number in range(rows)]
        write(table.slice(0, rows), "xlsx", "spreadsheet", tmp_path / f"{rows}.xlsx")
        book = openpyxl.load_workbook(tmp_path / f"{rows}.xlsx")
        assert book.sheetnames == ["t", *(f"t ({number})" for number in range(2, parts + 1))]
        values = [row[0] for sheet in book for row in sheet.iter_rows(min_row=2, values_only=True)]
        assert values == list(range(rows))


def test_a_part_that_is_there_stops_all_and_keep_both_finds_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SHEET_ROWS_MAX", 3)
    table = pa.table({"n": range(4)})
    (tmp_path / "t-2.csv").write_text("mine")
    with pytest.raises(Conflict, match=r"t-2\.csv"):
        write(table, "csv", "spreadsheet", tmp_path / "t.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["t-2.csv"]
    written = write(table, "csv", "spreadsheet", tmp_path / "t.csv", "keep_both")
    assert [part["file"] for part in written.parts] == ["t (2)-1.csv", "t (2)-2.csv"]
    write(table, "csv", "spreadsheet", tmp_path / "t.csv", "replace")
    assert (tmp_path / "t-2.csv").read_text("utf-8-sig").startswith("n")


def test_r11_names_are_tried_up_to_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "EXPORT_NAMES_MAX", 3)
    for name in ("t.csv", "t (2).csv"):
        (tmp_path / name).touch()
    assert exportplace.settled(tmp_path / "t.csv", 1, "keep_both").name == "t (3).csv"
    (tmp_path / "t (3).csv.actum.json").touch()  # a sidecar alone counts as well
    with pytest.raises(Conflict):
        exportplace.settled(tmp_path / "t.csv", 1, "keep_both")


def test_r11_an_export_that_would_take_the_last_of_the_disk_does_not_begin(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = os.statvfs(tmp_path)
    free = seen.f_bavail * seen.f_frsize
    monkeypatch.setattr(limits, "EXPORT_ROOM_LEFT_BYTES", 2 * free)
    with pytest.raises(StorageFailed) as refused:
        export.export(package, "plain", "csv", "data", tmp_path / "t.csv")
    assert refused.value.code == "disk_full"
    assert "are free" in refused.value.why
    assert refused.value.remedy
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(limits, "EXPORT_ROOM_LEFT_BYTES", 0)
    exportplace.need_room(tmp_path, 0)


def test_r11_the_disk_is_looked_at_while_an_export_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Just under the distance between two looks nothing is asked; at it the answer is no, and nothing is left."""
    looks: list[int] = []
    monkeypatch.setattr(exportplace, "need_room", lambda folder, wanted: looks.append(wanted))
    with open(tmp_path / "f", "wb") as file:
        watched = exportplace.Watched(file, tmp_path)
        watched.write(b"x" * (limits.EXPORT_ROOM_EVERY_BYTES - 1))
        assert looks == []
        watched.write(b"x")
        assert looks == [0]


def test_r18_what_fails_between_two_parts_leaves_none_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SHEET_ROWS_MAX", 3)
    for point in ("export.file.fsync.before", "export.rename.before"):
        faults.arm(f"{point}#2:error=EIO")
        try:
            with pytest.raises(OSError):
                write(pa.table({"n": range(4)}), "csv", "spreadsheet", tmp_path / "t.csv")
        finally:
            faults.arm("")
        assert list(tmp_path.iterdir()) == []


def test_r11_a_batch_of_a_wide_table_has_no_more_cells_than_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "wide.parquet"
    pq.write_table(pa.table({f"c{number}": range(20) for number in range(10)}), path)
    for cells, rows in ((100, 10), (99, 9), (5, 1)):
        monkeypatch.setattr(limits, "EXPORT_CELLS_MAX", cells)
        assert max(batch.num_rows for batch in exportsource.parquet_batches(path)) == rows


def test_r11_batches_shrink_where_rows_are_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "long.parquet"
    pq.write_table(pa.table({"t": [f"{number:06}" * 1_000 for number in range(40)]}), path, use_dictionary=False)
    row_bytes = pq.read_metadata(path).row_group(0).total_byte_size // 40
    for memory, rows in ((32 * row_bytes * 10, 10), (32 * row_bytes * 10 - 1, 9), (1, 1)):
        monkeypatch.setattr(limits, "EXPORT_MEMORY_BYTES_MAX", memory)
        assert max(batch.num_rows for batch in exportsource.parquet_batches(path)) == rows


def test_r11_so_many_threads_make_text_and_no_more_batches_are_drawn_than_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    for threads in (1, 2, 3):
        monkeypatch.setattr(limits, "EXPORT_THREADS_MAX", threads)
        state = {"drawn": 0, "written": 0, "at work": 0, "most at work": 0, "most ahead": 0}
        lock = threading.Lock()

        def batches(state: dict[str, int] = state) -> Iterator[pa.RecordBatch]:
            for number in range(30):
                state["drawn"] += 1
                state["most ahead"] = max(state["most ahead"], state["drawn"] - state["written"])
                yield pa.record_batch([[number]], ["n"])

        def make(batch: pa.RecordBatch, state: dict[str, int] = state, lock: threading.Lock = lock) -> bytes:
            with lock:
                state["at work"] += 1
                state["most at work"] = max(state["most at work"], state["at work"])
            content = bytes(batch.column(0).to_pylist())
            with lock:
                state["at work"] -= 1
            return content

        class File(io.BytesIO):
            def write(self, content: Any, state: dict[str, int] = state) -> int:
                state["written"] += 1
                return super().write(content)

        file = File()
        assert export_csv.in_order(file, batches(), make) == 30
        assert file.getvalue() == bytes(range(30))
        assert state["most at work"] <= limits.EXPORT_THREADS_MAX
        assert state["most ahead"] == limits.EXPORT_THREADS_MAX + 2


def test_r11_a_sheets_name_is_cut_at_the_bound_its_number_included() -> None:
    most = limits.SHEET_NAME_CHARS_MAX
    assert export_xlsx.sheet_name("x" * most, 1) == "x" * most
    assert export_xlsx.sheet_name("x" * (most + 1), 1) == "x" * most
    assert export_xlsx.sheet_name("x" * most, 12) == "x" * (most - 5) + " (12)"
    assert export_xlsx.sheet_name("a/b:[c]", 1) == "a_b__c_"
    assert export_xlsx.sheet_name("History", 1) == "History_"


def test_r11_the_widest_sheet_and_one_column_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SHEET_COLUMNS_MAX", 3)
    for columns, code in ((3, ""), (4, "too_wide")):
        table = pa.table({f"c{n}": [1] for n in range(columns)})
        job = export.Job(source(table), "xlsx", "spreadsheet", tmp_path, digests.no_progress)
        if not code:
            job.refuse()
            continue
        with pytest.raises(WrongUse) as refused:
            job.refuse()
        assert refused.value.code == code


def test_r11_a_text_longer_than_a_cell_is_cut_as_sheets_count_and_named(tmp_path: Path) -> None:
    most = limits.SHEET_CELL_CHARS_MAX
    texts = ["x" * most, "x" * (most + 1), "🙂" * most]
    job = export.Job(source(pa.table({"t": texts})), "xlsx", "spreadsheet", tmp_path, digests.no_progress)
    job.run(tmp_path / "t.xlsx", "refuse")
    assert [(loss.code, loss.count) for loss in job.losses] == [("long_texts", 2)]
    cells = [row[0] for row in openpyxl.load_workbook(tmp_path / "t.xlsx").active.iter_rows(min_row=2, values_only=True)]
    assert [len(cell) for cell in cells] == [most, most, most // 2]
    assert xlsxread.cut("🙂" * 3) == "🙂" * 3


def test_a_workbook_that_reads_back_differently_is_noticed(tmp_path: Path) -> None:
    table = pa.table({"n": [1.5, -0.0, None], "t": ["a", "", None]})
    job = export.Job(source(table), "xlsx", "spreadsheet", tmp_path, digests.no_progress)
    job.run(tmp_path / "t.xlsx", "refuse")
    for other, row in (([1.5, 0.0, None], 2), ([1.5, -0.0, 2.0], 3), ([1.5, -0.0], 3), ([1.5, -0.0, None, None], 4)):
        changed = pa.table({"n": other, "t": ["a", "", None, None][: len(other)]})
        outcome = export_xlsx.compare(
            tmp_path / "t.xlsx", "t", iter(changed.to_batches()), changed.schema, Survey(changed.schema)
        )
        assert outcome.difference is not None
        assert outcome.difference.row == row
    (tmp_path / "t.xlsx").write_bytes(b"PK")
    with pytest.raises(CheckFailed):
        export_xlsx.compare(tmp_path / "t.xlsx", "t", iter(table.to_batches()), table.schema, frozenset())


def test_an_arrow_file_has_one_dictionary_however_many_its_batches_had(tmp_path: Path) -> None:
    kind = pa.dictionary(pa.int8(), pa.string())
    arrays = [pa.array(values, pa.string()).dictionary_encode().cast(kind) for values in (["a", None], ["b", "a"])]
    batches = [pa.record_batch([array], ["d"]) for array in arrays]
    table = pa.Table.from_batches(batches)
    made = Source("t", "t", "", table.schema, 4, lambda: iter(batches))
    export.Job(made, "arrow", "data", tmp_path, digests.no_progress).run(tmp_path / "t.arrow", "refuse")
    with pa.ipc.open_file(str(tmp_path / "t.arrow")) as file:
        assert file.read_all().column("d").to_pylist() == ["a", None, "b", "a"]
    many = [pa.record_batch([pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), [f"v{n}"])], ["d"]) for n in range(129)]
    with pytest.raises(WrongUse, match="cannot be one dictionary"):
        list(export_arrow.unified(lambda: iter(many), many[0].schema)())


def test_money_in_a_sheet_is_a_number_that_shows_its_scale(package: Path, tmp_path: Path) -> None:
    columns = (Column("price", "decimal", precision=38, scale=2),)
    place = packages.staging(tmp_path, {"t.jsonl": packages.lines(columns, [{"price": Decimal("12.50")}, {"price": None}])})
    messages = Messages(tables=[packages.table_message(columns, "t", rows=2)])
    made = packages.finish(place, messages, contract={**packages.CONTRACT, "tables": [], "required": []}, required=[])
    done = export.export(made.path, "t", "xlsx", "spreadsheet", tmp_path / "t.xlsx")
    cell = openpyxl.load_workbook(tmp_path / "t.xlsx").active["A2"]
    assert (cell.value, cell.number_format, done.exact) == (12.5, "0.00", True)


def test_r18_what_a_killed_export_left_is_taken_away_by_the_next_and_what_another_holds_is_not(
    package: Path, tmp_path: Path
) -> None:
    left = tmp_path / ".actum-export-left"
    left.mkdir()
    (left / "1.part").write_text("half")
    mine = tmp_path / ".actum-export.txt"
    mine.write_text("mine")
    with exportplace.scratch(tmp_path) as held:
        (held / "1.part").write_text("half")
        assert not left.exists()
        export.export(package, "plain", "csv", "data", tmp_path / "t.csv")
        assert (held / "1.part").read_text() == "half"
    assert sorted(path.name for path in tmp_path.iterdir()) == [mine.name, "t.csv", "t.csv.actum.json"]


def test_a_killed_export_leaves_no_file_under_the_name_that_was_asked_for(package: Path, tmp_path: Path) -> None:
    """R18: killed before the rename; the next export leaves nothing of it."""
    program = (
        "import sys, pathlib; from actum import faults; from actum.results import export; faults.i_am('host'); "
        "export.export(pathlib.Path(sys.argv[1]), 'plain', 'csv', 'data', pathlib.Path(sys.argv[2]))"
    )
    variables = {**os.environ, "ACTUM_FAULT": "export.rename.before:kill-host"}
    path = tmp_path / "t.csv"
    ended = subprocess.run([sys.executable, "-c", program, str(package), str(path)], env=variables, check=False)
    assert ended.returncode == -9
    assert [each.name.startswith(".actum-export-") for each in tmp_path.iterdir()] == [True]
    export.export(package, "plain", "csv", "data", path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["t.csv", "t.csv.actum.json"]


def test_a_name_that_is_no_text_is_refused_before_anything_is_written(package: Path, tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="is no text"):
        export.export(package, "plain", "csv", "data", tmp_path / "\udcff.csv")
    assert list(tmp_path.iterdir()) == []


def test_of_two_exports_to_one_name_file_and_sidecar_are_of_the_same(package: Path, tmp_path: Path) -> None:
    """R14: what stands beside a file speaks of that file, whoever came last."""
    path = tmp_path / "t.csv"

    def written(name: str) -> None:
        for _ in range(8):
            export.export(package, name, "csv", "data", path, overwrite=True)

    others = [threading.Thread(target=written, args=(name,)) for name in ("plain", "metrics")]
    for other in others:
        other.start()
    seen = 0
    while any(other.is_alive() for other in others):
        with exportplace.alone(tmp_path):
            if path.exists():
                seen += 1
                said = json.loads(exportplace.sidecar_of(path).read_bytes())
                assert said["sha256"] == digests.of_file(path).sha256
    assert seen
    assert sorted(each.name for each in tmp_path.iterdir()) == ["t.csv", "t.csv.actum.json"]


def test_killed_between_a_replaced_file_and_its_sidecar_no_other_ones_word_is_left(package: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    export.export(package, "metrics", "csv", "data", path)
    faults.arm("export.sidecar.rename.before:error=EIO")
    try:
        with pytest.raises(StorageFailed):
            export.export(package, "plain", "csv", "data", path, overwrite=True)
    finally:
        faults.arm("")
    assert path.exists()
    assert not exportplace.sidecar_of(path).exists()


def test_r11_an_export_waits_for_another_so_long_and_no_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """EXPORT_ALONE_WAIT_S: a folder that others hold for good keeps nobody from exporting."""
    monkeypatch.setattr(limits, "EXPORT_ALONE_WAIT_S", 0)
    with exportplace.alone(tmp_path), exportplace.alone(tmp_path):
        pass
    monkeypatch.setattr(limits, "EXPORT_ALONE_WAIT_S", 60)
    let_go, entered = threading.Event(), threading.Event()

    def hold() -> None:
        with exportplace.alone(tmp_path):
            entered.set()
            let_go.wait(60)

    holding = threading.Thread(target=hold)
    holding.start()
    assert entered.wait(60)
    threading.Timer(0.1, let_go.set).start()
    with exportplace.alone(tmp_path):
        assert let_go.is_set()
    holding.join()


def test_metrics_that_are_not_as_they_were_sealed_are_not_exported(tmp_path: Path) -> None:
    """R14: like the tables, whose Parquet is held against its digest first."""
    made = packages.sample(tmp_path)
    result = packages.writable(made.path / "result.json")
    content = result.read_text()
    assert '"1.230000"' in content
    result.write_text(content.replace('"1.230000"', '"9.230000"'))
    for damaged in (None, "{}"):
        if damaged is not None:
            result.write_text(damaged)
        with pytest.raises(CheckFailed):
            export.export(made.path, "metrics", "csv", "data", tmp_path / "m.csv")
    assert not (tmp_path / "m.csv").exists()
