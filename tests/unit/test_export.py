"""Exports are read back here by csv, json, pandas and DuckDB, never by a reader of ours (R14, R19, §8 Data profile)."""

from __future__ import annotations

import csv
import io
import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from actum import faults, limits
from actum.contracts.tables import Column
from actum.errors import CheckFailed, Conflict, NotFound, StorageFailed, WrongUse
from actum.results import digests, export_csv, export_json, export_parquet, pack
from actum.results.compare import compare_batches
from actum.results.export import export
from actum.results.manifest import Messages

from tests.helpers import packages

COLUMNS = (
    Column("text", "text"),
    Column("number", "integer"),
    Column("money", "decimal", precision=20, scale=8),
    Column("float", "float64"),
    Column("flag", "boolean"),
    Column("day", "date"),
    Column("at", "timestamp"),
    Column("bytes", "binary"),
)
AT = datetime(2026, 3, 29, 1, 30, 0, 123456, tzinfo=UTC)
ROWS: list[dict[str, Any]] = [
    {"text": "", "number": 2**63 - 1, "money": Decimal("0.00000001"), "float": 0.1, "flag": True, "day": date(2026, 1, 2)},
    {"text": None, "number": None, "money": None, "float": None, "flag": None, "day": None, "at": None, "bytes": None},
    {"text": 'a "quoted", text\r\nof two lines', "number": -1, "money": Decimal("-123456789012.5"), "float": -0.0, "at": AT},
    {"text": "=SUM(A1)", "number": 2**53 + 1, "money": Decimal(0), "float": math.inf, "flag": False, "bytes": b"\0\xff"},
    {"text": "中文，引号“”", "number": 0, "money": Decimal("1E+3"), "float": math.nan, "at": AT},
    {"text": " padded ", "number": 7, "money": Decimal("7"), "float": 1e300, "flag": True},
]
MONEY = ["0.00000001", None, "-123456789012.50000000", "0.00000000", "1000.00000000", "7.00000000"]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("package")
    place = packages.staging(
        folder,
        {"t.jsonl": packages.lines(COLUMNS, ROWS), "one.jsonl": packages.lines(COLUMNS[:1], [{"text": ""}, {"text": None}])},
    )
    tables = [packages.table_message(COLUMNS, "t"), packages.table_message(COLUMNS[:1], "one")]
    metrics = [{"metric": "sharpe", "value": "1.23"}, {"unavailable": "sortino", "reason": "too_few"}]
    contract = {**packages.CONTRACT, "tables": [], "required": []}
    messages = Messages(tables=tables, metrics=metrics)
    return packages.finish(place, messages, contract=contract, required=[]).path


def write(package: Path, folder: Path, format: str, name: str = "t") -> Path:
    path = folder / f"{name} 导出.{format}"
    exported = export(package, name, format, "data", path)
    assert digests.of_file(path) == digests.FileDigest(exported.sha256, exported.size_bytes)
    assert exported.rows == exported.compared_rows
    return path


def read_csv(path: Path) -> list[dict[str, Any]]:
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode(), newline="")))


def test_csv_by_the_csv_module(package: Path, tmp_path: Path) -> None:
    raw = write(package, tmp_path, "csv").read_bytes()
    assert not raw.startswith(b"\xef\xbb\xbf")
    assert raw.startswith(b"text,number,money,float,flag,day,at,bytes\r\n")
    rows = read_csv(tmp_path / "t 导出.csv")
    assert [row["text"] for row in rows] == [row["text"] or "" for row in ROWS]
    assert [row["money"] or None for row in rows] == MONEY
    assert [row["number"] for row in rows] == ["9223372036854775807", "", "-1", "9007199254740993", "0", "7"]
    assert [row["float"] for row in rows] == ["0.1", "", "-0", "inf", "nan", "1e+300"]
    assert rows[2]["at"] == "2026-03-29T01:30:00.123456Z"
    assert (rows[0]["day"], rows[0]["flag"], rows[3]["bytes"]) == ("2026-01-02", "true", "AP8=")


