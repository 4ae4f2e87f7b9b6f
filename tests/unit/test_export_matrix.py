"""Every Arrow type × every format × both profiles: exact, or the loss or the refusal that the matrix names (§8, R14, R19).

What is read is read by the csv module, pandas, DuckDB, the json module, pyarrow and openpyxl, and brought back to values here
with nothing but the file and what the sidecar says of each column's type; never by a reader of ours.
"""

from __future__ import annotations

import base64
import csv
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy
import openpyxl
import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from actum.errors import WrongUse
from actum.results import digests, export, exportwords
from actum.results.exportsource import Source
from openpyxl.utils.escape import unescape

from tests.helpers import everyarrow

CASES = everyarrow.cases()
NESTED = ("list", "large list", "fixed list", "list view", "struct", "map", "deep", "union")
WITHOUT_PARQUET = ("interval", "run ends", "union")
# What a spreadsheet loses, by case: everything not listed comes back whole.
AS_TEXT = {"int64": "long_numbers", "uint64": "long_numbers", "decimal(38,18)": "long_decimals", "decimal256": "long_decimals"}
EARLY = (
    *("date", "date64", "timestamp s", "timestamp ms", "timestamp us", "timestamp ns", "timestamp us UTC"),
    *("timestamp us Asia/Kolkata", "timestamp us +05:30", "timestamp us America/St_Johns"),
)
FINE = ("time ns", "timestamp us fine", "timestamp ns Asia/Kolkata")


@dataclass(frozen=True)
class Made:
    path: Path
    losses: tuple[Any, ...]
    rows: int


def made(table: pa.Table, format: str, profile: str, folder: Path) -> Made:
    """The table through the exporting code, as the package's table would go; compared with it by its own re-reading too."""
    rows = table.num_rows
    batches = table.to_batches(max_chunksize=7) if table.num_columns else [table.to_batches()[0]] if rows else []
    source = Source("t", "tables/t", "", table.schema, rows, lambda: iter(batches))
    job = export.Job(source, format, profile, folder, digests.no_progress)
    job.refuse()
    written = job.run(folder / f"t.{format}", "replace")
    assert written.compared_rows == rows
    assert exportwords.described(table.schema) is not None
    return Made(written.path, job.losses, rows)


# ---- readers: name → column of what stands in the file


def by_duckdb(path: Path, keys: Sequence[str]) -> list[list[str | None]]:
    options = "header=true, auto_detect=false, all_varchar=true, allow_quoted_nulls=false, delim=',', quote='\"', escape='\"'"
    names = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(keys)))
    with duckdb.connect() as connection:
        query = f"SELECT * FROM read_csv(?, columns={{{names}}}, {options})"
        rows = connection.execute(query, [str(path)]).fetchall()
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in keys]


def by_csv(path: Path, encoding: str = "utf-8") -> list[list[str]]:
    with open(path, newline="", encoding=encoding) as file:
        return list(csv.reader(file, strict=True))


def by_json(path: Path, keys: Sequence[str]) -> list[list[Any]]:
    rows = [json.loads(line) for line in path.read_bytes().splitlines()] if path.suffix == ".jsonl" else None
    if rows is None:
        rows = json.loads(path.read_bytes())["rows"]
    assert all(list(row) == list(keys) for row in rows)
    return [[row[key] for row in rows] for key in keys]


def by_openpyxl(path: Path) -> list[list[Any]]:
    book = openpyxl.load_workbook(path)
    return [list(row) for row in book.active.iter_rows(min_row=2, values_only=True)]


# ---- from what stands there to what it is, by the column's type alone


def told(kind: pa.DataType, text: Any) -> Any:
    """A text, or a JSON cell, of the Data profile as a value (`everyarrow.values`)."""
    kind = everyarrow.plain(kind)
    is_ = pa.types
    if text is None:
        return None
    if is_.is_nested(kind):
        return _told_nested(kind, json.loads(text) if isinstance(text, str) else text)
    if is_.is_boolean(kind):
        return text if isinstance(text, bool) else {"true": True, "false": False}[text]
    if is_.is_integer(kind):
        return int(text)
    if is_.is_floating(kind):
        narrow = {16: numpy.float16, 32: numpy.float32, 64: numpy.float64}[kind.bit_width]
        return everyarrow.bits(float(narrow(text)))
    if is_.is_decimal(kind):
        return Decimal(text).as_tuple()
    if is_.is_date(kind) or is_.is_timestamp(kind):
        unit = {"date32[day]": "D", "date64[ms]": "ms"}.get(str(kind)) or kind.unit
        return int(numpy.datetime64(text.removesuffix("Z"), unit).astype("int64"))
    if is_.is_time(kind):
        return int((numpy.datetime64(f"1970-01-01T{text}", kind.unit) - numpy.datetime64(0, kind.unit)).astype("int64"))
    if is_.is_duration(kind):
        return _told_duration(text, {"s": 0, "ms": 3, "us": 6, "ns": 9}[kind.unit])
    if kind == pa.month_day_nano_interval():
        months, days, sign, seconds, rest = re.fullmatch(r"P(-?\d+)M(-?\d+)DT(-?)(\d+)\.(\d{9})S", text).groups()  # type: ignore[union-attr]
        return pa.MonthDayNano([int(months), int(days), int(sign + "1") * (int(seconds) * 10**9 + int(rest))])
    if is_.is_string(kind) or is_.is_large_string(kind) or is_.is_string_view(kind):
        return text
    return base64.b64decode(text, validate=True)


