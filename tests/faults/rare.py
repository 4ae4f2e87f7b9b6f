"""What the matrix leaves out, struck with every action that reaches it: the points no run passes, and the runs that are held.

`python -m tests.faults --rare` strikes all of it. The points of an upgrade, of the acceptance of a copy or of a restored
database, of packing, of rebuilding and of a hand-over each have an occasion that passes them, and what a person does after.
At most of them no host lives: there `kill-host` and `kill-work` reach nobody. A run is *held* where its spool is gone with its
host, or where its outcome is forged and no host is there to say so (§6 row 14): the hold must be said, the slot stay taken, and
the word of a person end it.
"""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from actum.generation import read_endpoint, read_generation, write_generation
from actum.store.migrations import upgrade
from actum.store.revisions import REVISIONS
from actum.workspace import Workspace, create_folders

from tests.faults import matrix, roles
from tests.faults.matrix import KILLS, Case, Verdict
from tests.faults.scenarios import DATA, Flight, Stage
from tests.helpers.waiting import wait_until
from tests.process.test_take_over import SUCCESSOR

BUG = 70
HELD_S_MAX = 60.0
_ONE_UPGRADE = threading.Lock()  # Alembic serves one thread at a time
WITHOUT_HOST = ("kill-host", "kill-work")


class Occasion(NamedTuple):
    """How a point comes to be passed: what is there before, the words of the command that passes it, and `after`: what a person
    does then, and what must hold."""

    prepare: Callable[[Stage], None]
    words: Callable[[Stage], tuple[str, ...]]
    after: Callable[[Stage], None]


def _old(stage: Stage) -> None:
    create_folders(stage.ws)
    with _ONE_UPGRADE:
        connection = sqlite3.connect(stage.ws.database, isolation_level=None)
        upgrade(connection, REVISIONS[0])
        connection.close()


def _revision(database: Path) -> str:
    connection = sqlite3.connect(database)
    try:
        return str(connection.execute("SELECT version_num FROM alembic_version").fetchone()[0])
    finally:
        connection.close()


def _upgraded(stage: Stage) -> None:
    assert stage.define_task().returncode == 0
    assert _revision(stage.ws.database) == REVISIONS[-1]
    backups = list(stage.ws.backups.iterdir())
    assert {_revision(path) for path in backups if path.suffix == ".db"} == {REVISIONS[0]}, "a backup is whole, or not there"
    assert [path.name for path in backups if path.suffix != ".db"] == [], "nothing half-made stays"


def _copied(stage: Stage) -> None:
    assert stage.define_task().returncode == 0
    original, stage.ws = stage.ws, Workspace(stage.folder / "copy")
    shutil.copytree(original.path, stage.ws.path)


def _restored(stage: Stage) -> None:
    assert stage.define_task().returncode == 0
    recorded = read_generation(stage.ws)
    assert recorded is not None
    write_generation(stage.ws, recorded.database_uuid, recorded.epoch + 40, recorded.folder)
    assert stage.define_task().returncode == 0  # another start: it finds itself behind, and remembers


def _accepted(word: str) -> Callable[[Stage], None]:
    def after(stage: Stage) -> None:
        stage.run("doctor", word, code=None)
        assert stage.define_task().returncode == 0

    return after


def success(stage: Stage) -> None:
    """Run 1, with one table."""
    assert stage.define_task().returncode == 0
    data = stage.folder / "data.csv"
    data.write_text(f"heading\n{DATA}")
    stage.run("run", "work", "--set", "wanted=succeed", "--set", f"data={data}")


def _pack(stage: Stage) -> tuple[str, ...]:
    return "pack", "1", "-o", str(stage.folder / "result.zip"), "--overwrite"


def _packed(stage: Stage) -> None:
    if (stage.folder / "result.zip").exists():
        stage.run("verify", str(stage.folder / "result.zip"))
    stage.run(*_pack(stage))
    stage.run("verify", str(stage.folder / "result.zip"))


def _spoilt(stage: Stage) -> None:
    success(stage)
    table = next((stage.ws.result_folder(1, 1) / "derived").rglob("*.parquet"))
    table.chmod(0o644)
    table.write_bytes(b"not a table")


def _rebuilt(stage: Stage) -> None:
    stage.run("verify", "1", "--rebuild")
    stage.run("verify", "1")


OCCASIONS = {
    "store.backup.rename": Occasion(_old, lambda stage: ("task", "add", "any", "--program", "/bin/true"), _upgraded),
    "store.copy": Occasion(_copied, lambda stage: ("doctor", "--accept-copy"), _accepted("--accept-copy")),
    "store.restored": Occasion(_restored, lambda stage: ("doctor", "--accept-restored"), _accepted("--accept-restored")),
    "pack.fsync": Occasion(success, _pack, _packed),
    "pack.rename": Occasion(success, _pack, _packed),
    "rebuild.rename": Occasion(_spoilt, lambda stage: ("verify", "1", "--rebuild"), _rebuilt),
}
HANDOVER = "controller.handover"


def cases() -> list[Case]:
    """Every rare point with every action that reaches somebody, then every run that is held."""
    found = [
        Case("rare", f"{place}.{side}", 1, action)
        for place in (*OCCASIONS, HANDOVER)
        for side in ("before", "after")
        for action in matrix.actions(f"{place}.{side}")
        if place == HANDOVER or action not in WITHOUT_HOST
    ]
    return found + [Case("held", point, 1, action) for point, action in sorted(matrix.HELD_FOR_EVER)]