def test_csv_null_is_bare_and_empty_is_quoted(package: Path, tmp_path: Path) -> None:
    lines = write(package, tmp_path, "csv").read_bytes().split(b"\r\n")
    assert lines[1].startswith(b'"",9223372036854775807,')
    assert lines[2] == b",,,,,,,"
    assert write(package, tmp_path, "csv", "one").read_bytes() == b'text\r\n""\r\n\r\n'


def test_csv_by_duckdb(package: Path, tmp_path: Path) -> None:
    path = write(package, tmp_path, "csv")
    types = "{'text':'VARCHAR','number':'BIGINT','money':'DECIMAL(20,8)','float':'DOUBLE','at':'TIMESTAMPTZ','day':'DATE'}"
    with duckdb.connect() as connection:
        query = f"""SELECT "text", number, money, isnan("float"), epoch_us("at") FROM read_csv(?, types={types})"""
        rows = connection.execute(query, [str(path)]).fetchall()
    assert [row[0] for row in rows if row[0]] == [row["text"] for row in ROWS if row["text"]]
    assert [row[1] for row in rows] == [row["number"] for row in ROWS]
    assert [row[2] for row in rows] == [row["money"] for row in ROWS]
    assert rows[4][3] is True
    assert rows[2][4] == int(AT.timestamp()) * 1_000_000 + 123456


def test_csv_by_pandas(package: Path, tmp_path: Path) -> None:
    frame = pandas.read_csv(write(package, tmp_path, "csv"), dtype=str, keep_default_na=False)
    assert list(frame["text"]) == [row["text"] or "" for row in ROWS]
    assert frame["money"][2] == "-123456789012.50000000"


def test_json_is_one_document(package: Path, tmp_path: Path) -> None:
    document = json.loads(write(package, tmp_path, "json").read_bytes())
    assert [column["type"] for column in document["schema"]["columns"]] == [column.type for column in COLUMNS]
    rows = document["rows"]
    assert [row["text"] for row in rows] == [row["text"] for row in ROWS]
    assert [row["money"] for row in rows] == MONEY
    assert (rows[0]["number"], rows[2]["number"]) == ("9223372036854775807", -1)
    assert [row["float"] for row in rows[3:5]] == ["inf", "NaN"]
    assert math.copysign(1, rows[2]["float"]) == -1
    assert list(rows[0]) == [column.name for column in COLUMNS]


def test_parquet_is_the_verified_one(package: Path, tmp_path: Path) -> None:
    path = write(package, tmp_path, "parquet")
    assert path.read_bytes() == (package / "derived" / "t.parquet").read_bytes()
    with duckdb.connect() as connection:
        rows = connection.execute("SELECT money, number, text FROM read_parquet(?)", [str(path)]).fetchall()
    assert rows == [(row["money"], row["number"], row["text"]) for row in ROWS]
    assert pandas.read_parquet(path)["money"][0] == Decimal("0.00000001")


@pytest.mark.parametrize("format", ["csv", "json", "parquet"])
def test_r15_metrics_keep_their_status_and_reason(package: Path, tmp_path: Path, format: str) -> None:
    path = write(package, tmp_path, format, "metrics")
    rows: list[dict[str, Any]] = {
        "csv": lambda: read_csv(path),
        "json": lambda: json.loads(path.read_bytes())["rows"],
        "parquet": lambda: pq.read_table(path).to_pylist(),
    }[format]()
    assert [(row["name"], row["value"] or None, row["status"]) for row in rows] == [
        ("sharpe", "1.230000", "available"),
        ("sortino", None, "unavailable"),
    ]
    assert rows[1]["reason"] == "too_few"


def test_the_sidecar_says_what_the_file_is(package: Path, tmp_path: Path) -> None:
    path = write(package, tmp_path, "csv")
    sidecar = json.loads(path.with_name(path.name + ".actum.json").read_bytes())
    assert sidecar["sha256"] == digests.of_file(path).sha256
    assert sidecar["result"]["manifest_sha256"] == digests.of_file(package / "manifest.json").sha256
    assert (sidecar["rule"], sidecar["profile"], sidecar["rows"], sidecar["result"]["run"]) == ("csv.data.v2", "data", 6, 17)
    assert sidecar["source"]["sha256"] == digests.of_file(package / "derived" / "t.parquet").sha256


