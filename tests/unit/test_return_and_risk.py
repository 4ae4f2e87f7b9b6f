"""The built-in task on real prices, against figures computed another way and against literal ones."""

from __future__ import annotations

import inspect
import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from actum.contracts.document import load
from actum.contracts.metrics import from_message
from actum.contracts.tables import read_line, schema_from_json
from actum.recipes import registry
from actum.recipes.return_and_risk import return_and_risk
from actum.sdk import Context, InputFile, TaskFailed
from actum.sdk.signature import parameters_of
from actum_resources import samples

from tests.helpers.functions import Ran, run_function

RECIPE = registry.RECIPES["return-and-risk"]
STOCKS = samples.path("stocks.csv")


def run_recipe(folder: Path, **parameters: Any) -> Ran:
    """In a child with our own interpreter, without site-packages, as the host starts it."""
    values = {"prices": str(STOCKS), "symbol": None, "window": 12, "start": None, "end": None, "periods_per_year": 12}
    inputs = {"prices": {"path": str(STOCKS), "original": str(STOCKS), "sha256": "aa", "size": 1, "policy": "copy"}}
    return run_function(f"{RECIPE.file}:{RECIPE.function}", folder, {**values, **parameters}, inputs)


def shown(ran: Ran) -> dict[str, str | None]:
    """The metrics as the sealed result shows them, under the contract's numeric rules."""
    declared = {metric["name"]: metric for metric in RECIPE.document["metrics"]}
    return {name: from_message(message, declared[name]).value for name, message in ran.metrics().items()}


def table(ran: Ran, name: str) -> list[dict[str, Any]]:
    message = next(message for message in ran.messages if message.get("table") == name)
    columns = schema_from_json(message["schema"])
    lines = (ran.output / message["path"]).read_text(encoding="utf-8").splitlines()
    assert len(lines) == message["rows"]
    return [read_line(columns, line) for line in lines]


@pytest.fixture(scope="module")
def apple(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return run_recipe(tmp_path_factory.mktemp("apple"), symbol="AAPL")


def test_the_literal_figures(apple: Ran) -> None:
    assert apple.code == 0, apple.log
    figures = shown(apple)
    assert figures["observations"] == "122"
    assert figures["total_return"] == "7.597533"
    assert figures["volatility"] == "0.146084"
    assert figures["annualised_volatility"] == "0.506050"
    assert figures["maximum_drawdown"] == "-0.791753"
    assert apple.messages[-1] == {"done": True}


def test_stages_progress_and_the_recorded_conversion(apple: Ran) -> None:
    assert [message["stage"] for message in apple.messages if "stage" in message] == ["load", "compute", "write"]
    assert apple.last("progress")["progress"] == [2, 2]
    assert apple.metrics()["volatility"]["conversion"] == "float64"
    assert "conversion" not in apple.metrics()["total_return"]
    assert "float64" in apple.last("note")["note"]


def test_every_symbol_against_pandas(apple: Ran) -> None:
    frame = pd.read_csv(STOCKS)
    frame["date"] = pd.to_datetime(frame["date"], format="%b %d %Y")
    summary = {row["symbol"]: row for row in table(apple, "summary")}
    assert set(summary) == set(frame["symbol"])
    for symbol, group in frame.sort_values("date").groupby("symbol"):
        price = group["price"]
        change = price.pct_change().dropna()
        row = summary[str(symbol)]
        assert (row["prices"], row["observations"]) == (len(price), len(change))
        assert row["first_date"] == group["date"].iloc[0].date()
        assert math.isclose(row["total_return"], price.iloc[-1] / price.iloc[0] - 1, rel_tol=1e-12)
        assert math.isclose(row["mean_return"], change.mean(), rel_tol=1e-12)
        assert math.isclose(row["volatility"], change.std(), rel_tol=1e-12)
        assert math.isclose(row["annualised_volatility"], change.std() * 12**0.5, rel_tol=1e-12)
        assert math.isclose(row["maximum_drawdown"], (price / price.cummax() - 1).min(), rel_tol=1e-12)
        assert math.isclose(row["return_per_risk"], change.mean() / change.std() * 12**0.5, rel_tol=1e-12)


def test_returns_against_pandas_with_reasons_where_there_is_none(apple: Ran) -> None:
    rows = table(apple, "returns")
    frame = pd.read_csv(STOCKS, dtype={"price": str})
    frame = frame[frame["symbol"] == "AAPL"]
    change = frame["price"].astype(float).pct_change()
    rolling = change.rolling(12).std()
    assert [row["price"] for row in rows] == [Decimal(text).quantize(Decimal("0.000001")) for text in frame["price"]]
    assert (rows[0]["simple_return"], rows[0]["simple_return__reason"]) == (None, "first_observation")
    for row, expected, spread in zip(rows[1:], change.iloc[1:], rolling.iloc[1:], strict=True):
        assert math.isclose(row["simple_return"], expected, rel_tol=1e-9, abs_tol=1e-12)
        if math.isnan(spread):
            assert (row["rolling_volatility"], row["rolling_volatility__reason"]) == (None, "insufficient_observations")
        else:
            assert math.isclose(row["rolling_volatility"], spread, rel_tol=1e-9)
            assert row["rolling_volatility__reason"] is None


def test_r15_google_before_it_was_listed_is_unavailable_and_not_zero(tmp_path: Path) -> None:
    ran = run_recipe(tmp_path, symbol="GOOG", start="2000-01-01", end="2003-12-31")
    assert ran.code == 0, ran.log
    metrics = ran.metrics()
    assert metrics.pop("observations")["value"] == "0"
    assert set(metrics) == {metric["name"] for metric in RECIPE.document["metrics"]} - {"observations"}
    for message in metrics.values():
        assert message["status"] == "unavailable"
        assert (message["reason"], message["observations"]) == ("insufficient_observations", 0)
        assert "value" not in message
    assert table(ran, "returns") == []
    google = next(row for row in table(ran, "summary") if row["symbol"] == "GOOG")
    assert (google["prices"], google["volatility"], google["first_date__reason"]) == (0, None, "no_prices")


def test_google_has_68_prices(tmp_path: Path) -> None:
    google = next(row for row in table(run_recipe(tmp_path), "summary") if row["symbol"] == "GOOG")
    assert (google["prices"], str(google["first_date"])) == (68, "2004-08-01")


def call(folder: Path, content: str, **parameters: Any) -> Context:
    path = folder / "prices.csv"
    path.write_text(content, encoding="utf-8")
    context = Context.local(folder / "output")
    return_and_risk(context, InputFile(path), **parameters)
    return context


def said(context: Context, name: str) -> dict[str, Any]:
    return next(m for m in context.messages if m.get("metric") == name or m.get("unavailable") == name)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("symbol,date,price\nA,2000-01-01,abc\n", "Line 2: “abc” is not a price"),
        ("symbol,date,price\nA,2000-01-01,-1\n", "Line 2: “-1” is not a price"),
        ("symbol,date,price\nA,2000-01-01,0.00\n", "Line 2: the price is 0"),
        ("symbol,date,price\nA,2000-01-01,1.2345678\n", "Line 2: “1.2345678” has more than 6 digits"),
        ("symbol,date,price\nA,1.1.2000,1\n", "Line 2: “1.1.2000” is not a date"),
        ("symbol,date,price\nA,2000-01-01,1\nA,Jan 1 2000,2\n", "Lines 2 and 3: A has two prices on 2000-01-01"),
        ("symbol,date,price\nA,2000-01-01\n", "Line 2: it has 2 fields"),
        ("symbol,date,price\n,2000-01-01,1\n", "Line 2: the symbol is missing"),
        ("name,date\nA,2000-01-01\n", "The file has no column symbol and no column price. It has name, date."),
        ('symbol,date,price\n"A,2000-01-01,1\n', "the CSV cannot be read"),
    ],
)
def test_a_file_that_contradicts_itself_ends_the_run_with_the_line(tmp_path: Path, content: str, words: str) -> None:
    with pytest.raises(TaskFailed) as failed:
        call(tmp_path, content)
    assert words in str(failed.value)


