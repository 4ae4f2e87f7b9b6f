"""The helper's verbs on one table: view, statistics, plot, losses; closed off, exact, and said when they are not (R15, R19)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from actum import limits
from actum.errors import ActumError, WrongUse
from actum.results import condition, filtertext, pages, plotdata, query, search, statistics, valuecounts, view
from actum.results.query import Order, Query
from actum.workspace import create_folders

from tests.helpers import packages, results, workspaces
from tests.helpers.app import App
from tests.process.test_helper_program import Helper

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1,000 rows with every type; every tenth price is missing, with a reason for half of them."""
    rows = range(1_000)
    missing = [n % 10 == 0 for n in rows]
    made = pa.table(
        {
            "id": pa.array([2**62 + n for n in rows]),
            "price": pa.array(
                [None if gone else Decimal(n) / 4 for n, gone in zip(rows, missing, strict=True)], pa.decimal128(18, 2)
            ),
            "price__reason": ["closed" if gone and n % 20 == 0 else None for n, gone in zip(rows, missing, strict=True)],
            "ratio": pa.array([math.nan if n == 3 else math.sin(n / 50) for n in rows]),
            'na"me': [f"Name {n % 7}" for n in rows],
            "open": [n % 3 == 0 for n in rows],
            "at": pa.array([START + timedelta(hours=n) for n in rows], pa.timestamp("us", "UTC")),
            "day": pa.array([(START + timedelta(days=n // 10)).date() for n in rows]),
        }
    )
    path = tmp_path_factory.mktemp("table") / "t'able.parquet"
    pq.write_table(made, path, row_group_size=300)
    return path


@pytest.fixture
def helper() -> Iterator[Helper]:
    made = Helper()
    yield made
    assert made.process.stdin is not None
    made.process.stdin.close()
    made.process.wait(10)
    for stream in (made.process.stdout, made.process.stderr):
        assert stream is not None
        stream.close()


def rows_of(path: Path, name: str) -> list[str | None]:
    with pages.TablePages(path) as opened:
        return opened.page(0, 500, [name])[name]


def test_a_view_is_exact_sorted_and_keeps_the_row_numbers(table: Path, tmp_path: Path, helper: Helper) -> None:
    out = tmp_path / "v" / "view.parquet"
    out.parent.mkdir()
    asked = Query(typed(table, '`na"me` ~ "NAME 3"'), (Order("price", descending=True),))
    made = helper.ok("view", path=str(table), out=str(out), query=asked.to_json())
    assert (made["rows"], made["of"], made["exact"]) == (143, 1_000, True)
    numbers = [int(text or "") for text in rows_of(out, query.ROW)]
    assert all(number % 7 == 3 for number in numbers)
    prices = rows_of(out, "price")
    assert prices[0] == "249.25"
    assert prices[-1] is None  # missing values stand last in either direction
    with pages.TablePages(out) as opened, pages.TablePages(table) as source:
        kinds = [{**column, "nullable": True} for column in opened.columns if column["name"] != query.ROW]
        assert kinds == [{**column, "nullable": True} for column in source.columns]
        first = source.page(numbers[0], 1, source.names)
        assert opened.page(0, 1, source.names) == first


def typed(table: Path, text: str) -> condition.Condition | None:
    return filtertext.parse(text, query.Table(table).described)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (f"id = {2**62 + 5}", 1),
        ("id > 4611686018427387904.5", 999),
        ("price <= 0.25", 1),
        ("PRICE < 10 and not open", 24),
        ("price is null", 100),
        ("not (price < 10)", 864),  # a missing value meets neither a comparison nor its opposite
        ("ratio is nan or id in (4611686018427387904, 4611686018427387905)", 3),
        ('`na"me` = "Name 1\'; DROP TABLE x; --"', 0),
        ('`na"me` ^= "Name 1"', 143),
        ("not open", 666),
        ("open = false and day < 2026-01-02", 6),
        ("at >= 2026-02-11T15:00:00+00:00", 1),
        ('at >= "2026-02-11 15:00"', 1),
    ],
)
def test_r19_what_is_typed_is_asked_exactly(table: Path, tmp_path: Path, text: str, rows: int) -> None:
    assert view.make(table, tmp_path / "v.parquet", Query(typed(table, text)))["rows"] == rows


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (Query(condition.Compare("no such", "=", "1")), "no_column"),
        (Query(condition.Contains("open", "1")), "bad_filter"),
        (Query(condition.Compare("price", "=", "a lot")), "bad_value"),
        (Query(condition.Compare("day", "=", "24 March")), "bad_value"),
        (Query(condition.Compare('na"me', "=", "x" * (limits.FILTER_CHARS_MAX + 1))), "bad_filter"),
        (Query(condition.All((condition.Holds("open"),) * (limits.FILTER_PARTS_MAX + 1))), "bad_filter"),
        (Query(order=(Order("no such"),)), "no_column"),
        (Query(columns=("no such",)), "no_column"),
    ],
)
def test_a_wrong_question_is_refused_in_words(table: Path, tmp_path: Path, asked: Query, code: str) -> None:
    with pytest.raises(WrongUse) as refused:
        view.make(table, tmp_path / "v.parquet", asked)
    assert refused.value.code == code


