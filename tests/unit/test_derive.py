"""Authorities read exactly, by their rule, and derived into Parquet with small row groups (R11, R14)."""

from __future__ import annotations

import base64
import io
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from actum import limits
from actum.contracts.tables import Column, schema_to_json
from actum.errors import ActumError
from actum.results import authority, columns
from actum.results.derive import derive
from actum.results.manifest import Messages, read_derived, read_manifest
from actum.results.verify import verify

from tests.helpers import packages

CONTRACT: dict[str, Any] = {**packages.CONTRACT, "tables": [], "required": []}


def derived(folder: Path, files: dict[str, str | bytes], message: dict[str, Any], columns: tuple[Column, ...] = ()) -> pa.Table:
    """The derived table of one handed-over file, verified."""
    contract = {**CONTRACT, "tables": [{"name": "t", "columns": schema_to_json(columns)}]}
    made = packages.finish(packages.staging(folder, files), Messages(tables=[message]), contract=contract, required=[])
    report = verify(made.path, made.expected)
    assert report.ok, report.reason
    return pq.read_table(made.path / "derived" / "t.parquet")


TYPES = (
    Column("i", "integer"),
    Column("d", "decimal", precision=30, scale=4),
    Column("f", "float64"),
    Column("b", "boolean"),
    Column("day", "date"),
    Column("at", "timestamp"),
    Column("x", "binary"),
    Column("s", "text"),
)


def test_csv_fields_become_exact_values(tmp_path: Path) -> None:
    content = (
        "i,d,f,b,day,at,x,s\r\n"
        '+9007199254740993,123456789012345678901234.5,1e3,TRUE,2026-02-28,2026-01-01T08:00:00+08:00,AP8=,"a ""b"", c\nd"\r\n'
        ',,,,,,,\r\n"","","","","","","",""\r\n'
        "-1,1E-4,-0,false,0001-01-01,2026-01-01 00:00:00.000001Z,,\ufeff中\r\n"
    )
    rows = derived(tmp_path, {"t.csv": content}, {"table": "t", "path": "t.csv"}, TYPES).to_pylist()
    assert rows[0] == {
        "i": 9007199254740993,
        "d": Decimal("123456789012345678901234.5"),
        "f": 1000.0,
        "b": True,
        "day": date(2026, 2, 28),
        "at": datetime(2026, 1, 1, tzinfo=UTC),
        "x": b"\0\xff",
        "s": 'a "b", c\nd',
    }
    assert set(rows[1].values()) == {None}
    assert rows[2] == {**dict.fromkeys(rows[1]), "x": b"", "s": ""}
    assert (rows[3]["d"], str(rows[3]["f"]), rows[3]["s"]) == (Decimal("0.0001"), "-0.0", "\ufeff中")


@pytest.mark.parametrize(
    ("column", "field"),
    [
        (Column("c", "integer"), "1.0"),
        (Column("c", "integer"), "0x1F"),
        (Column("c", "integer"), " 1"),
        (Column("c", "integer"), "9223372036854775808"),
        (Column("c", "decimal", precision=5, scale=2), "1.234"),
        (Column("c", "decimal", precision=5, scale=2), "12345"),
        (Column("c", "decimal", precision=5, scale=2), "NaN"),
        (Column("c", "float64"), "1,5"),
        (Column("c", "float64"), "0x1p3"),
        (Column("c", "boolean"), "1"),
        (Column("c", "date"), "2026-02-29"),
        (Column("c", "date"), "28.02.2026"),
        (Column("c", "timestamp"), "2026-01-01T00:00:00"),
        (Column("c", "timestamp"), "2026-01-01T00:00:00.1234567Z"),
        (Column("c", "binary"), "???"),
        (Column("c", "integer", nullable=False), ""),
    ],
)
def test_a_csv_field_that_does_not_fit_is_named_and_never_bent(tmp_path: Path, column: Column, field: str) -> None:
    files: dict[str, str | bytes] = {"t.csv": f'c,s\n,x\n"{field}",x\n' if column.nullable else f"c,s\n1,x\n{field},x\n"}
    with pytest.raises(ActumError) as caught:
        derived(tmp_path, files, {"table": "t", "path": "t.csv"}, (column,))
    assert caught.value.code == "contract_invalid"
    assert "Row 2 of the table “t”" in caught.value.what


@pytest.mark.parametrize("body", ["1,2\n3\n", "1,2\n3,4,5\n", b"1,caf\xe9\n", '1,"open\n'])
def test_an_irregular_csv_is_refused(tmp_path: Path, body: str | bytes) -> None:
    content = b"a,b\n" + (body if isinstance(body, bytes) else body.encode())
    with pytest.raises(ActumError) as caught:
        derived(tmp_path, {"t.csv": content}, {"table": "t", "path": "t.csv"})
    assert caught.value.code == "contract_invalid"


