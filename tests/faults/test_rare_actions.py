"""§5, §6 row 14, R18: the points no run passes are struck by errors and delays too, and a run that is held is said to be held.

A choice of what `python -m tests.faults --rare` strikes, which is every such point with every action that reaches somebody.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults import matrix, rare
from tests.faults.matrix import Case

CHOSEN = (
    Case("rare", "store.copy.before", 1, "error=SQLITE_FULL"),
    Case("rare", "pack.rename.before", 1, "error=ENOSPC"),
    Case("held", "spool.foreign.rename.before", 1, "kill-all"),
)


@pytest.mark.parametrize("case", CHOSEN, ids=str)
def test_what_is_rare_is_struck_and_comes_to_its_end(case: Case, tmp_path: Path) -> None:
    """R09: of a run that is held the hold is said, its slot stays taken, and a person's word ends it."""
    verdict = rare.judge(case, tmp_path)
    assert verdict.found == ()
    assert verdict.reached == "struck"


def test_every_rare_point_has_every_action_that_reaches_somebody() -> None:
    found = rare.cases()
    assert len(set(found)) == len(found)
    assert set(CHOSEN) <= set(found)
    struck = {case.point for case in found if case.scenario == "rare"}
    assert struck == set(matrix.STRUCK_ELSEWHERE)
    assert {(case.point, case.action) for case in found if case.scenario == "held"} == matrix.HELD_FOR_EVER
    for point in struck:
        actions = {case.action for case in found if case.point == point}
        assert {"kill-app", "kill-all", matrix.DELAY} <= actions
        assert ({"kill-host", "kill-work"} <= actions) is point.startswith(rare.HANDOVER)
        assert (set(matrix.ERRORS) <= actions) is not point.startswith(matrix.WITHOUT_OPERATION)
