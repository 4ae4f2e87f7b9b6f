"""Runs side by side: what differs in their parameters, what their metrics are and by how much, whether they are like for like.

Pure: it takes documents of `show` and of the tasks' contracts and reads nothing. The first run is the one the others are
compared with. A difference is taken exactly, in decimals, between two available values in the same unit by the same rule;
anything else has a word for why there is none (R15). Two runs are *like for like* when they read the same bytes and ran the
same code of the same version in the same environment: only then do their parameters explain their differences.
"""

from __future__ import annotations

import decimal
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any

from actum.errors import WrongUse
from actum.limits import COMPARED_RUNS_MAX

Show = Mapping[str, Any]

_EXACT = decimal.Context(prec=2_000, Emin=-999_999, Emax=999_999, traps=[decimal.InvalidOperation, decimal.Inexact])


@dataclass(frozen=True, slots=True)
class Subject:
    """One run that is compared: its document of `show`, and the names its task gives to parameters and metrics."""

    show: Show
    title: str
    parameter_titles: Mapping[str, str] = field(default_factory=dict)
    metric_titles: Mapping[str, str] = field(default_factory=dict)

    @property
    def run(self) -> int:
        return int(self.show["run"])


@dataclass(frozen=True, slots=True)
class Row:
    """One thing of every run: a cell for each, None where a run does not have it."""

    name: str
    title: str
    cells: tuple[str | None, ...]

    @property
    def differs(self) -> bool:
        return len(set(self.cells)) > 1

    def odd(self) -> tuple[bool, ...]:
        """Which cells differ from what most have; of equal shares, from the first run's."""
        counted = {cell: self.cells.count(cell) for cell in self.cells}
        most = max(counted.values())
        usual = self.cells[0] if counted[self.cells[0]] == most else next(cell for cell in counted if counted[cell] == most)
        return tuple(cell != usual for cell in self.cells)


@dataclass(frozen=True, slots=True)
class MetricCell:
    """A metric of one run. `value` None: `status` and `reason` say why, `observations` (of `needed`) on how many it rests.

    `difference` to the first run, exact, as text; None with `why` = same | no_value | other_unit | other_rule |
    not_a_number | first.
    """

    value: str | None
    status: str
    reason: str | None
    observations: int | None
    difference: str | None
    why: str
    needed: int | None = None
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class MetricRow:
    """`unit` is that of the first run that has the metric; a cell may have another."""

    name: str
    title: str
    unit: str
    cells: tuple[MetricCell, ...]

    @property
    def differs(self) -> bool:
        return len({(cell.value, cell.status, cell.reason, cell.unit) for cell in self.cells}) > 1


@dataclass(frozen=True, slots=True)
class Unlike:
    """What a run has otherwise than the first: input | code | environment | version | task."""

    run: int
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """`unlike` holds the runs that are not like for like with the first."""

    runs: tuple[int, ...]
    parameters: tuple[Row, ...]
    inputs: tuple[Row, ...]
    metrics: tuple[MetricRow, ...]
    circumstances: tuple[Row, ...]
    unlike: tuple[Unlike, ...]

    def to_json(self) -> dict[str, Any]:
        """As `compare --json` prints it and a saved comparison holds it."""
        parts = (("parameters", self.parameters), ("inputs", self.inputs), ("circumstances", self.circumstances))
        rows = {
            part: [{"name": row.name, "title": row.title, "values": list(row.cells), "differs": row.differs} for row in lines]
            for part, lines in parts
        }
        metrics = [
            {"name": row.name, "title": row.title, "unit": row.unit or None, "cells": [asdict(cell) for cell in row.cells]}
            for row in self.metrics
        ]
        unlike = [{"run": other.run, "kinds": list(other.kinds)} for other in self.unlike]
        return {"runs": list(self.runs), **rows, "metrics": metrics, "unlike": unlike}


def subject(show: Mapping[str, Any], contract: Mapping[str, Any]) -> Subject:
    """A run by its document of `show`, with the names its task's contract gives."""
    parameters, metrics = (
        {str(item["name"]): str(item.get("title") or item["name"]) for item in contract.get(part) or ()}
        for part in ("parameters", "metrics")
    )
    return Subject(show, str(contract.get("title") or show["task"]), parameters, metrics)


def compare(subjects: Sequence[Subject]) -> Comparison:
    """Raises WrongUse for fewer than 2 or more than COMPARED_RUNS_MAX runs, and for a run named twice."""
    runs = tuple(subject.run for subject in subjects)
    if not 2 <= len(runs) <= COMPARED_RUNS_MAX:
        why = f"{len(runs)} {'was' if len(runs) == 1 else 'were'} named; from 2 to {COMPARED_RUNS_MAX} can be compared."
        raise WrongUse("bad_comparison", "These runs cannot be compared.", why, "Name other runs.")
    if len(set(runs)) < len(runs):
        twice = next(run for run in runs if runs.count(run) > 1)
        raise WrongUse("bad_comparison", f"Run {twice} is named twice.", "A run is compared with others.", "Name it once.")
    return Comparison(
        runs, _parameters(subjects), _inputs(subjects), _metrics(subjects), _circumstances(subjects), _unlike(subjects)
    )


