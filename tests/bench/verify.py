"""Verification of a package with a large Arrow table, by the helper: against sha256 of the same files and reading the Parquet.

Each level against its own bare reference, the slower of which bounds the whole: *bytes* against one sha256 over every file,
*content* against decoding the Parquet alone, both together against doing these two one after the other. In bytes of the
authority a second. The peak memory is that of the helper process, after the check.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from actum import limits
from actum.results.manifest import Messages
from actum.sdk.context import Context

from tests.bench.harness import Comparison
from tests.helpers import arrowtables, packages

ROWS = int(os.environ.get("ACTUM_BENCH_ROWS", 20_000_000))
PEAK_MIB_MAX = 300


def batches(rows: int) -> Iterator[pa.RecordBatch]:
    """Eight columns such as results have: times, prices, counts, words; some values missing."""
    random = np.random.default_rng(1)
    words = np.array(["AAPL", "MSFT", "600519.SH", "EURUSD", None], dtype=object)
    for start in range(0, rows, limits.BATCH_ROWS):
        count = min(limits.BATCH_ROWS, rows - start)
        number = np.arange(start, start + count)
        yield pa.record_batch(
            {
                "n": pa.array(number),
                "at": pa.array(number * 1_000_000, pa.timestamp("us", "UTC")),
                "price": pa.array(random.normal(100, 5, count)),
                "ratio": pa.array(random.normal(0, 1, count).astype("float32")),
                "volume": pa.array(random.integers(0, 1 << 20, count), mask=random.random(count) < 0.1),
                "open": pa.array(random.random(count) < 0.5),
                "day": pa.array((number // 10_000).astype("int32"), pa.date32()),
                "name": pa.array(words[random.integers(0, len(words), count)], pa.string()),
            }
        )


def package(folder: Path, rows: int) -> packages.Made:
    place = packages.staging(folder)
    ctx = Context.local(place / "files")
    ctx.table("t", batches(rows))
    return packages.finish(place, Messages(tables=ctx.messages), contract=arrowtables.CONTRACT, required=[])


class Checking:
    """A helper process that checks one package at one level after another."""

    def __init__(self, made: packages.Made) -> None:
        pipe = subprocess.PIPE
        command = [sys.executable, "-m", "actum.helpers"]
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe)
        self._made = made

    def check(self, level: str) -> float:
        """Seconds of one check."""
        args = {"package": str(self._made.path), "digest": self._made.sealed.manifest_sha256, "level": level}
        began = time.perf_counter()
        answer = self._ask({"id": 1, "verb": "check", "args": {**args, "expected": None}})
        assert answer["ok"]["state"] == "readable", answer
        return time.perf_counter() - began

    def peak_mib(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        while True:
            answer: dict[str, Any] = json.loads(self.process.stdout.readline())
            if "progress" not in answer:
                return answer

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


@contextmanager
def prepare(folder: Path) -> Iterator[list[Comparison]]:
    made = package(folder, ROWS)
    authority, parquet = made.path / "tables" / "t.arrow", made.path / "derived" / "t.parquet"
    mib = authority.stat().st_size / (1 << 20)
    checking = Checking(made)

    def sha256_s() -> float:
        began = time.perf_counter()
        for path in (authority, parquet):
            with open(path, "rb") as file:
                hashlib.file_digest(file, "sha256")
        return time.perf_counter() - began

    def decode_s() -> float:
        began = time.perf_counter()
        with pq.ParquetFile(parquet) as file:
            for _ in file.iter_batches(batch_size=limits.BATCH_ROWS, use_threads=False):
                pass
        return time.perf_counter() - began

    def row(what: str, ours: Any, reference: Any, against: str) -> Comparison:
        reach, met = "≥ 0.7 × the reference", lambda ours, ratio: ratio >= 0.7
        return Comparison(what, "MiB/s", lambda: mib / ours(), lambda: mib / reference(), against, reach, met, rounds=3)

    yield [
        row(f"verify {ROWS:,} × 8, bytes", lambda: checking.check("bytes"), sha256_s, "sha256 of both files"),
        row(
            f"verify {ROWS:,} × 8, bytes and content",
            lambda: checking.check("content"),
            lambda: sha256_s() + decode_s(),
            "sha256 of both files, then Parquet read",
        ),
        Comparison(
            f"verify {ROWS:,} × 8, peak memory",
            "MiB",
            checking.peak_mib,
            lambda: float(PEAK_MIB_MAX),
            "the bound",
            f"≤ {PEAK_MIB_MAX} MiB",
            lambda ours, ratio: ratio <= 1,
            rounds=1,
        ),
    ]
    checking.close()
