"""R05: the same work asked for in other words is the same request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from actum import canonical
from actum.contracts.parameters import parse
from actum.contracts.request import canonical_request
from actum.model.run import InputRow

from tests.helpers.contracts import contract

TASK = contract(
    {"name": "prices", "type": "file"},
    {"name": "window", "type": "integer", "default": 12},
    {"name": "rate", "type": "decimal", "default": "0.50"},
    {"name": "start", "type": "date", "optional": True},
)


def request(raw: dict[str, Any], base: str = "/work", sha256: str = "aa", policy: str = "copy") -> str:
    typed = parse(TASK, raw, Path(base))
    inputs = [InputRow(name, path, policy, sha256, 1) for name, path, _ in typed.files()]
    return canonical.digest(canonical_request("t", "1", typed, inputs))


def test_r05_given_or_defaulted_relative_or_absolute_text_or_json_is_the_same_request() -> None:
    plain = request({"prices": "./stocks.csv"})
    assert request({"prices": "/data/stocks.csv", "window": 12}) == plain
    assert request({"prices": "../x/copy.csv", "window": "012"}, base="/elsewhere") == plain
    assert request({"prices": "stocks.csv", "rate": "0.5", "start": None}) == plain
    dated = request({"prices": "stocks.csv", "start": "Jan 1 2000"})
    assert dated == request({"prices": "stocks.csv", "start": "2000-01-01"})


@pytest.mark.parametrize(
    "other",
    [
        {"raw": {"prices": "p", "window": 13}},
        {"raw": {"prices": "p", "start": "2000-01-01"}},
        {"raw": {"prices": "p"}, "sha256": "bb"},
        {"raw": {"prices": "p"}, "policy": "pin"},
    ],
)
def test_r05_other_values_content_or_policy_is_another_request(other: dict[str, Any]) -> None:
    assert request(**other) != request({"prices": "p"})


def test_the_request_holds_digests_and_no_paths() -> None:
    typed = parse(TASK, {"prices": "/secret/place.csv"}, Path("/"))
    document = canonical_request("t", "1", typed, [InputRow("prices", "/secret/place.csv", "copy", "aa", 1)])
    assert "place" not in canonical.dumps(document)
    assert document["parameters"]["window"] == {"type": "integer", "value": "12"}
    assert document["inputs"] == {"prices": {"policy": "copy", "sha256": "aa"}}


def test_an_input_without_a_digest_is_no_request() -> None:
    with pytest.raises(ValueError, match="prices"):
        canonical_request("t", "1", parse(TASK, {"prices": "p"}, Path("/")), [])
