"""A workspace with a few runs, written by the real store, for commands that only read."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from actum import canonical, clock
from actum.contracts.document import load
from actum.model.changes import AddTask, Admit, Persisted, RaiseAlert
from actum.model.changes import Note as StoreNote
from actum.model.facts import Fact, FactName
from actum.model.identity import uuid7
from actum.store.writer import Writer
from actum.workspace import Workspace, create_folders

TASK = "print-words"


def contract() -> dict[str, Any]:
    work = {"kind": "program", "program": "/bin/echo", "arguments": ["{words}"], "cwd": None}
    parameters = [{"name": "words", "type": "text", "title": "Words", "default": "hello"}]
    return load({"name": TASK, "title": "Print words", "work": work, "parameters": parameters}).to_json()


@contextmanager
def writing(ws: Workspace) -> Iterator[Writer]:
    """The store's writer of `ws`, opened and closed in order."""
    create_folders(ws)
    writer = Writer(ws)
    writer.start(str(uuid.uuid4()))
    try:
        yield writer
    finally:
        writer.close()


def fill(ws: Workspace, runs: int) -> None:
    """`runs` queued runs of one task."""
    with writing(ws) as writer:
        document = contract()
        digest = canonical.digest(document)
        now = clock.utc_us()
        assert isinstance(writer.ask(AddTask(TASK, "1", digest, document, False, now)), Persisted)
        for number in range(1, runs + 1):
            assert isinstance(writer.ask(_admit(number, digest, now)), Persisted)


def alert(ws: Workspace, run: int) -> None:
    with writing(ws) as writer:
        raised = RaiseAlert(f"stall:{run}", "no_progress", "warning", clock.utc_us(), {"for_s": 2520, "cpu_percent": 0.0}, run)
        assert isinstance(writer.ask(StoreNote(alerts=(raised,), run=run)), Persisted)


def _admit(number: int, digest: str, now: int) -> Admit:
    words = f"value {number}"
    return Admit(
        run_id=uuid7(now),
        attempt=uuid7(now + 1),
        task=TASK,
        task_version="1",
        contract_digest=digest,
        key=f"key-{number}",
        request_digest=canonical.digest({"words": words}),
        request=canonical.dumps({"words": words}),
        parameters={"words": words},
        inputs=(),
        trigger="command",
        labels=(),
        at_us=now,
        fact=Fact(FactName.ADMITTED, now, {"method": "request"}),
    )