def test_r11_a_filter_of_the_longest_value_and_the_most_parts_is_taken(table: Path, tmp_path: Path) -> None:
    longest = Query(condition.Compare('na"me', "=", "x" * limits.FILTER_CHARS_MAX))
    assert view.make(table, tmp_path / "v", longest)["rows"] == 0
    most = Query(condition.All((condition.Holds("open"),) * limits.FILTER_PARTS_MAX))
    assert view.make(table, tmp_path / "w", most)["rows"] == 334


def test_a_view_has_the_columns_asked_for_sorted_by_several(table: Path, tmp_path: Path) -> None:
    asked = Query(typed(table, "id < 4611686018427387934"), (Order("day", descending=True), Order("price")), ("price", "open"))
    made = view.make(table, tmp_path / "v.parquet", Query.from_json(json.loads(json.dumps(asked.to_json()))))
    assert made["rows"] == 30
    with pages.TablePages(tmp_path / "v.parquet") as opened:
        assert opened.names == ["price", "open", query.ROW]
    numbers = [int(text or "") for text in rows_of(tmp_path / "v.parquet", query.ROW)]
    assert numbers == [*range(21, 30), 20, *range(11, 20), 10, *range(1, 10), 0]


def test_a_filter_without_an_order_keeps_the_order_of_the_table(tmp_path: Path) -> None:
    """Nothing is sorted for it: what two threads read of many row groups is written in the order it was in."""
    pq.write_table(pa.table({"n": pa.array(range(200_000))}), tmp_path / "t.parquet", row_group_size=997)
    view.make(tmp_path / "t.parquet", tmp_path / "v.parquet", Query(typed(tmp_path / "t.parquet", "n != 5")))
    numbers = pq.read_table(tmp_path / "v.parquet").column(query.ROW).to_pylist()
    assert numbers == [n for n in range(200_000) if n != 5]


def test_a_question_that_is_not_one_is_refused(table: Path) -> None:
    good = Query(typed(table, "open"), (Order("id"),)).to_json()
    assert Query.from_json(good).to_json() == good
    deep: dict[str, object] = {"op": "holds", "column": "open"}
    for _ in range(limits.FILTER_DEPTH_MAX - 1):
        deep = {"op": "not", "of": deep}
    Query.from_json({**good, "where": deep})
    orders = [{"column": "id", "descending": False}] * limits.ORDER_COLUMNS_MAX
    Query.from_json({**good, "order": orders})
    bad: list[dict[str, object]] = [
        {**good, "sql": "x"},
        {**good, "schema": "actum.query/2"},
        {**good, "order": [*orders, orders[0]]},
        {**good, "order": [{"column": "id"}]},
        {**good, "columns": []},
        {**good, "columns": ["id", "id"]},
        {**good, "where": {"op": "not", "of": deep}},
        {**good, "where": {"op": "sql", "text": "1=1"}},
        {**good, "where": {"op": "holds", "column": "open", "value": "x"}},
        {**good, "where": {"op": "and", "of": [deep]}},
        {**good, "where": {"op": "in", "column": "id", "values": []}},
        {**good, "where": {"op": "=", "column": "id", "value": 1}},
    ]
    for document in bad:
        with pytest.raises(WrongUse):
            Query.from_json(document)


