"""`python -m tests.bench [NAME …] [--rounds N] [--json]`: the benches of PERFORMANCE, one file each; all without a name.

`python -m tests.bench big_sort [--rows N …]` is a check of its own, with options of its own (`big_sort --help`).
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import tempfile
from pathlib import Path

from tests.bench.harness import Row, compare, table
from tests.house.sources import ROOT

NAMES = (
    "noop_runs",
    "frames",
    "commits",
    "listing",
    "reconcile",
    "open_runs",
    "publish",
    "verify",
    "host_overhead",
    "window_start",
    "table_browser",
    "exports",
    "fire",
)


def main() -> int:
    if sys.argv[1:2] == ["big_sort"]:
        return importlib.import_module("tests.bench.big_sort").main(sys.argv[2:])  # type: ignore[no-any-return]
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Ours and a bare reference, alternately.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)}")
    parser.add_argument("--rounds", type=int, help="measured pairs for each row; each bench has a default")
    parser.add_argument("--json", action="store_true", help="one object for each row instead of a table")
    args = parser.parse_args()
    if unknown := [name for name in args.names if name not in NAMES]:
        parser.error(f"there is no bench {unknown[0]}; there are {', '.join(NAMES)}")

    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    # An installed program has its bytecode beside it; programs that are measured here keep theirs where no source is.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(ROOT / "build" / "bench-bytecode")
    disk = ROOT / "build"  # the temporary directory may be memory, where an fsync costs nothing
    disk.mkdir(exist_ok=True)
    rows: list[Row] = []
    for name in args.names or NAMES:
        module = importlib.import_module(f"tests.bench.{name}")
        with tempfile.TemporaryDirectory(prefix="bench-", dir=disk) as folder, module.prepare(Path(folder)) as comparisons:
            for comparison in comparisons:
                sys.stderr.write(f"{name}: {comparison.what} …\n")
                rows.append(compare(comparison, args.rounds))
    for line in (json.dumps(row.to_json()) for row in rows) if args.json else table(rows):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
