"""A pairwise cover: few cases in which every pair of two factors that occurs at all occurs once (2-wise).

Two strengths. By *point*: every pair of (point, action), (point, scenario) and (action, scenario). It cannot have fewer cases
than there are pairs of a point and an action, some 650, which is most of an hour. By *part*, for every run of the suite: a
point counts as its part of the program (`publish`), all error codes as one action; and besides the pairs, every single point
is struck at least once.

Chosen greedily, in the order of the catalogue, without chance: the same cases come out as long as the passages are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations

from tests.faults.matrix import KILLS, Case

Pair = tuple[tuple[str, str], ...]
Factors = Callable[[Case], dict[str, str]]


def by_point(case: Case) -> dict[str, str]:
    return {"point": case.point, "action": case.action, "scenario": case.scenario}


def by_part(case: Case) -> dict[str, str]:
    """The part of the program a point stands in is its first word."""
    return {"part": case.point.partition(".")[0], "action": case.action.partition("=")[0], "scenario": case.scenario}


def pairs(case: Case, factors: Factors) -> Iterator[Pair]:
    """What a case covers: its pairs; its point, alone; its action with its code, alone."""
    yield from combinations(sorted(factors(case).items()), 2)
    yield (("point", case.point),)
    yield (("action", case.action),)


def cover(cases: Iterable[Case], factors: Factors) -> list[Case]:
    """Cases that together cover every pair that any of `cases` covers."""
    candidates = {case: frozenset(pairs(case, factors)) for case in cases}
    left = set().union(*candidates.values()) if candidates else set()
    chosen = []
    while left:
        best = max(candidates, key=lambda case: (len(candidates[case] & left), -_cost(case)))  # of equals the first
        chosen.append(best)
        left -= candidates.pop(best)
        candidates = {case: covered for case, covered in candidates.items() if covered & left}
    return chosen


# From quick to slow: a run that fails has nothing derived, verified or published; an altered package is verified twice.
QUICK_FIRST = ("fails", "stopped", "succeeds", "robbed", "begins", "exports", "rejected")


def _cost(case: Case) -> int:
    """Of two cases that cover as much, the quicker; a kill needs no second wait."""
    return 2 * QUICK_FIRST.index(case.scenario) + (case.action not in KILLS)
