"""The task authors' package in real child processes: what a function says, how it ends, how a stop reaches it (§15)."""

from __future__ import annotations

import ast
import glob
import os
import pwd
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from actum.engines import sdkfolder

from tests.helpers.functions import command, prepared, read_messages, run_function
from tests.helpers.waiting import wait_until

SDK = Path(sdkfolder.PACKAGE, "sdk")

EVERYTHING = """
from __future__ import annotations
import datetime, enum
from decimal import Decimal
from typing import List, Optional
from actum.sdk import Column, Context, InputFile, task

class Side(enum.Enum):
    BUY = "buy"
    SELL = "sell"

@task(title="Everything")
def everything(
    ctx: Context, prices: InputFile, many: List[InputFile], n: int, d: Decimal, f: float, b: bool, day: datetime.date,
    at: datetime.datetime, wait: datetime.timedelta, side: Side, numbers: List[int], none: Optional[str] = None,
):
    assert (n, d, f, b, side, numbers, none) == (12, Decimal("0.10"), 1e-6, True, Side.SELL, [1, 2], None)
    assert day == datetime.date(2000, 1, 31) and at.tzinfo is not None and wait == datetime.timedelta(minutes=90)
    assert prices.sha256 == "aa" and prices.open().read() == "x" and prices.name == "original.csv"
    assert [file.path.name for file in many] == ["input.txt"]
    print("printed")
    ctx.log.info("logged")
    for _ in ctx.track(range(3), stage="load", unit="rows"):
        pass
    ctx.table("rows", ((i, Decimal(i)) for i in range(3)), [("i", "integer"), Column("d", "decimal", precision=5, scale=2)])
    ctx.metric("ratio", 0.1, rule="ratio.v1", observations=3)
    ctx.missing("sortino", reason="insufficient_observations", observations=3)
    ctx.record("trade", {"price": Decimal("1.10"), "day": day})
    (ctx.output / "report.html").write_text("<p>")
    ctx.file("report.html")
    ctx.checkpoint({"row": 3})
    ctx.note("A note.")
"""


def write(folder: Path, text: str, name: str = "work.py") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_function_gets_typed_values_and_says_everything(tmp_path: Path) -> None:
    read = write(tmp_path, "x", "input.txt")
    described = {"path": str(read), "original": "/far/original.csv", "sha256": "aa", "size": 1, "policy": "copy"}
    values = {
        "prices": str(read), "many": [str(read)], "n": 12, "d": "0.10", "f": "1e-06", "b": True, "day": "2000-01-31",
        "at": "2000-01-01T00:00:00.000000Z", "wait": "1h30m", "side": "sell", "numbers": [1, 2], "none": None,
    }  # fmt: skip
    ran = run_function(
        f"{write(tmp_path, EVERYTHING)}:everything", tmp_path / "run", values, {"prices": described, "many[0]": described}
    )
    assert ran.code == 0, ran.log
    assert "INFO logged" in ran.log
    assert (ran.output / "rows.jsonl").read_text() == '{"i":0,"d":"0.00"}\n{"i":1,"d":"1.00"}\n{"i":2,"d":"2.00"}\n'
    kinds = [next(iter(message)) for message in ran.messages if "progress" not in message]
    assert kinds == ["stage", "table", "metric", "unavailable", "record", "file", "checkpoint", "note", "done"]
    assert ran.last("progress") == {"progress": [3, 3], "unit": "rows"}
    assert ran.last("metric") == {
        "metric": "ratio", "value": "0.1", "rule": "ratio.v1", "observations": 3, "conversion": "float64"
    }  # fmt: skip
    assert ran.last("record")["data"] == {"price": "1.10", "day": "2000-01-31"}
    assert not (tmp_path / "__pycache__").exists()


def test_an_error_leaves_its_traceback_in_the_log_and_no_done(tmp_path: Path) -> None:
    text = "def f(ctx):\n    raise ValueError(3)\n"
    ran = run_function(f"{write(tmp_path, text)}:f", tmp_path / "run")
    assert ran.code == 1
    assert "ValueError: 3" in ran.log
    assert "run_function.py" not in ran.log
    assert ran.messages == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1", "has no function “f”"),
        ("raise RuntimeError('at import')", "at import"),
        ("def f(ctx, *rest): pass", "cannot be asked for by name"),
        ("def f(ctx, a): pass", "no value for “a”"),
        ("from actum.sdk import TaskFailed\ndef f(ctx): raise TaskFailed('No such luck.')", "No such luck.\n"),
    ],
)
def test_what_cannot_be_run_says_so(tmp_path: Path, text: str, words: str) -> None:
    ran = run_function(f"{write(tmp_path, text)}:f", tmp_path / "run")
    assert ran.code == 1
    assert words in ran.log
    assert not ran.messages