def _told_duration(text: str, digits: int) -> int:
    sign, number = re.fullmatch(r"(-?)PT(.*)S", text).groups()  # type: ignore[union-attr]
    return int(Decimal(sign + number).scaleb(digits))


def _told_nested(kind: pa.DataType, value: Any) -> Any:
    if pa.types.is_struct(kind):
        return {field.name: told(field.type, value[field.name]) for field in kind}
    if pa.types.is_map(kind):
        return [[told(kind.key_type, key), told(kind.item_type, item)] for key, item in value]
    if pa.types.is_union(kind):
        return value
    return [told(kind.value_type, item) for item in value]


def unguarded(text: str | None) -> str | None:
    return text[1:] if text is not None and text.startswith("'") else text


def of_sheet(kind: pa.DataType, cell: Any) -> Any:
    """A cell as openpyxl gives it, as a value; times to the thousandth."""
    plain = everyarrow.plain(kind)
    if isinstance(cell, str):
        return told(kind, unescape(cell))
    if cell is None or isinstance(cell, bool):
        return cell
    if hasattr(cell, "hour") and not hasattr(cell, "year"):
        ms = ((cell.hour * 60 + cell.minute) * 60 + cell.second) * 1_000 + round(cell.microsecond / 1_000)
        return ms * _per(plain.unit) // 1_000
    if hasattr(cell, "year"):
        moment = numpy.datetime64(cell.isoformat())
        if pa.types.is_date32(plain):
            return int(moment.astype("datetime64[D]").astype("int64"))
        ms = round(int(moment.astype("datetime64[us]").astype("int64")) / 1_000)
        return ms if pa.types.is_date64(plain) else ms * _per(plain.unit) // 1_000
    if pa.types.is_decimal(plain):
        return round(Decimal(repr(cell)), plain.scale).as_tuple()
    return told(kind, cell)


def _per(unit: str) -> int:
    return {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]


# ---- the matrix


def differences(table: pa.Table, read: Callable[[pa.DataType, Any], Any], columns: Sequence[Sequence[Any]]) -> dict[str, str]:
    """Column → what is there and what should be, where they differ."""
    found = {}
    for name, column, cells in zip(table.schema.names, table.columns, columns, strict=True):
        array = column.combine_chunks()
        wanted = everyarrow.values(array)
        got = [read(array.type, cell) for cell in cells]
        if got != wanted:
            found[name] = f"{[pair for pair in zip(got, wanted, strict=False) if pair[0] != pair[1]]!r}"[:300]
    return found


def test_csv_data_is_exact_for_every_type(tmp_path: Path) -> None:
    table = everyarrow.table()
    path = made(table, "csv", "data", tmp_path).path
    assert not path.read_bytes().startswith(b"\xef\xbb\xbf")
    columns = by_duckdb(path, table.schema.names)
    assert differences(table, told, columns) == {}
    rows = by_csv(path)
    assert rows[0] == table.schema.names
    assert rows[1:] == [[cell or "" for cell in row] for row in zip(*columns, strict=True)]
    frame = pandas.read_csv(path, dtype=str, keep_default_na=False)
    assert [list(row) for row in frame.itertuples(index=False)] == rows[1:]


@pytest.mark.parametrize("format", ["jsonl", "json"])
def test_json_is_exact_for_every_type(tmp_path: Path, format: str) -> None:
    table = everyarrow.table()
    path = made(table, format, "data", tmp_path).path
    assert differences(table, told, by_json(path, table.schema.names)) == {}


