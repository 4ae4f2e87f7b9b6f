"""Runs side by side: exact differences, words where there are none (R15), and whether the runs are like for like."""

from __future__ import annotations

import decimal
from decimal import Decimal
from typing import Any

import pytest
from actum.errors import WrongUse
from actum.limits import COMPARED_RUNS_MAX
from actum.results.comparison import Row, Subject, compare
from actum_desktop.commands.compare import _metric as told
from actum_desktop.models.comparemodel import _metric as shown
from hypothesis import given
from hypothesis import strategies as st

TITLES = {"window": "Window", "prices": "Prices"}


def metric(value: str | None = "1", *, name: str = "sharpe", unit: str | None = None, rule: str = "ratio.v1") -> dict[str, Any]:
    given = {"status": "available", "reason": None} if value is not None else {"status": "unavailable", "reason": "no_rows"}
    return {"name": name, "title": "Sharpe", "value": value, "unit": unit, "rule": rule, "observation_count": 30, **given}


def subject(run: int, *metrics: dict[str, Any], **more: Any) -> Subject:
    show = {
        "run": run,
        "task": "t",
        "task_version": "1",
        "status": "SUCCEEDED",
        "duration_s": 2.5,
        "parameters": {"prices": "/a.csv", "window": 12},
        "inputs": [{"name": "prices", "sha256": "aa"}, {"name": "@code", "sha256": "c0"}],
        "environment": {"version": "3.11.7", "distributions_sha256": "ee"},
        "code": {"sha256": "c0"},
        "result": {"rows": 10, "metrics": list(metrics)},
    }
    return Subject({**show, **more}, "T", TITLES)


def test_parameters_stand_in_the_order_of_the_task_and_say_what_differs() -> None:
    found = compare([subject(1), subject(2, parameters={"prices": "/a.csv", "window": 60, "extra": [1, {"a": None}]})])
    assert [(row.title, row.cells, row.differs) for row in found.parameters] == [
        ("Window", ("12", "60"), True),
        ("Prices", ("/a.csv", "/a.csv"), False),
        ("extra", (None, "1, a: None"), True),
    ]


def test_the_odd_one_out_is_the_one_that_most_do_not_have() -> None:
    assert Row("w", "W", ("12", "60", "12")).odd() == (False, True, False)
    assert Row("w", "W", ("60", "12", "12")).odd() == (True, False, False)
    assert Row("w", "W", ("12", "60")).odd() == (False, True)


def test_r15_no_difference_is_invented_where_there_is_no_value() -> None:
    found = compare([subject(1, metric("0.62")), subject(2, metric(None)), subject(3)]).metrics[0]
    assert [(cell.value, cell.status, cell.reason, cell.difference, cell.why) for cell in found.cells] == [
        ("0.62", "available", None, None, "first"),
        (None, "unavailable", "no_rows", None, "no_value"),
        (None, "absent", None, None, "no_value"),
    ]


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (metric("1"), "same"),
        (metric("1.000"), "same"),
        (metric("2", unit="%"), "other_unit"),
        (metric("2", rule="ratio.v2"), "other_rule"),
        (metric("NaN"), "not_a_number"),
        (metric("Infinity"), "not_a_number"),
        (metric("high"), "not_a_number"),
        (metric("1E+900000"), "not_a_number"),
    ],
)
def test_why_there_is_no_difference(other: dict[str, Any], why: str) -> None:
    cell = compare([subject(1, metric("1")), subject(2, other)]).metrics[0].cells[1]
    assert (cell.difference, cell.why) == (None, why)


def test_a_value_in_another_unit_never_stands_under_the_unit_of_the_first() -> None:
    """7.5 EUR is not 7.5 USD: not in the document, not in words, and the two are not equal."""
    found = compare([subject(1, metric("7.5", unit="USD")), subject(2, metric("7.5", unit="EUR")), subject(3, metric("7.5"))])
    (row,) = found.metrics
    assert row.differs
    assert [cell["unit"] for cell in found.to_json()["metrics"][0]["cells"]] == ["USD", "EUR", None]
    assert [told(cell, row.unit) for cell in row.cells] == ["7.5", "7.5 EUR", "7.5 (no unit)"]
    assert [shown(cell, row.unit).text for cell in row.cells] == ["7.5", "7.5 EUR", "7.5"]


DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, places=18, min_value=-(10**30), max_value=10**30)


@given(DECIMALS, DECIMALS)
def test_a_difference_is_exact_whatever_the_context(first: Decimal, other: Decimal) -> None:
    with decimal.localcontext(decimal.Context(prec=1, rounding=decimal.ROUND_UP)):
        cell = compare([subject(1, metric(f"{first:f}")), subject(2, metric(f"{other:f}"))]).metrics[0].cells[1]
    with decimal.localcontext(decimal.Context(prec=200)):
        assert (cell.why == "same") == (first == other)
        assert Decimal(cell.difference or 0) == other - first


@pytest.mark.parametrize(
    ("more", "kinds"),
    [
        ({}, None),
        ({"parameters": {"window": 60}}, None),
        ({"inputs": [{"name": "prices", "sha256": "bb"}, {"name": "@code", "sha256": "c0"}]}, ("input",)),
        ({"code": {"sha256": "c1"}}, ("code",)),
        ({"environment": {"version": "3.12.1", "distributions_sha256": "ee"}}, ("environment",)),
        ({"task_version": "2", "code": {"sha256": "c1"}}, ("version", "code")),
        ({"task": "u", "task_version": "2"}, ("task",)),
    ],
)
def test_like_for_like_is_same_bytes_same_code_same_environment(more: dict[str, Any], kinds: tuple[str, ...] | None) -> None:
    unlike = compare([subject(1), subject(2, **more)]).unlike
    assert [(other.run, other.kinds) for other in unlike] == ([] if kinds is None else [(2, kinds)])


def test_a_run_without_a_result_is_compared_in_what_it_has() -> None:
    found = compare([subject(1, metric("1")), subject(2, result=None, status="FAILED")])
    assert found.metrics[0].cells[1].status == "absent"
    assert next(row for row in found.circumstances if row.name == "status").cells == ("SUCCEEDED", "FAILED")


def test_compared_runs_max_and_one_more() -> None:
    assert len(compare([subject(run) for run in range(COMPARED_RUNS_MAX)]).runs) == COMPARED_RUNS_MAX
    with pytest.raises(WrongUse, match="from 2 to 200"):
        compare([subject(run) for run in range(COMPARED_RUNS_MAX + 1)])
    with pytest.raises(WrongUse):
        compare([subject(1)])
    with pytest.raises(WrongUse, match="named twice"):
        compare([subject(1), subject(2), subject(1)])
