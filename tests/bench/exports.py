"""Exports of 20,000,000 × 8: every format written against the writers of DuckDB and pyarrow; and peak memory of each.

A Parquet is one that a view leaves, written anew; DuckDB's is packed alike. The memory is that of a process which exports the
table, re-reading included. ACTUM_BENCH_ROWS takes fewer rows, and then each pair is measured more than once; the memory of
JSON, which Python reads back, is that of JSON_ROWS at most, that of a workbook of WORKBOOK_ROWS.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.bench.harness import Comparison, seconds

ROWS = int(os.environ.get("ACTUM_BENCH_ROWS", "20000000"))
MANY_ROWS = 5_000_000  # beyond, a pair takes a minute: it is measured once, and nothing is warmed up
JSON_ROWS = 2_000_000
WORKBOOK_ROWS = 200_000
GROUP = 131_072
OPTIONS = {  # of DuckDB's writer
    ".csv": "FORMAT csv, HEADER",
    ".json": "FORMAT json, ARRAY true",
    ".jsonl": "FORMAT json",
    ".parquet": "FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1",
}
MEMORY = """
import sys
from pathlib import Path
from actum.results import digests, export
from tests.bench.exports import source
target = Path(sys.argv[2])
if target.suffix != ".none":
    table = source(Path(sys.argv[1]), whole=False)
    job = export.Job(table, target.suffix[1:], sys.argv[3], target.parent, digests.no_progress)
    job.run(target, "replace")
told = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print(int(told["VmHWM"].split()[0]) // 1024)  # of this program alone; ru_maxrss has that of its parent too
"""


def write(path: Path, rows: int) -> None:
    """Eight columns of the kinds that tables of results have."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    group = range(GROUP)
    made = pa.table(
        {
            "id": pa.array(group, pa.int64()),
            "day": pa.array([number % 20_000 for number in group], pa.int32()).cast(pa.date32()),
            "at": pa.array([1_700_000_000_000_000 + number * 1_000_003 for number in group], pa.timestamp("us", "UTC")),
            "price": pa.array([number * 7_919 % 1_000_003 for number in group])
            .cast(pa.decimal128(19))
            .cast(pa.decimal128(24, 2)),
            "drift": [math.sin(number) for number in group],
            "volume": pa.array([number * 31 % 100_000 for number in group], pa.int64()),
            "flag": [number % 3 == 0 for number in group],
            "name": [f"n{number % 5000}" for number in group],
        }
    )
    with pq.ParquetWriter(path, made.schema, compression="zstd", compression_level=1) as writer:
        for start in range(0, rows, GROUP):
            moved = made.set_column(0, "id", pc.add(made.column("id"), start))
            writer.write_table(moved.slice(0, min(GROUP, rows - start)), row_group_size=GROUP)


def source(path: Path, *, whole: bool = True) -> Any:
    """The file as an export's source; not `whole` = as a filtered one, whose Parquet is written anew."""
    import pyarrow.parquet as pq
    from actum.results import exportsource

    rows = pq.read_metadata(path).num_rows
    schema = pq.read_schema(path)
    batches = partial(exportsource.parquet_batches, path)
    return exportsource.Source("t", "t", "", schema, rows, batches, path if whole else None, view=None if whole else path)


def ours(path: Path, target: Path, *, back: bool) -> float:
    """Seconds for writing; with `back`, for being durable, read back, compared and named too."""
    from actum.results import digests, export, parquetcopy

    began = time.perf_counter()
    table = source(path, whole=False)
    format = target.suffix[1:]
    if back:
        export.Job(table, format, "data", target.parent, digests.no_progress).run(target, "replace")
    elif format == "parquet":
        assert parquetcopy.write(path, table.schema, target)
    else:
        with open(target, "wb") as file:
            export.DATA[format].write(file, table.batches(), table.schema, {})
    return time.perf_counter() - began


def duckdb(path: Path, target: Path) -> float:
    import duckdb as engine

    def copy() -> None:
        with engine.connect() as connection:
            connection.execute("SET threads = 2")
            connection.execute(f"COPY (SELECT * FROM read_parquet('{path}')) TO '{target}' ({OPTIONS[target.suffix]})")

    return seconds(copy)


def pyarrow(path: Path, target: Path) -> float:
    import pyarrow as pa
    import pyarrow.csv as csv
    import pyarrow.parquet as pq

    def copy() -> None:
        with pq.ParquetFile(path) as file:
            schema = file.schema_arrow
            made: dict[str, Callable[[], Any]] = {
                ".csv": lambda: csv.CSVWriter(str(target), schema),
                ".arrow": lambda: pa.ipc.new_file(str(target), schema),
                ".parquet": lambda: pq.ParquetWriter(target, schema, compression="zstd", compression_level=1),
            }
            with made[target.suffix]() as writer:
                for batch in file.iter_batches(batch_size=65_536):
                    writer.write_batch(batch)

    return seconds(copy)


def peak(path: Path, target: Path, profile: str) -> float:
    """MB that a process of its own reaches; with the ending .none, by its imports alone."""
    command = [sys.executable, "-c", MEMORY, str(path), str(target), profile]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@contextmanager
def prepare(folder: Path) -> Iterator[list[Comparison]]:
    from actum import limits

    path = folder / "t.parquet"
    write(path, ROWS)
    rows = f"{ROWS:,} × 8"
    bound = limits.EXPORT_MEMORY_BYTES_MAX >> 20
    rounds = 3 if ROWS <= MANY_ROWS else 1

    def row(ending: str, against: Callable[[Path, Path], float], *, back: bool, most: float) -> Comparison:
        target, other = folder / f"ours{ending}", folder / f"theirs{ending}"
        what = f"export {ending[1:]}, {rows}" + (", durable, read back and compared" if back else ", before the re-reading")
        reach = f"≤ {most} × {against.__name__}" if most < math.inf else "reported"

        def measured() -> float:
            took = ours(path, target, back=back)
            target.unlink()  # ten of them would be more than a disk has
            return took

        def compared() -> float:
            took = against(path, other)
            other.unlink()
            return took

        reference = f"{against.__name__}’s own writer"
        return Comparison(
            what, "s", measured, compared, reference, reach, lambda _ours, ratio: ratio <= most, rounds, rounds > 1
        )

    def memory(ending: str, profile: str, of: Path, count: int) -> Comparison:
        def measured() -> float:
            reached = peak(of, folder / f"peak{ending}", profile)
            (folder / f"peak{ending}").unlink()
            return reached

        def reference() -> float:
            return peak(of, folder / "peak.none", profile)

        what = f"peak memory of exporting {ending[1:]}, {count:,} × 8, written and compared"
        reach = f"≤ {bound} MB"
        return Comparison(
            what, "MB", measured, reference, "its imports", reach, lambda mb, _ratio: mb <= bound, 1, warm_up=False
        )

    fewer = {}
    for most in (JSON_ROWS, WORKBOOK_ROWS):
        fewer[most] = folder / f"{most}.parquet"
        write(fewer[most], min(ROWS, most))
    yield [
        row(".csv", duckdb, back=False, most=1.1),
        row(".csv", pyarrow, back=False, most=1.0),
        row(".csv", duckdb, back=True, most=math.inf),
        row(".json", duckdb, back=False, most=1.0),
        row(".jsonl", duckdb, back=False, most=1.0),
        row(".parquet", duckdb, back=False, most=1.1),
        row(".parquet", pyarrow, back=False, most=1.1),
        row(".parquet", duckdb, back=True, most=math.inf),
        row(".arrow", pyarrow, back=False, most=1.1),
        *(memory(ending, "data", path, ROWS) for ending in (".csv", ".parquet", ".arrow")),
        *(memory(ending, "data", fewer[JSON_ROWS], min(ROWS, JSON_ROWS)) for ending in (".json", ".jsonl")),
        memory(".xlsx", "spreadsheet", fewer[WORKBOOK_ROWS], min(ROWS, WORKBOOK_ROWS)),
    ]
