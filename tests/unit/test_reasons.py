"""A missing value in words, wherever it is shown: of how many observations, or that nobody gave a reason (R15, §9)."""

from __future__ import annotations

import pytest
from actum.results.browse import NO_REASON, Page
from actum.sdk.cells import reason
from actum_desktop.commands.results import metric_row, shown_cell
from actum_desktop.models import celltext
from actum_desktop.views.metriccards import words

COUNTED = reason("insufficient_observations", 3, 30)


@pytest.mark.parametrize(
    ("recorded", "cell"),
    [
        (COUNTED, "unavailable: 3 of 30 observations"),
        (reason("insufficient_observations", 1), "unavailable: 1 observation"),
        (reason("no_prices", 0, 1), "unavailable: no prices: 0 of 1 observation"),
        ("market_closed", "unavailable: market closed"),
        ("not_applicable", "not applicable"),
        ("closed until 3/30", "unavailable: closed until 3/30"),
        (None, "no reason given"),
        (NO_REASON, "no reason given"),
    ],
)
def test_a_cell_of_a_table_says_why_it_is_empty(recorded: str | None, cell: str) -> None:
    assert celltext.missing(recorded) == cell


def test_the_command_line_says_it_too() -> None:
    page = Page(({"name": "v"}, {"name": "w"}), 0, 1, ((None, None),), {(0, 0): COUNTED})
    assert shown_cell(page, 0, 0) == "insufficient observations: 3 of 30 observations"
    assert shown_cell(page, 0, 1) == "no reason given"
    metric = {
        "name": "sortino",
        "status": "unavailable",
        "reason": "insufficient_observations",
        "observation_count": 3,
        "observations_needed": 30,
    }
    assert metric_row(metric) == ("sortino", "unavailable", "", "insufficient observations, 3 of 30 observations")
    told = words({**metric, "value": None})
    assert (told.status, told.caption) == ("Unavailable", "3 of 30 observations")
    assert words({**metric, "value": None, "observations_needed": None}).caption == "Only 3 observations"