JSON_COLUMNS = (
    Column("i", "integer"),
    Column("d", "decimal", precision=10, scale=2),
    Column("f", "float64"),
    Column("s", "text"),
    Column("at", "timestamp"),
)
GOOD = '{"i":1,"d":"1.50","f":0.5,"s":"x","at":"2026-01-01T00:00:00.000000Z"}'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"i":1', '"i":1.0'),
        ('"i":1', '"i":true'),
        ('"i":1', '"i":"1"'),
        ('"i":1', '"i":9007199254740993'),
        ('"i":1', '"i":"9223372036854775808"'),
        ('"1.50"', "1.5"),
        ('"1.50"', '"1.5"'),
        ('"1.50"', '"+1.50"'),
        ("0.5", '"infinity"'),
        ('"x"', "7"),
        ('"x"', '{"n":1}'),
        ('"x"', '"\\ud800"'),
        ("00.000000Z", "00Z"),
        ("00.000000Z", "00.000000+00:00"),
        ('"s":"x",', ""),
        ('"s":"x"', '"S":"x"'),
        (GOOD, GOOD + ",{}"),
        (GOOD, "[]"),
        (GOOD, ""),
        (GOOD, "{"),
        (GOOD, "NaN"),
    ],
)
def test_a_json_line_that_is_not_in_its_rules_form_is_named(tmp_path: Path, old: str, new: str) -> None:
    lines = [GOOD, GOOD.replace(old, new), GOOD]
    message = packages.table_message(JSON_COLUMNS, "t")
    with pytest.raises(ActumError) as caught:
        derived(tmp_path, {"t.jsonl": "\n".join(lines) + "\n"}, message)
    assert caught.value.code == "contract_invalid"
    assert "Row 2" in caught.value.what


def test_two_broken_lines_do_not_make_a_good_one(tmp_path: Path) -> None:
    column = (Column("s", "text"),)
    for broken in ('{"s":"x}\n{y"}', '{"s":"a"\n,"s":"b"}', '{"s":"a"},{"s":"b"}\n{"s":"c"'):
        with pytest.raises(ActumError, match="Row"):
            derived(tmp_path / str(len(broken)), {"t.jsonl": broken + "\n"}, packages.table_message(column, "t"))


def test_a_last_line_without_a_line_feed_counts(tmp_path: Path) -> None:
    table = derived(tmp_path, {"t.jsonl": GOOD + "\n" + GOOD}, packages.table_message(JSON_COLUMNS, "t"))
    assert table.num_rows == 2


def test_a_parquet_handed_over_is_its_own_authority(tmp_path: Path) -> None:
    place = packages.staging(tmp_path)
    pq.write_table(pa.table({"n": pa.array([1, 2], pa.int32())}), place / "files" / "t.parquet")
    declared = {"name": "t", "columns": schema_to_json((Column("n", "integer", nullable=False),))}
    contract = {**CONTRACT, "tables": [declared]}
    made = packages.finish(place, Messages(tables=[{"table": "t", "path": "t.parquet"}]), contract=contract, required=[])
    assert read_derived(made.path)[0]["files"] == []
    assert verify(made.path, made.expected).content.rows == 2
    for table in (pa.table({"m": [1]}), pa.table({"n": ["1"]}), pa.table({"n": pa.array([None], pa.int32())})):
        pq.write_table(table, packages.writable(made.path / "tables" / "t.parquet"))
        assert verify(made.path, made.expected).failed_checks == {"digests", "content"}
    packages.writable(made.path / "tables" / "t.parquet").write_bytes(b"PAR1 not really PAR1")
    assert not verify(made.path, made.expected).content.ok


def test_derived_json_names_the_manifest_the_rules_and_the_files(tmp_path: Path) -> None:
    made = packages.sample(tmp_path)
    document, _ = read_derived(made.path)
    assert document["manifest_sha256"] == made.sealed.manifest_sha256
    assert document["rules"] == ["csv.v1", "jsonl.v1"]
    sealed = {entry["name"]: entry["sha256"] for entry in read_manifest(made.path)[0]["files"]}
    assert all(sealed[entry["authority"]] == entry["authority_sha256"] for entry in document["files"])


