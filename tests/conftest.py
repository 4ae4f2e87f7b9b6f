"""Silence passes: a test that leaves threads, processes or files, or that logs a warning nobody expected, fails.

The user's own folders are never touched: HOME and the XDG folders are a temporary one. `@pytest.mark.logs("pattern")`
expects log records of level WARNING and above; `@pytest.mark.leaves("reason")` excuses what the test leaves running.
"""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.helpers import leaks
from tests.helpers.stalls import pytest_terminal_summary as pytest_terminal_summary

pytest_plugins = ["tests.evidence.plugin", "tests.faults.summary"]

home = Path(tempfile.mkdtemp(prefix="actum-t"))
atexit.register(shutil.rmtree, home, ignore_errors=True)
for variable, folder in {
    "HOME": "",
    "XDG_DATA_HOME": "data",
    "XDG_CONFIG_HOME": "config",
    "XDG_STATE_HOME": "state",
    "XDG_CACHE_HOME": "cache",
    "XDG_RUNTIME_DIR": "run",
}.items():
    (home / folder).mkdir(mode=0o700, exist_ok=True)
    os.environ[variable] = str(home / folder)
for variable in [name for name in os.environ if name.startswith("ACTUM_")]:
    del os.environ[variable]
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
leaks.mark_environment()

settings.register_profile("house", deadline=None, print_blob=True)
settings.load_profile("house")


@pytest.fixture(autouse=True)
def nothing_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails the test in its teardown, naming what it left behind."""
    marker = request.node.get_closest_marker("leaves")
    qt = "qtbot" in request.fixturenames or "qapp" in request.fixturenames
    before = leaks.Traces.take(qt=qt)
    yield
    if marker is None and (found := leaks.left(before, qt=qt)):
        pytest.fail("The test left something behind. End it in the test or in a fixture:\n" + "\n".join(found))


@pytest.fixture(autouse=True)
def nothing_logged(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails the test in its teardown when it logged a warning that no marker expects."""
    expected = tuple(word for marker in request.node.iter_markers("logs") for word in marker.args)
    records = leaks.Records(expected)
    handler = records.attach()
    yield
    logging.getLogger().removeHandler(handler)
    if records.unexpected:
        remedy = "Mend the cause, or expect it with @pytest.mark.logs(“pattern”):\n"
        pytest.fail("The test logged warnings nobody expected. " + remedy + "\n".join(records.unexpected))
