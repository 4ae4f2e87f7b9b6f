"""Doctor's signs, and the acceptance of a copied workspace (FORMATS "Tokens, folders, files")."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from actum import faults
from actum.errors import ActumError, Busy, Conflict, StorageFailed, WorkspaceUnusable
from actum.generation import folder_identity, read_generation, write_generation
from actum.lock import Lock
from actum.model.facts import Fact, FactName
from actum.model.status import ARROWS, PAIRS, AttemptEvent, Pair, Phase, Status
from actum.store.audit import audit
from actum.store.copies import CLOSING, accept_copy
from actum.store.doctor import SIGNS, WAL_RESET_SQLITE, Health, examine, is_well
from actum.store.queries import Reader
from actum.store.restored import accept_restored
from actum.store.writer import Writer
from actum.workspace import Workspace

from tests.helpers import workspaces as w

OPEN = [pair for pair in PAIRS if pair.phase is not Phase.CLOSED]


def named(ws: Workspace) -> dict[str, object]:
    return {sign.name: sign for sign in examine(ws)}


def test_every_sign_is_found_without_a_workspace_and_nothing_is_made(tmp_path: Path) -> None:
    ws = Workspace(tmp_path / "none")
    signs = examine(ws)
    assert [sign.name for sign in signs] == [name for name, *_ in SIGNS]
    assert is_well(signs)
    assert not ws.path.exists()
    assert all(sign.found and sign.to_json()["schema"] == "actum.doctor/1" for sign in signs)


def test_a_workspace_in_use_is_described(tmp_path: Path) -> None:
    ws = w.make(tmp_path / "ws")
    with w.writing(ws) as writer, Lock.try_acquire(ws) or pytest.fail("the lock is free"):
        w.admit(writer, w.add_task(writer))
        signs = {sign.name: sign for sign in examine(ws)}
        assert signs["holder"].found.startswith("a supervisor is at work")
        assert signs["database"].found.startswith("1 runs, 1 open, epoch 1")
        assert signs["origin"].health is Health.OK
    ws.path.chmod(0o755)
    signs = {sign.name: sign for sign in examine(ws)}
    assert signs["permissions"].health is Health.WARNING
    assert signs["holder"].found == "no supervisor is at work"


def test_what_is_broken_is_a_sign_and_no_exception(tmp_path: Path) -> None:
    ws = w.make(tmp_path / "ws")
    ws.database.write_bytes(b"not a database" * 100)
    signs = {sign.name: sign for sign in examine(ws)}
    assert signs["database"].health is Health.BAD
    assert signs["database"].remedy
    assert not is_well(list(signs.values()))


def test_the_database_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Versions 3.7.0 to 3.51.2 carry the note about checkpoints; the next one does not."""
    first, last = WAL_RESET_SQLITE
    for version, health in ((first, Health.NOTE), (last, Health.NOTE), ((3, 51, 3), Health.OK)):
        monkeypatch.setattr("sqlite3.sqlite_version_info", version)
        signs = {sign.name: sign for sign in examine(Workspace(tmp_path / "none"))}
        assert signs["sqlite"].health is health


def copied(tmp_path: Path) -> tuple[Workspace, Workspace]:
    """A workspace with a run in every open pair, a RETRYING one and a success; and its copy."""
    ws = w.make(tmp_path / "original")
    with w.writing(ws) as writer:
        digest = w.add_task(writer)
        for pair in OPEN:
            w.bring_to(writer, launched(writer, w.admit(writer, digest)), pair)
        row = w.bring_to(writer, w.admit(writer, digest), Pair(Status.RUNNING, Phase.COMPUTING))
        row = w.move(writer, row, AttemptEvent.OUTCOME_FAILED, retry_at_us=1)
        w.move(writer, row, AttemptEvent.TREE_CLEAR)
        w.succeed_with_package(ws, writer, w.admit(writer, digest))
    copy = Workspace(tmp_path / "copy")
    shutil.copytree(ws.path, copy.path)
    return ws, copy


def launched(writer: Writer, row: w.AttemptRow) -> w.AttemptRow:
    return w.row_of(writer.ask(w.Change(row.attempt, row.run, facts=(Fact(FactName.LAUNCHED, 1, {"method": "spawn"}),))))


def test_a_copy_is_refused_until_it_is_accepted(tmp_path: Path) -> None:
    original, copy = copied(tmp_path)
    with pytest.raises(WorkspaceUnusable) as caught:
        Writer(copy).start("x")
    assert caught.value.code == "workspace_copied"
    assert "--accept-copy" in caught.value.remedy
    accepted = accept_copy(copy)
    assert accepted.closed == len(OPEN) + 1
    with w.writing(copy) as writer:
        assert writer.opened.database_uuid == accepted.database_uuid
        assert not writer.opened.recovery
    with Reader(copy) as reader, Reader(original) as first:
        assert reader.database_uuid() != first.database_uuid()
        assert reader.attempt_rows() == []
        assert len(first.attempt_rows()) == len(OPEN) + 1
        for number, pair in enumerate(OPEN, 1):
            row = reader.current_attempt(number)
            assert row is not None
            assert row.released
            assert row.pair == Pair(closed_as(pair), Phase.CLOSED)
            if pair.status not in (Status.STOPPING, Status.FAILED, Status.START_FAILED, Status.TIMEOUT):
                assert row.failure_code == "workspace_copied"
            if FactName.RELEASED in row.facts:
                assert row.facts[FactName.RELEASED]["method"] == "copied"
        assert reader.run(len(OPEN) + 1).status == "STOPPED"
        assert reader.run(len(OPEN) + 2).status == "SUCCEEDED"
    assert audit(copy, only=["legal_pairs", "recorded_arrows", "run_follows", "generation", "packages"]).findings == ()


