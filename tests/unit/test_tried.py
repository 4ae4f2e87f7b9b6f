"""Evidence of the program itself: written by what ran, by kind, and read whatever the file holds (R11)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from actum import limits, tried
from actum.tried import Kind, NotThere, Tried

from tests import evidence
from tests.house.sources import ROOT

TESTS = {
    "tests/unit/test_a.py": """
import pytest
def test_holds(): pass
def test_does_not(): assert False
def test_cannot(): pytest.skip("there is no such device here")
""",
    "tests/unit/test_b.py": "def test_holds(): pass\n",
    "tests/property/test_c.py": """
from hypothesis import given, settings, strategies
@settings(max_examples=7, database=None)
@given(strategies.integers(0, 1000))
def test_any(number): assert number >= 0
""",
}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    for name, text in TESTS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider -p tests.evidence.plugin\n")
    return tmp_path


def run(suite: Path, *words: str) -> tried.Tried | NotThere:
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); import pytest; sys.exit(pytest.main())"]
    subprocess.run([*command, *words], cwd=suite, capture_output=True, check=False, timeout=120)
    return tried.read(suite / "build" / "evidence.json")


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one process", "two workers"])
def test_what_ran_is_counted_by_kind_with_skips_and_why(suite: Path, workers: tuple[str, ...]) -> None:
    found = run(suite, "tests", *workers)
    assert isinstance(found, Tried)
    (unit,), (properties,) = found.entries[Kind.UNIT], found.entries[Kind.PROPERTY]
    assert unit.part == "suite"
    assert dict(unit.counts) == {"passed": 2, "failed": 1, "skipped": 1}
    assert dict(unit.skips) == {"there is no such device here": 1}
    assert (unit.failed, unit.complete) == (1, True)
    assert dict(properties.counts)["passed"] == 1
    assert dict(properties.counts)["examples"] >= 7
    assert {Kind.FUZZ, Kind.SOAK, Kind.STRESS} <= set(found.missing), "a kind that did not run is not there"


@pytest.mark.parametrize("words", [("tests/unit/test_b.py",), ("tests", "-k", "holds"), ("tests/unit/test_a.py::test_holds",)])
def test_a_part_never_takes_the_place_of_the_whole(suite: Path, words: tuple[str, ...]) -> None:
    assert run(suite, *words, "--deselect", "tests/property") == NotThere("absent")
    asked = suite / "asked.json"
    run(suite, *words, "--evidence", str(asked))
    found = tried.read(asked)
    assert isinstance(found, Tried)
    assert [entry.complete for entry in found.entries[Kind.UNIT]] == [False]


def test_each_kind_keeps_its_own_time_and_commit(tmp_path: Path) -> None:
    path = tmp_path / "evidence.json"
    evidence.report("fuzz", {"executions": 1_000, "findings": 0}, seconds=60, path=path, note="frames")
    evidence.report("fuzz", {"passed": 40}, seconds=20, path=path, part="suite")
    evidence.report("soak", {"hours": 4}, seconds=14_400, path=path, code=evidence.Code("0" * 40, False))
    found = tried.read(path)
    assert isinstance(found, Tried)
    assert list(found.entries) == [Kind.SOAK, Kind.FUZZ]
    assert {entry.part: entry.note for entry in found.entries[Kind.FUZZ]} == {"suite": "", "long": "frames"}
    assert found.entries[Kind.SOAK][0].dirty is True, "code that changed while it was tried is no commit"
    assert dict(found.environment)["python"]


def test_what_was_tried_of_an_earlier_commit_is_of_that_one(tmp_path: Path) -> None:
    path, held = tmp_path / "evidence.json", evidence.Code("0" * 40, False)
    evidence.report("faults", {"cases": 4}, seconds=1, path=path, held=held)
    found = tried.read(path)
    assert isinstance(found, Tried)
    assert [(each.commit, each.dirty) for each in found.entries[Kind.FAULTS]] == [(held.commit, held.dirty)]


def test_a_short_look_takes_the_place_of_nothing(tmp_path: Path) -> None:
    path = tmp_path / "evidence.json"
    evidence.report("soak", {"rounds": 90}, seconds=14_400, path=path)
    evidence.report("soak", {"rounds": 1}, seconds=60, path=path, worth=False)
    found = tried.read(path)
    assert isinstance(found, Tried)
    assert [entry.counts for entry in found.entries[Kind.SOAK]] == [(("rounds", 90),)]


@pytest.mark.parametrize("kind", ["fuzz", "simulation", "faults"])
def test_the_best_whole_one_and_the_newest_other_one_are_both_kept(tmp_path: Path, kind: str) -> None:
    """Less than before, or a part, stands beside the whole with its own time; as much again takes its place."""
    path = tmp_path / "evidence.json"

    def kept(number: int, **how: object) -> dict[str, tuple[int, bool]]:
        counts = {"executions": number, "findings": 0}
        evidence.report(kind, counts, seconds=60, path=path, **how)  # type: ignore[arg-type]
        found = tried.read(path)
        assert isinstance(found, Tried)
        return {each.part: (each.counts[0][1], each.complete) for each in found.entries[Kind(kind)]}

    assert kept(10_000_000, extent=10_000_000) == {"long": (10_000_000, True)}
    assert kept(900, complete=False) == {"long": (10_000_000, True), "long newest": (900, False)}
    assert kept(20_000_000, complete=False, extent=20_000_000)["long"] == (10_000_000, True), "a part is a part"
    assert kept(1_000, extent=1_000) == {"long": (10_000_000, True), "long newest": (1_000, True)}
    assert kept(10_000_000, extent=10_000_000, part="suite")["suite"] == (10_000_000, True)
    assert kept(11_000_000, extent=11_000_000)["long"] == (11_000_000, True)
    assert kept(7_000)["long"] == (7_000, True), "where there is a natural whole, the newest is as good as the first"


def test_a_part_that_ran_before_any_whole_one_stands_alone(tmp_path: Path) -> None:
    path = tmp_path / "evidence.json"
    evidence.report("faults", {"cases": 90}, seconds=60, path=path, complete=False)
    evidence.report("faults", {"cases": 700}, seconds=900, path=path)
    found = tried.read(path)
    assert isinstance(found, Tried)
    assert {each.part: each.counts for each in found.entries[Kind.FAULTS]} == {
        "long newest": (("cases", 90),),
        "long": (("cases", 700),),
    }


def test_what_was_written_before_extents_were_told_is_compared_by_what_it_counts_first(tmp_path: Path) -> None:
    path = tmp_path / "evidence.json"
    evidence.report("fuzz", {"executions": 2_000, "findings": 0}, seconds=60, path=path)
    evidence.report("fuzz", {"executions": 900, "findings": 0}, seconds=60, path=path, extent=900)
    found = tried.read(path)
    assert isinstance(found, Tried)
    assert {each.part: each.counts[0][1] for each in found.entries[Kind.FUZZ]} == {"long": 2_000, "long newest": 900}


def test_r11_reasons_and_bytes_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "evidence.json"
    for number, last in ((limits.EVIDENCE_NAMES_MAX - 1, 1), (limits.EVIDENCE_NAMES_MAX + 1, 2)):
        evidence.report("unit", {"passed": 1}, seconds=1, skips={f"why {n}": 1 for n in range(number)}, path=path)
        found = tried.read(path)
        assert isinstance(found, Tried)
        skips = found.entries[Kind.UNIT][0].skips
        assert len(skips) <= limits.EVIDENCE_NAMES_MAX
        assert sum(n for _, n in skips) == number
        assert skips[-1][1] == last
    text = json.dumps({"schema": tried.SCHEMA, "kinds": {}, "environment": {}})
    path.write_text(text + " " * (limits.EVIDENCE_BYTES_MAX - len(text)))
    assert isinstance(tried.read(path), Tried)
    path.write_text(text + " " * (limits.EVIDENCE_BYTES_MAX - len(text) + 1))
    assert isinstance(tried.read(path), NotThere)


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\xff", b"[]", b"{}", b"[" * 100_000, b'{"schema": "actum.evidence/2", "kinds": {}, "environment": {}}',
        b'{"schema": "actum.evidence/1", "kinds": {"hearsay": {}}, "environment": {}}',
        b'{"schema": "actum.evidence/1", "kinds": {"unit": {"long": {"at": "yesterday", "counts": {}}}}, "environment": {}}',
        b'{"schema": "actum.evidence/1", "kinds": {"unit": [1]}, "environment": {}}',
        b'{"schema": "actum.evidence/1", "kinds": 3, "environment": {}}',
    ],
)  # fmt: skip
def test_whatever_the_file_holds_reading_answers(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "evidence.json").write_bytes(content)
    found = tried.read(tmp_path / "evidence.json")
    assert isinstance(found, NotThere)
    assert found.why == "unreadable"
    assert tried.by_hand(tmp_path / "evidence.json") == []


def test_the_commit_is_read_as_git_tells_it() -> None:
    root = tried.checkout()
    if root is None:
        pytest.skip("the tests are not run from a repository")
    done = subprocess.run(["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    assert tried.commit_of(root) == done.stdout.strip()


def test_evidence_goes_along_with_a_package(tmp_path: Path) -> None:
    source, target = tmp_path / "evidence.json", tmp_path / "resources.json"
    assert evidence.package(source, target) is False
    evidence.report("unit", {"passed": 3}, seconds=1, path=source)
    assert evidence.package(source, target) is True
    assert tried.read(target) == tried.read(source)
