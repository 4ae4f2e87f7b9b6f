"""Parquet of a view by DuckDB's own writer: the table's own schema and values, or it is left to pyarrow (R14, R11)."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from actum import limits
from actum.errors import ActumError, StorageFailed
from actum.results import digests, export, exportplace, exportsource, parquetcopy
from actum.results.exportsource import Source
from actum.results.query import Order, Query

from tests.helpers import everyarrow
from tests.helpers.waiting import wait_until

CASES = {name: array for name, array in everyarrow.cases().items() if name not in ("interval", "run ends", "union")}
BY_DUCKDB = {
    *("bool", "int64", "uint64", "int64 short", "decimal(38,18)", "decimal(15,2)", "float64", "float32", "text", "large text"),
    *("dictionary", "binary", "date", "time us", "timestamp us", "timestamp us UTC", "timestamp us Asia/Kolkata"),
    *("duration us", "timestamp ns", "struct"),
}
REFUSED = {"decimal256", "list view"}  # no view of them is exact
QUERY = Query(order=(Order("row", descending=True),))


def viewed(table: pa.Table, folder: Path, asked: Query = QUERY) -> Source:
    """The table as a package's, and what a query leaves of it."""
    path = folder / "t.parquet"
    pq.write_table(table, path)
    schema = pq.read_schema(path)
    whole = Source("t", "t", "", schema, table.num_rows, lambda: exportsource.parquet_batches(path), path, file=path)
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    return exportsource.filtered(whole, asked, scratch)


def exported(source: Source, folder: Path) -> pa.Table:
    job = export.Job(source, "parquet", "data", folder / "scratch", digests.no_progress)
    assert job.run(folder / "out.parquet", "replace").compared_rows == source.rows
    return pq.read_table(folder / "out.parquet")


@pytest.mark.parametrize("name", CASES)
def test_r14_every_type_comes_out_of_a_view_as_it_was_whoever_writes_it(name: str, tmp_path: Path) -> None:
    array = CASES[name]
    rows = len(array)
    fields = [pa.field("row", pa.int64()), pa.field("v", array.type, metadata={"unit": "€", "actum": "x"})]
    table = pa.Table.from_arrays([pa.array(range(rows)), array], schema=pa.schema(fields, metadata={"of": "the table"}))
    if name in REFUSED:
        with pytest.raises(ActumError, match="exactly"):
            list(viewed(table, tmp_path).batches())
        return
    source = viewed(table, tmp_path)
    target = tmp_path / "scratch" / "direct.parquet"
    wanted = everyarrow.values(pq.read_table(tmp_path / "t.parquet").column("v").combine_chunks())  # Parquet has no seconds
    assert source.view is not None
    written = parquetcopy.write(source.view, source.schema, target)
    assert written or name not in BY_DUCKDB
    for read in (exported(source, tmp_path), pq.read_table(target) if written else None):
        if read is None:
            continue
        if written:
            assert read.schema.equals(source.schema, check_metadata=True)
        found = everyarrow.values(read.cast(source.schema).column("v").combine_chunks())
        assert found == list(reversed(wanted))


def test_r14_columns_that_may_hold_nulls_and_those_that_may_not_stay_so_whatever_they_hold(tmp_path: Path) -> None:
    """DuckDB's writer marks by what it knows of the values; the table's schema says otherwise of “p” and “s”."""
    fields = [
        ("row", pa.int64(), False),
        ("p", pa.decimal128(9, 2), True),
        ("q", pa.float64(), True),
        ("t", pa.string(), False),
    ]
    schema = pa.schema([pa.field(name, kind, nullable=flag, metadata={"unit": "m"}) for name, kind, flag in fields])
    values = {"row": [1, 2], "p": [Decimal("1.50"), Decimal(0)], "q": [None, float("nan")], "t": ["", "x"]}
    source = viewed(pa.table(values, schema=schema), tmp_path)
    assert source.view is not None
    assert parquetcopy.write(source.view, source.schema, tmp_path / "scratch" / "x.parquet")
    read = exported(source, tmp_path)
    assert read.schema.equals(source.schema, check_metadata=True)
    assert read.column("p").to_pylist() == [Decimal(0), Decimal("1.50")]
    assert everyarrow.values(read.column("q").combine_chunks()) == ["nan", None]