def test_r19_the_engine_sees_nothing_but_the_table(table: Path, tmp_path: Path) -> None:
    for sql in ("SELECT * FROM read_csv('/etc/passwd')", "INSTALL httpfs", "SET enable_external_access = true"):
        with pytest.raises(ActumError) as refused, query.connected(table, tmp_path) as connection:
            connection.execute(sql)
        assert refused.value.code == "query_failed"
    with query.connected(table, tmp_path) as connection:
        used = dict(connection.execute("SELECT name, value FROM duckdb_settings()").fetchall())
    assert int(used["threads"]) == limits.QUERY_THREADS_MAX
    assert used["memory_limit"] == f"{limits.QUERY_MEMORY_BYTES_MAX // (1 << 20)}.0 MiB"


def test_a_table_that_would_lose_digits_is_not_sorted(tmp_path: Path) -> None:
    wide = pa.table({"x": pa.array([Decimal(1)], pa.decimal256(60, 2))})
    pq.write_table(wide, tmp_path / "w.parquet")
    with pytest.raises(ActumError) as refused:
        view.make(tmp_path / "w.parquet", tmp_path / "v.parquet", Query(order=(Order("x"),)))
    assert refused.value.code == "no_exact_view"


def test_r15_statistics_count_what_is_missing_and_why(table: Path, helper: Helper) -> None:
    found = helper.ok("statistics", path=str(table), column="price")
    assert (found["values"], found["missing"], found["distinct"], found["sample"]) == (900, 100, 900, None)
    assert found["reasons"] == [
        {"reason": "closed", "rows": 50, "first": 0},
        {"reason": None, "rows": 50, "first": 10},
    ]
    assert (found["minimum"], found["maximum"], found["type"], found["scale"]) == ("0.25", "249.75", "decimal", 2)
    assert found["median"] in ("124.75", "125.25")  # a value that occurs
    assert sum(found["histogram"]["counts"]) == 900


def test_statistics_of_each_type(table: Path) -> None:
    ratio = statistics.of_column(table, "ratio")
    assert (ratio["not_finite"], ratio["values"]) == (1, 1_000)
    assert sum(ratio["histogram"]["counts"]) == 999
    name = statistics.of_column(table, 'na"me')
    assert name["distinct"] == 7
    assert name["top"][0] == {"value": "Name 0", "rows": 143}
    at = statistics.of_column(table, "at")
    assert (at["minimum"], at["maximum"]) == ("2026-01-01T00:00:00Z", "2026-02-11T15:00:00Z")
    assert statistics.of_column(table, "day")["maximum"] == "2026-04-10"
    assert statistics.of_column(table, "open")["top"][0] == {"value": "false", "rows": 666}
    assert statistics.of_column(table, "id")["maximum"] == str(2**62 + 999)


def test_r11_more_rows_than_the_bounds_are_sampled_or_estimated_and_said(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "STATISTICS_ROWS_MAX", 1_000)
    monkeypatch.setattr(limits, "STATISTICS_DISTINCT_ROWS_MAX", 1_000)
    assert statistics.of_column(table, "id")["sample"] is None
    assert statistics.of_column(table, "id")["distinct_exact"]
    monkeypatch.setattr(limits, "STATISTICS_ROWS_MAX", 999)
    monkeypatch.setattr(limits, "STATISTICS_DISTINCT_ROWS_MAX", 499)
    found = statistics.of_column(table, "id")
    assert (found["sample"], found["values"], found["distinct_exact"]) == (500, 500, False)
    assert len(statistics.of_column(table, 'na"me')["top"]) <= limits.STATISTICS_TOP_ROWS


