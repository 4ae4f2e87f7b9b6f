"""The built-in task “Profile a table”: types, gaps and figures, and the task as a child of ours."""

from __future__ import annotations

import statistics
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from actum import limits
from actum.contracts.document import load
from actum.contracts.parameters import parse
from actum.errors import InvalidParameters
from actum.recipes import registry
from actum.recipes.profile_contract import PROFILE_TABLE
from actum.recipes.tableprofile import measuring, parquetsource
from actum.recipes.tableprofile.source import Source, SourceColumn
from actum.sdk import Context
from actum.sdk.stopping import StopRequested

from tests.helpers.functions import Ran, run_function
from tests.helpers.profiles import SCHEMAS, Profile

RECIPE = registry.RECIPES["profile-table"]

# Types and figures


def test_types_are_told_from_all_values(tmp_path: Path) -> None:
    found = Profile(
        tmp_path,
        "whole,money,science,id,truth,day,instant,local,words,long,gap,plus\n"
        "1,0.10,1e-3,007,true,2013-01-31,2013-01-01T10:00:00Z,2013-01-01 10:00,a,12345678901234567890,,+1\n"
        "-2,12,5,12,FALSE,2012-02-29,2013-01-01T10:00:00.5+02:00,2013-01-02 10:00:30,b,1,,+2\n",
    )
    assert found.types == {
        "whole": "integer",
        "money": "decimal",
        "science": "float64",
        "id": "text",
        "truth": "boolean",
        "day": "date",
        "instant": "timestamp",
        "local": "timestamp without zone",
        "words": "text",
        "long": "text",
        "gap": "no values",
        "plus": "text",
    }
    assert (found["money"]["min"], found["money"]["max"], found["money"]["p50"]) == ("0.1", "12", "6.05")
    assert (found["day"]["min"], found["day"]["p95"]) == ("2012-02-29", "2013-01-31")
    assert (found["instant"]["min"], found["instant"]["max"]) == ("2013-01-01T08:00:00.5Z", "2013-01-01T10:00:00Z")
    assert found["local"]["max"] == "2013-01-02T10:00:30"
    assert all(row["type_from"] == "inferred" for row in found.tables["columns"])


def test_numbers_that_would_lose_their_digits_stay_text_and_that_is_said(tmp_path: Path) -> None:
    found = Profile(tmp_path, "id,long\n007,12345678901234567890\n1234,1\n")
    assert found["id"]["remark"] == "Kept as text: numbers with leading zeros, such as “007”, are identifiers."
    assert found["long"]["remark"] == "Kept as text: whole numbers beyond 64 bits, such as “12345678901234567890”."
    assert found.of("top_values", "id", "value") == [("007",), ("1234",)]
    assert "The remark of these columns says why they have their type: “id”, “long”." in found.notes


def test_whole_numbers_at_the_ends_of_64_bits_are_exact(tmp_path: Path) -> None:
    found = Profile(tmp_path, f"n\n{-(2**63)}\n{2**63 - 1}\n9007199254740993\n")["n"]
    assert (found["type"], found["min"], found["p50"], found["max"]) == (
        "integer", str(-(2**63)), "9007199254740993", str(2**63 - 1),
    )  # fmt: skip


def test_a_decimal_of_38_digits_is_exact_and_one_of_39_is_a_float_which_is_said(tmp_path: Path) -> None:
    most, more = "1" * 19 + "." + "2" * 19, "1" * 20 + "." + "2" * 19
    found = Profile(tmp_path, f"most,more\n{most},{more}\n")
    assert (found["most"]["type"], found["most"]["max"]) == ("decimal", most)
    assert found["more"]["type"] == "float64"
    assert "more digits than a decimal holds (20 before the point, 19 after)" in found["more"]["remark"]


def test_mixed_values_are_text_and_the_remark_counts_the_numbers(tmp_path: Path) -> None:
    found = Profile(tmp_path, 'm,comma\n1,"1,5"\n2,"2,5"\nNaN,3\n')
    assert found["m"]["remark"] == "Kept as text: 2 values are numbers, 1 are not, such as “NaN”."
    assert found["comma"]["type"] == "text"
    assert "“NaN” was taken as a value in “m”. If it means missing there" in found.notes


def test_figures_against_the_statistics_module(tmp_path: Path) -> None:
    values = [((n * 7919) % 1013) / 8 - 20 for n in range(500)]
    found = Profile(tmp_path, "x\n" + "\n".join(str(value) for value in values) + "\n")["x"]
    cuts = statistics.quantiles(values, n=20, method="inclusive")
    assert found["mean"] == pytest.approx(statistics.fmean(values), rel=1e-14)
    assert found["sd"] == pytest.approx(statistics.stdev(values), rel=1e-13)
    shown = [float(found[name]) for name in ("p05", "p25", "p50", "p75", "p95")]
    assert shown == pytest.approx([cuts[0], cuts[4], cuts[9], cuts[14], cuts[18]], rel=1e-14)
    assert (float(found["min"]), float(found["max"]), found["distinct"]) == (min(values), max(values), len(set(values)))