def test_any_function_works_without_knowing_actum_and_its_neighbours_can_be_imported(tmp_path: Path) -> None:
    write(tmp_path, "VALUE = 7", "neighbour.py")
    text = (
        "import neighbour, sys\n"
        "def f(n: int = 1):\n"
        "    with open('out.txt', 'w') as out:\n"
        "        out.write(str(neighbour.VALUE + n))\n"
        "    assert not [entry for entry in sys.path if entry.endswith('sdk')]\n"
    )
    ran = run_function(f"{write(tmp_path, text)}:f", tmp_path / "run", {"n": 1})
    assert ran.code == 0, ran.log
    assert (ran.output / "out.txt").read_text() == "8"
    assert ran.messages == [{"done": True}]


def test_done_waits_for_the_threads_the_function_started(tmp_path: Path) -> None:
    text = (
        "import threading, time\n"
        "def f(ctx):\n"
        "    def late():\n"
        "        time.sleep(0.3)\n"
        "        ctx.note('late')\n"
        "    threading.Thread(target=late).start()\n"
    )
    ran = run_function(f"{write(tmp_path, text)}:f", tmp_path / "run")
    assert ran.messages == [{"note": "late"}, {"done": True}]


def test_a_stop_reaches_the_next_check_and_ends_with_143(tmp_path: Path) -> None:
    text = (
        "import time\n"
        "def f(ctx):\n"
        "    ctx.note('ready')\n"
        "    while True:\n"
        "        try:\n"
        "            ctx.check_stop()\n"
        "        except Exception:\n"
        "            pass\n"
        "        time.sleep(0.01)\n"
    )
    folder = tmp_path / "run"
    environment = prepared(folder, {}, {})
    with subprocess.Popen(command(f"{write(tmp_path, text)}:f"), env=environment, stderr=subprocess.PIPE, text=True) as child:
        wait_until(lambda: read_messages(folder), what="the function's first word")
        child.send_signal(signal.SIGTERM)
        assert child.wait(20) == 143
        assert child.stderr is not None
        assert child.stderr.read() == "Stopped, as asked.\n"
    assert {"done": True} not in read_messages(folder)


def test_lines_of_several_processes_do_not_mix(tmp_path: Path) -> None:
    text = (
        "import os\n"
        "def f(ctx):\n"
        "    children = []\n"
        "    for number in range(4):\n"
        "        pid = os.fork()\n"
        "        if pid == 0:\n"
        "            for _ in range(200):\n"
        "                ctx.note(str(number) * 2000)\n"
        "            os._exit(0)\n"
        "        children.append(pid)\n"
        "    for pid in children:\n"
        "        os.waitpid(pid, 0)\n"
    )
    ran = run_function(f"{write(tmp_path, text)}:f", tmp_path / "run")
    notes = [message["note"] for message in ran.messages if "note" in message]
    assert sorted(notes) == sorted(str(number) * 2000 for number in range(4) for _ in range(200))


def test_progress_is_bounded_in_rate_and_the_last_always_written(tmp_path: Path) -> None:
    text = "def f(ctx):\n    for _ in ctx.track(range(100_000)):\n        pass\n    ctx.progress(1, 7)\n"
    ran = run_function(f"{write(tmp_path, text)}:f", tmp_path / "run")
    progress = [message["progress"] for message in ran.messages if "progress" in message]
    assert progress[-2:] == [[100_000, 100_000], [1, 7]]
    assert len(progress) < 200


def test_memory_stays_bounded_while_a_long_table_is_written(tmp_path: Path) -> None:
    text = (
        "import resource\n"
        "def f(ctx):\n"
        "    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "    n = ctx.table('t', ({'i': i, 's': 'x' * 200} for i in range(60_000)))\n"
        "    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before\n"
        "    assert n == 60_000 and grown < 8_000, grown\n"
    )
    ran = run_function(f"{write(tmp_path, text)}:f", tmp_path / "run")
    assert ran.code == 0, ran.log


def test_arrow_tables_and_data_frames_are_taken_as_they_are(tmp_path: Path) -> None:
    text = (
        "import datetime, decimal, pandas, pyarrow\n"
        "def f(ctx):\n"
        "    day, price = datetime.date(2000, 1, 1), decimal.Decimal('1.50')\n"
        "    ctx.table('arrow', pyarrow.table({'d': [day, None], 'p': [price, None], 'n': [1, 2]}))\n"
        "    ctx.table('frame', pandas.DataFrame({'x': [1.5, float('nan')], 'n': [1, 2], 's': ['a', None]}))\n"
        "    ctx.metric('m', pandas.Series([1.5, 2.5]).mean())\n"
    )
    spec = f"{write(tmp_path, text)}:f"
    ran = run_function(spec, tmp_path / "run", argv=command(spec, (sys.executable,)))
    assert ran.code == 0, ran.log
    assert (ran.output / "arrow.jsonl").read_text() == '{"d":"2000-01-01","p":"1.50","n":1}\n{"d":null,"p":null,"n":2}\n'
    assert (ran.output / "frame.jsonl").read_text() == '{"x":1.5,"n":1,"s":"a"}\n{"x":null,"n":2,"s":null}\n'
    assert ran.last("metric")["value"] == "2.0"


