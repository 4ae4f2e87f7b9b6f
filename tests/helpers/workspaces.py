"""Workspaces with tasks and runs in them, made through the real writer."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from actum import canonical, clock
from actum.model.changes import AddTask, Admit, Answer, Arrow, Change, JournalEntry, NextAttempt, Persisted, ResultRow
from actum.model.facts import FACTS, Fact, FactName
from actum.model.identity import new_token, uuid7
from actum.model.run import AttemptRow, InputRow
from actum.model.status import AttemptEvent, Pair, Phase, Status
from actum.store.writer import Writer
from actum.workspace import Workspace, create_folders

E = AttemptEvent

CONTRACT: dict[str, Any] = {
    "schema": "actum.contract/1",
    "name": "sample",
    "title": "Sample",
    "version": "1",
    "description": "",
    "work": {"kind": "program", "program": "/bin/true", "arguments": [], "cwd": None},
    "parameters": [],
    "rules": [],
    "outputs": ["*"],
    "required": [],
    "tables": [],
    "metrics": [],
    "policies": {
        "start_deadline": "60s",
        "stage_deadlines": {},
        "deadline": None,
        "stall_after": "10m",
        "grace": "10s",
        "after_exit": "wait",
        "accepted_exit_codes": [0],
        "retry": {"maximum": 0, "codes": [], "first_delay": "10s", "factor": 2, "longest_delay": "10m"},
        "safe_to_repeat": False,
        "when_supervisor_is_lost": "continue",
        "limits": {},
        "resources": [],
    },
    "environment": {"profile": "inherit", "variables": {}},
}

# The way of a run that succeeds: event → the facts that its transaction establishes first.
STRAIGHT: tuple[tuple[AttemptEvent, tuple[FactName, ...]], ...] = (
    (E.SLOT_GRANTED, ()),
    (E.INPUTS_FROZEN, (FactName.INPUTS_FROZEN,)),
    (E.CONTACT_MADE, (FactName.LAUNCHED, FactName.CONTACT_MADE)),
    (E.WORK_COMPLETED, (FactName.COMPUTATION_ENDED,)),
    (E.OUTCOME_SEALED, (FactName.SEALED,)),
    (E.TREE_CLEAR, (FactName.HOST_EXITED, FactName.TREE_GONE, FactName.RELEASED)),
    (E.VERIFIED, (FactName.BYTES_VERIFIED, FactName.CONTENT_VERIFIED)),
    (E.RECORDED, (FactName.PUBLISHED, FactName.REFERENCE_COMMITTED, FactName.SUCCEEDED)),
)

# Events that lead from CREATED / QUEUED to each pair, without RETRYING.
_WAYS: dict[Pair, tuple[AttemptEvent, ...]] = {}


def way_to(pair: Pair) -> tuple[AttemptEvent, ...]:
    """The shortest list of events from CREATED / QUEUED to `pair`."""
    if not _WAYS:
        from actum.model.status import ARROWS

        start = Pair(Status.CREATED, Phase.QUEUED)
        _WAYS[start] = ()
        front = [start]
        while front:
            here = front.pop(0)
            for event, target in ARROWS[here].items():
                if target not in _WAYS and event is not AttemptEvent.ADOPTED:  # the way of work that is done
                    _WAYS[target] = (*_WAYS[here], event)
                    front.append(target)
    return _WAYS[pair]


def make(path: Path) -> Workspace:
    """A workspace with its folders and no database."""
    ws = Workspace(path.absolute())
    create_folders(ws)
    return ws


@contextmanager
def writing(ws: Workspace, **options: Any) -> Iterator[Writer]:
    """A started writer, closed at the end."""
    writer = Writer(ws, **options)
    writer.start(str(uuid.uuid4()))
    try:
        yield writer
    finally:
        writer.close()


def persisted(answer: Answer) -> Persisted:
    assert isinstance(answer, Persisted), answer
    return answer


def row_of(answer: Answer) -> AttemptRow:
    row = persisted(answer).row
    assert row is not None
    return row


def add_task(writer: Writer, name: str = "sample", version: str = "1", **policies: Any) -> str:
    """Define a task; the digest of its contract."""
    contract = {**CONTRACT, "name": name, "version": version, "policies": {**CONTRACT["policies"], **policies}}
    digest = canonical.digest(contract)
    persisted(writer.ask(AddTask(name, version, digest, contract, False, clock.utc_us())))
    return digest


def admission(digest: str, key: str | None = None, task: str = "sample", version: str = "1", **parameters: Any) -> Admit:
    """A request to admit a run of `task`."""
    now = clock.utc_us()
    request = canonical.dumps({"task": task, "version": version, "parameters": parameters})
    return Admit(
        run_id=uuid7(now),
        attempt=uuid7(now),
        task=task,
        task_version=version,
        contract_digest=digest,
        key=key or uuid.uuid4().hex,
        request_digest=canonical.digest(request),
        request=request,
        parameters=parameters,
        inputs=(),
        trigger="command",
        labels=(),
        at_us=now,
        fact=Fact(FactName.ADMITTED, now, {"method": "admission"}),
        journal=(JournalEntry("admitted", now, {}),),
    )


def admit(writer: Writer, digest: str, key: str | None = None, **parameters: Any) -> AttemptRow:
    return row_of(writer.ask(admission(digest, key, **parameters)))


def move(writer: Writer, row: AttemptRow, event: AttemptEvent, **more: Any) -> AttemptRow:
    """One arrow, with what it needs: tokens at the launch; facts and a result row when it is the success."""
    return row_of(writer.ask(moving(row, event, **more)))


def moving(row: AttemptRow, event: AttemptEvent, **more: Any) -> Change:
    """The request of `move`."""
    now = clock.utc_us()
    columns: dict[str, Any] = {}
    if event is E.INPUTS_FROZEN:
        columns = {
            "session": new_token(),
            "cookie": new_token(),
            "secret_sha256": "0" * 64,
            "folder": f"attempts/{row.run}/{row.n}",
        }
    if event is E.CONTACT_MADE:
        columns = {"started_at_us": now, "contact": "ok"}
    if event is E.RECORDED:
        more.setdefault("facts", tuple(Fact(name, now, {"method": "test"}) for name in FACTS))
        more.setdefault("result", result_row(row.run, row.n))
    columns |= more.pop("columns", {})
    return Change(row.attempt, row.run, Arrow(row.pair, event), columns=columns, **more)


def result_row(run: int, n: int, digest: str = "0" * 64, files: Sequence[Mapping[str, Any]] = ()) -> ResultRow:
    return ResultRow(f"results/{run}/{n}", digest, None, tuple(files), (), (), 0, 0)


def bring_to(writer: Writer, row: AttemptRow, pair: Pair) -> AttemptRow:
    """Walk a fresh attempt to `pair` by the shortest legal way."""
    for event in way_to(pair):
        row = move(writer, row, event)
    return row


def succeed(writer: Writer, row: AttemptRow, result: ResultRow | None = None) -> AttemptRow:
    """Walk a fresh attempt the straight way to SUCCEEDED, each fact with its arrow; the package is not made."""
    for event, names in STRAIGHT:
        now = clock.utc_us()
        more: dict[str, Any] = {"facts": tuple(Fact(name, now, {"method": "test"}) for name in names)}
        if event is E.RECORDED:
            more["result"] = result or result_row(row.run, row.n)
        row = move(writer, row, event, **more)
    return row


def succeed_with_package(ws: Workspace, writer: Writer, row: AttemptRow, text: str = "a,b\n1,2\n") -> AttemptRow:
    """`succeed`, with a small package on disk that the result row describes."""
    return succeed(writer, row, package(ws, row, text))


def package(ws: Workspace, row: AttemptRow, text: str = "a,b\n1,2\n") -> ResultRow:
    """A small package on disk, and the result row that describes it."""
    import hashlib
    import json

    folder = ws.result_folder(row.run, row.n)
    (folder / "files").mkdir(parents=True)
    (folder / "files" / "out.csv").write_text(text)
    file = {
        "name": "files/out.csv",
        "role": "output",
        "size": len(text),
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
    }
    sealed_for = row.adopts.attempt if row.adopts is not None else row.attempt
    said = {"schema": "actum.manifest/1", "attempt": sealed_for, "authority": {}, "contract": {}}
    manifest = json.dumps({"format_version": 1, "run": row.run, "files": [file], **said}).encode()
    (folder / "manifest.json").write_bytes(manifest)
    digest = hashlib.sha256(manifest).hexdigest()
    (folder / "derived").mkdir()
    derived = json.dumps({"schema": "actum.derived/1", "manifest_sha256": digest, "files": []}).encode()
    (folder / "derived" / "derived.json").write_bytes(derived)
    return replace(result_row(row.run, row.n, digest, (file,)), derived_digest=hashlib.sha256(derived).hexdigest())


def next_attempt(writer: Writer, row: AttemptRow) -> AttemptRow:
    """Attempt n+1 of a run in RETRYING."""
    return row_of(writer.ask(following(row)))


def following(row: AttemptRow) -> NextAttempt:
    """The request of attempt n+1."""
    now = clock.utc_us()
    fact = Fact(FactName.ADMITTED, now, {"method": "retry", "from": 1})
    return NextAttempt(row.run, uuid7(now), row.attempt, row.n + 1, now, (fact,))


def frozen_input(name: str = "prices", path: str = "/data/prices.csv") -> InputRow:
    return InputRow(name, path, "copy", "ab" * 32, 10, None, (1, 10, 2, 3))
