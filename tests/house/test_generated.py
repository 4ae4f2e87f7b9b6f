"""What is drawn from the code is what the code says now, and every rule has a test."""

from __future__ import annotations

import pytest

from tests.house.generated import BLOCKS, COMPILED, compiled, current, drawn
from tests.house.rules import checked_in_simulation, named, named_in_tests


@pytest.mark.parametrize(("file", "name"), list(BLOCKS))
def test_the_drawn_block_is_current(file: str, name: str) -> None:
    remedy = f"The block “{name}” of {file} no longer shows the code. Draw it anew: python -m tests.house.generated"
    assert current(file, name) == drawn(file, name), remedy


def test_the_compiled_statements_are_current() -> None:
    remedy = "core/actum/store/clauses says something else by now. Compile anew: python -m tests.house.generated"
    assert COMPILED.read_text(encoding="utf-8") == compiled(), remedy


def test_every_rule_is_named_by_a_test() -> None:
    bare = [rule for rule, files in named_in_tests().items() if not files]
    assert not bare, f"No test names these rules of DESIGN §2. Name the rule in the test that guards it: {bare}"


def test_a_range_of_the_simulation_counts_for_what_its_checks_look_for() -> None:
    """A range that is merely written down guards nothing."""
    assert named("(R03, R07–R09, P01)") == {3, 7, 8, 9}
    assert named("(R03, R07–R09)", {8}) == {3, 8}
    assert named("(R03, R07–R09)", set()) == {3}
    checked = checked_in_simulation()
    assert {1, 7, 18} <= checked
    assert not checked & {13, 14, 15, 19, 20}, "the simulated world has no tables, no metrics and no network"
