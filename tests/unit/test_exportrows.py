"""Selected rows: counted in the view as it is shown, from 0, in every format (§8, R11)."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from actum import limits
from actum.errors import WrongUse
from actum.results import export, exportplace
from actum.results.manifest import Messages

from tests.helpers import packages


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = packages.staging(tmp_path_factory.mktemp("package"))
    table = pa.table({"n": range(10), "t": ["=1", None] * 5})
    with pa.ipc.new_file(str(place / "files" / "plain.arrow"), table.schema) as writer:
        writer.write_table(table)
    messages = Messages(tables=[{"table": "plain", "path": "plain.arrow"}], metrics=[{"metric": "sharpe", "value": 0.62}])
    return packages.finish(place, messages, contract={**packages.CONTRACT, "tables": [], "required": []}, required=[]).path


def rows_of(package: Path, folder: Path, format: str, query: dict[str, Any]) -> list[int]:
    path = folder / f"{len(list(folder.iterdir()))}.{format}"
    done = export.export(
        package, "plain", format, "spreadsheet" if format == "xlsx" else "data", path, options={"query": query}
    )
    if format == "parquet":
        found = pq.read_table(path).column("n").to_pylist()
    elif format == "csv":
        found = [int(row["n"]) for row in csv.DictReader(io.StringIO(path.read_text()))]
    else:
        found = [row[0] for row in openpyxl.load_workbook(path).active.iter_rows(min_row=2, values_only=True)]
    assert done.rows == done.compared_rows == len(found)
    assert json.loads(exportplace.sidecar_of(path).read_bytes())["options"] == {"query": query}
    return found


@pytest.mark.parametrize("format", ["parquet", "csv", "xlsx"])
def test_selected_rows_are_counted_in_the_view(package: Path, tmp_path: Path, format: str) -> None:
    """The view has 9 … 4; of the table as published, rows are counted as they stand."""
    view = {**packages.QUERY, "rows": [[0, 1], [3, 3], [5, 5]]}
    assert rows_of(package, tmp_path, format, view) == [9, 8, 6, 4]
    whole = {"schema": "actum.query/1", "where": None, "order": [], "columns": None, "rows": [[2, 4], [9, 9]]}
    assert rows_of(package, tmp_path, format, whole) == [2, 3, 4, 9]
    told = export.preview(package, "plain", query=view)
    assert (told["rows"], told["of"]) == (4, 10)


def test_selected_rows_reach_over_batches(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "EXPORT_CELLS_MAX", 6)  # three rows of two columns
    whole = {"schema": "actum.query/1", "where": None, "order": [], "columns": None}
    for rows in ([[0, 9]], [[2, 3]], [[1, 7]], [[0, 0], [2, 2], [3, 3], [5, 6], [9, 9]]):
        wanted = [row for first, last in rows for row in range(first, last + 1)]
        assert rows_of(package, tmp_path, "csv", {**whole, "rows": rows}) == wanted


def test_r11_rows_that_are_not_there_and_too_many_pieces_are_refused_in_words(package: Path, tmp_path: Path) -> None:
    def refused(rows: object, words: str) -> None:
        with pytest.raises(WrongUse, match=words):
            rows_of(package, tmp_path, "csv", {**packages.QUERY, "rows": rows})

    refused([[0, 6]], "no row 7. It has 6.")
    most = limits.QUERY_ROW_RANGES_MAX
    refused([[2 * number, 2 * number] for number in range(most)], "no row 1,999")  # at the bound: understood
    refused([[2 * number, 2 * number] for number in range(most + 1)], "1 to 1,000 pairs")
    for wrong in ([], [[1, 0]], [[0, 1], [1, 2]], [[-1, 2]], [[0]], [[0, True]], [["0", 1]], {}):
        refused(wrong, "rows")
    with pytest.raises(WrongUse, match="whole"):
        export.export(
            package, "metrics", "csv", "data", tmp_path / "m.csv", options={"query": {**packages.QUERY, "rows": [[0, 0]]}}
        )
    assert list(tmp_path.iterdir()) == []
