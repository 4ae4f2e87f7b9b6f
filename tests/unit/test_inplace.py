"""R04: nothing is acknowledged into files that are not the workspace's any more, before the COMMIT, after it, or at the end."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from actum import faults
from actum.errors import WorkspaceUnusable
from actum.model.changes import MISPLACED, Answer, RefusalKind, Refused, SetSetting
from actum.store.queries import Reader
from actum.store.writer import Writer
from actum.supervise.commands import refusal_error
from actum.workspace import Workspace

from tests.helpers import workspaces as w


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    return w.make(tmp_path / "ws")


@pytest.fixture(autouse=True)
def nothing_armed() -> Iterator[None]:
    before = dict(faults.roles)
    yield
    faults.arm("")
    faults.roles.clear()
    faults.roles.update(before)


def log_of(ws: Workspace) -> Path:
    return ws.database.with_name(ws.database.name + "-wal")


def move(ws: Workspace) -> None:
    """`mv actum.db* away/`."""
    (ws.path / "away").mkdir()
    for path in sorted(ws.path.glob("actum.db*")):
        path.rename(ws.path / "away" / path.name)


def put_back(ws: Workspace) -> None:
    for path in (ws.path / "away").iterdir():
        path.rename(ws.path / path.name)


def replace(ws: Workspace) -> None:
    shutil.copy(ws.database, ws.path / "copy")
    (ws.path / "copy").replace(ws.database)


def remove_log(ws: Workspace) -> None:
    log_of(ws).unlink()


def replace_log(ws: Workspace) -> None:
    shutil.copy(log_of(ws), ws.path / "copy")
    (ws.path / "copy").replace(log_of(ws))


GONE = [(move, "database_moved"), (replace, "database_moved"), (remove_log, "log_gone"), (replace_log, "log_gone")]


def set_slots(writer: Writer, value: int) -> Answer:
    return writer.ask(SetSetting("slots", value, 1))


@pytest.mark.parametrize(("harm", "code"), GONE)
def test_r04_what_would_be_committed_elsewhere_is_refused_in_words(
    place: Workspace, harm: Callable[[Workspace], None], code: str
) -> None:
    with w.writing(place) as writer:
        w.persisted(set_slots(writer, 2))
        assert writer.misplaced() == ""
        harm(place)
        assert writer.misplaced() == code
        answer = set_slots(writer, 3)
        assert isinstance(answer, Refused)
        assert (answer.kind, answer.details["code"]) == (RefusalKind.STORAGE, code)
        error = refusal_error(answer)
        assert isinstance(error, WorkspaceUnusable)
        assert (error.code, bool(error.remedy), str(place.database) in error.why) == (code, True, True)
        assert isinstance(set_slots(writer, 4), Refused), "and so is all that follows"
    assert code in MISPLACED


@pytest.mark.parametrize(("harm", "code"), GONE)
def test_r04_files_that_go_between_the_check_and_the_answer_acknowledge_nothing(
    place: Workspace, harm: Callable[[Workspace], None], code: str
) -> None:
    """The COMMIT has happened, somewhere: nobody can tell, and nobody is told that it is on record."""
    faults.roles["work"] = lambda: harm(place)
    with w.writing(place) as writer:
        faults.arm("store.commit.after:kill-work")
        answer = set_slots(writer, 3)
        assert isinstance(answer, Refused)
        assert (answer.kind, answer.details["code"]) == (RefusalKind.LOST, code)


def test_a_database_that_was_moved_is_neither_written_nor_made_anew(place: Workspace) -> None:
    """Put back, it is as it was: all that was acknowledged, and an instance that did not end in order."""
    with w.writing(place) as writer:
        w.persisted(set_slots(writer, 2))
        move(place)
        files = {path.name: path.read_bytes() for path in (place.path / "away").iterdir() if not path.name.endswith("-shm")}
        set_slots(writer, 3)
    assert not place.database.exists()
    after = {path.name: path.read_bytes() for path in (place.path / "away").iterdir() if not path.name.endswith("-shm")}
    assert after == files, "not even an orderly end"
    put_back(place)
    with w.writing(place) as second:
        opened = second.opened
        assert (opened.previous_clean, opened.log_lost, opened.recovery) == (False, False, False)
        with Reader(place) as reader:
            assert reader.setting_rows()["slots"] == 2


def test_another_database_that_was_put_there_is_left_alone(place: Workspace) -> None:
    """After a lost answer no connection is opened to it, and its write-ahead log is not removed with ours."""
    faults.roles["work"] = lambda: move(place)
    with w.writing(place) as writer:
        faults.arm("store.commit.after:kill-work")
        set_slots(writer, 3)
        place.database.write_bytes(b"another")
        log_of(place).write_bytes(b"and its log")
        answer = set_slots(writer, 4)
        assert isinstance(answer, Refused)
        assert answer.details["code"] == "database_moved"
    assert (place.database.read_bytes(), log_of(place).read_bytes()) == (b"another", b"and its log")


def test_a_log_that_was_removed_loses_nothing_that_was_acknowledged(place: Workspace) -> None:
    """It is folded into the database by the connection that has it open, and the end is orderly."""
    with w.writing(place) as writer:
        w.persisted(set_slots(writer, 2))
        remove_log(place)
        set_slots(writer, 3)
    with w.writing(place) as second:
        assert (second.opened.previous_clean, second.opened.log_lost) == (True, False)
        with Reader(place) as reader:
            assert reader.setting_rows()["slots"] == 2
