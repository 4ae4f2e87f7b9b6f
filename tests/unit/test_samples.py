"""The samples that come with the program are there, and their source is named."""

from __future__ import annotations

import pytest
from actum_resources import samples


def test_the_stock_prices_are_there_with_their_source() -> None:
    path = samples.path("stocks.csv")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert (lines[0], len(lines)) == ("symbol,date,price", 561)
    sources = path.with_name("SOURCES.md").read_text(encoding="utf-8")
    assert "stocks.csv" in sources
    assert "vega_datasets" in sources


def test_an_unknown_sample_is_said() -> None:
    with pytest.raises(FileNotFoundError, match="nothing"):
        samples.path("nothing.csv")
