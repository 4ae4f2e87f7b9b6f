"""The plugin of pytest that writes evidence.json from what ran; under pytest-xdist the controller writes, for all workers.

A kind is written only if all of it ran: every file of its folders, nothing picked by name, and an outcome for each test
that was collected. So a look at three tests never takes the place of the whole. `--evidence PATH` writes elsewhere, and what
ran in part too, marked as such; `--no-evidence` writes nothing.
"""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests import evidence
from tests.evidence import Code

_EXAMPLES = re.compile(r"(\d+) passing, (\d+) failing")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("evidence")
    group.addoption("--evidence", metavar="PATH", help="write what ran to PATH, in part too (default: build/evidence.json)")
    group.addoption("--no-evidence", action="store_true", help="write no evidence of this run")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput") and not config.option.collectonly and not config.option.no_evidence:
        config.pluginmanager.register(Recorder(config), "actum-evidence")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """How many examples a property test tried goes with its report, to the controller too."""
    report = yield
    statistics = getattr(item, "hypothesis_statistics", None)
    if report.when == "teardown" and statistics:
        tried = sum(int(passing) + int(failing) for passing, failing in _EXAMPLES.findall(statistics))
        report.user_properties.append(("examples", tried))
    return report


class Tally:
    """What ran of one kind."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter({"passed": 0, "failed": 0})
        self.skips: Counter[str] = Counter()
        self.files: set[str] = set()
        self.collected: set[str] = set()
        self.reported: set[str] = set()
        self.seconds = 0.0


class Recorder:
    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._root = config.rootpath
        self._code = Code.now()
        self._begun = time.monotonic()
        self._tallies: dict[str, Tally] = defaultdict(Tally)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._collected(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Iterable[str]) -> None:
        self._collected(ids)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped and (tally := self._tally(report.nodeid)):
            tally.files.add(report.nodeid)
            tally.counts["skipped"] += 1
            tally.skips[_why(report)] += 1

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        tally = self._tally(report.nodeid)
        if tally is None:
            return
        tally.seconds += report.duration
        tally.counts["examples"] += sum(int(n) for name, n in report.user_properties if name == "examples")
        if report.when == "call" or report.outcome != "passed":
            tally.reported.add(report.nodeid)
            tally.counts[_word(report)] += 1
        if report.skipped and not hasattr(report, "wasxfail"):
            tally.skips[_why(report)] += 1

    def pytest_sessionfinish(self) -> None:
        wanted = self._config.option.evidence
        for name, tally in self._tallies.items():
            complete = self._is_complete(name, tally)
            if (complete or wanted) and tally.reported:
                evidence.report(
                    evidence.FOLDERS[name].value,
                    {word: number for word, number in tally.counts.items() if number or word in ("passed", "failed")},
                    seconds=tally.seconds,
                    code=self._code,
                    skips=tally.skips,
                    complete=complete,
                    part="suite",
                    path=Path(wanted) if wanted else self._root / "build" / "evidence.json",
                )

    def _collected(self, ids: Iterable[str]) -> None:
        for nodeid in ids:
            if tally := self._tally(nodeid):
                tally.collected.add(nodeid)
                tally.files.add(nodeid.split("::")[0])

    def _tally(self, nodeid: str) -> Tally | None:
        parts = nodeid.split("::")[0].split("/")
        return self._tallies[parts[1]] if parts[0] == "tests" and len(parts) > 2 and parts[1] in evidence.FOLDERS else None

    def _is_complete(self, name: str, tally: Tally) -> bool:
        option = self._config.option
        if option.keyword or option.markexpr or option.deselect or any("::" in word for word in self._config.args):
            return False
        there = {path.relative_to(self._root).as_posix() for path in (self._root / "tests" / name).rglob("test_*.py")}
        return there <= tally.files and tally.collected <= tally.reported


def _word(report: pytest.TestReport) -> str:
    if hasattr(report, "wasxfail"):
        return "failed as expected" if report.skipped else "passed unexpectedly"
    if report.outcome == "failed" and report.when != "call":
        return "errors"
    return report.outcome


def _why(report: pytest.CollectReport | pytest.TestReport) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")
