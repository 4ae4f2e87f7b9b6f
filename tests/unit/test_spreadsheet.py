"""The Spreadsheet profile: every loss is named with its column, formulas are guarded, and the file reads back equal (R19)."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from actum import limits
from actum.contracts import tables
from actum.errors import Conflict, WrongUse
from actum.results import export, spreadsheet
from actum.results.manifest import Messages

from tests.helpers import packages

COLUMNS = (
    tables.Column("account", "integer"),
    tables.Column("weight", "decimal", precision=38, scale=10),
    tables.Column("price", "decimal", precision=12, scale=2),
    tables.Column("note", "text"),
    tables.Column("at", "timestamp"),
    tables.Column("ratio", "float64"),
    tables.Column("=sum", "text"),
)
ROWS: list[dict[str, Any]] = [
    {
        "account": 123456789012345678,
        "weight": Decimal("1234567890123.4567"),
        "price": Decimal("-12.50"),
        "note": "=HYPERLINK(1)",
        "at": datetime(2026, 3, 24, 14, 30, 0, 123456, UTC),
        "ratio": 0.1,
        "=sum": "a",
    },
    {"account": 7, "weight": None, "price": None, "note": "00501", "at": None, "ratio": 1 / 3, "=sum": "it’s"},
    {"account": None, "weight": Decimal(2), "price": Decimal(3), "note": "", "at": None, "ratio": float("nan"), "=sum": "'q"},
    {"account": -1, "weight": Decimal(2), "price": Decimal(3), "note": None, "at": None, "ratio": None, "=sum": "x\r\ny, “z”"},
]


LOST = {"long_numbers", "long_decimals", "fine_times", "long_floats"}


def package(folder: Path) -> Path:
    content = packages.lines(COLUMNS, ROWS)
    place = packages.staging(folder, {"trades.jsonl": content, "report.html": ""})
    messages = Messages(tables=[packages.table_message(COLUMNS, "trades", rows=len(ROWS))])
    return packages.finish(place, messages, contract={**packages.CONTRACT, "tables": []}).path


def test_every_loss_is_listed_with_its_column_before_anything_is_written(tmp_path: Path) -> None:
    made = package(tmp_path)
    told = export.preview(made, "trades")
    assert told["rows"] == 4
    assert [(loss["column"], loss["code"], loss["count"]) for loss in told["losses"]["csv"]] == [
        ("account", "missing", 1),
        ("account", "long_numbers", 1),
        ("weight", "missing", 1),
        ("weight", "long_decimals", 1),
        ("price", "missing", 1),
        ("note", "missing", 1),
        ("note", "formulas", 1),
        ("note", "number_texts", 1),
        ("note", "empty_texts", 1),
        ("at", "missing", 3),
        ("at", "zones", 1),
        ("at", "fine_times", 1),
        ("ratio", "missing", 1),
        ("ratio", "not_finite", 1),
        ("ratio", "long_floats", 1),
    ]
    workbook = [(loss["column"], loss["code"]) for loss in told["losses"]["xlsx"]]
    assert set(workbook) == {(loss["column"], loss["code"]) for loss in told["losses"]["csv"]} - {
        ("note", "empty_texts"),
        ("ratio", "long_floats"),
    }
    assert told["refused"] == {}
    assert set(told["bytes_about"]) == set(export.FORMATS)
    assert [path.name for path in tmp_path.iterdir()] == ["staging"]


def test_r19_the_file_has_a_mark_and_no_cell_is_calculated_or_rounded(tmp_path: Path) -> None:
    made = package(tmp_path)
    path = tmp_path / "trades.csv"
    done = export.export(made, "trades", "csv", "spreadsheet", path)
    assert (done.rows, done.compared_rows, done.rule) == (4, 4, "csv.spreadsheet.v3")
    assert path.read_bytes().startswith(b"\xef\xbb\xbfaccount,weight")
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["account", "weight", "price", "note", "at", "ratio", "'=sum"]
    assert rows[1][:4] == ["'123456789012345678", "'1234567890123.4567000000", "-12.50", "'=HYPERLINK(1)"]
    assert rows[1][4:] == ["2026-03-24 14:30:00.123", "0.1", "a"]
    assert rows[2][:4] == ["'7", "", "", "'00501"]
    assert [row[6] for row in rows[2:]] == ["it’s", "''q", "x\r\ny, “z”"]
    sidecar = json.loads((tmp_path / "trades.csv.actum.json").read_bytes())
    assert (sidecar["profile"], sidecar["rule"], len(sidecar["losses"])) == ("spreadsheet", "csv.spreadsheet.v3", 15)
    assert not done.exact
    assert {loss["code"] for loss in done.losses if loss["lossy"]} == LOST


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r", "＝", "'"])
def test_r19_texts_that_a_sheet_would_calculate_are_guarded_and_numbers_never(first: str) -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([first + "1+1", "plain"]), pa.array([-1, 2])], names=["t", "n"])
    cells = spreadsheet.cells(batch, frozenset()).to_pydict()
    assert list(cells.values()) == [["'" + first + "1+1", "plain"], ["-1", "2"]]


def test_r11_what_a_sheet_cannot_show_is_said_from_the_first_row_and_character_on() -> None:
    schema = pa.schema([("t", pa.string())])
    for length, expected in ((limits.SHEET_CELL_CHARS_MAX, 0), (limits.SHEET_CELL_CHARS_MAX + 1, 1)):
        survey = spreadsheet.Survey(schema)
        survey.add(pa.RecordBatch.from_arrays([pa.array(["x" * length])], schema=schema))
        assert len(survey.losses()) == expected
    for rows, hidden in ((limits.SHEET_ROWS_MAX - 1, ()), (limits.SHEET_ROWS_MAX, (spreadsheet.Loss(None, "parts", 2),))):
        survey = spreadsheet.Survey(schema, rows=rows)
        assert survey.losses() == hidden


def test_other_formats_belong_to_the_data_profile_and_nothing_is_overwritten(tmp_path: Path) -> None:
    made = package(tmp_path)
    with pytest.raises(WrongUse) as refused:
        export.export(made, "trades", "parquet", "spreadsheet", tmp_path / "t.parquet")
    assert refused.value.code == "bad_format"
    (tmp_path / "t.csv").write_text("mine")
    with pytest.raises(Conflict):
        export.export(made, "trades", "csv", "spreadsheet", tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "mine"


def test_metrics_are_exported_with_their_reasons(tmp_path: Path) -> None:
    made = packages.sample(tmp_path)
    done = export.export(made.path, "metrics", "csv", "spreadsheet", tmp_path / "m.csv")
    assert done.rows == 1
    assert "1.23" in (tmp_path / "m.csv").read_text("utf-8-sig")
