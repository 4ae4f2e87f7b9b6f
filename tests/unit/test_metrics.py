"""Metrics: a value, or the status and reason why there is none (R15)."""

from __future__ import annotations

from typing import Any

import pytest
from actum import limits
from actum.contracts.metrics import Metric, MetricRefused, MetricStatus, from_message
from actum.errors import ActumError

DECLARED = {"name": "sharpe", "title": "Sharpe ratio", "unit": "1", "rule": "ratio.v1"}


def test_a_stated_value_is_settled_by_the_declared_rule_and_keeps_its_raw_text() -> None:
    document = from_message({"metric": "sharpe", "value": "1.2345678", "observations": 250}, DECLARED).to_json()
    assert document["value"] == "1.234568"
    assert document["raw"] == "1.2345678"
    assert (document["title"], document["unit"], document["rule"]) == ("Sharpe ratio", "1", "ratio.v1")
    assert (document["status"], document["observation_count"], document["reason"]) == ("available", 250, None)


def test_a_value_without_a_rule_is_kept_whole_and_a_float_says_so() -> None:
    assert from_message({"metric": "x", "value": "1.50"}).to_json()["value"] == "1.50"
    assert from_message({"metric": "x", "value": 0.1}).to_json()["conversion"] == "float64"
    told = {"metric": "x", "value": "0.1", "conversion": "float64", "rule": "ratio.v1"}
    assert from_message(told).to_json()["conversion"] == "float64"


def test_r15_a_missing_metric_has_a_status_and_a_reason_and_no_value() -> None:
    message = {"unavailable": "sharpe", "reason": "insufficient_observations", "observations": 0}
    document = from_message(message, DECLARED).to_json()
    assert document["status"] == "unavailable"
    assert document["value"] is None
    assert (document["reason"], document["observation_count"]) == ("insufficient_observations", 0)
    assert from_message({**message, "status": "not_applicable"}).status is MetricStatus.NOT_APPLICABLE


@pytest.mark.parametrize(
    "message",
    [
        {"metric": "x", "value": "NaN"},
        {"metric": "x", "value": None},
        {"metric": "x", "value": True},
        {"metric": "x"},
        {"metric": 3, "value": "1"},
        {"metric": "x", "value": "1", "observations": "many"},
        {"metric": "x", "value": "1", "observations": -1},
        {"metric": "x", "value": "1", "rule": "ratio.v9"},
        {"metric": "x", "value": "1", "unit": 3},
        {"unavailable": "x"},
        {"unavailable": "x", "reason": "Not A Word"},
        {"unavailable": "x", "reason": 3},
        {"unavailable": "x", "reason": "few", "status": "available"},
        {"unavailable": "x", "reason": "few", "status": "gone"},
        {"metric": "", "value": "1"},
    ],
)
def test_a_metric_that_contradicts_itself_is_refused(message: dict[str, Any]) -> None:
    with pytest.raises(ActumError):
        from_message(message)


def test_work_and_contract_must_not_disagree() -> None:
    with pytest.raises(MetricRefused, match="declares"):
        from_message({"metric": "sharpe", "value": "1", "rule": "money.v1"}, DECLARED)
    with pytest.raises(MetricRefused, match="unit"):
        from_message({"metric": "sharpe", "value": "1", "unit": "EUR"}, DECLARED)


def test_the_longest_name_and_one_just_above() -> None:
    Metric("x" * limits.NAME_CHARS_MAX, MetricStatus.AVAILABLE, "1")
    with pytest.raises(MetricRefused):
        Metric("x" * (limits.NAME_CHARS_MAX + 1), MetricStatus.AVAILABLE, "1")