def closed_as(pair: Pair) -> Status:
    if pair.status in (Status.CREATED, Status.STARTING):
        return Status.START_FAILED
    if pair.status is Status.STOPPING:
        return Status.STOPPED
    return Status.FAILED if pair.status is Status.RUNNING else pair.status


def test_every_open_pair_has_a_way_to_its_closing() -> None:
    assert set(CLOSING) == set(OPEN)
    for pair in OPEN:
        steps = 0
        while pair in CLOSING:
            pair = ARROWS[pair][CLOSING[pair]]
            steps += 1
            assert steps <= 4
        assert pair.phase is Phase.CLOSED


def test_an_acceptance_that_was_cut_short_is_made_again(tmp_path: Path) -> None:
    """R18: committed, the generation file not written: still a copy; accepted again, it is one workspace."""
    _, copy = copied(tmp_path)
    faults.arm("store.copy.after:error=EIO")
    try:
        with pytest.raises((OSError, ActumError)):
            accept_copy(copy)
    finally:
        faults.arm("")
    with pytest.raises(WorkspaceUnusable) as caught:
        Writer(copy).start("x")
    assert caught.value.code == "workspace_copied"
    assert accept_copy(copy).closed == 0
    with w.writing(copy) as writer:
        generation = read_generation(copy)
        assert generation is not None
        assert generation.database_uuid == writer.opened.database_uuid


def test_only_a_copy_can_be_accepted_and_only_by_one(tmp_path: Path) -> None:
    original, copy = copied(tmp_path)
    with pytest.raises(Conflict) as caught:
        accept_copy(original)
    assert caught.value.code == "not_a_copy"
    with Lock.try_acquire(copy) or pytest.fail("the lock is free"), pytest.raises(Busy):
        accept_copy(copy)


def test_a_move_is_no_copy(tmp_path: Path) -> None:
    original, _ = copied(tmp_path)
    moved = Workspace(original.path.rename(tmp_path / "moved"))
    with w.writing(moved) as writer:
        assert writer.opened.epoch == 2


def test_a_restored_database_is_gone_on_with_once_a_person_says_so(tmp_path: Path) -> None:
    """PROTOCOL "Lock": until then nothing starts; afterwards no number of a run that it does not know is used again."""
    place = Workspace(tmp_path / "workspace")
    with w.writing(place) as writer:
        digest = w.add_task(writer)
        w.admit(writer, digest)
        write_generation(place, writer.opened.database_uuid, 40, folder_identity(place.path))
    for folder in (place.attempts / "7", place.results / "9", place.quarantine / "8-1", place.results / ".incoming"):
        folder.mkdir(parents=True)
    with w.writing(place) as writer:
        assert writer.opened.recovery
    settled = accept_restored(place)
    assert (settled.highest, settled.unknown) == (9, (7, 8, 9))
    with w.writing(place) as writer:
        assert not writer.opened.recovery
        assert w.admit(writer, digest, key="next").run == 10
    with Reader(place) as reader:
        (entry,) = [row for row in reader.journal(None) if row.kind == "recovery_ended"]
        assert entry.data == {"unknown_runs": [7, 8, 9], "unknown_count": 3, "highest_run": 9}


@pytest.mark.parametrize("runs", [0, 1])
def test_r18_a_run_admitted_before_the_acceptance_shares_no_folder_with_a_run_that_was_forgotten(
    tmp_path: Path, runs: int
) -> None:
    """§11: numbers are unique from the moment on that the database is known to be behind; also where it never had a run."""
    place = Workspace(tmp_path / "workspace")
    with w.writing(place) as writer:
        digest = w.add_task(writer)
        for _ in range(runs):
            w.admit(writer, digest)
        write_generation(place, writer.opened.database_uuid, 40, folder_identity(place.path))
    (place.attempts / "5" / "1").mkdir(parents=True)
    with w.writing(place) as writer:
        assert writer.opened.recovery
        assert w.admit(writer, digest, key="meanwhile").run == 6
    assert accept_restored(place).unknown == (5,)
    with w.writing(place) as writer:
        assert w.admit(writer, digest, key="next").run == 7


def test_only_a_restored_database_can_be_accepted_as_one(tmp_path: Path) -> None:
    place = Workspace(tmp_path / "workspace")
    with w.writing(place) as writer:
        w.admit(writer, w.add_task(writer))
        epoch = writer.opened.epoch
    held = Lock.try_acquire(place)
    assert held is not None
    with held, pytest.raises(Busy):
        accept_restored(place)
    with pytest.raises(Conflict) as caught:
        accept_restored(place)
    assert caught.value.code == "not_restored"
    with Reader(place) as reader:
        assert reader.epoch() == epoch, "nothing was written"


def test_a_restored_database_accepted_and_cut_short_is_accepted(tmp_path: Path) -> None:
    """R18: committed, the generation file not written: the database is ahead then, which is no recovery."""
    place = Workspace(tmp_path / "workspace")
    with w.writing(place) as writer:
        w.admit(writer, w.add_task(writer))
        write_generation(place, writer.opened.database_uuid, 40, folder_identity(place.path))
    with w.writing(place):
        pass
    faults.arm("store.restored.after:error=EIO")
    try:
        with pytest.raises(StorageFailed):
            accept_restored(place)
    finally:
        faults.arm("")
    with w.writing(place) as writer:
        assert not writer.opened.recovery