def test_an_existing_file_is_replaced_only_if_asked(package: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("mine")
    with pytest.raises(Conflict):
        export(package, "t", "csv", "data", path)
    assert path.read_text() == "mine"
    export(package, "t", "csv", "data", path, overwrite=True)
    path.unlink()
    with pytest.raises(Conflict):  # the sidecar is still there
        export(package, "t", "csv", "data", path)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"format": "xml"}, "bad_format"),
        ({"profile": "pretty"}, "bad_profile"),
        ({"options": {"delimiter": ";"}}, "bad_option"),
        ({"path": Path("/nowhere/at/all.csv")}, "no_folder"),
        ({"path": Path("/tmp")}, "is_folder"),
        ({"name": "other"}, "no_table"),
    ],
)
def test_wrong_use_is_refused_before_anything_is_written(
    package: Path, tmp_path: Path, changes: dict[str, Any], code: str
) -> None:
    given: dict[str, Any] = {
        "name": "t",
        "format": "csv",
        "profile": "data",
        "path": tmp_path / "t.csv",
        "options": {},
        **changes,
    }
    with pytest.raises((WrongUse, NotFound)) as caught:
        export(package, given["name"], given["format"], given["profile"], given["path"], options=given["options"])
    assert caught.value.code == code
    assert list(tmp_path.iterdir()) == []


def test_r12_a_file_in_the_place_of_a_folder_is_called_what_it_is(package: Path, tmp_path: Path) -> None:
    """What an export on success says stays with the run: it says what stands there, not that nothing does."""
    (tmp_path / "exports").write_text("mine")
    for made in (
        lambda path: export(package, "t", "csv", "data", path),
        lambda path: pack.make(package, path),
    ):
        with pytest.raises(WrongUse, match=r"“exports”, where “t\.csv” should go, is no folder") as caught:
            made(tmp_path / "exports" / "t.csv")
        assert (caught.value.code, "Make it first" in caught.value.remedy) == ("no_folder", False)
    assert (tmp_path / "exports").read_text() == "mine"


def test_r13_nothing_is_exported_into_a_package(package: Path) -> None:
    with pytest.raises(WrongUse, match="never written into"):
        export(package, "t", "csv", "data", package / "files" / "t.csv")


def test_r14_a_table_whose_copy_is_damaged_is_exported_from_its_authority_and_a_damaged_one_is_not(tmp_path: Path) -> None:
    made = packages.sample(tmp_path)
    export(made.path, "returns", "csv", "data", tmp_path / "before.csv")
    path = packages.writable(made.path / "derived" / "returns.parquet")
    pq.write_table(pq.read_table(path).slice(1), path)
    export(made.path, "returns", "csv", "data", tmp_path / "after.csv")
    assert (tmp_path / "after.csv").read_bytes() == (tmp_path / "before.csv").read_bytes()
    assert packages.read_json(tmp_path / "after.csv.actum.json")["source"]["file"] == "tables/returns.jsonl"
    authority = packages.writable(made.path / "tables" / "returns.jsonl")
    authority.write_bytes(authority.read_bytes().replace(b"12.5", b"12.6"))
    with pytest.raises(CheckFailed, match="not as it was published"):
        export(made.path, "returns", "csv", "data", tmp_path / "t.csv")


def test_a_failed_export_leaves_nothing(package: Path, tmp_path: Path) -> None:
    for point in ("export.file.fsync.before", "export.rename.before"):
        faults.arm(f"{point}:error=ENOSPC")
        try:
            with pytest.raises(StorageFailed) as caught:
                export(package, "t", "json", "data", tmp_path / "t.json")
        finally:
            faults.arm("")
        assert caught.value.code == "disk_full"
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("damage", "format"), [(b"7.00000000", "csv"), (b"9007199254740993", "csv"), (b"7.00000000", "json")])
def test_a_file_that_reads_back_differently_is_noticed(package: Path, tmp_path: Path, damage: bytes, format: str) -> None:
    path = write(package, tmp_path, format)
    path.write_bytes(path.read_bytes().replace(damage, damage[:-1] + b"1"))
    source = pq.ParquetFile(package / "derived" / "t.parquet")
    module = export_csv if format == "csv" else export_json
    outcome = module.compare(path, "t", source.iter_batches(), source.schema_arrow)
    assert outcome.difference is not None
    assert outcome.difference.row in (4, 6)
    source.close()