def test_an_unknown_symbol_ends_the_run_and_names_the_known_ones(tmp_path: Path) -> None:
    ran = run_recipe(tmp_path, symbol="GOOGL")
    assert (ran.code, ran.log) == (1, "The file has no symbol “GOOGL”. It has AAPL, AMZN, GOOG, IBM, MSFT.\n")


@pytest.mark.parametrize("content", ["", "symbol,date,price\n"])
def test_an_empty_file_is_accepted_and_says_that_it_has_no_prices(tmp_path: Path, content: str) -> None:
    context = call(tmp_path, content, symbol="AAPL")
    assert said(context, "volatility")["reason"] == "no_prices"
    assert [m["rows"] for m in context.messages if "table" in m] == [0, 0]


def test_a_missing_price_makes_its_returns_missing_and_no_others(tmp_path: Path) -> None:
    days = [f"A,2000-0{month}-01,{price}" for month, price in enumerate(("10", "NA", "12", "6"), start=1)]
    context = call(tmp_path, "symbol,date,price\n" + "\n".join(days) + "\n", window=2)
    lines = (context.output / "returns.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["simple_return__reason"] for row in rows] == [
        "first_observation",
        "price_missing",
        "previous_price_missing",
        None,
    ]
    assert rows[3]["simple_return"] == -0.5
    assert rows[3]["rolling_volatility__reason"] == "price_missing"
    assert said(context, "volatility")["reason"] == "insufficient_observations"
    assert said(context, "total_return")["value"].startswith("-0.4")
    assert said(context, "maximum_drawdown")["value"].startswith("-0.5")


def test_without_spread_return_per_risk_has_no_meaning(tmp_path: Path) -> None:
    context = call(tmp_path, "symbol,date,price\nA,2000-01-01,1\nA,2000-02-01,2\nA,2000-03-01,4\n")
    assert (said(context, "return_per_risk")["status"], said(context, "return_per_risk")["reason"]) == (
        "not_applicable",
        "zero_volatility",
    )


def test_several_symbols_without_a_choice_have_a_summary_and_no_metrics_of_one(tmp_path: Path) -> None:
    context = call(tmp_path, "date,price,symbol\n2000-01-01,1,A\n2000-01-01,1,B\n")
    assert said(context, "total_return")["reason"] == "several_symbols"


@pytest.mark.parametrize("name", sorted(registry.RECIPES))
def test_each_recipe_s_contract_fits_its_function(name: str) -> None:
    recipe = registry.RECIPES[name]
    scope: dict[str, Any] = {}
    exec(compile(recipe.file.read_text(encoding="utf-8"), str(recipe.file), "exec"), scope)
    function = scope[recipe.function]
    assert inspect.isfunction(function)
    asked = {p["name"]: (p["type"], p.get("optional", False), p.get("default")) for p in parameters_of(function)}
    declared = {p.name: (p.type, p.optional, p.default) for p in load(recipe.document).parameters}
    assert asked == declared
