"""P21, P23: what a leaver still does, and which answers retire an instance."""

from __future__ import annotations

import pytest
from actum.clock import Now
from actum.model.changes import MISPLACED, Change, Changes, Note, Persisted, RefusalKind, Refused
from actum.model.status import AttemptEvent
from actum.store.queries import Reader
from actum.supervise.effects import Freeze, Launch, Persist, Prepare
from actum.supervise.machine import Machine
from actum_desktop.controller import leaving

from tests.helpers import workspaces


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    ws = workspaces.make(tmp_path_factory.mktemp("leaving") / "ws")
    with workspaces.writing(ws) as writer:
        workspaces.admit(writer, workspaces.add_task(writer))
    with Reader(ws) as reader:
        (row,) = reader.attempt_rows(open_only=True)
    return Machine(row, lambda: 1, 1)


def asked(machine: Machine, event: AttemptEvent | None) -> Persist:
    machine.pending = None
    (effect,) = machine.persist(Now(1, 1, 1), event)
    assert isinstance(effect, Persist)
    return effect


def test_p21_a_leaver_launches_what_is_on_record_and_begins_nothing(machine: Machine) -> None:
    row = machine.row
    assert leaving.still_done(Launch(row), store_closed=False)
    assert leaving.still_done(asked(machine, None), store_closed=False), "what came of a launch is recorded"
    assert leaving.still_done(asked(machine, AttemptEvent.STOP_ASKED), store_closed=False)
    assert not leaving.still_done(asked(machine, AttemptEvent.SLOT_GRANTED), store_closed=False)
    assert not leaving.still_done(Persist(1, workspaces.following(row)), store_closed=False), "a retry"
    assert not leaving.still_done(Freeze(row), store_closed=False)
    assert not leaving.still_done(Prepare(row, "s", "c", "x"), store_closed=False)


def test_nothing_is_asked_of_a_closed_store(machine: Machine) -> None:
    assert not leaving.still_done(Persist(1, Note()), store_closed=True)
    effect = asked(machine, None)
    assert isinstance(effect.request, Change)
    assert not leaving.still_done(effect, store_closed=True)


def test_r04_a_newer_epoch_and_files_that_are_gone_retire_and_a_full_disk_does_not() -> None:
    assert leaving.retires(Persisted(Changes())) is None
    assert "newer" in (leaving.retires(Refused(RefusalKind.EPOCH, "x")) or "")
    for code, words in MISPLACED.items():
        assert leaving.retires(Refused(RefusalKind.STORAGE, "x", details={"code": code})) == words
        assert leaving.retires(Refused(RefusalKind.LOST, "x", details={"code": code})) == words
    assert leaving.retires(Refused(RefusalKind.STORAGE, "x", details={"code": "disk_full"})) is None