def cell_text(value: Any) -> str | None:
    """A parameter as it is shown: text as it is, other values as JSON writes them; None = not set."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(cell_text(part) or "" for part in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {cell_text(part)}" for name, part in value.items())
    return str(value)


def _parameters(subjects: Sequence[Subject]) -> tuple[Row, ...]:
    """In the order in which the tasks declare them."""
    given = _union(subject.show["parameters"] for subject in subjects)
    titles = {name: title for s in reversed(subjects) for name, title in s.parameter_titles.items()}
    declared = [name for name in _union(s.parameter_titles for s in subjects) if name in given]
    return tuple(
        Row(name, titles.get(name, name), tuple(cell_text(s.show["parameters"].get(name)) for s in subjects))
        for name in dict.fromkeys([*declared, *given])
    )


def _inputs(subjects: Sequence[Subject]) -> tuple[Row, ...]:
    """The digests of what was read; the program is not among them."""
    named = [{item["name"]: item["sha256"] for item in s.show["inputs"] if item["name"] != "@code"} for s in subjects]
    return tuple(Row(name, name, tuple(digests.get(name) for digests in named)) for name in _union(named))


def _metrics(subjects: Sequence[Subject]) -> tuple[MetricRow, ...]:
    held = [{str(m["name"]): m for m in (s.show.get("result") or {}).get("metrics") or ()} for s in subjects]
    rows = []
    for name in _union(held):
        known = [metrics[name] for metrics in held if name in metrics]
        first = held[0].get(name)
        cells = tuple(_cell(metrics.get(name), first, first_run=place == 0) for place, metrics in enumerate(held))
        titles = [m.get("title") for m in known] + [s.metric_titles.get(name) for s in subjects]
        title = next((str(title) for title in titles if title), name)
        rows.append(MetricRow(name, title, str(known[0].get("unit") or ""), cells))
    return tuple(rows)


def _cell(metric: Show | None, first: Show | None, *, first_run: bool) -> MetricCell:
    if metric is None:
        return MetricCell(None, "absent", None, None, None, "no_value")
    value = None if metric.get("value") is None else str(metric["value"])
    difference, why = (None, "first") if first_run else _difference(metric, first)
    counts = metric.get("observation_count"), metric.get("observations_needed")
    status, unit = str(metric.get("status")), metric.get("unit") or None
    return MetricCell(value, status, metric.get("reason"), counts[0], difference, why, counts[1], unit)


def _difference(metric: Show, first: Show | None) -> tuple[str | None, str]:
    if first is None or metric.get("value") is None or first.get("value") is None:
        return None, "no_value"
    if (metric.get("unit") or "") != (first.get("unit") or ""):
        return None, "other_unit"
    if metric.get("rule") != first.get("rule"):
        return None, "other_rule"
    try:
        mine, other = Decimal(str(metric["value"])), Decimal(str(first["value"]))
        if not (mine.is_finite() and other.is_finite()):
            return None, "not_a_number"
        difference = _EXACT.subtract(mine, other)
    except decimal.DecimalException:  # words, or too far apart to be written out
        return None, "not_a_number"
    return (None, "same") if difference == 0 else (f"{difference:f}", "")


def _circumstances(subjects: Sequence[Subject]) -> tuple[Row, ...]:
    rows = [
        Row("status", "Status", tuple(str(s.show["status"]) for s in subjects)),
        Row("task", "Task", tuple(str(s.show["task"]) for s in subjects)),
        Row("version", "Version", tuple(str(s.show["task_version"]) for s in subjects)),
        Row("duration_s", "Took", tuple(_text(s.show.get("duration_s")) for s in subjects)),
        Row("code", "Code", tuple(_code(s.show) for s in subjects)),
        Row("environment", "Environment", tuple(_environment(s.show) for s in subjects)),
        Row("rows", "Rows", tuple(_text((s.show.get("result") or {}).get("rows")) for s in subjects)),
    ]
    return tuple(row for row in rows if any(cell is not None for cell in row.cells))


def _unlike(subjects: Sequence[Subject]) -> tuple[Unlike, ...]:
    first, found = subjects[0].show, []
    for subject in subjects[1:]:
        show = subject.show
        kinds = [
            kind
            for kind, of in (
                ("task", lambda s: s["task"]),
                ("version", lambda s: s["task_version"]),
                ("input", _digests),
                ("code", _code),
                ("environment", _environment),
            )
            if of(show) != of(first)
        ]
        if "task" in kinds:  # says it all
            kinds = ["task"]
        if kinds:
            found.append(Unlike(subject.run, tuple(kinds)))
    return tuple(found)


def _digests(show: Show) -> dict[str, str]:
    return {item["name"]: item["sha256"] for item in show["inputs"] if item["name"] != "@code"}


def _code(show: Show) -> str | None:
    code = show.get("code") or {}
    digest = code.get("sha256") or next((item["sha256"] for item in show["inputs"] if item["name"] == "@code"), None)
    return None if digest is None else str(digest)


def _environment(show: Show) -> str | None:
    """Interpreter's version and the digest of what is installed in it."""
    found = show.get("environment") or {}
    parts = [str(found[name]) for name in ("version", "distributions_sha256") if found.get(name)]
    return " ".join(parts) or None


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _union(named: Any) -> list[str]:
    """The names of all, in the order in which they first appear."""
    return list(dict.fromkeys(str(name) for names in named for name in names))
