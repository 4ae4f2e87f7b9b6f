"""Bounds of offers and of what `reconcile --wait` believes (R11)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum import limits
from actum.generation import read_generation
from actum.model.status import AttemptEvent, Pair, Phase, Status
from actum_desktop.controller import adoption
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers import workspaces as w
from tests.helpers.headless import Place


@pytest.fixture
def place(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path, qtbot)
    yield made
    made.close()


def left_a_manifest(place: Place, row: w.AttemptRow) -> None:
    from actum import canonical

    staging = place.ws.attempt_folder(row.run, row.n) / "staging"
    (staging.parent / "spool").mkdir(parents=True)
    staging.mkdir()
    document = {"schema": "actum.manifest/1", "files": [], "authority": {}, "contract": {}, "sealed_at": 1}
    known = read_generation(place.ws)
    assert known is not None
    document |= {"workspace": known.database_uuid, "run": row.run, "attempt": row.attempt, "session": row.session}
    (staging / "manifest.json").write_text(canonical.dumps(document))


def test_r11_so_many_runs_without_a_result_are_looked_at(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """ADOPTION_OFFERS_MAX: at the bound every one is offered, one more and the oldest is not; `adopt` finds it all the same."""
    monkeypatch.setattr(adoption, "ADOPTION_OFFERS_MAX", 2)
    assert limits.ADOPTION_OFFERS_MAX <= limits.PAGE_ROWS_MAX, "one page"
    with w.writing(place.ws) as writer:
        digest = w.add_task(writer)
        for _ in range(3):
            row = w.bring_to(writer, w.admit(writer, digest), Pair(Status.RUNNING, Phase.COMPUTING))
            for event in (AttemptEvent.STOP_ASKED, AttemptEvent.TREE_CLEAR):
                row = w.move(writer, row, event)
            left_a_manifest(place, row)
    place.open()
    verdicts = place.ask("reconcile", resume=False)["verdicts"]
    assert [verdict["run"] for verdict in verdicts if verdict["verdict"] == "offer"] == [3, 2]
    found = adoption.admit(place.ws, place.headless.controller.reader, 1, None)
    assert found.adopts == place.row(1).attempt  # type: ignore[union-attr]


def test_r11_offers_are_looked_for_after_the_start_has_had_its_time() -> None:
    """OFFERS_AFTER_MS, HOLD_BELIEVED_S, AWAKE_LOOK_EVERY_S and AWAKE_KEPT_S stand in a sensible order."""
    assert limits.TICK_MS / 1000 < limits.AWAKE_LOOK_EVERY_S < limits.AWAKE_KEPT_S < limits.AWAKE_RETRY_S
    assert limits.OFFERS_AFTER_MS / 1000 < limits.RECONCILE_EVERY_S
    assert limits.LOOK_AGAIN_S < limits.HOLD_BELIEVED_S < limits.RECONCILE_EVERY_S


def test_what_cannot_be_read_is_no_offer(place: Place) -> None:
    """An outcome that is not one, and a manifest of another attempt, prove nothing."""
    from actum.store import adoptable

    with w.writing(place.ws) as writer:
        digest = w.add_task(writer)
        row = w.bring_to(writer, w.admit(writer, digest), Pair(Status.RUNNING, Phase.COMPUTING))
        for event in (AttemptEvent.STOP_ASKED, AttemptEvent.TREE_CLEAR):
            row = w.move(writer, row, event)
        left_a_manifest(place, row)
    ended = adoptable.of_row(row)
    folder = place.ws.attempt_folder(row.run, row.n)
    assert adoptable.sealed_package(place.ws, ended) is not None
    (folder / "spool" / "outcome.json").write_text("{}")
    assert adoptable.sealed_package(place.ws, ended) is None
    os.unlink(folder / "spool" / "outcome.json")
    manifest = folder / "staging" / "manifest.json"
    manifest.write_text(manifest.read_text().replace(row.attempt, "of another"))
    assert adoptable.sealed_package(place.ws, ended) is None
    place.open()