def test_json_lines_are_those_of_duckdb_and_pandas(tmp_path: Path) -> None:
    table = pa.table({"text": CASES["text"], "big": pa.array([2**63 - 1] * len(CASES["text"]))})
    path = made(table, "jsonl", "data", tmp_path).path
    with duckdb.connect() as connection:
        rows = connection.execute("SELECT text, big FROM read_json(?, columns={text: 'VARCHAR', big: 'VARCHAR'})", [str(path)])
        assert rows.fetchall() == [(text, str(2**63 - 1)) for text in everyarrow.TEXTS]
    frame = pandas.read_json(path, lines=True, dtype=False)
    texts = [None if gap else str(text) for text, gap in zip(frame["text"], frame["text"].isna(), strict=True)]
    assert texts == everyarrow.TEXTS


def test_arrow_is_exact_for_every_type(tmp_path: Path) -> None:
    table = everyarrow.table()
    with pa.ipc.open_file(str(made(table, "arrow", "data", tmp_path).path)) as file:
        read = file.read_all()
    assert read.schema.equals(table.schema, check_metadata=True)
    assert_equal(read, table)


def test_parquet_is_exact_for_every_type_it_holds(tmp_path: Path) -> None:
    for name in WITHOUT_PARQUET:
        with pytest.raises(WrongUse) as caught:
            made(pa.table({"v": CASES[name]}), "parquet", "data", tmp_path)
        assert caught.value.code == "no_parquet_form"
    table = everyarrow.table(name for name in CASES if name not in WITHOUT_PARQUET)
    assert_equal(pq.read_table(made(table, "parquet", "data", tmp_path).path).cast(table.schema), table)


def assert_equal(read: pa.Table, table: pa.Table) -> None:
    assert read.schema.names == table.schema.names
    for name in table.schema.names:
        found, wanted = (everyarrow.values(each.column(name).combine_chunks()) for each in (read, table))
        assert found == wanted, name


def test_parquet_by_duckdb(tmp_path: Path) -> None:
    names = ("int64", "uint64", "decimal(38,18)", "text", "binary", "bool")
    for name in names:
        path = made(pa.table({"v": CASES[name]}), "parquet", "data", tmp_path).path
        with duckdb.connect() as connection:
            rows = [row[0] for row in connection.execute("SELECT v FROM read_parquet(?)", [str(path)]).fetchall()]
        read = [value.as_tuple() if isinstance(value, Decimal) else value for value in rows]
        assert read == everyarrow.values(CASES[name]), name


def named(losses: Sequence[Any]) -> dict[str, set[str]]:
    """Column → the codes of what is lost in it."""
    found: dict[str, set[str]] = {}
    for loss in losses:
        if loss.lossy:
            found.setdefault(loss.column, set()).add(loss.code)
    return found