def test_r11_a_long_line_keeps_its_peaks_and_a_scatter_is_a_sample(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PLOT_POINTS_MAX", 999)
    monkeypatch.setattr(limits, "SCATTER_POINTS_MAX", 999)
    assert plotdata.plot(table, "line", "at", "ratio")["how"] == "all"  # NaN is left out
    assert plotdata.plot(table, "scatter", "at", "ratio")["points"] == 999
    monkeypatch.setattr(limits, "PLOT_POINTS_MAX", 100)
    monkeypatch.setattr(limits, "SCATTER_POINTS_MAX", 100)
    line = plotdata.plot(table, "line", "at", "ratio")
    whole = [math.sin(n / 50) for n in range(1_000) if n != 3]
    assert (line["how"], line["x_time"], line["without"]) == ("steps", True, 1)
    assert line["points"] <= 100
    assert (min(line["y"]), max(line["y"])) == (min(whole), max(whole))
    assert line["x"] == sorted(line["x"])
    scatter = plotdata.plot(table, "scatter", "id", "price")
    assert (scatter["how"], scatter["points"], scatter["without"]) == ("sample", 100, 100)
    assert plotdata.plot(table, "scatter", "id", "price")["x"] == scatter["x"]


def test_plots_of_the_helper(table: Path, helper: Helper) -> None:
    found = helper.ok("plot", path=str(table), kind="histogram", x=None, y="price")
    assert (sum(found["y"]), len(found["x"]), found["rows"]) == (900, len(found["y"]) + 1, 900)
    assert helper.error("plot", path=str(table), kind="line", x=None, y='na"me')["code"] == "bad_plot"
    json.dumps(found, allow_nan=False)


def test_losses_of_the_helper(tmp_path: Path, helper: Helper) -> None:
    made = packages.sample(tmp_path)
    told = helper.ok("losses", package=str(made.path), name="returns")
    for format in ("csv", "xlsx"):
        assert {"column": "volume", "code": "long_numbers", "count": 1, "lossy": True} in told["losses"][format]
    assert (told["rows"], told["of"], told["refused"]) == (3, 3, {})
    order = {"schema": "actum.query/1", "where": None, "order": [], "columns": ["day"]}
    assert not any(helper.ok("losses", package=str(made.path), name="returns", query=order)["losses"].values())
    assert helper.error("losses", package=str(made.path), name="returns", query={})["code"] == "bad_query"


def test_an_empty_table_has_empty_statistics_and_plots(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    pq.write_table(pa.table({"x": pa.array([], pa.float64())}), path)
    found = statistics.of_column(path, "x")
    assert (found["values"], found["median"], found["histogram"]) == (0, None, None)
    assert plotdata.plot(path, "line", None, "x")["points"] == 0


def test_r11_decoded_columns_have_a_bound_in_bytes(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pages.TablePages(table) as opened:
        opened.page(0, 10, ["id"])
        one = opened.kept_bytes
        monkeypatch.setattr(limits, "TABLE_CACHE_BYTES_MAX", 2 * one)
        opened.page(300, 10, ["id"])
        assert opened.kept_bytes == 2 * one  # at the bound
        opened.page(600, 10, ["id"])
        assert opened.kept_bytes == 2 * one  # above it, the oldest went
        across = opened.page(295, 10, ["id", "open"])
        assert across["id"] == [str(2**62 + n) for n in range(295, 305)]
        assert across["open"][5] == "true"
        assert len(opened.page(990, 100, ["id"])["id"]) == 10
        assert opened.reason_of == {"price": "price__reason"}


def test_a_text_is_found_forward_backward_and_round_the_end(table: Path, helper: Helper) -> None:
    names = ["id", "price", "price__reason", 'na"me', "at"]

    def find(text: str, row: int, column: str, backward: bool = False) -> tuple[int, str, bool]:
        place = names.index(column)
        found = helper.ok("find", path=str(table), text=text, columns=names, row=row, column=place, backward=backward)
        return found["row"], found["column"], found["wrapped"]

    assert find("nAmE 3", 0, "id") == (3, 'na"me', False)
    assert find("name 3", 3, 'na"me') == (10, 'na"me', False)
    assert find("name 3", 3, 'na"me', backward=True) == (997, 'na"me', True)
    assert find("name 3", 304, "id", backward=True) == (297, 'na"me', False)  # over the edge of a row group
    assert find("4,611,686,018,427,387,904", 500, "at") == (0, "id", True)
    assert find("249.75", 0, "id") == (999, "price", False)
    assert find("closed", 0, "price__reason") == (20, "price__reason", False)
    assert find("2026-02-11 15:00", 0, "id") == (999, "at", False)
    assert find("name 3", 997, 'na"me') == (3, 'na"me', True)
    assert find("249.75", 999, "price") == (999, "price", True)  # the only one is found again
    assert helper.ok("find", path=str(table), text="nowhere", columns=names, row=5, column=0, backward=False)["row"] is None
    counted = helper.ok("hits", path=str(table), text="name 3", columns=names)
    assert counted == {"cells": 143, "rows": 1_000}
    assert helper.ok("hits", path=str(table), text="closed", columns=names)["cells"] == 50
    assert helper.error("hits", path=str(table), text="x", columns=["no such"])["code"] == "no_column"


def test_r11_a_text_to_look_for_has_a_bound(table: Path) -> None:
    most = limits.SEARCH_CHARS_MAX
    assert search.count(table, "x" * most, ['na"me'])["cells"] == 0
    for text in ("", "x" * (most + 1)):
        with pytest.raises(WrongUse):
            search.count(table, text, ['na"me'])


@pytest.mark.parametrize(("kind", "text", "form"), [("integer", "x1", None), ("integer", "1,0", "10"), ("text", "1,0", "1,0")])
def test_what_a_column_cannot_hold_is_not_looked_for(kind: str, text: str, form: str | None) -> None:
    assert search.needle(kind, text) == form


def test_a_row_of_the_table_is_found_in_a_view_of_it(table: Path, tmp_path: Path, helper: Helper) -> None:
    out = tmp_path / "view.parquet"
    view.make(table, out, Query(typed(table, "not open"), (Order("id", descending=True),)))
    assert helper.ok("place", path=str(out), row=998) == {"place": 0}
    assert helper.ok("place", path=str(out), row=1) == {"place": 665}
    assert helper.ok("place", path=str(out), row=999) == {"place": None}


def test_r15_values_are_counted_and_what_is_left_is_summed_up(
    table: Path, helper: Helper, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = helper.ok("values", path=str(table), column='na"me')
    assert found["values"][0] == {"value": "Name 0", "rows": 143}
    assert (len(found["values"]), found["sample"], found["others"]) == (7, None, {"values": 0, "rows": 0})
    prices = helper.ok("values", path=str(table), column="price")
    assert prices["values"][:2] == [{"value": None, "rows": 100}, {"value": "0.25", "rows": 1}]
    assert len(prices["values"]) == limits.VALUE_COUNTS_ROWS
    assert prices["others"] == {"values": 901 - limits.VALUE_COUNTS_ROWS, "rows": 1_000 - 99 - limits.VALUE_COUNTS_ROWS}
    monkeypatch.setattr(limits, "VALUE_COUNTS_ROWS", 901)
    whole = valuecounts.of_column(table, "price")
    assert (len(whole["values"]), whole["others"]["values"]) == (901, 0)  # at the bound
    monkeypatch.setattr(limits, "VALUE_COUNTS_ROWS", 900)
    assert valuecounts.of_column(table, "price")["others"] == {"values": 1, "rows": 1}
    monkeypatch.setattr(limits, "STATISTICS_ROWS_MAX", 999)
    assert valuecounts.of_column(table, "open")["sample"] == 500
    assert valuecounts.of_column(table, "at")["values"][0]["value"] == "2026-01-01T00:00:00.000000Z"


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_a_view_that_is_given_up_ends_the_helper_without_an_answer(tmp_path: Path, form: str) -> None:
    """The engine is interrupted in the middle of a sort, and tells it as an error of its own: nobody asked for that answer."""
    import signal

    made = pa.table({"n": pa.array(range(3_000_000)), "text": [f"{n * 7919 % 1_000_003}" for n in range(3_000_000)]})
    path = tmp_path / f"t.{form}"
    if form == "parquet":
        pq.write_table(made, path, row_group_size=131_072)
    else:
        with pa.ipc.new_file(path, made.schema) as out:
            out.write_table(made, max_chunksize=65_536)
    helper = Helper()
    assert helper.process.stdout is not None
    asked = Query(order=(Order("text"), Order("n", descending=True)))
    args = {"path": str(path), "out": str(tmp_path / "view.parquet"), "query": asked.to_json()}
    helper.send(json.dumps({"id": 1, "verb": "view", "args": args}).encode())
    assert "progress" in helper.read()
    helper.process.send_signal(signal.SIGTERM)
    said, _errors = helper.process.communicate(timeout=60)
    assert helper.process.returncode == 128 + signal.SIGTERM
    assert all("progress" in json.loads(line) for line in said.splitlines())


def test_r14_the_command_says_that_it_reads_the_authority_and_exports_from_it(tmp_path: Path) -> None:
    app = App(tmp_path)
    create_folders(app.ws)
    with workspaces.writing(app.ws) as writer:
        results.publish_prices(app.ws, writer, workspaces.admit(writer, results.define(writer)))
    before = app.run("results", "1", "--table", "prices")
    packages.writable(app.ws.result_folder(1, 1) / "derived" / "prices.parquet").unlink()
    after = app.run("results", "1", "--table", "prices")
    assert after.stdout == before.stdout
    assert "Read from the authority: the quicker copy is missing." in after.stderr
    assert "authority" not in before.stderr
    answer = app.json("export", "1", "prices", "--where", "volume is null", "-o", str(tmp_path / "p.csv"))
    assert (answer["rows"], answer["exact"]) == (15, True)
    app.end()


def test_r14_r16_the_command_shows_no_row_of_a_file_that_is_not_as_it_was_published(tmp_path: Path) -> None:
    """A readable Parquet with another value in it gives way to the authority; an authority with one is not shown at all."""
    app = App(tmp_path)
    create_folders(app.ws)
    with workspaces.writing(app.ws) as writer:
        results.publish_prices(app.ws, writer, workspaces.admit(writer, results.define(writer)))
    package = app.ws.result_folder(1, 1)
    before = app.run("results", "1", "--table", "prices")
    copy = packages.writable(package / "derived" / "prices.parquet")
    pq.write_table(pq.read_table(copy).slice(1), copy)
    after = app.run("results", "1", "--table", "prices")
    assert after.stdout == before.stdout
    assert "Read from the authority: the quicker copy is damaged." in after.stderr
    own = packages.writable(next((package / "tables").glob("prices.*")))
    lines = own.read_bytes().splitlines(keepends=True)
    own.write_bytes(b"".join([lines[1], lines[0], *lines[2:]]))
    for args in (("results", "1", "--table", "prices"), ("export", "1", "prices", "-o", str(tmp_path / "p.csv"))):
        refused = app.run(*args, code=5)
        assert (refused.stdout, "is not as it was published" in refused.stderr) == ("", True)
    app.end()
