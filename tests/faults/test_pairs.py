"""R01, R18, §5: a pairwise cover of the fault matrix with real processes; `python -m tests.faults --all` runs the whole."""

from __future__ import annotations

import fcntl
import json
import os
from itertools import combinations
from pathlib import Path

import pytest
from actum.faults import CATALOGUE

from tests.evidence import Code
from tests.faults import matrix, pairs
from tests.faults.account import account
from tests.faults.matrix import Case, Passing, Verdict
from tests.faults.record import Record
from tests.faults.running import baselines, judge_all
from tests.faults.scenarios import SCENARIOS
from tests.faults.summary import PROPERTY

SLICES, JOBS = 4, 2  # so that both workers of the suite have their share; the cases of a slice mostly wait


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, list[Case]]:
    """How many cases there are at all, and the cover: the same one in every worker of the suite, from the same passages."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    with (shared / "matrix.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the second worker waits for what the first one finds
        record = Record(shared / "matrix.jsonl")
        if not record.up_to_date:
            record.add_passages(baselines(tmp_path_factory.mktemp("plain"), SLICES))
    passages = Record(shared / "matrix.jsonl").passages
    assert set(matrix.unpassed(passages)) == set(matrix.STRUCK_ELSEWHERE), "a point that nothing passes is never tried"
    everything = list(matrix.generate(passages))
    return len(everything), pairs.cover(everything, pairs.by_part)


@pytest.mark.parametrize("number", range(SLICES))
def test_all_accounts_agree_after_every_pair_of_place_fault_and_scenario(
    cases: tuple[int, list[Case]], number: int, tmp_path: Path, record_property: object
) -> None:
    """No false success, nothing finished lost, nothing computes twice; record, files, outside trace and processes agree."""
    everything, cover = cases
    verdicts: list[Verdict] = []
    judge_all(cover[number::SLICES], tmp_path, JOBS, Record(None), lambda verdict, seconds: verdicts.append(verdict))
    record_property(PROPERTY, [everything, len(cover), sum(v.reached == "struck" for v in verdicts)])  # type: ignore[operator]
    wrong = [f"{verdict.case}: {'; '.join(verdict.found)} in {verdict.folder}" for verdict in verdicts if verdict.found]
    assert not wrong, "\n".join(wrong)
    missed = [
        f"{verdict.case}: {verdict.reached}" for verdict in verdicts if not (verdict.reached == "struck" or _raced(verdict))
    ]
    assert not missed, "A fault that never struck shows nothing:\n" + "\n".join(missed)


def _raced(verdict: Verdict) -> bool:
    """Host and work may have ended by themselves just before; a last passage may be one earlier than in the flight before."""
    gone = verdict.reached == "nobody" and verdict.case.action in ("kill-host", "kill-work")
    return gone or (verdict.reached == "not reached" and verdict.case.nth > 1)


def example() -> list[Case]:
    passing = Passing(1, {1: frozenset({"app", "host", "work"})})
    return list(matrix.generate({name: dict.fromkeys(CATALOGUE, passing) for name in SCENARIOS}))


@pytest.mark.parametrize("factors", [pairs.by_point, pairs.by_part])
def test_a_cover_holds_every_pair_and_every_point_there_is(factors: pairs.Factors) -> None:
    """2-wise, by definition: whatever two values occur together in the matrix occur together in the cover."""
    everything = example()
    cover = pairs.cover(everything, factors)
    assert len(cover) < len(everything) / 2

    def together(cases: list[Case]) -> set[object]:
        return {pair for case in cases for pair in combinations(sorted(factors(case).items()), 2)}

    assert together(cover) == together(everything)
    assert {case.point for case in cover} == set(CATALOGUE)
    assert {case.action for case in cover} == {case.action for case in everything}
    assert pairs.cover(everything, factors) == cover, "a cover is chosen without chance"


def test_a_cover_by_part_is_far_smaller_than_one_by_point() -> None:
    everything = example()
    by_point = pairs.cover(everything, pairs.by_point)
    assert len(by_point) >= len({(case.point, case.action) for case in everything})
    assert len(pairs.cover(everything, pairs.by_part)) < len(by_point) / 3


def test_a_record_goes_on_where_it_was_broken_off(tmp_path: Path) -> None:
    """A verdict is kept as it falls; a torn last line is no verdict; a case judged again has its last one."""
    path = tmp_path / "verdicts.jsonl"
    passing = Passing(2, {1: frozenset({"app"}), 2: frozenset({"app", "work"})})
    record = Record(path)
    assert not record.up_to_date
    record.add_passages({"succeeds": dict.fromkeys(CATALOGUE, passing)})
    good, bad, torn = (Case("succeeds", "publish.rename.after", 1, action) for action in ("kill-app", "kill-all", "delay=1500"))
    record.add(Verdict(good, "struck", (), tmp_path), 1.0)
    record.add(Verdict(bad, "struck", ("wrong",), tmp_path), 1.0)
    record.add(Verdict(torn, "struck", (), tmp_path), 1.0)
    path.write_text(path.read_text()[:-10])
    again = Record(path)
    assert again.up_to_date
    assert again.passages == record.passages
    assert again.open_cases([good, bad, torn], again=False) == [torn]
    assert again.open_cases([good, bad, torn], again=True) == [bad, torn]
    again.add(Verdict(bad, "struck", (), tmp_path), 1.0)
    assert Record(path).open_cases([good, bad, torn], again=True) == [torn]


def test_verdicts_are_of_the_commit_they_were_given_of(tmp_path: Path) -> None:
    """What an earlier commit withstood is not counted as today's: whole is only what is all of one clean commit."""
    path = tmp_path / "verdicts.jsonl"
    old, new, changed = Code("a" * 40, False), Code("b" * 40, False), Code("b" * 40, True)
    actions = ("kill-app", "kill-all", "delay=1500")
    first, second, third = cases = [Case("succeeds", "publish.rename.after", 1, action) for action in actions]
    reached = ("struck", "nobody", "not reached")

    def judged(*codes: Code) -> Record:
        path.unlink(missing_ok=True)
        record = Record(path)
        for case, word, code in zip(cases, reached, codes, strict=True):
            record.add(Verdict(case, word, (), tmp_path), 1.0, code)
        return Record(path)

    told = account(judged(new, new, new), cases, of=3, now=3)
    assert told.counts == {"cases": 3, "struck": 1, "nobody there": 1, "not reached": 1, "findings": 0}
    assert (told.whole, told.code) == (True, new)
    assert account(judged(new, new, new), cases, of=4, now=3).whole is False
    mixed = account(judged(old, old, new), cases, of=3, now=1)
    assert (mixed.whole, mixed.code) == (False, Code(None, None))
    assert "2 of aaaaaaa, 1 of bbbbbbb" in mixed.note
    assert account(judged(changed, changed, changed), cases, of=3, now=3)[1:] == (
        False,
        "3 of 3 cases; 3 of them ran now, the others were on record; verdicts: 3 of bbbbbbb with changes",
        changed,
    )
    lines = [
        {name: value for name, value in json.loads(line).items() if name not in ("commit", "dirty")}
        for line in path.read_text().splitlines()
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    before_commits_were_kept = account(Record(path), [first, second, third], of=3, now=0)
    assert before_commits_were_kept.whole is False
    assert "3 of an unknown commit" in before_commits_were_kept.note


def test_points_that_are_added_are_flown_again_and_known_ones_keep_their_cases(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    old, new = Passing(3, {1: frozenset(), 3: frozenset()}), Passing(4, {1: frozenset(), 4: frozenset()})
    known = sorted(CATALOGUE)[1:]
    Record(path).add_passages({"succeeds": dict.fromkeys(known, old)})
    text = path.read_text().replace(f'"{sorted(CATALOGUE)[0]}", ', "", 1)
    path.write_text(text)
    record = Record(path)
    assert not record.up_to_date
    record.add_passages({"succeeds": dict.fromkeys(CATALOGUE, new)})
    assert Record(path).up_to_date
    found = Record(path).passages["succeeds"]
    assert (found[known[0]].often, found[sorted(CATALOGUE)[0]].often) == (3, 4)