def test_a_quantile_of_days_is_a_day_that_occurs(tmp_path: Path) -> None:
    found = Profile(tmp_path, "day\n2020-01-01\n2020-01-02\n2020-03-01\n2020-12-31\n")["day"]
    shown = [found[name] for name in ("p05", "p25", "p50", "p75", "p95")]
    assert shown == ["2020-01-01", "2020-01-01", "2020-01-02", "2020-03-01", "2020-12-31"]


def test_equal_decimals_written_differently_are_one_value(tmp_path: Path) -> None:
    found = Profile(tmp_path, "x\n1.0\n1.00\n1\n2.5\n")
    assert (found["x"]["distinct"], found.of("top_values", "x", "value", "count")) == (2, [("1", 3), ("2.5", 1)])


def test_decimals_keep_their_zeros_where_all_are_written_alike(tmp_path: Path) -> None:
    found = Profile(tmp_path, "alike,uneven\n0.10,0.10\n12.00,100\n")
    assert (found["alike"]["min"], found["alike"]["max"]) == ("0.10", "12.00")
    assert (found["uneven"]["min"], found["uneven"]["max"]) == ("0.1", "100")


def test_histograms_count_every_value_once(tmp_path: Path) -> None:
    rows = "\n".join(f"{n},{n / 10},2020-01-{n % 28 + 1:02},7" for n in range(1000))
    found = Profile(tmp_path, f"whole,point,day,one\n{rows}\n")
    for name in ("whole", "point", "day", "one"):
        assert sum(count for (count,) in found.of("histogram", name, "count")) == 1000
    assert found.of("histogram", "whole", "from", "to", "count")[0] == ("0", "50", 50)
    assert len(found.of("histogram", "whole", "bin")) == limits.PROFILE_BINS_MAX
    assert found.of("histogram", "one", "from", "to", "count") == [("7", "7", 1000)]
    assert len(found.of("histogram", "point", "bin")) == limits.PROFILE_BINS_MAX
    assert found.of("histogram", "day", "from")[0] == ("2020-01-01",)


def test_r15_a_figure_that_cannot_be_had_has_its_reason(tmp_path: Path) -> None:
    found = Profile(tmp_path, "one,words,gap,truth,huge\n1,a,NA,true,1e308\n,b,,false,1.5e308\n")
    reasons = {
        name: [row[f"{figure}__reason"] for figure in ("min", "mean", "sd", "p50")]
        for name, row in ((name, found[name]) for name in found.types)
    }
    no_order = "neither_numbers_nor_times"
    assert reasons == {
        "one": [None, None, "insufficient_observations", None],
        "words": [None, "not_numbers", "not_numbers", no_order],
        "gap": ["no_values"] * 4,
        "truth": [no_order, "not_numbers", "not_numbers", no_order],
        "huge": [None, "overflow", "overflow", None],
    }
    assert (found["words"]["missing_as"], found["words"]["missing_as__reason"]) == (None, "none_missing")
    assert (found["words"]["remark"], found["words"]["remark__reason"]) == (None, "no_remark")
    for row in found.tables["columns"]:
        for figure in ("missing_as", "remark", "min", "max", "mean", "sd", "p05", "p25", "p50", "p75", "p95"):
            assert (row[figure] is None) == (row[f"{figure}__reason"] is not None)


# Missing values


CSV_OF_GAPS = 'a,b\nNA,\n1,""\nnull,x\n-,NA\n'


def test_every_text_that_means_missing_is_counted(tmp_path: Path) -> None:
    found = Profile(tmp_path, CSV_OF_GAPS, missing_values=("NA", "null", "?"))
    fields = ("form", "text", "count", "taken_as")
    assert found.of("missing", "a", *fields) == [
        ("text", "NA", 1, "missing"),
        ("text", "null", 1, "missing"),
        ("text", "-", 1, "value"),
    ]
    assert sorted(found.of("missing", "b", *fields)) == [
        ("empty field", "", 1, "missing"),
        ("empty text", "", 1, "missing"),
        ("text", "NA", 1, "missing"),
    ]
    assert (found["a"]["missing"], found["a"]["missing_as"]) == (2, "“NA” 1; “null” 1")
    assert "these texts mean missing: “NA”, “null”, “?”; an empty text means missing" in found.notes
    assert "Declared as missing, and nowhere in the table: “?”." in found.notes
    assert "“-” was taken as a value in “a”." in found.notes
    assert (found.metrics["missing_cells"], found.metrics["suspect_cells"]) == ("5", "1")
    assert (found.metrics["missing_share"], found.metrics["columns_with_missing"]) == ("0.625", "2")


def test_what_is_not_declared_is_a_value(tmp_path: Path) -> None:
    found = Profile(tmp_path, CSV_OF_GAPS, missing_values=(), empty="text")
    assert found["a"]["missing"] == found["b"]["missing"] == 0
    assert found.of("top_values", "b", "value", "count") == [("", 2), ("NA", 1), ("x", 1)]
    assert "no text means missing; an empty text is a value" in found.notes
    assert "“NA” was taken as a value in “a”, “b”." in found.notes