def test_r13_a_table_that_is_refused_leaves_no_file_to_publish_and_says_which_value(tmp_path: Path) -> None:
    """The work goes on after it; a date of Arrow's may lie where Python has none. A table written before stays."""
    text = (
        "import decimal, sys, pyarrow as pa\n"
        "from actum.sdk.cells import CellRefused\n"
        "def broken():\n"
        "    yield {'n': 1}\n"
        "    raise RuntimeError('the source is gone')\n"
        "def f(ctx):\n"
        "    days = pa.array([0, 3_700_000], pa.int32()).cast(pa.date32())\n"
        "    times = pa.array([0, -80_000_000_000_000_000]).cast(pa.timestamp('us', 'UTC'))\n"
        "    many = ({'n': n if n < 100_002 else decimal.Decimal('0.5')} for n in range(100_010))\n"
        "    ctx.table('kept', [{'n': 1}])\n"
        "    for name, rows, schema in (\n"
        "        ('far', pa.table({'day': days}), None), ('old', pa.table({'at': times}), None),\n"
        "        ('under', pa.table({'day': days}), [('day', 'text')]), ('long', many, [('n', 'integer')]),\n"
        "        ('gone', broken(), [('n', 'integer')]), ('kept', [{'n': 2}], None),\n"
        "    ):\n"
        "        try:\n"
        "            ctx.table(name, rows, schema)\n"
        "        except (CellRefused, RuntimeError, ValueError) as error:\n"
        "            print(name, '-', error, file=sys.stderr)\n"
        "    ctx.table('far', [{'n': 3}])\n"
    )
    spec = f"{write(tmp_path, text)}:f"
    ran = run_function(spec, tmp_path / "run", argv=command(spec, (sys.executable,)))
    assert ran.code == 0, ran.log
    assert sorted(path.name for path in ran.output.iterdir()) == ["far.jsonl", "kept.jsonl"]
    assert (ran.output / "kept.jsonl").read_text() == '{"n":1}\n'
    for words in (
        "far - Row 2: “day” holds a date outside the years 1 to 9999.",
        "old - Row 2: “at” holds a date outside the years 1 to 9999.",
        "under - Row ",
        "long - Row 100003: ",
        "gone - the source is gone",
        "kept - The table “kept” was written before",
    ):
        assert words in ran.log, ran.log


def test_the_folder_for_foreign_interpreters_holds_the_sdk_alone_and_is_made_once(tmp_path: Path) -> None:
    folder = sdkfolder.sdk_folder(tmp_path / "cache")
    assert sdkfolder.sdk_folder(tmp_path / "cache") == folder
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [folder.name]
    assert sorted(path.name for path in (folder / "actum").iterdir()) == ["__init__.py", "sdk"]
    text = "def f(ctx):\n    ctx.metric('m', 1)\n"
    spec = f"{write(tmp_path, text)}:f"
    ran = run_function(spec, tmp_path / "run", argv=[sys.executable, "-u", sdkfolder.runner(folder), spec])
    assert ran.last("metric") == {"metric": "m", "value": "1"}


@pytest.mark.parametrize("path", sorted(SDK.glob("*.py")), ids=lambda path: path.name)
def test_the_sdk_is_plain_python_3_9_and_imports_only_the_standard_library_and_itself(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Match)]
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            assert name.split(".")[0] in sys.stdlib_module_names or name.startswith("actum.sdk"), name


def old_python() -> str | None:
    """An interpreter of the oldest version we promise, where this machine has one."""
    candidates = [
        shutil.which("python3.9"),
        *glob.glob(f"{pwd.getpwuid(os.getuid()).pw_dir}/.pyenv/versions/3.9.*/bin/python3.9"),
    ]
    for path in filter(None, candidates):
        asked = subprocess.run([path, "-c", "import sys; print(sys.version_info[:2])"], capture_output=True, text=True)
        if asked.stdout.strip() == "(3, 9)":
            return path
    return None


def test_the_oldest_python_runs_it(tmp_path: Path) -> None:
    interpreter = old_python()
    if interpreter is None:
        pytest.skip("no Python 3.9 on this machine")
    text = (
        "from __future__ import annotations\n"
        "from actum.sdk import Context\n"
        "def f(ctx: Context, a: int, b: str | None = None):\n"
        "    ctx.table('t', [{'a': a}])\n"
        "    ctx.note(str(b))\n"
    )
    spec = f"{write(tmp_path, text)}:f"
    folder = sdkfolder.sdk_folder(tmp_path / "cache")
    ran = run_function(spec, tmp_path / "run", {"a": 3, "b": None}, argv=[interpreter, "-u", sdkfolder.runner(folder), spec])
    assert ran.code == 0, ran.log
    assert ran.last("note") == {"note": "None"}
