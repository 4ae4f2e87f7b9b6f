"""Cold, durable, verified runs of a program that does nothing, two in flight; against Popen and three FULL commits."""

from __future__ import annotations

import itertools
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from actum.store.queries import Reader

from tests.bench.harness import Comparison
from tests.bench.supervised import closed, program, supervised
from tests.helpers.waiting import wait_until

RUNS = 20
COMMAND = (sys.executable, "-I", "-S", "-c", "pass")


@contextmanager
def prepare(folder: Path) -> Iterator[list[Comparison]]:
    raw = sqlite3.connect(folder / "raw.db", isolation_level=None)
    raw.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, status)")
    values = itertools.count()

    def reference() -> float:
        began = time.perf_counter()
        for _ in range(RUNS):
            for _ in range(3):
                raw.execute("INSERT INTO t (status) VALUES (?)", (next(values),))
            subprocess.run(COMMAND, check=True)
        return (time.perf_counter() - began) / RUNS * 1000

    with supervised(folder, program("noop", *COMMAND), slots=2) as ours, Reader(ours.ws) as reader:

        def runs() -> float:
            began = time.perf_counter()
            numbers = [ours.run("noop") for _ in range(RUNS)]
            wait_until(lambda: closed(reader, numbers), 120, f"{RUNS} runs")
            return (time.perf_counter() - began) / RUNS * 1000

        yield [
            Comparison(
                "verified no-op run, cold, 2 in flight",
                "ms",
                runs,
                reference,
                "Popen + 3 FULL commits",
                "cold: report; aim at 30 ms",
                lambda ours, ratio: ours <= 30,
                rounds=5,
            )
        ]
    raw.close()
