"""A long table sorted as the window sorts it, and by plain DuckDB: the same rows in the same order, proven by a digest.

    python -m tests.bench big_sort --rows 100000000 [--by name,-wave] [--memory-mib 768] [--folder DIR] [--keep]

The table is that of `table_browser`, 8 columns. Ours is the verb `view` of the helper program, asked as the window asks it;
DuckDB's is a program of its own with SQL of its own. Each writes all columns and the number of each row into a Parquet; the
digest is the sha256 of these numbers, 8 bytes each, in their order. Peak memory is that of each program alone. What one wrote
is removed before the other begins. It ends with 1 where the two differ.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from actum import limits
from actum.results import query
from actum.results.query import Order, Query

from tests.bench import table_browser
from tests.house.sources import ROOT

_ROOM_BYTES_PER_ROW = 250  # the table, what one of the two writes, and what it spills
_WRITE = """
import sys
from pathlib import Path
from tests.bench import table_browser
table_browser.write(Path(sys.argv[1]), int(sys.argv[2]))
"""
_PLAIN = """
import sys, duckdb
source, out, spill, memory, threads, order = sys.argv[1:]
settings = {"memory_limit": memory + "MiB", "threads": threads, "temp_directory": spill}
with duckdb.connect(config=settings) as connection:
    connection.execute("SET enable_progress_bar = false")
    connection.execute(
        f"COPY (SELECT *, file_row_number AS position FROM read_parquet('{source}', file_row_number=true) "
        f"ORDER BY {order}, file_row_number) TO '{out}' "
        "(FORMAT parquet, ROW_GROUP_SIZE 131072, COMPRESSION zstd, COMPRESSION_LEVEL 1)"
    )
