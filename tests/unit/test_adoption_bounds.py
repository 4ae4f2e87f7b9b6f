"""Bounds of offers and of what `reconcile --wait` believes (R11)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum import limits
from actum.errors import Conflict
from actum.generation import read_generation
from actum.model.status import AttemptEvent, Pair, Phase, Status
from actum.store.show import show_document
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


ENDED = (
    ("result_rejected", "The helper failed in “verify”. MemoryError:  (compare.py, line 9)", False),
    ("result_rejected", "Too much waits for this helper already. Try again later.", False),
    ("input_changed", "The input “data” cannot be read any more: MemoryError:  (digests.py, line 40)", False),
    ("input_changed", "The program cannot be read any more: Too much waits for this helper already.", False),
    ("input_changed", "The input “data” cannot be read any more: No such file or directory: /data.csv.", True),
    ("input_changed", "The input “data” was changed while the run was computing (/data.csv).", True),
    ("result_rejected", "The table “a” has 3 rows and states 4.", True),
    ("package_lost", "The sealed package is gone from its staging folder: it was removed from outside.", True),
)


def test_r03_only_a_finding_takes_away_what_was_sealed(place: Place) -> None:
    """Earlier versions recorded a helper that had failed as a rejection; by its words it is known, and the work is adopted."""
    with w.writing(place.ws) as writer:
        digest = w.add_task(writer)
        for code, message, _ in ENDED:
            row = w.bring_to(writer, w.admit(writer, digest), Pair(Status.RUNNING, Phase.VERIFYING))
            row = w.move(writer, row, AttemptEvent.REJECTED, columns={"failure_code": code, "failure_message": message})
            left_a_manifest(place, row)
    place.open()
    reader = place.headless.controller.reader
    for run, (_, message, refused) in enumerate(ENDED, 1):
        if refused:
            with pytest.raises(Conflict, match="cannot be adopted"):
                adoption.admit(place.ws, reader, run, None)
        else:
            assert adoption.admit(place.ws, reader, run, None).adopts == place.row(run).attempt  # type: ignore[union-attr]
        offer = show_document(reader, place.ws, run)["adoption"]["offer"]
        assert (offer is None) == refused, message
