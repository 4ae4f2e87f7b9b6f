"""The simulation can fail: each planted defect is caught by a check of a rule, and with the checks off none is found."""

from __future__ import annotations

import re

import pytest

from tests.simulation.defects import AMENDMENTS, DEFECTS, ELSEWHERE, MORE, PORTS, Defect
from tests.simulation.planted import catch_apart, told


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_a_planted_defect_is_caught_by_a_check_and_only_by_a_check(defect: Defect) -> None:
    caught = catch_apart(defect.name, first=defect.first)
    assert caught.check is not None, told(caught, defect)
    assert caught.accident is None, told(caught, defect)


def test_every_amendment_of_the_protocol_is_planted_or_said_to_be_elsewhere() -> None:
    numbers = {f"P{number:02}" for number in range(1, 26)} - {"P02", "P06"}  # absorbed by others
    planted = {defect.rule for defect in (*AMENDMENTS, *PORTS)}
    assert planted | ELSEWHERE.keys() == numbers
    assert not planted & ELSEWHERE.keys()
    assert len(MORE) >= 10


def test_what_is_said_to_be_elsewhere_is_there() -> None:
    from pathlib import Path

    for where in ELSEWHERE.values():
        for path in re.findall(r"tests/\S+\.py", where):
            assert Path(path).exists(), path