def test_an_empty_text_that_is_declared_among_the_texts_is_missing(tmp_path: Path) -> None:
    assert Profile(tmp_path, CSV_OF_GAPS, missing_values=("",), empty="text")["b"]["missing"] == 2


def test_r11_of_very_many_texts_that_mean_missing_the_rarest_are_not_listed(tmp_path: Path) -> None:
    most = limits.PROFILE_STOOD_ROWS_MAX
    texts = tuple(f"m{n:04}" for n in range(most + 1))
    found = Profile(
        tmp_path, "a,b\n" + "".join(f"{text},{text if n else 1}\n" for n, text in enumerate(texts)), missing_values=texts
    )
    assert len(found.of("missing", "a", "text")) == most
    assert found["a"]["missing"] == most + 1
    assert len(found.of("missing", "b", "text")) == most == found["b"]["missing"]


# As a child of ours


def run_recipe(folder: Path, table: Path, **parameters: Any) -> Ran:
    """In a child with our own interpreter, as the host starts it."""
    raw = {"table": str(table), **parameters}
    values = parse(load(PROFILE_TABLE), raw, Path("/")).to_json()
    inputs = {"table": {"path": str(table), "original": str(table), "sha256": "aa", "size": 1, "policy": "copy"}}
    spec = f"{RECIPE.file}:{RECIPE.function}"
    return run_function(spec, folder, values, inputs, isolation=RECIPE.isolation)


def test_the_child_has_our_packages_reports_its_stages_and_leaves_no_scratch(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("a,b\n1,NA\n2,x\n")
    ran = run_recipe(tmp_path / "run", table, missing_values="NA,?")
    assert ran.code == 0, ran.log
    assert [message["stage"] for message in ran.messages if "stage" in message] == ["read", "measure", "write"]
    assert {"progress": [13, 13], "unit": "bytes"} in ran.messages
    assert {"progress": [2, 2], "unit": "columns"} in ran.messages
    assert [m["rows"] for m in ran.messages if "table" in m] == [2, 1, 3, 2]
    assert ran.messages[-1] == {"done": True}
    assert {path.name for path in ran.output.iterdir()} == {f"{name}.jsonl" for name in SCHEMAS}
    assert not list((tmp_path / "run").glob("scratch-*"))


def test_a_child_that_cannot_read_the_file_says_why_in_one_line(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("a,b\n1\n")
    ran = run_recipe(tmp_path / "run", table)
    assert (ran.code, ran.log) == (1, "Line 2: it has 1 fields, and the first line has 2.\n")


def test_a_stop_ends_a_count_that_is_under_way(tmp_path: Path) -> None:
    context = Context.local(tmp_path / "output")
    endless = Source("CSV", 1, "range(1000000000000) AS endless(v)", (), "null")
    with measuring.connected(tmp_path) as connection:
        measurer = measuring.Measurer(connection, context, endless, measuring.Missing((), True), 1)
        stopping = threading.Timer(0.2, context.request_stop)
        stopping.start()
        with pytest.raises(StopRequested):
            measurer.measure(SourceColumn("n", "v % 7", declared="BIGINT"))
        stopping.join()


def test_r11_what_the_memory_does_not_hold_goes_to_the_scratch_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with measuring.connected(tmp_path) as connection:
        assert connection.execute("SELECT current_setting('memory_limit')").fetchall() == [("512.0 MiB",)]
    assert limits.PROFILE_MEMORY_BYTES_MAX == 512 << 20
    monkeypatch.setattr(limits, "PROFILE_MEMORY_BYTES_MAX", 40 << 20)
    count = 600_000
    pq.write_table(
        pa.table({"word": [f"a rather long text with the number {n}" for n in range(count)]}), tmp_path / "t.parquet"
    )
    with measuring.connected(tmp_path) as connection:
        source = parquetsource.read(tmp_path / "t.parquet", connection)
        measurer = measuring.Measurer(connection, Context.local(tmp_path / "output"), source, measuring.Missing((), True), 1)
        found = measurer.measure(source.columns[0])
        spilled = list((tmp_path / "spilled").iterdir())
    assert (found.distinct, found.values) == (count, count)
    assert spilled


def test_r11_the_number_of_frequent_values_has_a_bound(tmp_path: Path) -> None:
    contract = load(PROFILE_TABLE)
    most = limits.PROFILE_TOP_ROWS_MAX
    assert parse(contract, {"table": "t.csv", "top": most}, tmp_path).values["top"] == most
    with pytest.raises(InvalidParameters):
        parse(contract, {"table": "t.csv", "top": most + 1}, tmp_path)
    found = Profile(tmp_path, "a\n" + "".join(f"{n}\n" for n in range(most + 1)), top=most)
    assert len(found.of("top_values", "a", "rank")) == most