"""


@dataclass(frozen=True)
class Sorted:
    """One of the two: seconds, peak memory in MB, the most that it spilled in MB, and the digest of the row numbers."""

    who: str
    seconds: float
    memory: float
    spilled: float
    rows: int
    digest: str


class _Watched:
    """A program and its temporary folder, looked at until it ends: how much both take at most."""

    def __init__(self, pid: int, folder: Path) -> None:
        self.memory = self.spilled = 0.0
        self._pid, self._folder = pid, folder
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._ended.wait(0.2):
            self.look()

    def look(self) -> None:
        try:
            told = Path(f"/proc/{self._pid}/status").read_text().splitlines()
            peak = next((line for line in told if line.startswith("VmHWM:")), "VmHWM: 0")
            self.memory = max(self.memory, int(peak.split()[1]) / 1024)
            found = [path.stat().st_size for path in self._folder.rglob("*") if "spill" in path.parts]
            self.spilled = max(self.spilled, sum(found) / 1e6)
        except (OSError, ValueError):
            return  # it ended, or a file of it went, while it was looked at

    def end(self) -> None:
        self._ended.set()
        self._thread.join()


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench big_sort", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--by", default="name,-wave", help="columns to sort by, the first counts most; “-” = largest first")
    parser.add_argument("--memory-mib", type=int, default=limits.QUERY_MEMORY_BYTES_MAX >> 20, help="for DuckDB's program")
    parser.add_argument("--folder", type=Path, default=ROOT / "build", help="where it has room; not a memory disk")
    parser.add_argument("--keep", action="store_true", help="leave the table and what was written where they are")
    args = parser.parse_args(arguments)
    args.folder.mkdir(exist_ok=True)
    if shutil.disk_usage(args.folder).free < args.rows * _ROOM_BYTES_PER_ROW:
        parser.error(f"{args.folder} has no room for {args.rows * _ROOM_BYTES_PER_ROW / 1e9:.0f} GB")
    order = tuple(Order(name.removeprefix("-"), name.startswith("-")) for name in args.by.split(","))
    folder = Path(tempfile.mkdtemp(prefix="big-sort-", dir=args.folder))
    try:
        table = folder / "table.parquet"
        _say(f"{args.rows:,} rows are written …")
        began = time.monotonic()
        subprocess.run([sys.executable, "-c", _WRITE, str(table), str(args.rows)], check=True)
        _say(f"{table.stat().st_size / 1e6:,.0f} MB in {time.monotonic() - began:,.1f} s; sorted by {args.by} …")
        ours = _ours(table, folder / "ours", order, args.keep)
        _tell(ours)
        plain = _plain(table, folder / "plain", order, args.memory_mib, args.keep)
        _tell(plain)
        return _compared(args.rows, ours, plain)
    finally:
        if args.keep:
            _say(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _compared(rows: int, ours: Sorted, plain: Sorted) -> int:
    same = ours.digest == plain.digest and ours.rows == plain.rows == rows
    load = " ".join(f"{number:.1f}" for number in os.getloadavg())
    found = "the same order" if same else "THE ORDERS DIFFER"
    print(f"{found}; ours takes {ours.seconds / plain.seconds:.2f} × DuckDB; load {load}")
    return 0 if same else 1


def _tell(made: Sorted) -> None:
    figures = f"{made.seconds:9,.1f} s  {made.memory:7,.0f} MB memory  {made.spilled:7,.0f} MB spilled  {made.rows:,} rows"
    print(f"{made.who:7} {figures}  sha256 {made.digest}", flush=True)


def _ours(table: Path, folder: Path, order: tuple[Order, ...], keep: bool) -> Sorted:
    """By the helper program: its progress is shown as it comes."""
    folder.mkdir()
    out = folder / "view.parquet"
    command = [sys.executable, "-m", "actum.helpers"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as helper:
        assert helper.stdin is not None
        assert helper.stdout is not None
        watched = _Watched(helper.pid, folder)
        began = time.monotonic()
        asked = {"path": str(table), "out": str(out), "query": Query(order=order).to_json()}
        helper.stdin.write(json.dumps({"id": 1, "verb": "view", "args": asked}) + "\n")
        helper.stdin.flush()
        for line in helper.stdout:
            answer = json.loads(line)
            if "progress" not in answer:
                break
            sys.stderr.write(f"\r{answer['progress'][0]} %  ")
        took = time.monotonic() - began
        watched.look()
        watched.end()
        helper.stdin.close()
    if "ok" not in answer:
        raise SystemExit(f"the view was not made: {answer}")
    return _digested("ours", out, query.ROW, took, watched, keep)


def _plain(table: Path, folder: Path, order: tuple[Order, ...], memory: int, keep: bool) -> Sorted:
    folder.mkdir()
    out = folder / "sorted.parquet"
    by = ", ".join(f'"{item.column}" {"DESC" if item.descending else "ASC"} NULLS LAST' for item in order)
    told = [str(table), str(out), str(folder / "spill"), str(memory), str(limits.QUERY_THREADS_MAX), by]
    began = time.monotonic()
    with subprocess.Popen([sys.executable, "-c", _PLAIN, *told]) as process:
        watched = _Watched(process.pid, folder)
        code = process.wait()
        took = time.monotonic() - began
        watched.end()
    if code:
        raise SystemExit(f"DuckDB's program ended with {code}")
    return _digested("DuckDB", out, "position", took, watched, keep)


def _digested(who: str, path: Path, column: str, took: float, watched: _Watched, keep: bool) -> Sorted:
    import pyarrow.parquet as pq

    digest, rows = hashlib.sha256(), 0
    with pq.ParquetFile(path, pre_buffer=False) as file:
        for batch in file.iter_batches(table_browser.GROUP, columns=[column]):
            numbers = batch.column(0)
            assert numbers.null_count == 0
            digest.update(numbers.to_numpy(zero_copy_only=False).astype("<i8").tobytes())
            rows += len(numbers)
    if not keep:
        shutil.rmtree(path.parent)
    return Sorted(who, took, watched.memory, watched.spilled, rows, digest.hexdigest())


def _say(words: str) -> None:
    sys.stderr.write(f"\r{words}\n")
