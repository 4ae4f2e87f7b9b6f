"""Adoption with real processes: offered, adopted, killed at each step, refused, stopped (R01, R03, R18, P05, P16)."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum.generation import folder_identity, read_generation, write_generation
from actum.model.facts import FACTS
from actum.store.audit import audit

from tests.helpers.app import App

ALL = [name.value for name in FACTS]
TAKEN_OVER = ALL[1:9]
LOST, STOPPED = 1, 2  # runs of the original: host killed between manifest and outcome; stopped after it was sealed
NEW = 3


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> App:
    """Two runs that sealed a package and ended without a result. Nobody supervises any more."""
    app = App(tmp_path_factory.mktemp("adoption"))
    app.define(gated=False)
    app.run("run", "work", fault="host.seal.after:kill-host", code=1)
    app.run("run", "work", fault="fact.sealed.after:kill-app", code=-signal.SIGKILL)
    app.run("stop", "2", "--wait")
    return app


@pytest.fixture
def app(original: App, tmp_path: Path) -> Iterator[App]:
    """A copy of the original, told that it is at home."""
    app = App(tmp_path)
    shutil.copytree(original.ws.path, app.ws.path, symlinks=True)
    recorded = read_generation(app.ws)
    assert recorded is not None
    write_generation(app.ws, recorded.database_uuid, recorded.epoch, folder_identity(app.ws.path))
    shutil.copy(original.trace, app.trace)
    yield app
    app.end()


def adopted(app: App, of: int, new: int = NEW) -> None:
    """The new run is a success with all facts, the old one is as it was, and nothing was computed again."""
    shown = app.json("show", str(new))
    assert (shown["status"], shown["trigger"]) == ("SUCCEEDED", "adoption")
    assert [fact["fact"] for fact in shown["facts"]] == ALL
    origin = shown["adoption"]["of"]
    assert (origin["run"], origin["n"]) == (of, 1)
    for fact in shown["facts"]:
        taken_over = fact["evidence"]["method"] == "adopted"
        assert taken_over is (fact["fact"] in TAKEN_OVER), fact
        if taken_over:
            assert fact["evidence"]["from"]["attempt"] == origin["attempt"]
    assert app.json("show", str(of))["adoption"] == {"of": None, "by": new, "offer": None}
    assert len(app.pids()) == 2, "the work was started again"
    report = audit(app.ws)
    assert report.findings == ()


def test_r03_a_manifest_without_an_outcome_is_offered_and_adopted_only_when_asked(app: App) -> None:
    """It is never continued by itself; what nobody recorded at the time says so; asking twice is one run."""
    before = app.json("show", str(LOST))
    assert (before["status"], before["failure"]["code"]) == ("FAILED", "host_lost")
    assert before["adoption"]["offer"]["sealed_by"] == "manifest"
    assert "adopt" in before["allowed_actions"]
    verdicts = [line for line in app.lines("reconcile") if line["row"] == 8]
    assert [(line["run"], line["verdict"]) for line in verdicts] == [(STOPPED, "offer"), (LOST, "offer")]
    assert {line["run"] for line in app.lines("alerts") if line["code"] == "sealed_late"} == {LOST, STOPPED}
    said = app.run("adopt", str(LOST))
    assert "recorded by nobody at the time" in said.stderr
    assert f"taken over from run {LOST}, attempt 1" in said.stdout
    adopted(app, LOST)
    sealed = next(fact for fact in app.json("show", str(NEW))["facts"] if fact["fact"] == "sealed")
    assert sealed["evidence"]["then"] is None
    assert sealed["evidence"]["manifest_sha256"] == before["adoption"]["offer"]["manifest_sha256"]
    after = app.json("show", str(LOST))
    assert (after["status"], after["facts"], after["failure"]) == (before["status"], before["facts"], before["failure"])
    assert app.journal(LOST).count("adopted_by") == 1
    assert {line["run"] for line in app.lines("alerts") if line["code"] == "sealed_late"} == {STOPPED}
    again = app.json("adopt", str(LOST), "--detach")
    assert (again["run"], again["created"]) == (NEW, False)
    assert app.json("verify", str(NEW))["state"] == "readable"


STEPS = (
    ("fact.admitted.after", 1),
    ("fact.released.after", 9),
    ("controller.helper.after", 9),  # derived, and not yet told
    ("fact.bytes_verified.after", 10),
    ("fact.content_verified.after", 11),
    ("publish.rename.before", 11),
    ("publish.rename.after", 11),
    ("fact.published.after", 12),
    ("fact.succeeded.after", 14),
)


def test_r18_an_adoption_killed_at_each_step_goes_on_and_ends_once(app: App) -> None:
    """R01: at each kill the store holds exactly the first k facts; the next supervisor goes on and is killed one step later."""
    for number, (point, known) in enumerate(STEPS):
        command = ("adopt", str(STOPPED)) if number == 0 else ("reconcile", "--wait")
        app.run(*command, fault=f"{point}:kill-app", code=-signal.SIGKILL)
        assert app.facts(NEW) == ALL[:known], point
    app.run("reconcile", "--wait")
    adopted(app, STOPPED)
    assert not (app.ws.attempt_folder(STOPPED, 1) / "staging").exists()


def test_p16_under_an_open_adoption_the_old_run_cannot_be_deleted(app: App) -> None:
    """The database refuses it whatever asks, and lets it go when the adoption has ended."""
    app.run("adopt", str(STOPPED), fault="fact.admitted.after:kill-app", code=-signal.SIGKILL)
    with sqlite3.connect(app.ws.database) as connection:
        with pytest.raises(sqlite3.IntegrityError, match="open adoption"):
            connection.execute("UPDATE run SET deletion = 'soft' WHERE number = ?", (STOPPED,))
        connection.execute("UPDATE run SET deletion = 'soft' WHERE number = ?", (LOST,))
    connection.close()
    app.run("stop", str(NEW))
    app.run("reconcile", "--wait")
    assert app.json("adopt", str(LOST), code=4)["error"]["why"] == f"Run {LOST} is in the trash."
    shown = app.json("show", str(NEW))
    assert (shown["status"], shown["released"], shown["result"]) == ("STOPPED", True, None)
    assert (app.ws.attempt_folder(STOPPED, 1) / "staging" / "manifest.json").exists(), "the package stays where it was"
    with sqlite3.connect(app.ws.database) as connection:
        connection.execute("UPDATE run SET deletion = 'soft' WHERE number = ?", (STOPPED,))
    connection.close()


def test_p16_an_adoption_that_was_stopped_by_mistake_is_asked_for_again(app: App) -> None:
    """It is offered again, on both pages; the second is a run of its own, and the only one that stands."""
    app.run("adopt", str(STOPPED), fault="fact.admitted.after:kill-app", code=-signal.SIGKILL)
    app.run("stop", str(NEW), "--wait")
    assert app.status(NEW) == "STOPPED"
    assert {line["run"] for line in app.lines("alerts") if line["code"] == "sealed_late"} == {LOST, STOPPED}
    shown = app.json("show", str(STOPPED))
    assert "adopt" in shown["allowed_actions"]
    assert shown["adoption"]["offer"]["after"] == {"run": NEW, "status": "STOPPED"}
    assert app.json("show", str(NEW))["adoption"]["of"]["again"] is True
    refused = json.loads(app.run("adopt", str(NEW), "--json", code=4).stdout)["error"]
    assert refused["remedy"] == f"Adopt run {STOPPED} again."
    app.run("adopt", str(STOPPED))
    adopted(app, STOPPED, NEW + 1)
    assert app.json("show", str(NEW))["adoption"]["of"]["again"] is False
    assert app.json("adopt", str(STOPPED), "--detach")["run"] == NEW + 1, "this one stands"
    assert app.journal(STOPPED).count("adopted_by") == 2


def test_r03_what_verification_refuses_is_refused_and_tried_again_only_when_asked(app: App) -> None:
    """The old identity must be proven, to the last byte; what is mended since may be adopted, and is not offered by itself."""
    table = next((app.ws.attempt_folder(STOPPED, 1) / "staging" / "tables").iterdir())
    sealed = table.read_text()
    table.chmod(0o644)
    table.write_text(sealed.replace("81", "82"))
    shown = app.json("adopt", str(STOPPED), code=1)
    assert (shown["status"], shown["failure"]["code"], len(shown["attempts"])) == ("FAILED", "result_rejected", 1)
    assert app.status(STOPPED) == "STOPPED"
    assert json.loads(app.run("adopt", str(NEW), "--json", code=4).stdout)["error"]["code"] == "not_adoptable"
    app.run("reconcile")
    assert {line["run"] for line in app.lines("alerts") if line["code"] == "sealed_late"} == {LOST}, "offered by itself"
    assert app.json("show", str(STOPPED))["adoption"]["offer"]["after"] == {"run": NEW, "status": "FAILED"}
    table.write_text(sealed)
    app.run("adopt", str(STOPPED))
    adopted(app, STOPPED, NEW + 1)


def test_r03_only_what_was_sealed_and_is_nobodys_is_adopted(app: App) -> None:
    for run, attempt, why in (("1", "7", "There is no attempt 7."), ("2", None, "left no sealed package")):
        shutil.rmtree(app.ws.attempt_folder(STOPPED, 1) / "staging", ignore_errors=True)
        more = () if attempt is None else ("--attempt", attempt)
        error = app.json("adopt", run, *more, code=4)["error"]
        assert error["code"] == "not_adoptable"
        assert why in error["why"]
    assert app.json("adopt", "9", code=3)["error"]["code"] == "no_such_run"
    app.run("reconcile")
    assert {line["run"] for line in app.lines("alerts") if line["code"] == "sealed_late"} == {LOST}, "gone, and not offered"