def test_r14_a_schema_that_the_writer_does_not_keep_is_left_to_pyarrow(tmp_path: Path) -> None:
    """A struct whose member may not be null: known only when the file is there."""
    kind = pa.struct([pa.field("m", pa.int64(), nullable=False)])
    schema = pa.schema([pa.field("row", pa.int64()), pa.field("s", kind, nullable=False)])
    source = viewed(pa.table({"row": [1, 2], "s": [{"m": 1}, {"m": 2}]}, schema=schema), tmp_path)
    assert source.view is not None
    written = parquetcopy.write(source.view, source.schema, tmp_path / "scratch" / "x.parquet")
    read = exported(source, tmp_path)
    assert read.schema.equals(source.schema, check_metadata=True)
    assert read.column("s").to_pylist() == [{"m": 2}, {"m": 1}]
    assert not written


def test_chosen_columns_and_odd_names_keep_their_order(tmp_path: Path) -> None:
    table = pa.table({"row": [1, 2, 3], "a\"b'": ["x", None, ""], "行": [0.5, -0.0, float("nan")]})
    source = viewed(table, tmp_path, Query(order=QUERY.order, columns=("行", "a\"b'")))
    read = exported(source, tmp_path)
    assert read.schema.names == ["行", "a\"b'"]
    assert read.column(1).to_pylist() == ["", None, "x"]


def test_r11_rows_of_a_group_shrink_where_they_are_wide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = viewed(pa.table({"row": range(10_000), "t": [f"{number:0100}" for number in range(10_000)]}), tmp_path)
    assert source.view is not None
    target = tmp_path / "scratch" / "x.parquet"
    assert parquetcopy.write(source.view, source.schema, target)
    assert pq.read_metadata(target).num_row_groups == 1
    assert parquetcopy._group_rows(source.view) <= limits.ROW_GROUP_ROWS_MAX
    wide = pq.read_metadata(source.view).row_group(0).total_byte_size // 10_000
    monkeypatch.setattr(limits, "EXPORT_COPY_MEMORY_BYTES_MAX", 4 * limits.QUERY_THREADS_MAX * wide * 4_000)
    assert parquetcopy._group_rows(source.view) == 4_000


def test_r11_what_needs_more_memory_than_the_bound_is_written_by_the_other_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = viewed(pa.table({"row": range(50_000), "t": [f"{number:0400}" for number in range(50_000)]}), tmp_path)
    assert source.view is not None
    for bound, by_duckdb in ((limits.EXPORT_COPY_MEMORY_BYTES_MAX, True), (1 << 20, False)):
        monkeypatch.setattr(limits, "EXPORT_COPY_MEMORY_BYTES_MAX", bound)
        assert parquetcopy.write(source.view, source.schema, tmp_path / "scratch" / "x.parquet") == by_duckdb
    assert exported(source, tmp_path).column("row").to_pylist() == list(range(49_999, -1, -1))


def test_r11_a_disk_that_fills_up_meanwhile_gives_the_writing_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given_up: list[bool] = []

    def written() -> None:
        with exportplace.room_kept(tmp_path, lambda: given_up.append(True)):
            monkeypatch.setattr(limits, "EXPORT_ROOM_LEFT_BYTES", 1 << 60)
            wait_until(lambda: bool(given_up), what="the writing to be given up")
            raise RuntimeError("interrupted")

    with pytest.raises(StorageFailed, match="no room") as caught:
        written()
    assert caught.value.code == "disk_full"
    with pytest.raises(StorageFailed, match="no room"):
        viewed(pa.table({"row": [1]}), tmp_path)
    assert not (tmp_path / "scratch" / "view.parquet").exists()