def test_deriving_twice_gives_the_same_bytes_and_clears_what_was_left(tmp_path: Path) -> None:
    made = packages.sample(tmp_path)
    (made.path / ".derive-0-1").mkdir()
    (made.path / ".derive-0-1" / "half").write_text("")
    again = derive(made.path, made.path / ".derive-2-1")
    assert again["derived_sha256"] == read_derived(made.path)[1]
    assert not (made.path / ".derive-0-1").exists()


def test_r11_row_groups_and_batches_keep_their_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = limits.ROW_GROUP_ROWS_MAX + 1
    files: dict[str, str | bytes] = {"t.csv": "n\n" + "1\n" * rows}
    derived(tmp_path / "whole", files, {"table": "t", "path": "t.csv"}, (Column("n", "integer"),))
    metadata = pq.read_metadata(tmp_path / "whole" / "staging" / "derived" / "t.parquet")
    assert [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)] == [rows - 1, 1]
    monkeypatch.setattr(limits, "BATCH_ROWS", 7)
    monkeypatch.setattr(limits, "BATCH_BYTES", 64)
    lines = "".join(f'{{"n":{n}}}\n' for n in range(50))
    table = derived(tmp_path / "cut", {"t.jsonl": lines}, packages.table_message((Column("n", "integer"),), "t"))
    assert table.column("n").to_pylist() == list(range(50))
    entry = read_manifest(tmp_path / "cut" / "staging")[0]["files"][-1]
    assert max(batch.num_rows for batch in authority.batches(tmp_path / "cut" / "staging", entry)) <= limits.BATCH_ROWS


def test_r11_a_line_at_the_bound_is_read_and_a_longer_one_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    column = (Column("s", "text"),)
    line = '{"s":"' + "x" * 100 + '"}'
    monkeypatch.setattr(limits, "BATCH_BYTES", 16)
    monkeypatch.setattr(limits, "TABLE_LINE_BYTES_MAX", len(line))
    derived(tmp_path / "at", {"t.jsonl": line + "\n"}, packages.table_message(column, "t"))
    monkeypatch.setattr(limits, "TABLE_LINE_BYTES_MAX", limits.TABLE_LINE_BYTES_MAX - 1)
    with pytest.raises(ActumError, match="line longer than"):
        derived(tmp_path / "above", {"t.jsonl": line + "\n"}, packages.table_message(column, "t"))


def test_the_quick_way_and_the_slow_way_agree() -> None:
    """What Arrow converts at once is what `decode` says cell by cell."""
    cells: dict[str, list[Any]] = {
        "integer": [1, None, -(2**53)],
        "float64": [0.1, -0.0, None],
        "date": ["2026-01-01", None],
        "timestamp": ["1969-12-31T23:59:59.999999Z", None],
        "decimal": ["-0.01", None, "12345678.90"],
        "text": ["", None, "中"],
        "binary": [base64.b64encode(b"x").decode(), ""],
    }
    for kind, values in cells.items():
        sized = {"precision": 10, "scale": 2} if kind == "decimal" else {}
        column = Column("c", kind, **sized)
        slowly = columns._one_by_one("t", column, values, 1, columns.tables.decode)
        assert columns.from_cells("t", column, values, 1).equals(slowly)


def test_a_csv_is_cut_into_blocks_between_records_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Line breaks in quotes, doubled quotes, byte order marks as values: the same rows wherever the blocks end."""
    content = '\ufeffa,b\r\n\ufeff1,"x\r\n""y"""\r\n\ufeff2,\r\n\r\n3,"\n\n"\n\ufeff,""'
    wanted = [("\ufeff1", 'x\r\n"y"'), ("\ufeff2", None), ("3", "\n\n"), ("\ufeff", "")]
    for size in range(1, len(content.encode()) + 1):
        monkeypatch.setattr(limits, "BATCH_BYTES", size)
        with io.BytesIO(content.encode()) as file:
            batches = list(authority.text_batches(file, ["a", "b"], ","))
        rows = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
        assert rows == wanted, limits.BATCH_BYTES


def test_r11_a_csv_record_at_the_bound_is_read_and_a_longer_one_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"a,b\n" + b'1,"' + b"\n" * 60 + b'"\n'
    monkeypatch.setattr(limits, "BATCH_BYTES", 8)
    for bound, fits in ((64, True), (48, False)):
        monkeypatch.setattr(limits, "TABLE_LINE_BYTES_MAX", bound)
        with io.BytesIO(content) as file:
            if fits:
                assert sum(batch.num_rows for batch in authority.text_batches(file, ["a", "b"], ",")) == 1
            else:
                with pytest.raises(pa.ArrowInvalid, match=f"longer than {limits.TABLE_LINE_BYTES_MAX}"):
                    list(authority.text_batches(file, ["a", "b"], ","))
