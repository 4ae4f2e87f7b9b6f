"""“Profile a table” on real data, from the command to the verified result."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from actum.results.manifest import read_result

from tests.helpers.app import App
from tests.helpers.flights import flights

ROWS = 336_776
NOT_AVAILABLE = {
    "dep_time": 8_255,
    "dep_delay": 8_255,
    "arr_time": 8_713,
    "arr_delay": 9_430,
    "air_time": 9_430,
    "tailnum": 2_512,
}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return flights(tmp_path_factory.mktemp("flights"))


@pytest.fixture(scope="module")
def app(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """A workspace with two runs: NA declared as missing, which is the default, and nothing declared so."""
    app = App(tmp_path_factory.mktemp("profile"))
    app.run("run", "profile-table", "--set", f"table={table}")
    app.run("run", "profile-table", "--set", f"table={table}", "--set", "missing_values=[]", "--set", "top=1")
    yield app
    app.end()


def rows(app: App, run: int, table: str) -> list[dict[str, Any]]:
    package = app.ws.result_folder(run, 1)
    found: list[dict[str, Any]] = pq.read_table(package / "derived" / f"{table}.parquet").to_pylist()
    return found


def columns(app: App, run: int) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in rows(app, run, "columns")}


def test_r15_rows_and_the_cells_that_are_not_available(app: App) -> None:
    metrics = {metric["name"]: metric["value"] for metric in app.json("results", "1")["metrics"]}
    assert (metrics["rows"], metrics["columns"], metrics["missing_cells"]) == (
        str(ROWS),
        "19",
        str(sum(NOT_AVAILABLE.values())),
    )
    assert {name: row["missing"] for name, row in columns(app, 1).items() if row["missing"]} == NOT_AVAILABLE
    stood = {row["column"]: (row["text"], row["count"], row["taken_as"]) for row in rows(app, 1, "missing")}
    assert stood == {name: ("NA", count, "missing") for name, count in NOT_AVAILABLE.items()}


def test_without_a_declaration_na_is_a_value_and_is_named(app: App) -> None:
    found = columns(app, 2)
    assert not any(row["missing"] for row in found.values())
    assert {row["column"]: row["count"] for row in rows(app, 2, "missing") if row["taken_as"] == "value"} == NOT_AVAILABLE
    assert found["dep_time"]["type"] == "text"
    assert "8,255 are not, such as “NA”" in found["dep_time"]["remark"]
    (note,) = [note for note in read_result(app.ws.result_folder(2, 1))["notes"] if note.startswith("“NA”")]
    assert "was taken as a value in “dep_time”" in note


def test_figures_against_pandas(app: App, table: Path) -> None:
    frame = pd.read_csv(table, keep_default_na=False, na_values=["NA"], dtype={"tailnum": "str"})
    found = columns(app, 1)
    assert list(found) == list(frame.columns)
    tops = rows(app, 1, "top_values")
    bins = rows(app, 1, "histogram")
    for name, row in found.items():
        column = frame[name].dropna()
        assert (row["rows"], row["values"], row["distinct"]) == (ROWS, len(column), column.nunique())
        counts = column.value_counts()
        assert [top["count"] for top in tops if top["column"] == name] == counts.iloc[:10].tolist()
        if pd.api.types.is_numeric_dtype(column):
            assert row["type"] == "integer"
            assert (float(row["min"]), float(row["max"])) == (column.min(), column.max())
            assert row["mean"] == pytest.approx(column.mean(), rel=1e-12)
            assert row["sd"] == pytest.approx(column.std(), rel=1e-9, abs=1e-12)
            shown = [float(row[quantile]) for quantile in ("p05", "p25", "p50", "p75", "p95")]
            assert shown == column.quantile([0.05, 0.25, 0.5, 0.75, 0.95]).tolist()
            assert sum(each["count"] for each in bins if each["column"] == name) == len(column)
    assert found["time_hour"]["type"] == "timestamp"
    assert (found["time_hour"]["min"], found["time_hour"]["max"]) == ("2013-01-01T10:00:00Z", "2014-01-01T04:00:00Z")
    assert found["tailnum"]["p50__reason"] == "neither_numbers_nor_times"
