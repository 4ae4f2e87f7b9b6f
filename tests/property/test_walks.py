"""Random legal walks of several runs keep every invariant that the audit knows (R01, R02, R03, R06, P09, P10)."""

from __future__ import annotations

import tempfile
from pathlib import Path

from actum.model.changes import Persisted, StopRun
from actum.model.status import ARROWS, RETRYABLE, RUN_TERMINAL, AttemptEvent, Phase, RunStatus, after
from actum.store.audit import audit
from actum.store.queries import Reader
from actum.store.writer import Writer
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import workspaces as w

INVARIANTS = ("integrity", "references", "epochs", "legal_pairs", "recorded_arrows", "one_current", "run_follows", "keys")
STEPS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9), st.booleans()), max_size=60)


@given(STEPS)
@settings(max_examples=25)
def test_walks_keep_the_invariants(steps: list[tuple[int, int, bool]]) -> None:
    """Each step moves one of three runs: an event of its pair, a retry, a stop while retrying, a new writer in between."""
    with tempfile.TemporaryDirectory() as folder:
        ws = w.make(Path(folder) / "ws")
        with w.writing(ws) as writer:
            digest = w.add_task(writer)
            rows = [w.admit(writer, digest) for _ in range(3)]
            for which, choice, retry in steps:
                rows[which] = step(writer, rows[which], choice, retry)
        report = audit(ws, only=INVARIANTS)
        assert report.findings == ()
        with Reader(ws) as reader:
            unfinished = {row.run for row in rows if not (row.pair.phase is Phase.CLOSED and row.run_status in RUN_TERMINAL)}
            assert {row.run for row in reader.attempt_rows()} == unfinished


def step(writer: Writer, row: w.AttemptRow, choice: int, retry: bool) -> w.AttemptRow:
    """One legal thing that can happen to the run, or nothing where it is closed."""
    if row.run_status is RunStatus.RETRYING and choice % 2:
        if row.released:
            return w.next_attempt(writer, row)
        return w.row_of(writer.ask(StopRun(row.run, 1)))
    ways = sorted(set(ARROWS[row.pair]) - {AttemptEvent.ADOPTED})  # which only a run that adopts may take
    if not ways:
        return row
    event: AttemptEvent = ways[choice % len(ways)]
    target = after(row.pair, event)
    asked = {"run_columns": {"stop_requested_at_us": 1}} if event is AttemptEvent.STOP_ASKED else {}
    wanted = {"retry_at_us": 5} if retry and target.status in RETRYABLE else {}
    answer = writer.ask(w.moving(row, event, **asked, **wanted))
    assert isinstance(answer, Persisted)
    moved = w.row_of(answer)
    assert moved.pair == target
    assert moved.released or not row.released
    if target.status is not row.pair.status:
        retries = bool(wanted) and moved.stop_requested_at_us is None
        assert (moved.run_status is RunStatus.RETRYING) is retries
    return moved
