"""Every audit check: a real workspace is damaged, and the check names it with its remedy (§10)."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from actum import limits
from actum.generation import FolderIdentity, write_generation
from actum.model.changes import AddExport
from actum.model.run import InputRow
from actum.model.status import AttemptEvent, Pair, Phase, Status
from actum.results import digests
from actum.store.audit import CHECKS, audit
from actum.workspace import Workspace

from tests.helpers import adoptions
from tests.helpers import workspaces as w

E = AttemptEvent
GUARDS = ("attempt_arrow", "attempt_first", "attempt_released", "attempt_succeeded", "run_final", "fact_kept")
GUARDS += ("fact_not_deleted", "journal_kept", "journal_not_deleted", "run_adopted")
SAID = "json_object('method',"
OTHERS = '{"schema":"actum.manifest/1","format_version":1,"files":[],"authority":{},"contract":{},"attempt":"of another"}'


def build(ws: Workspace) -> None:
    """Run 1 succeeded with package, input and export; 2 computes; 3 failed and holds; 4 was stopped, and run 5 adopts it."""
    kept = ws.inputs / "being-made"
    kept.mkdir()
    (kept / "content").write_text("1,2\n")
    sha256 = digests.of_file(kept / "content").sha256
    named = kept.rename(ws.inputs / sha256) / "content"
    with w.writing(ws) as writer:
        digest = w.add_task(writer)
        row = w.admit(writer, digest, "first")
        inputs = (InputRow("prices", "/data/prices.csv", "copy", sha256, 4, str(named)),)
        w.persisted(writer.ask(w.Change(row.attempt, row.run, inputs=inputs)))
        row = w.succeed_with_package(ws, writer, row)
        (ws.exports / "out.csv").write_text("a,b\n")
        exported = digests.of_file(ws.exports / "out.csv").sha256
        path = str(ws.exports / "out.csv")
        w.persisted(writer.ask(AddExport(1, row.attempt, "out", "csv", "data", path, exported, 4, 1, {}, 1)))
        computing(writer, w.admit(writer, digest, "second"))
        failing = computing(writer, w.admit(writer, digest, "third"))
        w.move(writer, failing, E.OUTCOME_FAILED, columns={"failure_code": "work_failed"})
        stopped = w.bring_to(writer, w.admit(writer, digest, "fourth"), Pair(Status.STOPPED, Phase.CLOSED))
        adoptions.succeed(ws, writer, digest, stopped)
    ws.attempt_folder(2, 1).mkdir(parents=True)


def computing(writer: w.Writer, row: w.AttemptRow) -> w.AttemptRow:
    for event, names in w.STRAIGHT[:3]:
        facts = tuple(w.Fact(name, 1, {"method": "test"}) for name in names)
        row = w.move(writer, row, event, facts=facts)
    return row


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    ws = w.make(tmp_path_factory.mktemp("audit") / "original")
    build(ws)
    return ws


@pytest.fixture
def place(original: Workspace, tmp_path: Path) -> Workspace:
    """A copy to damage, told that it is at home."""
    ws = Workspace(tmp_path / "ws")
    shutil.copytree(original.path, ws.path)
    connection = sqlite3.connect(ws.database)
    connection.execute("UPDATE input SET store = replace(store, ?, ?)", (str(original.path), str(ws.path)))
    connection.execute("UPDATE export SET path = replace(path, ?, ?)", (str(original.path), str(ws.path)))
    connection.commit()
    uuid = connection.execute("SELECT value FROM setting WHERE name = 'database_uuid'").fetchone()[0].strip('"')
    connection.close()
    from actum.generation import folder_identity

    write_generation(ws, uuid, 1, folder_identity(ws.path))
    return ws


def sql(*statements: str, guarded: bool = False) -> Callable[[Workspace], None]:
    """Damage by SQL, with the database's guards taken away meanwhile."""

    def damage(ws: Workspace) -> None:
        connection = sqlite3.connect(ws.database)
        kept = connection.execute(f"SELECT name, sql FROM sqlite_master WHERE name IN {GUARDS}").fetchall()
        for name, _ in kept:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
        for _, text in [] if guarded else kept:
            connection.execute(text)
        connection.commit()
        connection.close()

    return damage


def overwrite(name: str, text: str) -> Callable[[Workspace], None]:
    def damage(ws: Workspace) -> None:
        path = ws.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    return damage


def link_instead_of_package(ws: Workspace) -> None:
    target = ws.result_folder(1, 1)
    target.symlink_to(target.rename(ws.path / "aside"))


def reseal_copy(ws: Workspace) -> None:
    """derived.json as somebody wrote it who made a copy of another package look right."""
    other = {"schema": "actum.derived/1", "manifest_sha256": "0" * 64, "files": []}
    (ws.result_folder(1, 1) / "derived" / "derived.json").write_text(json.dumps(other))


