"""`python -m tests.stress.largesheet [--rows N]`: a table longer than a sheet, as a workbook, read by openpyxl (R11, §8).

SHEET_ROWS_MAX as it is, not lowered as in the suite: the first and the last row of each sheet are where they belong, and all
rows are there. Says how long it took and what memory the exporting process reached, its re-reading included.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

from actum import limits

import tests.conftest  # noqa: F401 - the user's own folders are never touched

GROUP = 65_536
EXPORT = """
import sys
from pathlib import Path
import pyarrow.parquet as pq
from actum.results import digests, export, exportsource
path, target = Path(sys.argv[1]), Path(sys.argv[2])
rows, schema = pq.read_metadata(path).num_rows, pq.read_schema(path)
source = exportsource.Source("prices", "t", "", schema, rows, lambda: exportsource.parquet_batches(path))
written = export.Job(source, "xlsx", "spreadsheet", target.parent, digests.no_progress).run(target, "refuse")
assert written.compared_rows == rows
told = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print(int(told["VmHWM"].split()[0]) // 1024)
"""


def row(number: int) -> tuple[Any, ...]:
    """What stands in row `number`, from 0, as openpyxl gives it."""
    return number, number / 100, None if number % 7 == 0 else f"n{number % 5000}"


def write(path: Path, rows: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([("id", pa.int64()), ("price", pa.decimal128(18, 2)), ("name", pa.string())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, GROUP):
            numbers = range(start, min(rows, start + GROUP))
            prices = [Decimal(number).scaleb(-2) for number in numbers]
            columns = [pa.array(numbers), pa.array(prices, schema.field(1).type), pa.array([row(n)[2] for n in numbers])]
            writer.write_table(pa.table(columns, schema=schema))


def check(path: Path, rows: int) -> list[str]:
    """What is wrong with the workbook; each sheet is named on the way."""
    import openpyxl

    wrong, seen = [], 0
    book = openpyxl.load_workbook(path, read_only=True)
    for sheet in book:
        first, last, count = None, None, 0
        cells = sheet.iter_rows(values_only=True)
        if next(cells) != ("id", "price", "name"):
            wrong.append(f"{sheet.title} has another header")
        for found in cells:
            first, last, count = found if first is None else first, found, count + 1
        expected = min(rows - seen, limits.SHEET_ROWS_MAX - 1)
        if (first, last, count) != (row(seen), row(seen + expected - 1), expected):
            wrong.append(f"{sheet.title} has {count:,} rows, from {first} to {last}; {expected:,} from {row(seen)} expected")
        sys.stdout.write(f"{sheet.title}: {count + 1:,} rows with its header, from {first} to {last}\n")
        seen += count
    return wrong if seen == rows else [*wrong, f"{seen:,} rows of {rows:,}"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.stress.largesheet", description=__doc__)
    parser.add_argument("--rows", type=int, default=limits.SHEET_ROWS_MAX + 1)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory(prefix="actum-sheet-") as name:
        source, target = Path(name) / "t.parquet", Path(name) / "t.xlsx"
        write(source, rows)
        begun = time.monotonic()
        command = [sys.executable, "-c", EXPORT, str(source), str(target)]
        peak_mb = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        took_s, size_mb = time.monotonic() - begun, target.stat().st_size / 1e6
        said = f"{rows:,} rows: {took_s:.0f} s with re-reading and comparing, {size_mb:.0f} MB, peak memory {peak_mb} MB"
        sys.stdout.write(said + f" (at most {limits.EXPORT_MEMORY_BYTES_MAX >> 20} MB)\n")
        wrong = check(target, rows)
        if peak_mb > limits.EXPORT_MEMORY_BYTES_MAX >> 20:
            wrong.append("more memory than EXPORT_MEMORY_BYTES_MAX")
    for each in wrong:
        sys.stdout.write(f"WRONG: {each}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
