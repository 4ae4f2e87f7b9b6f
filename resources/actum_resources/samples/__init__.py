"""Sample data that comes with the program; SOURCES.md names where each file is from."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def path(name: str) -> Path:
    """The sample called `name`, for example stocks.csv. Raises FileNotFoundError."""
    found = Path(str(files(__name__).joinpath(name)))
    if not found.is_file():
        raise FileNotFoundError(f"there is no sample {name}")
    return found
