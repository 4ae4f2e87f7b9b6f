"""Pages of tables and opened packages: bounded, exact, and never without the reason of a missing value (R11, R15)."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import actum
import pyarrow.parquet as pq
import pytest
from actum import limits
from actum.errors import CheckFailed, NotFound
from actum.results.browse import TableBrowser, metrics, tables

from tests.helpers import packages


def test_r15_a_missing_cell_is_shown_with_its_reason(tmp_path: Path) -> None:
    made = packages.sample(tmp_path)
    with TableBrowser(made.path, "returns") as browser:
        page = browser.page(0, 10)
    assert [row[1] for row in page.rows] == ["12.500000", None, "0.000001"]
    assert page.reasons == {(1, 1): "market_closed"}
    assert page.rows[0][3:] == ("1152921504606846976", "-0")
    assert [column["type"] for column in page.columns] == ["date", "decimal", "text", "integer", "float64"]


def test_r15_a_null_without_a_reason_says_so(tmp_path: Path) -> None:
    rows = [{**packages.ROWS[1], "price__reason": None}]
    place = packages.staging(tmp_path, {"returns.jsonl": packages.lines(packages.RETURNS, rows), "report.html": ""})
    messages = packages.Messages(tables=[packages.table_message(packages.RETURNS)])
    made = packages.finish(place, messages)
    with TableBrowser(made.path, "returns") as browser:
        assert browser.page(0, 1).reasons == {(0, 1): "no reason given"}


def test_r11_a_page_and_the_row_groups_kept_have_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = packages.sample(tmp_path)
    path = packages.writable(made.path / "derived" / "quotes.parquet")
    table = pq.read_table(path)
    pq.write_table(table, path, row_group_size=1)
    monkeypatch.setattr(limits, "ROW_GROUPS_CACHED_MAX", 1)
    with TableBrowser(made.path, "quotes") as browser:
        assert browser.page(0, 2).rows == (("A", None), ("B", ""))
        assert len(browser._cached) == limits.ROW_GROUPS_CACHED_MAX
        assert browser.page(1, 5).rows == (("B", ""),)
        assert browser.page(9, 5).rows == ()
        monkeypatch.setattr(limits, "PAGE_ROWS_MAX", 1)
        assert len(browser.page(0, 2).rows) == limits.PAGE_ROWS_MAX


def test_tables_and_metrics_are_listed_without_opening_one(tmp_path: Path) -> None:
    made = packages.sample(tmp_path)
    assert [(table["name"], table["rows"]) for table in tables(made.path)] == [("quotes", 2), ("returns", 3)]
    assert [metric["name"] for metric in metrics(made.path)] == ["sharpe"]


def test_open_result_reads_a_package_anywhere(tmp_path: Path) -> None:
    made = packages.sample(tmp_path)
    moved = made.path.rename(tmp_path / "别处")
    result = actum.open_result(moved)
    assert (result.run, result.tables, result.digest) == (17, ("quotes", "returns"), made.sealed.manifest_sha256)
    assert result.metrics["sharpe"].value == Decimal("1.230000")
    assert [path.name for path in result.files] == ["report.html"]
    assert list(result.table("returns").to_pandas()["price"]) == [Decimal("12.500000"), None, Decimal("0.000001")]
    assert result.table("quotes").to_arrow().num_rows == sum(batch.num_rows for batch in result.table("quotes").batches())
    assert result.verify().ok
    assert result.verify(made.expected).ok
    with pytest.raises(NotFound, match="no table"):
        result.table("other")


def test_open_result_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        actum.open_result(tmp_path / "no")
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(CheckFailed):
        actum.open_result(tmp_path)
    with pytest.raises(AttributeError):
        actum.nothing  # noqa: B018  # the look-up is the test
