"""Adoptions in a store without processes: the request, the arrow with what it takes over, and a success with its package."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from actum import clock
from actum.model.changes import Admit
from actum.model.facts import FACTS, POSITION, Fact, FactName
from actum.model.run import AttemptRow
from actum.model.status import AttemptEvent
from actum.store.writer import Writer
from actum.supervise import adopting
from actum.workspace import Workspace

from tests.helpers import workspaces as w

E = AttemptEvent
SEALED = {"sealed_by": "manifest", "manifest_sha256": "ab" * 32, "sealed_at_us": 7}


def asking(digest: str, of: AttemptRow, **more: Any) -> Admit:
    """The request of the run that adopts this attempt."""
    source = {"run": of.run, "n": of.n, "attempt": of.attempt}
    fact = Fact(FactName.ADMITTED, clock.utc_us(), {"method": "adoption", "from": source, **SEALED})
    asked = w.admission(digest, f"adoption:{of.attempt}")
    return replace(asked, adopts=of.attempt, trigger="adoption", fact=fact, **more)


def begin(writer: Writer, digest: str, of: AttemptRow, **more: Any) -> AttemptRow:
    """A run that adopts, at verification."""
    row = w.row_of(writer.ask(asking(digest, of, **more)))
    assert row.adopts is not None
    now = clock.read()
    facts = tuple(adopting.inherited(row.adopts, name, row.facts[FactName.ADMITTED], now) for name in adopting.INHERITED)
    return w.move(writer, row, E.ADOPTED, facts=facts)


def succeed(ws: Workspace, writer: Writer, digest: str, of: AttemptRow, **asked: Any) -> AttemptRow:
    """A run that adopts and succeeds, its package on disk."""
    row = begin(writer, digest, of, **asked)
    result = w.package(ws, row)
    for event, last in ((E.VERIFIED, FactName.CONTENT_VERIFIED), (E.RECORDED, FactName.SUCCEEDED)):
        known = max(POSITION[name] for name in row.facts)
        names = FACTS[known + 1 : POSITION[last] + 1]
        more: dict[str, Any] = {"facts": tuple(Fact(name, clock.utc_us(), {"method": "test"}) for name in names)}
        row = w.move(writer, row, event, **more, **({"result": result} if event is E.RECORDED else {}))
    return row
