"""Boxes are quartiles of all values, for each of the most frequent groups; what is left out is counted (R15)."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from actum.errors import WrongUse
from actum.limits import PLOT_GROUPS_MAX
from actum.results import plotdata


def written(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def test_quartiles_and_ends_are_those_of_numpy(tmp_path: Path) -> None:
    drawn = random.Random(5)
    values: list[float | None] = [drawn.gauss(3, 2) for _ in range(1_001)]
    values[7], values[8] = None, float("nan")
    found = plotdata.plot(written(tmp_path / "t.parquet", y=values), "box", None, "y")
    known = [value for value in values if value is not None and value == value]
    (box,) = found["boxes"]
    assert (found["rows"], found["without"], found["groups"], box["rows"]) == (999, 2, 1, 999)
    assert (box["low"], box["high"]) == (min(known), max(known))
    assert [box["lower"], box["median"], box["upper"]] == pytest.approx(np.quantile(known, [0.25, 0.5, 0.75]), rel=1e-12)


def test_plot_groups_max_and_one_more(tmp_path: Path) -> None:
    """The most frequent ones, and how many there are; a value without a group is left out and counted."""
    for count in (PLOT_GROUPS_MAX, PLOT_GROUPS_MAX + 1):
        names: list[str | None] = [f"g{place:03}" for place in range(count) for _ in range(count - place)]
        names.append(None)
        path = written(tmp_path / f"{count}.parquet", g=names, y=list(range(len(names))))
        found = plotdata.plot(path, "box", "g", "y")
        assert [box["group"] for box in found["boxes"]] == [f"g{place:03}" for place in range(min(count, PLOT_GROUPS_MAX))]
        assert (found["groups"], found["without"], found["points"]) == (count, 1, PLOT_GROUPS_MAX)


def test_boxes_stand_along_texts_and_measure_numbers(tmp_path: Path) -> None:
    path = written(tmp_path / "t.parquet", g=["a"], y=[1])
    for x, y in (("y", "y"), ("g", "g")):
        with pytest.raises(WrongUse, match="no values that can be drawn"):
            plotdata.plot(path, "box", x, y)
    assert plotdata.plot(written(tmp_path / "none.parquet", y=pa.array([], pa.int64())), "box", None, "y")["boxes"] == []