def expected_losses(names: Sequence[str], format: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name in names:
        codes = {AS_TEXT[name]} if name in AS_TEXT else set()
        codes |= {"early_dates"} if name in EARLY else set()
        codes |= {"fine_times"} if name in FINE else set()
        codes |= {"long_floats"} if name == "float64" and format == "csv" else set()
        if codes:
            found[name] = codes
    return found


def test_a_spreadsheet_csv_loses_what_is_named_and_nothing_else(tmp_path: Path) -> None:
    table = everyarrow.table()
    out = made(table, "csv", "spreadsheet", tmp_path)
    assert named(out.losses) == expected_losses(table.schema.names, "csv")
    columns = by_duckdb(out.path, table.schema.names)
    assert by_csv(out.path, "utf-8-sig")[1:] == [[cell or "" for cell in row] for row in zip(*columns, strict=True)]
    changed = differences(table, lambda kind, cell: told(kind, _iso(kind, unguarded(cell))), columns)
    assert set(changed) == set(FINE)


def _iso(kind: pa.DataType, text: str | None) -> str | None:
    return text.replace(" ", "T", 1) if text is not None and pa.types.is_timestamp(kind) else text


def test_a_workbook_loses_what_is_named_and_nothing_else(tmp_path: Path) -> None:
    for name in NESTED:
        with pytest.raises(WrongUse) as caught:
            made(pa.table({"v": CASES[name]}), "xlsx", "spreadsheet", tmp_path)
        assert caught.value.code == "no_sheet_form"
    table = everyarrow.table(name for name in CASES if name not in NESTED)
    out = made(table, "xlsx", "spreadsheet", tmp_path)
    assert named(out.losses) == expected_losses(table.schema.names, "xlsx")
    columns = list(zip(*by_openpyxl(out.path), strict=True))
    assert set(differences(table, of_sheet, columns)) == set(FINE)


def test_r19_no_cell_of_a_workbook_is_a_formula_a_link_or_markup(tmp_path: Path) -> None:
    texts = [*everyarrow.TEXTS, "https://example.org", "mailto:a@b", "internal:Sheet1!A1"]
    path = made(pa.table({"=t": pa.array(texts), "n": pa.array(range(len(texts)))}), "xlsx", "spreadsheet", tmp_path).path
    sheet = openpyxl.load_workbook(path).active
    assert sheet.cell(1, 1).value == "=t"
    cells = [sheet.cell(row + 2, 1) for row in range(len(texts))]
    assert {cell.data_type for cell in cells if cell.value is not None} == {"s"}
    assert not any(cell.hyperlink for cell in cells)
    assert [cell.quotePrefix for cell in cells if cell.value == "=1+1"] == [True]
    assert [None if cell.value is None else unescape(cell.value) for cell in cells] == texts


ODD = dict(everyarrow.tables())
REFUSED = {
    ("two of one name", "parquet"): "duplicate_column",
    ("no columns", "csv"): "no_columns",
}
FORMATS = [(format, "data") for format in export.DATA_FORMATS] + [
    (format, "spreadsheet") for format in export.SPREADSHEET_FORMATS
]


@pytest.mark.parametrize(("format", "profile"), FORMATS)
@pytest.mark.parametrize("name", list(ODD))
def test_tables_of_odd_shapes(tmp_path: Path, name: str, format: str, profile: str) -> None:
    table = ODD[name]
    code = REFUSED.get((name, format))
    if code is not None:
        with pytest.raises(WrongUse) as caught:
            made(table, format, profile, tmp_path)
        assert caught.value.code == code
        assert list(tmp_path.iterdir()) == []
        return
    out = made(table, format, profile, tmp_path)
    assert out.rows == table.num_rows
    names = table.schema.names
    if format == "csv":
        rows = by_csv(out.path, "utf-8-sig" if profile == "spreadsheet" else "utf-8")
        assert [unguarded(title) for title in rows[0]] == names
        assert rows[1:] == [["" if cell is None else str(cell) for cell in row] for row in _rows(table)]
    elif format in ("json", "jsonl"):
        keys = [item["key"] for item in exportwords.described(table.schema)]
        assert len(set(keys)) == len(names)
        assert [list(row) for row in zip(*by_json(out.path, keys), strict=True)] == _rows(table)
    elif format == "xlsx":
        sheet = openpyxl.load_workbook(out.path).active
        rows = list(sheet.iter_rows(values_only=True)) if names else []
        assert [list(row) for row in rows[1:]] == [
            [None if cell == "" else cell for cell in row] for row in _rows(table)
        ] or name == "two of one name"
        assert not names or list(rows[0]) == names
    elif format == "arrow":
        with pa.ipc.open_file(str(out.path)) as file:
            assert file.read_all().equals(table)
    else:
        assert pq.read_table(out.path).equals(table)


def _rows(table: pa.Table) -> list[list[Any]]:
    return [list(row) for row in zip(*(column.to_pylist() for column in table.columns), strict=True)]


def test_rows_without_columns_are_kept_where_there_is_a_place_for_them(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2, 3]}).select([])
    assert made(table, "jsonl", "data", tmp_path).path.read_bytes() == b"{}\n{}\n{}\n"
    assert json.loads(made(table, "json", "data", tmp_path).path.read_bytes())["rows"] == [{}, {}, {}]
    with pa.ipc.open_file(str(made(table, "arrow", "data", tmp_path).path)) as file:
        assert file.get_batch(0).num_rows == 3
    with pytest.raises(WrongUse):
        made(table, "parquet", "data", tmp_path)


@pytest.mark.parametrize(
    ("format", "there", "instead"),
    [
        ("csv", b"-0\r\n", b"0\r\n"),  # the sign of a zero
        ("csv", b'"",', b","),  # an empty text becomes a null
        ("csv", b".000000001", b".000000002"),  # the last of 18 digits
        ("csv", b"9007199254740993", b"9007199254740992"),  # beyond what a float holds
        ("jsonl", b"-0.0}", b"0.0}"),
        ("jsonl", b'""', b"null"),
        ("jsonl", b'"9007199254740993"', b'"9007199254740992"'),
    ],
)
def test_r14_the_smallest_difference_is_found_when_a_file_is_read_back(
    tmp_path: Path, format: str, there: bytes, instead: bytes
) -> None:
    columns = {
        "t": pa.array(["", "x"]),
        "d": pa.array([Decimal("1.000000001"), None], pa.decimal128(38, 9)),
        "n": pa.array([2**53 + 1, 0]),
        "f": pa.array([-0.0, 1.5]),
    }
    table = pa.table(columns)
    path = made(table, format, "data", tmp_path).path
    content = path.read_bytes()
    assert content.count(there) == 1
    path.write_bytes(content.replace(there, instead))
    outcome = export.DATA[format].compare(path, "t", iter(table.to_batches()), table.schema)
    assert outcome.difference is not None
    assert outcome.difference.row == 1
    assert outcome.difference.column in columns
