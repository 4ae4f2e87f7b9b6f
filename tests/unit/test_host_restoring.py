"""A spool that was deleted under a living host is made anew, whole and locked; never where no workspace is (P01, R12)."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from actum.host import launch
from actum.host.restoring import Restorer, is_gone
from actum.ipc import records as recordsfile
from actum.ipc import spool

from tests.helpers.hosts import make_attempt

CLAIM = {"v": 1, "by": "host", "session": "s", "identity": {}, "at": 1}


@pytest.fixture
def asked(tmp_path: Path) -> launch.Launch:
    return launch.read(str(make_attempt(tmp_path, "pass").folder))


def test_a_deleted_spool_comes_back_with_claim_lock_and_records(asked: launch.Launch) -> None:
    restorer = Restorer(asked)
    restorer.claim = CLAIM
    records = os.open(spool.spool_path(asked.folder, "records.jsonl"), os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    record = {"seq": 1, "at": 1, "kind": "trade", "data": {}}
    os.write(records, json.dumps(record).encode() + b"\n")
    assert not is_gone(asked)
    shutil.rmtree(spool.spool_path(asked.folder))
    assert is_gone(asked)
    assert spool.probe_alive(asked.folder) == "unknown"
    assert restorer.restore(records)
    assert spool.read_claim(asked.folder) == CLAIM
    assert spool.probe_alive(asked.folder) == "held"
    assert recordsfile.read(asked.folder, 0).records == [record]
    assert isinstance(spool.read_outcome(asked.folder), spool.Absent)
    os.close(records)
    os.close(restorer._lock)


def test_a_deleted_attempt_folder_comes_back_too(asked: launch.Launch) -> None:
    restorer = Restorer(asked)
    restorer.claim = CLAIM
    shutil.rmtree(asked.folder)
    assert restorer.restore(-1)
    assert os.listdir(asked.folder) == ["spool"]
    first = restorer._lock
    shutil.rmtree(asked.folder)
    assert restorer.restore(-1)
    with pytest.raises(OSError):
        os.fstat(first)  # one lock is kept, not one for each time
    os.close(restorer._lock)


def test_nothing_is_made_without_a_claim_or_without_the_workspace(asked: launch.Launch) -> None:
    """An unmounted disk is no deleted folder; a host without a claim has nothing to stand for."""
    restorer = Restorer(asked)
    shutil.rmtree(spool.spool_path(asked.folder))
    assert not restorer.restore(-1)
    restorer.claim = CLAIM
    shutil.rmtree(os.path.join(asked.workspace, "attempts"))
    assert not restorer.restore(-1)
    assert not os.path.exists(asked.folder)


def test_what_stands_in_the_place_of_the_spool_is_left_alone(asked: launch.Launch) -> None:
    restorer = Restorer(asked)
    restorer.claim = CLAIM
    os.unlink(spool.spool_path(asked.folder, "alive"))
    Path(spool.spool_path(asked.folder, "mine")).touch()
    assert not restorer.restore(-1)
    assert os.listdir(spool.spool_path(asked.folder)) == ["mine"]
    assert not [name for name in os.listdir(asked.folder) if name.startswith(".spool")]