def judge(case: Case, folder: Path) -> Verdict:
    """Strike one case in a workspace of its own."""
    stage = Stage(Path(tempfile.mkdtemp(prefix="stage-", dir=folder)))
    trace = stage.folder / "passed"
    flight = Flight(stage, "rare", fault=f"trace={trace},{case.fault}")
    try:
        found = list(_how(case)(case, flight))
    except Exception as error:
        found = [f"{type(error).__name__}: {error}", traceback.format_exc()]
    stage.kill_leftovers()
    return Verdict(case, matrix.reached(case, trace, flight), tuple(found), stage.folder)


def _how(case: Case) -> Callable[[Case, Flight], Iterator[str]]:
    if case.scenario == "held":
        return _held
    return _handed_over if case.point.startswith(HANDOVER) else _struck


def _struck(case: Case, flight: Flight) -> Iterator[str]:
    occasion, stage = OCCASIONS[case.point.rpartition(".")[0]], flight.stage
    occasion.prepare(stage)
    code = flight.do("struck", *occasion.words(stage), fault=flight.fault)
    if code == BUG or "Traceback" in flight.words["struck"]:
        yield f"the fault is answered as a defect: {code}: {flight.words['struck'][-400:]}"
    if case.action in KILLS and code != -signal.SIGKILL:
        yield f"the app was to be killed and ended {code}"
    if case.action.startswith("delay") and code != 0:
        yield f"a delay alone made it end {code}: {flight.words['struck'][-400:]}"
    yield from flight.broken
    occasion.after(stage)
    stage.run("audit")


def _handed_over(case: Case, flight: Flight) -> Iterator[str]:
    """One supervises work that waits; another asks it to give way. The work comes to its end, once, whoever is killed."""
    stage = flight.stage
    assert stage.define_task().returncode == 0
    first = stage.start("supervise", fault=flight.fault)
    wait_until(lambda: (read_endpoint(stage.ws) or {}).get("pid") == first.pid, HELD_S_MAX, "the supervisor")
    flight.end("run", flight.begin("stop", "", "--detach"))
    wait_until(lambda: stage.said(flight.key), HELD_S_MAX, "the work's start")
    stage.entry, entry = SUCCESSOR, stage.entry
    second = stage.start()
    stage.entry = entry
    wait_until(lambda: case.action in _traced(flight) or second.poll() is not None, HELD_S_MAX, "the hand-over")
    stage.gate.touch()
    flight.end("second", second)
    flight.end("first", first)
    flight.go_on()
    yield from flight.broken
    if stage.said(flight.key).count("start") != 1:
        yield f"the work said {stage.said(flight.key)}"
    stage.run("audit")
    row = _attempt(stage)
    wanted = {"SUCCEEDED"} if case.action not in KILLS or case.action == "kill-app" else {"FAILED"}
    if not row.released or row.status not in wanted:
        yield f"the run is {row.status}, released {row.released}; one of {wanted} was to come"


def _held(case: Case, flight: Flight) -> Iterator[str]:
    """The hold is said in its alert and by `show`; nothing is closed, nothing released; a person's word ends it."""
    stage = flight.stage
    assert stage.define_task().returncode == 0
    process = flight.begin("rob", flight.fault)
    _until_held_or_dead(stage, process)
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    flight.end("run", process)
    flight.do("look", "reconcile")
    if _is_told(case, stage):
        stage.run("audit")
        return
    alerts = _alerts(stage)
    row, shown = _attempt(stage), stage.run("show", "1").stdout
    if row.released or row.phase == "CLOSED" or row.status not in ("RUNNING", "STARTING"):
        yield f"what nobody can tell was decided: {row.status}/{row.phase}, released {row.released}"
    if "cannot_tell" not in alerts or not alerts["cannot_tell"].get("waiting_for"):
        yield f"the hold is not said with what it waits for: {alerts}"
    if "Cannot tell" not in shown or "slot stays taken" not in flight.words["look"]:
        yield f"a person is not told of the hold: {shown[:300]}{flight.words['look']}"
    roles.kill(stage.ws.path, roles.WORK)
    wait_until(lambda: not roles.find(stage.ws.path), HELD_S_MAX, "the end of the work")
    stage.run("reconcile", "--attest", "1", "--yes", "--wait")
    row = _attempt(stage)
    if (row.status, row.released) != ("FAILED", True):
        yield f"attested, it is {row.status}, released {row.released}"
    if stage.said(flight.key).count("start") != 1:
        yield f"the work said {stage.said(flight.key)}"
    stage.run("audit")


def _is_told(case: Case, stage: Stage) -> bool:
    """Whether the work was killed before it could forge an outcome in the new spool: what is there proves the host lost."""
    row = _attempt(stage)
    told = (row.status, row.failure_code, row.released) == ("FAILED", "host_lost", True)
    return told and case.point == "spool.restored.rename.after" and case.action == "kill-all"


def _until_held_or_dead(stage: Stage, process: subprocess.Popen[str]) -> None:
    wait_until(
        lambda: process.poll() is not None or "cannot_tell" in _alerts(stage),
        HELD_S_MAX,
        "the hold, or the end of the app",
    )


def _alerts(stage: Stage) -> dict[str, dict[str, Any]]:
    if not stage.ws.database.exists():
        return {}
    with stage.reader() as reader:
        return {row.code: dict(row.data) for row in reader.alerts(open_only=True)}


def _attempt(stage: Stage) -> Any:
    with stage.reader() as reader:
        return reader.attempts(1)[-1]


def _traced(flight: Flight) -> str:
    trace = flight.stage.folder / "passed"
    return trace.read_text() if trace.exists() else ""
