"""Durable transitions: 16 producers through the store writer, against one raw FULL commit for each."""

from __future__ import annotations

import itertools
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from actum import clock
from actum.model.changes import Answer, Arrow, Change, Persisted
from actum.model.identity import uuid7
from actum.model.status import AttemptEvent, Pair, Phase, Status
from actum.store.writer import Writer
from actum.workspace import Workspace

from tests.bench.harness import Comparison
from tests.bench.stores import add_task, admit

PRODUCERS = 16
EACH = 200
RAW = 1_000


class Answers:
    """Counts the answers to `wanted` requests; all must be commits."""

    def __init__(self, wanted: int) -> None:
        self.left = wanted
        self.done = threading.Event()

    def take(self, answer: Answer) -> None:
        assert isinstance(answer, Persisted), answer
        self.left -= 1  # the writer's thread only
        if self.left == 0:
            self.done.set()


def transitions(writer: Writer) -> float:
    """Transitions a second: each an arrow with its look-up, conditions and trigger, answered after its commit."""
    rows = [admit(writer, run) for run in range(PRODUCERS * EACH)]
    answers = Answers(len(rows))
    arrow = Arrow(Pair(Status.CREATED, Phase.QUEUED), AttemptEvent.SLOT_GRANTED)

    def produce(part: int) -> None:
        for row in rows[part::PRODUCERS]:
            writer.submit(Change(row.attempt, row.run, arrow), answers.take)

    threads = [threading.Thread(target=produce, args=(part,)) for part in range(PRODUCERS)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    assert answers.done.wait(120)
    elapsed = time.perf_counter() - began
    for thread in threads:
        thread.join()
    return len(rows) / elapsed


def one_transition(writer: Writer) -> float:
    """Seconds for an admission that nobody shares a commit with."""
    began = time.perf_counter()
    admit(writer, 0)
    return (time.perf_counter() - began) * 1000


@contextmanager
def prepare(folder: Path) -> Iterator[list[Comparison]]:
    writer = Writer(Workspace(folder / "ours"))
    writer.start(uuid7(clock.utc_us()))
    add_task(writer)
    raw = sqlite3.connect(folder / "raw.db", isolation_level=None)
    raw.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, status)")
    values = itertools.count()
    raw.executemany("INSERT INTO t VALUES (?, 'a')", ((n,) for n in range(RAW)))

    def single_commits() -> float:
        value = next(values)  # a row that already holds the value would not be written at all
        began = time.perf_counter()
        for n in range(RAW):
            raw.execute("BEGIN IMMEDIATE")
            raw.execute("UPDATE t SET status = ? WHERE id = ?", (value, n))
            raw.execute("COMMIT")
        return RAW / (time.perf_counter() - began)

    try:
        yield [
            Comparison(
                f"durable transitions, {PRODUCERS} producers",
                "/s",
                lambda: transitions(writer),
                single_commits,
                "one raw FULL commit each",
                "≥ 10,000/s",
                lambda ours, ratio: ours >= 10_000,
                rounds=5,
            ),
            Comparison(
                "one admission",
                "ms",
                lambda: one_transition(writer),
                lambda: 1000 / single_commits(),
                "one raw FULL commit",
                "≤ 2 ms",
                lambda ours, ratio: ours <= 2,
                rounds=15,
            ),
        ]
    finally:
        writer.close()
        raw.close()
