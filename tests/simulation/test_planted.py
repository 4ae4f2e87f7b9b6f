"""What is promised can be broken: each planted defect is caught by a check of a rule, or by the test that guards against it."""

from __future__ import annotations

import ast
import re

import pytest

from tests.simulation.defects import AMENDMENTS, LIVED, MORE, PORTS, Defect
from tests.simulation.guarded import BESIDE, ELSEWHERE, GUARDED, IN_THE_SUITE
from tests.simulation.guards import ROOT, Copy
from tests.simulation.planted import catch_apart, left_to_guard, told


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return Copy.made(tmp_path_factory.mktemp("copy"))


@pytest.mark.parametrize("defect", LIVED, ids=lambda defect: defect.name)
def test_a_planted_defect_is_caught_by_a_check_and_only_by_a_check(defect: Defect) -> None:
    caught = catch_apart(defect.name, first=defect.first)
    assert caught.check is not None, told(caught, defect)
    assert caught.accident is None, told(caught, defect)


@pytest.mark.parametrize("defect", IN_THE_SUITE, ids=lambda defect: defect.name)
def test_a_defect_beside_the_simulated_world_is_caught_by_its_guard(defect: Defect, copy: Copy) -> None:
    """One for each amendment and a few more; `python -m tests.simulation.planted` plants them all, and nothing at first."""
    caught = left_to_guard(defect, copy, unchanged=False)  # that it passes unchanged, the suite itself says
    assert caught.check is not None, told(caught, defect)


def test_in_an_unchanged_copy_a_guard_passes(copy: Copy) -> None:
    verdict = copy.run(IN_THE_SUITE[0].guard)
    assert verdict.passed, verdict.words


def test_a_copy_that_cannot_be_imported_proves_nothing(copy: Copy) -> None:
    """A guard has to fail by its own assertion."""
    line, guard = "from __future__ import annotations\n", "tests/process/test_host_family.py"
    with copy.planted(Defect("no code", "R00", "host/family", line, "from __future__ import nothing\n", guard=guard)):
        verdict = copy.run(guard)
    assert not verdict.passed
    assert not verdict.failed, verdict.words


@pytest.mark.parametrize("defect", [*LIVED, *GUARDED], ids=lambda defect: defect.name)
def test_every_defect_can_be_planted_and_its_guard_is_there(defect: Defect) -> None:
    source = (ROOT / defect.source).read_text(encoding="utf-8")
    ast.parse(defect.changed(source))
    path, _, test = defect.guard.partition("::")
    assert not path or f"def {test}(" in (ROOT / path).read_text(encoding="utf-8")


def test_every_amendment_of_the_protocol_is_planted_or_said_to_be_elsewhere() -> None:
    numbers = {f"P{number:02}" for number in range(1, 26)} - {"P02", "P06"}  # absorbed by others
    planted = {defect.rule for defect in (*AMENDMENTS, *PORTS, *BESIDE)}
    assert planted | ELSEWHERE.keys() == numbers
    assert not planted & ELSEWHERE.keys()
    assert {defect.rule for defect in BESIDE} <= {defect.rule for defect in IN_THE_SUITE}
    assert len(MORE) >= 10


def test_what_is_not_built_is_not_there() -> None:
    """Deletion: as soon as some code deletes, its amendment has to be planted."""
    words = re.compile(r"Deletion\.(SOFT|PURG)")
    found = [path for part in ("core", "desktop") for path in (ROOT / part).rglob("*.py") if words.search(path.read_text())]
    assert ELSEWHERE.keys() == {"P15"}
    assert not found, found
