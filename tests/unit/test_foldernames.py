"""The names of folders say nothing about a table: no column comes out of them, and no other file is read for it (R14, R19)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from actum import open_result
from actum.results import export, plotdata, statistics, valuecounts
from actum.results.manifest import Messages
from actum.results.query import Query

from tests.helpers import packages
from tests.helpers.packages import Made

# What a query engine would read as the value of a column, and as patterns for other folders.
FOLDERS = {"name=evil": "name=other", "x*y": "xzy", "q?z": "qqz", "a[b]c": "abc"}


@pytest.fixture(params=FOLDERS)
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Made:
    """The table t of names and numbers, in a folder of that name; beside it one that the name would match as a pattern."""
    folder = tmp_path / request.param
    folder.mkdir()
    place = packages.staging(folder, {"t.csv": "name,n\nA,1\nB,2\nB,3\n"})
    columns = [{"name": "name", "type": "text"}, {"name": "n", "type": "integer"}]
    contract = {**packages.CONTRACT, "required": [], "metrics": [], "tables": [{"name": "t", "columns": columns}]}
    made = packages.finish(place, Messages(tables=[{"table": "t", "path": "t.csv"}]), contract=contract, required=[])
    shutil.copytree(folder, tmp_path / FOLDERS[request.param])
    return made


def test_a_table_is_what_it_is_in_a_folder_of_any_name(made: Made, tmp_path: Path) -> None:
    path = made.path / "derived" / "t.parquet"
    asked = {"schema": "actum.query/1", "where": None, "order": [{"column": "n", "descending": True}], "columns": None}
    out = tmp_path / "out.csv"
    export.export(made.path, "t", "csv", "data", out, options={"query": Query.from_json(asked).to_json()})
    assert out.read_text() == 'name,n\n"B",3\n"B",2\n"A",1\n'
    assert statistics.of_column(path, "name")["distinct"] == 2
    counted = valuecounts.of_column(path, "name")["values"]
    assert [(each["value"], each["rows"]) for each in counted] == [("B", 2), ("A", 1)]
    assert plotdata.plot(path, "line", None, "n")["y"] == [1, 2, 3]
    with open_result(made.path) as result:
        assert result.table("t").to_duckdb().fetchall() == [("A", 1), ("B", 2), ("B", 3)]
        assert result.table("t").to_arrow().column("name").to_pylist() == ["A", "B", "B"]
