"""Parquet files, as “Profile a table” reads them: types and nulls are the file's own."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from actum.recipes.tableprofile import parquetsource

from tests.helpers.profiles import Profile, failure


def parquet(folder: Path, columns: dict[str, pa.Array]) -> bytes:
    path = folder / "made.parquet"
    pq.write_table(pa.table(columns), path)
    return path.read_bytes()


def test_the_types_of_a_parquet_are_taken_as_declared(tmp_path: Path) -> None:
    moment = datetime(2013, 1, 1, 10, tzinfo=UTC)
    content = parquet(
        tmp_path,
        {
            "Id": pa.array(["007", "12", "NA"]),
            "id": pa.array([1, 2, None], pa.int8()),
            "money": pa.array([Decimal("0.10"), Decimal("-12.00"), None], pa.decimal128(38, 2)),
            "float": pa.array([1.5, float("nan"), float("inf")]),
            "at": pa.array([moment, None, moment], pa.timestamp("us", "Europe/Berlin")),
            "nano": pa.array([1, 2, 3_000_000_000], pa.timestamp("ns")),
            "day": pa.array([date(2020, 2, 29), None, None]),
            "ok": pa.array([True, None, False]),
            "raw": pa.array([b"\x00\xff", b"", None]),
            "list": pa.array([[1, 2], [], None]),
            "unsigned": pa.array([2**64 - 1, 0, 1], pa.uint64()),
            "word": pa.array(["a", "b", "a"]).dictionary_encode(),
        },
    )
    found = Profile(tmp_path, content, "[a]*?.parquet")
    assert found.types == {
        "Id": "text",
        "id": "integer",
        "money": "decimal",
        "float": "float64",
        "at": "timestamp",
        "nano": "timestamp without zone",
        "day": "date",
        "ok": "boolean",
        "raw": "binary",
        "list": "nested",
        "unsigned": "integer",
        "word": "text",
    }
    assert {row["type_from"] for row in found.tables["columns"]} == {"declared"}
    assert (found["Id"]["missing_as"], found["id"]["max"], found["id"]["missing_as"]) == ("“NA” 1", "2", "null 1")
    assert (found["money"]["min"], found["money"]["p50"]) == ("-12.00", "-5.95")
    assert (found["float"]["not_finite"], found["float"]["max"], found["float"]["sd__reason"]) == (
        2,
        "1.5",
        "insufficient_observations",
    )
    assert "Infinities and NaN were counted apart" in found.notes
    assert (found["at"]["min"], found["nano"]["min"]) == ("2013-01-01T10:00:00Z", "1970-01-01T00:00:00.000000001")
    assert found.of("top_values", "list", "value") == [("[1,2]",), ("[]",)]
    assert found.of("top_values", "raw", "value") == [("",), ("AP8=",)]
    assert found["unsigned"]["max"] == str(2**64 - 1)


def test_a_parquet_that_cannot_be_read_ends_the_run(tmp_path: Path) -> None:
    assert "The Parquet cannot be read" in failure(tmp_path, b"PAR1 and nothing more", "table.parquet")
    wide = parquet(tmp_path, {"wide": pa.array([Decimal(1)], pa.decimal256(50, 2))})
    assert "“wide” holds decimals of more than 38 digits" in failure(tmp_path, wide, "table.parquet")
    assert "does not begin like one" in failure(tmp_path, "a,b\n", "table.parquet")


def test_no_column_comes_out_of_the_name_of_a_folder(tmp_path: Path) -> None:
    """`year=2024` is a folder like any other: the values are those of the file."""
    folder = tmp_path / "word=z"
    folder.mkdir()
    content = parquet(tmp_path, {"word": pa.array(["a", "b"]), "n": pa.array([1, 2])})
    (folder / "t.parquet").write_bytes(content)
    with duckdb.connect() as connection:
        source = parquetsource.read(folder / "t.parquet", connection)
        assert connection.execute(f"SELECT * FROM {source.relation}").fetchall() == [("a", 1), ("b", 2)]
