"""Work that fails: its status, its code, the words a person reads, and the exit code of the command (§16)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.app import App


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    app = App(tmp_path)
    yield app
    app.end()


@pytest.mark.parametrize(
    ("source", "code", "words"),
    [
        ("import sys; sys.exit(3)", "work_failed", "3"),
        ("import os; os.abort()", "work_crashed", "SIGABRT"),
        ("print('nothing written')", "result_incomplete", "*.csv"),
    ],
)
def test_unsuccessful_work_says_why(app: App, source: str, code: str, words: str) -> None:
    """R13, §16: exit 1, the failure's code and words, the log and the files of the attempt still at hand."""
    part = 'import os; open(os.path.join(os.environ["ACTUM_OUTPUT"], "part.txt"), "w").write("half")\n'
    app.define("--required", "*.csv", source=part + source + "\n")
    app.run("run", "work", code=1)
    shown = app.json("show", "1")
    assert (shown["status"], shown["released"], shown["failure"]["code"]) == ("FAILED", True, code)
    assert words in shown["failure"]["message"]
    assert shown["result"] is None
    assert "not a result" in shown["unverified_files"]["label"]
    assert [file["name"] for file in shown["unverified_files"]["files"]] == ["part.txt"]
    app.run("results", "1", code=3)
    app.run("audit")


def test_a_program_that_cannot_be_started(app: App) -> None:
    """start_error: the command is named, nothing was computed."""
    program = app.folder / "tool"
    program.write_text("#!/nowhere/interpreter\n")
    program.chmod(0o755)
    app.run("task", "add", "tool", "--program", str(program))
    app.run("run", "tool", code=1)
    failure = app.json("show", "1")["failure"]
    assert failure["code"] == "start_error"
    assert "interpreter" in failure["message"]
    assert str(program) in failure["message"]


def test_a_failed_attempt_is_tried_again_as_declared(app: App) -> None:
    """§12: with a retry declared, attempt 2 follows once attempt 1 is released, with the same frozen inputs."""
    flag = app.folder / "second"
    source = f"""
import os, sys
open(sys.argv[1], "a").write(f"{{os.getpid()}}\\n")
if not os.path.exists({str(flag)!r}):
    open({str(flag)!r}, "w")
    sys.exit(1)
"""
    app.define("--retries", "1", source=source)
    app.run("run", "work", timeout_s=90)
    shown = app.json("show", "1")
    assert (shown["status"], [each["status"] for each in shown["attempts"]]) == ("SUCCEEDED", ["FAILED", "SUCCEEDED"])
    assert len(app.pids()) == 2
    app.run("audit")


def test_the_interpreter_of_the_tests_runs_the_work(app: App) -> None:
    """The command is started as it was given, without a shell."""
    app.define(source="import sys; print(sys.executable); print('$HOME', sys.argv[3])\n", steps=7)
    app.run("run", "work")
    log = app.run("logs", "1").stdout
    assert sys.executable in log
    assert "$HOME 7" in log


@pytest.mark.parametrize("point", ["publish.derived.rename.before", "publish.rename.before"])
def test_a_full_disk_after_sealing_waits_and_loses_nothing(app: App, point: str) -> None:
    """R18: deriving and publishing wait for room and go on by themselves; a sealed result is never failed for it."""
    app.define(gated=False)
    app.run("run", "work", fault=f"{point}:error=ENOSPC", timeout_s=120)
    assert app.status() == "SUCCEEDED"
    assert {"step_waits", "publish_pending"} & set(app.journal())
    assert app.lines("alerts") == []
    assert len(app.pids()) == 1
    app.run("audit")


def test_work_that_runs_its_own_workspace_is_told_that_it_may_wait_for_itself(app: App) -> None:
    """R06: with one slot the inner run waits for the slot its caller holds; it says so, and detaching does not wait."""
    app.define(gated=False)
    output = app.ws.attempt_folder(1, 1) / "staging" / "files"
    done = app.run("run", "work", ACTUM_OUTPUT=str(output))
    assert "--detach" in done.stderr
    assert "--detach" not in app.run("run", "work", ACTUM_OUTPUT=str(app.folder)).stderr


@pytest.mark.parametrize("missing", [False, True])
def test_r17_a_kept_input_that_was_damaged_is_set_aside_and_kept_anew(app: App, missing: bool) -> None:
    """What happened to the store's copy says nothing of the user's file, and must not stand in the way of every later run."""
    given = app.folder / "in.txt"
    given.write_text("hello\n")
    source = 'import os, shutil, sys\nshutil.copy(sys.argv[1], os.path.join(os.environ["ACTUM_OUTPUT"], "out.txt"))\n'
    script = app.folder / "take.py"
    script.write_text(source)
    app.run("task", "add", "copy", "--program", sys.executable, f"--arg={script}", "--arg={data}", "--param", "data:file")
    app.run("run", "copy", "--set", f"data={given}")
    (kept,) = app.ws.inputs.glob("*/content")
    kept.parent.chmod(0o700)
    kept.chmod(0o600)
    if missing:
        kept.unlink()
    else:
        kept.write_text("other\n")
    app.run("run", "copy", "--set", f"data={given}")
    assert (app.ws.result_folder(2, 1) / "files" / "out.txt").read_text() == "hello\n"
    assert kept.read_text() == "hello\n"
    assert [entry.name for entry in app.ws.quarantine.glob("input-*") if entry.is_dir()]
    app.run("audit")


def test_r12_no_line_that_the_work_writes_keeps_its_run_open(app: App) -> None:
    """Garbage among the records is passed over when nothing of the run is left, and journalled; the records are all there."""
    source = """
import json, os
messages = open(os.environ["ACTUM_MESSAGES"], "a")
spool = os.path.join(os.path.dirname(os.environ["ACTUM_MESSAGES"]), "spool", "records.jsonl")
with open(spool, "ab") as file:
    file.write(b"\\x00 no record\\n" + b"[" * 978 + b"]" * 978 + b"\\n")
for number in range(3):
    messages.write(json.dumps({"record": "trade", "data": {"n": number}}) + "\\n")
    messages.flush()
"""
    app.define(source=source)
    app.run("run", "work", timeout_s=60)
    assert app.status() == "SUCCEEDED"
    assert "records_skipped" in app.journal()
    with app.reader() as reader:
        assert sorted(row.data["n"] for row in reader.records(1)) == [0, 1, 2]
    assert app.lines("alerts") == []
    app.run("audit")


def test_r12_a_record_that_is_nested_too_deeply_contradicts_the_contract(app: App) -> None:
    source = """
import os
line = '{"record": "deep", "data": {"x": ' + "[" * 977 + "]" * 977 + "}}"
open(os.environ["ACTUM_MESSAGES"], "a").write(line + "\\n")
"""
    app.define(source=source)
    app.run("run", "work", code=1, timeout_s=60)
    shown = app.json("show", "1")
    assert (shown["status"], shown["released"], shown["failure"]["code"]) == ("FAILED", True, "contract_invalid")
    assert "nested deeper than 32 levels" in shown["failure"]["message"]