def replace_kept_input(ws: Workspace) -> None:
    [content] = ws.inputs.glob("*/content")
    content.write_text("9,9\n")


def remove_kept_input(ws: Workspace) -> None:
    [content] = ws.inputs.glob("*/content")
    content.unlink()


def spoil_pages(ws: Workspace) -> None:
    connection = sqlite3.connect(ws.database)
    root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'journal_by_run'").fetchone()[0]
    connection.close()
    with ws.database.open("r+b") as file:
        file.seek((root - 1) * 4096 + 8)
        file.write(b"\x00\x40" * 4)


def renumber_generation(epoch: int, inode: int | None = None) -> Callable[[Workspace], None]:
    def damage(ws: Workspace) -> None:
        from actum.generation import folder_identity, read_generation

        recorded = read_generation(ws)
        assert recorded is not None
        folder = folder_identity(ws.path) if inode is None else FolderIdentity(inode, 0)
        write_generation(ws, recorded.database_uuid, epoch, folder)

    return damage


DAMAGES: list[tuple[str, str, Callable[[Workspace], None]]] = [
    ("integrity", "actum.db", spoil_pages),
    ("references", "attempt", sql("UPDATE attempt SET run = 99 WHERE run = 4")),
    ("guards", "attempt_arrow", sql("SELECT 1", guarded=True)),
    ("guards", "arrow", sql("INSERT INTO arrow VALUES ('FAILED', 'CLOSED', 'recorded', 'SUCCEEDED', 'CLOSED')")),
    ("generation", "generation", renumber_generation(9)),
    ("generation", "generation", renumber_generation(1, inode=1)),
    ("generation", "generation", lambda ws: ws.generation.unlink()),
    ("epochs", "run", sql("UPDATE run SET epoch = 77 WHERE number = 2")),
    ("legal_pairs", "run 2", sql("UPDATE attempt SET phase = 'CLOSED' WHERE run = 2")),
    ("legal_pairs", "run 3", sql("UPDATE attempt SET released = 1 WHERE run = 3")),
    ("recorded_arrows", "run 2", sql("UPDATE attempt SET phase = 'SEALING' WHERE run = 2")),
    ("recorded_arrows", "run 4", sql("""UPDATE journal SET data = replace(data, 'stop_asked', 'recorded') WHERE run = 4""")),
    ("one_current", "run 2", sql("UPDATE run SET current_attempt = 'none' WHERE number = 2")),
    ("one_current", "run 2", sql("UPDATE attempt SET n = 3 WHERE run = 2")),
    ("run_follows", "run 2", sql("UPDATE run SET status = 'FAILED' WHERE number = 2")),
    ("keys", "runs 1 and 2", sql("DROP INDEX run_key", "UPDATE run SET key = 'first' WHERE number = 2")),
    ("unreleased_alerts", "run 3", sql("UPDATE attempt SET finished_at_us = 5 WHERE run = 3")),
    ("fact_order", "run 2", sql("DELETE FROM fact WHERE fact = 'inputs_frozen' AND attempt = 2")),
    ("fact_order", "run 4", sql("DELETE FROM fact WHERE attempt = 4")),
    ("fact_order", "run 4", sql("UPDATE fact SET fact = 'blessed' WHERE attempt = 4")),
    ("success_proven", "run 1", sql("DELETE FROM fact WHERE fact = 'tree_gone'")),
    ("success_proven", "run 1", sql("DELETE FROM result_file", "DELETE FROM result")),
    ("success_proven", "run 1", sql("UPDATE attempt SET status = 'FAILED' WHERE run = 1")),
    ("released_facts", "run 1", sql("DELETE FROM fact WHERE fact = 'released'")),
    ("released_facts", "run 3", sql("INSERT INTO fact VALUES (3, 'released', 1, '{}', 1)")),
    ("adoptions", "run 5", sql("UPDATE run SET trigger = 'command' WHERE number = 5")),
    ("adoptions", "run 5", sql("UPDATE run SET adopted_attempt = 'nobody' WHERE number = 5")),
    ("adoptions", "run 5", sql("UPDATE attempt SET released = 0 WHERE run = 4")),
    (
        "adoptions",
        "deleted",
        sql("UPDATE run SET status = 'RUNNING' WHERE number = 5", "UPDATE run SET deletion = 'soft' WHERE number = 4"),
    ),
    ("adopted_facts", "sealed", sql(f"UPDATE fact SET evidence = {SAID} 'outcome') WHERE attempt = 5 AND fact = 'sealed'")),
    ("adopted_facts", "admitted", sql(f"UPDATE fact SET evidence = {SAID} 'adopted') WHERE attempt = 2 AND fact = 'admitted'")),
    ("adopted_facts", "another attempt", sql("UPDATE fact SET evidence = replace(evidence, 'attempt\":\"0', 'attempt\":\"1')")),
    ("adopted_packages", "results/5/1", overwrite("results/5/1/manifest.json", OTHERS)),
    ("packages", "manifest.json", lambda ws: (ws.result_folder(1, 1) / "manifest.json").unlink()),
    ("packages", "A link stands", link_instead_of_package),
    ("packages", "manifest.json", overwrite("results/1/1/manifest.json", "{}")),
    ("packages", "files/out.csv", overwrite("results/1/1/files/out.csv", "a,b\n9,9\n")),
    ("packages", "files/out.csv", overwrite("results/1/1/files/out.csv", "shorter")),
    ("packages", "“files/out.csv” is missing", lambda ws: (ws.result_folder(1, 1) / "files" / "out.csv").unlink()),
    ("packages", "“files/more.csv” is in the package", overwrite("results/1/1/files/more.csv", "")),
    ("packages", "derived.json is missing", lambda ws: (ws.result_folder(1, 1) / "derived" / "derived.json").unlink()),
    ("packages", "another manifest", reseal_copy),
    ("packages", "not the one that was published", reseal_copy),
    ("packages", "is another file in the database", sql("UPDATE result_file SET size = 9")),
    ("packages", "in the database and not in the manifest", sql("UPDATE result_file SET name = 'files/x'")),
    ("packages", "in the manifest and not in the database", sql("DELETE FROM result_file")),
    ("orphans", "results/7/1", overwrite("results/7/1/manifest.json", "{}")),
    ("orphans", "results/.incoming", overwrite("results/.incoming/x/manifest.json", "{}")),
    ("exports", "out.csv", overwrite("exports/out.csv", "c,d\n")),
    ("exports", "out.csv", lambda ws: (ws.exports / "out.csv").unlink()),
    ("attempt_folders", "attempts/9/1", overwrite("attempts/9/1/launch.json", "{}")),
    ("staging", "attempts/1/1/staging", overwrite("attempts/1/1/staging/files/late.csv", "")),
    ("input_store", "content", replace_kept_input),
    ("input_store", "content", remove_kept_input),
    ("input_leftovers", "inputs/.0-1", overwrite("inputs/.0-1/content", "")),
    ("input_leftovers", "inputs/unknown", overwrite("inputs/unknown/content", "")),
]


