"""What is known of the matrix so far, in a file: the passages it was generated from, and each verdict as it falls.

A line each, appended at once: a matrix of hours can be run in pieces, and a stopped one goes on where it was. Of a case that
was judged twice the last verdict counts. Each verdict keeps the commit it was given of, and whether files differed from it:
what an earlier commit withstood says nothing of today's. The passages are kept with the verdicts, since a second set of first
flights might pass a point one time more or less, and its cases would be others.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from actum.faults import CATALOGUE

from tests.evidence import Code
from tests.faults.matrix import Case, Passages, Passing, Verdict

UNKNOWN = Code(None, None)  # of a verdict that was recorded before commits were


class Record:
    """The file, or memory alone where there is none. Attributes: passages (empty = none yet), verdicts and codes by case."""

    def __init__(self, path: Path | None) -> None:
        self.passages: Passages = {}
        self.verdicts: dict[Case, Verdict] = {}
        self.codes: dict[Case, Code] = {}
        self._path = path
        self._catalogue: set[str] = set()
        if path is not None and path.exists():
            text = path.read_bytes()
            whole = text[: text.rfind(b"\n") + 1]
            if whole != text:  # the last line of a matrix that was killed
                os.truncate(path, len(whole))
            for line in whole.splitlines():
                self._read(json.loads(line))

    @property
    def up_to_date(self) -> bool:
        """Whether the passages cover the catalogue as it is now."""
        return bool(self.passages) and self._catalogue == set(CATALOGUE)

    def add_passages(self, found: Passages) -> None:
        """Points that were known keep their passages, so that their cases stay the same cases."""
        for scenario, points in found.items():
            known = {point: passing for point, passing in self.passages.get(scenario, {}).items() if point in CATALOGUE}
            self.passages[scenario] = {**points, **known}
        self._catalogue = set(CATALOGUE)
        passages = {scenario: {point: _passing(each) for point, each in points.items()} for scenario, points in found.items()}
        self._append({"catalogue": sorted(CATALOGUE), "passages": passages})

    def add(self, verdict: Verdict, seconds: float, code: Code = UNKNOWN) -> None:
        self.verdicts[verdict.case] = verdict
        self.codes[verdict.case] = code
        case = verdict.case
        self._append(
            {
                "case": [case.scenario, case.point, case.nth, case.action],
                "reached": verdict.reached,
                "found": list(verdict.found),
                "folder": str(verdict.folder),
                "seconds": round(seconds, 1),
                "commit": code.commit,
                "dirty": code.dirty,
            }
        )

    def open_cases(self, cases: list[Case], *, again: bool) -> list[Case]:
        """The cases without a verdict, and with `again` also those with a violation."""
        done = self.verdicts
        return [case for case in cases if case not in done or (again and done[case].found)]

    def commits(self, cases: Iterable[Case]) -> list[tuple[Code, int]]:
        """How many verdicts of `cases` are of which code, the most first."""
        return Counter(self.codes[case] for case in cases).most_common()

    def _read(self, line: dict[str, Any]) -> None:
        if "passages" in line:
            self._catalogue = set(line["catalogue"])
            for scenario, points in line["passages"].items():
                read = {point: _read_passing(*each) for point, each in points.items()}
                self.passages[scenario] = {**read, **self.passages.get(scenario, {})}
            return
        scenario, point, nth, action = line["case"]
        case = Case(scenario, point, nth, action)
        self.verdicts[case] = Verdict(case, line["reached"], tuple(line["found"]), Path(line["folder"]))
        self.codes[case] = Code(line.get("commit"), line.get("dirty"))

    def _append(self, line: dict[str, Any]) -> None:
        if self._path is None:
            return
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.write(file, json.dumps(line).encode() + b"\n")
        os.close(file)


def _passing(passing: Passing) -> list[Any]:
    return [passing.often, {str(nth): sorted(roles) for nth, roles in passing.alive.items()}]


def _read_passing(often: int, alive: dict[str, list[str]]) -> Passing:
    return Passing(often, {int(nth): frozenset(roles) for nth, roles in alive.items()})
