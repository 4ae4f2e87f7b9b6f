"""The newest 200 of 1,000,000 runs, filtered, through the read side, against the bare indexed keyset query."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from actum import clock
from actum.model.identity import uuid7
from actum.store.queries import Reader
from actum.store.writer import Writer
from actum.workspace import Workspace

from tests.bench.harness import Comparison, seconds
from tests.bench.stores import TASK, add_task, admit, multiply

RUNS = 1_000_000
PAGE = 200
TIMES = 20
BARE = "SELECT * FROM run WHERE deletion = 'none' AND status = ? AND number < ? ORDER BY number DESC LIMIT ?"


def fill(ws: Workspace) -> None:
    writer = Writer(ws)
    writer.start(uuid7(clock.utc_us()))
    add_task(writer)
    admit(writer, 0)
    writer.close()
    connection = sqlite3.connect(ws.database, isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("BEGIN")
    multiply(connection, RUNS)
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


@contextmanager
def prepare(folder: Path) -> Iterator[list[Comparison]]:
    ws = Workspace(folder)
    fill(ws)
    bare = sqlite3.connect(f"file:{ws.database}?mode=ro", uri=True)

    def bare_page(before: int) -> float:
        return seconds(lambda: bare.execute(BARE, ("FAILED", before, PAGE)).fetchall(), TIMES) * 1000

    with Reader(ws) as reader:

        def page(before: int | None, statuses: list[str] | None, task: str | None = None) -> Callable[[], float]:
            def read() -> float:
                def ask() -> None:
                    assert len(reader.runs_page(before=before, limit=PAGE, statuses=statuses, task=task)) == PAGE

                return seconds(ask, TIMES) * 1000

            return read

        pages = {
            "all": (None, None, None, RUNS * 2),
            "failed ones": (None, ["FAILED"], None, RUNS * 2),
            "failed ones of a task": (None, ["FAILED"], TASK, RUNS * 2),
            "failed ones before run 500,000": (500_000, ["FAILED"], None, 500_000),
        }
        yield [
            Comparison(
                f"newest {PAGE} of {RUNS:,} runs: {name}",
                "ms",
                page(before, statuses, task),
                lambda start=start: bare_page(start),  # type: ignore[misc]
                "bare keyset query, no joins",
                "≤ 1 ms",
                lambda ours, ratio: ours <= 1,
            )
            for name, (before, statuses, task, start) in pages.items()
        ]
    bare.close()
