"""Where an attempt's folder is: moved is told from deleted, and it is reached wherever it is (R09, R18)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum.host.whereabouts import Whereabouts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "attempts" / "1" / "1"
    made.mkdir(parents=True)
    return made


@pytest.fixture
def whereabouts(folder: Path) -> Iterator[Whereabouts]:
    made = Whereabouts(str(folder))
    yield made
    made.close()


def test_r09_a_folder_that_is_moved_or_whose_parent_is_has_a_place_elsewhere(whereabouts: Whereabouts, folder: Path) -> None:
    assert whereabouts.moved() == ""
    attempts, away = folder.parent.parent, folder.parent.parent.with_name("away")
    for source, target in ((folder, folder.with_name("2")), (attempts, away)):
        source.rename(target)
        assert whereabouts.moved() == (str(target) if source == folder else str(away / "1" / "1"))
        Path(whereabouts.here, "written").touch()
        target.rename(source)
        assert whereabouts.moved() == ""
        assert (folder / "written").exists()


def test_what_is_deleted_is_not_moved_and_what_is_made_anew_is_meant_from_then_on(
    whereabouts: Whereabouts, folder: Path
) -> None:
    shutil.rmtree(folder)
    assert whereabouts.moved() == ""
    folder.mkdir()
    assert whereabouts.moved() == ""
    whereabouts.look_up()
    folder.rename(folder.with_name("2"))
    assert whereabouts.moved() == str(folder.with_name("2"))


def test_another_way_to_the_same_folder_is_its_place(whereabouts: Whereabouts, folder: Path) -> None:
    """A workspace moved to another disk's name with a link in its place is where it was."""
    attempts = folder.parent.parent
    attempts.rename(attempts.with_name("elsewhere"))
    attempts.symlink_to(attempts.with_name("elsewhere"))
    assert whereabouts.moved() == ""


def test_nothing_is_told_of_a_folder_that_never_was(tmp_path: Path) -> None:
    nothing = Whereabouts(str(tmp_path / "nothing"))
    assert (nothing.moved(), nothing.here) == ("", os.fspath(tmp_path / "nothing"))
    nothing.close()