def test_an_undamaged_workspace_has_no_finding_and_everything_was_looked_at(place: Workspace) -> None:
    report = audit(place)
    assert report.findings == ()
    assert report.ok
    assert [check.name for check in report.checks if check.examined == 0] == []
    assert report.to_json()["examined"] == report.examined


@pytest.mark.parametrize(("name", "where", "damage"), DAMAGES, ids=[f"{name}-{i}" for i, (name, *_) in enumerate(DAMAGES)])
def test_damage_is_named_with_its_remedy(
    place: Workspace, name: str, where: str, damage: Callable[[Workspace], object]
) -> None:
    damage(place)
    [check] = audit(place, only=[name]).checks
    assert check.findings, f"{name} found nothing"
    assert any(where in f"{finding.subject} {finding.what}" for finding in check.findings), check.findings
    assert all(finding.remedy and finding.check == name for finding in check.findings)
    assert check.ok is all(finding.note for finding in check.findings)


def test_every_check_has_a_damage() -> None:
    assert {name for name, *_ in DAMAGES} == {name for name, *_ in CHECKS}
    assert len({name for name, *_ in CHECKS}) == len(CHECKS)


def test_what_a_user_may_do_is_a_note(place: Workspace) -> None:
    """A moved export is worth a word, and does not fail the audit."""
    (place.exports / "out.csv").unlink()
    report = audit(place, only=["exports"])
    assert report.ok
    assert report.findings[0].note


def test_a_package_being_published_is_no_orphan(place: Workspace) -> None:
    with w.writing(place) as writer:
        row = w.admit(writer, w.add_task(writer))
        w.bring_to(writer, row, Pair(Status.RUNNING, Phase.PUBLISHING))
        overwrite(f"results/{row.run}/1/manifest.json", "{}")(place)
        assert audit(place, only=["orphans"]).findings == ()


def test_findings_are_bounded_and_counted(place: Workspace) -> None:
    """AUDIT_FINDINGS_MAX: at it every finding is named; one more is counted."""
    for number in range(limits.AUDIT_FINDINGS_MAX):
        (place.attempts / "9" / str(number)).mkdir(parents=True)
    [check] = audit(place, only=["attempt_folders"]).checks
    assert (len(check.findings), check.more) == (limits.AUDIT_FINDINGS_MAX, 0)
    (place.attempts / "9" / "one more").mkdir()
    [check] = audit(place, only=["attempt_folders"]).checks
    assert (len(check.findings), check.more, check.ok) == (limits.AUDIT_FINDINGS_MAX, 1, False)


def test_progress_is_told(place: Workspace) -> None:
    told: list[tuple[int, int, str]] = []
    audit(place, progress=lambda done, total, title: told.append((done, total, title)))
    assert [done for done, *_ in told] == list(range(len(CHECKS)))