def test_a_copy_or_document_that_was_cut_is_noticed(package: Path, tmp_path: Path) -> None:
    path = write(package, tmp_path, "json")
    with pq.ParquetFile(package / "derived" / "t.parquet") as source:
        for content in (path.read_bytes()[:-5], b"[]", b'{"schema":{},\n"rows":[\n'):
            path.write_bytes(content)
            with pytest.raises(CheckFailed):
                export_json.compare(path, "t", source.iter_batches(), source.schema_arrow)
    with pytest.raises(CheckFailed):
        export_parquet.compare_copy(path, "00")


def test_r11_batches_are_cut_at_the_bound_and_join_to_the_same_file(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = {format: write(package, tmp_path, format).read_bytes() for format in ("csv", "json")}
    for rows in (len(ROWS), len(ROWS) - 1, 1):
        monkeypatch.setattr(limits, "BATCH_ROWS", rows)
        monkeypatch.setattr(limits, "BATCH_BYTES", 400)
        for format, content in whole.items():
            path = tmp_path / f"again.{format}"
            export(package, "t", format, "data", path, overwrite=True)
            assert path.read_bytes() == content


def test_types_that_only_a_parquet_has(tmp_path: Path) -> None:
    """A Parquet handed over may hold types without a column type: texts where there is one, JSON where it is nested."""
    table = pa.table(
        {
            "u": pa.array([2**64 - 1], pa.uint64()),
            "f": pa.array([0.1], pa.float32()),
            "d": pa.array(["x"]).dictionary_encode(),
            "ns": pa.array([1], pa.timestamp("ns", "Asia/Shanghai")),
            "local": pa.array([1], pa.timestamp("us")),
            "i": pa.array([3], pa.int16()),
        }
    )
    place = packages.staging(tmp_path)
    pq.write_table(table, place / "files" / "t.parquet")
    pq.write_table(pa.table({"l": [[1]]}), place / "files" / "n.parquet")
    messages = Messages(tables=[{"table": "t", "path": "t.parquet"}, {"table": "n", "path": "n.parquet"}])
    made = packages.finish(place, messages, contract={**packages.CONTRACT, "tables": [], "required": []}, required=[])
    assert read_csv(write(made.path, tmp_path, "csv"))[0] == {
        "u": "18446744073709551615",
        "f": "0.1",
        "d": "x",
        "ns": "1970-01-01T00:00:00.000000001Z",
        "local": "1970-01-01T00:00:00.000001",
        "i": "3",
    }
    assert json.loads(write(made.path, tmp_path, "json").read_bytes())["rows"][0]["i"] == 3
    assert read_csv(write(made.path, tmp_path, "csv", "n")) == [{"l": "[1]"}]
    assert json.loads(write(made.path, tmp_path, "json", "n").read_bytes())["rows"] == [{"l": [1]}]
    with pytest.raises(WrongUse, match="cannot hold the column “l”"):
        export(made.path, "n", "xlsx", "spreadsheet", tmp_path / "n.xlsx")
    write(made.path, tmp_path, "parquet", "n")


def test_an_empty_table(tmp_path: Path) -> None:
    place = packages.staging(tmp_path, {"t.jsonl": "", "u.csv": "a,b\n"})
    tables = [packages.table_message(COLUMNS, "t", rows=0), {"table": "u", "path": "u.csv"}]
    contract = {**packages.CONTRACT, "tables": [], "required": []}
    made = packages.finish(place, Messages(tables=tables), contract=contract, required=[])
    assert write(made.path, tmp_path, "csv", "u").read_bytes() == b"a,b\r\n"
    assert json.loads(write(made.path, tmp_path, "json").read_bytes())["rows"] == []
    assert compare_batches("t", iter(()), iter(())).difference is None
