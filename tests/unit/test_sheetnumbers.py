"""Numbers in a sheet: number cells that show their scale, and texts where a sheet would round (§8, §9, R15)."""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path

import openpyxl
import pyarrow as pa
from actum.results import digests, export
from actum.results.exportsource import Source
from actum.results.manifest import Messages

from tests.helpers import packages


def test_numbers_in_a_sheet_are_numbers_one_by_one_and_a_longer_one_is_text(tmp_path: Path) -> None:
    table = pa.table(
        {
            "n": pa.array([7, 10**15 - 1, 10**15, None]),
            "d": pa.array([Decimal("0.5"), Decimal("1E-18"), Decimal("-1234567890.123456"), None], pa.decimal128(38, 18)),
        }
    )
    source = Source("t", "t", "", table.schema, table.num_rows, lambda: iter(table.to_batches()))
    export.Job(source, "xlsx", "spreadsheet", tmp_path, digests.no_progress).run(tmp_path / "t.xlsx", "refuse")
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").active
    found = [[(sheet.cell(row, column).value, sheet.cell(row, column).number_format) for row in (2, 3, 4)] for column in (1, 2)]
    assert found[0] == [(7, "0"), (10**15 - 1, "0"), ("1000000000000000", "@")]
    assert found[1] == [(0.5, "0." + "0" * 18), (1e-18, "0." + "0" * 18), ("-1234567890.123456000000000000", "@")]
    assert [sheet.cell(5, column).value for column in (1, 2)] == [None, None]


METRICS = {  # value → what a workbook and a CSV for people hold
    "1.50": (1.5, "0.00", "1.50"),
    "-0.620000": (-0.62, "0.000000", "-0.620000"),
    "3": (3, "0", "3"),
    "999999999999.123": (999999999999.123, "0.000", "999999999999.123"),
    "1234567890123.456": ("1234567890123.456", "@", "'1234567890123.456"),
    "0." + "0" * 39 + "1": (1e-40, "General", "0." + "0" * 39 + "1"),
    "1" + "0" * 306: (1e306, "0", "1" + "0" * 306),
    "1" + "0" * 307: ("1" + "0" * 307, "@", "'1" + "0" * 307),
}


def test_r15_a_metric_in_a_sheet_is_a_number_that_shows_its_scale_or_empty_with_its_reason_beside_it(tmp_path: Path) -> None:
    said = [{"metric": f"m{place}", "value": value} for place, value in enumerate(METRICS)]
    missing = {"unavailable": "none", "reason": "insufficient_observations", "observations": 3, "needed": 30}
    place = packages.staging(tmp_path)
    messages = Messages(metrics=[*said, missing])
    made = packages.finish(place, messages, contract={**packages.CONTRACT, "tables": [], "required": []}, required=[]).path
    done = export.export(made, "metrics", "xlsx", "spreadsheet", tmp_path / "m.xlsx")
    assert [(loss["column"], loss["code"], loss["count"]) for loss in done.losses if loss["lossy"]] == [
        ("value", "long_decimals", 2)
    ]
    sheet = openpyxl.load_workbook(tmp_path / "m.xlsx").active
    titles = [cell.value for cell in sheet[1]]
    column = titles.index("value") + 1
    cells = [sheet.cell(row, column) for row in range(2, len(METRICS) + 2)]
    assert [(cell.value, cell.number_format) for cell in cells] == [(value, form) for value, form, _text in METRICS.values()]
    last = dict(zip(titles, [cell.value for cell in sheet[len(METRICS) + 2]], strict=True))
    assert (last["value"], last["status"], last["reason"]) == (None, "unavailable", "insufficient_observations")
    export.export(made, "metrics", "csv", "spreadsheet", tmp_path / "m.csv")
    with open(tmp_path / "m.csv", encoding="utf-8-sig", newline="") as file:
        values = [row["value"] for row in csv.DictReader(file)]
    assert values[: len(METRICS) + 1] == [*(text for _value, _form, text in METRICS.values()), ""]
