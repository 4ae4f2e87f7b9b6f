"""The program as it is started: start-up imports, exit codes, JSON shapes, pipes that close (DESIGN §3, §16)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from actum.workspace import Workspace
from actum_desktop.commands.parser import VERBS

from tests.helpers.small_workspace import TASK, alert, fill

HEAVY = ("PySide6", "shiboken6", "pydantic", "alembic", "pyarrow", "duckdb", "pandas", "numpy")
READING = {
    "runs": ["runs"],
    "show": ["show", "1"],
    "facts": ["facts", "1"],
    "logs": ["logs", "1"],
    "results": ["results", "1"],
    "tasks": ["tasks"],
    "task show": ["task", "show", TASK],
    "alerts": ["alerts"],
}
PROBE = """
import sys
from actum_desktop.entry import main
code = main(sys.argv[2:])
heavy = [name for name in sys.argv[1].split() if name in sys.modules]
sys.stderr.write("HEAVY " + " ".join(heavy))
sys.exit(code)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("home") / "w"
    fill(Workspace(path), 3)
    alert(Workspace(path), 2)
    return path


def actum(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "actum_desktop.entry", *words],
        env={**os.environ, "ACTUM_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("verb", READING)
def test_verbs_that_read_import_nothing_heavy(home: Path, verb: str) -> None:
    words = [*READING[verb], "--json"]
    done = subprocess.run(
        [sys.executable, "-c", PROBE, " ".join(HEAVY), *words],
        env={**os.environ, "ACTUM_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stderr.endswith("HEAVY "), done.stderr
    assert done.returncode == (3 if verb == "results" else 0), done.stdout
    for line in done.stdout.splitlines():
        document = json.loads(line)
        assert "error" in document or document["schema"].startswith("actum.")


def test_starting_imports_no_verb_and_no_store(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, "sqlalchemy actum.store actum_desktop.commands.runs socket", "--help"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stderr == "HEAVY "


def test_show_has_every_member_of_the_design(home: Path) -> None:
    done = actum(home, "show", "2", "--json")
    document = json.loads(done.stdout)
    members = (
        "schema run id task task_version trigger key labels parameters status phase released contact created_at started_at "
        "finished_at duration_s progress heartbeat_at activity deadlines stop failure attempts facts result inputs environment "
        "code alerts allowed_actions"
    )
    assert set(members.split()) <= document.keys()
    assert document["schema"] == "actum.show/1"
    assert document["contact"] == {"state": "none", "since": None, "why": None}
    assert document["created_at"].endswith("Z")
    assert [one["code"] for one in document["alerts"]] == ["no_progress"]


def test_a_run_is_named_by_number_or_id(home: Path) -> None:
    document = json.loads(actum(home, "show", "3", "--json").stdout)
    by_id = json.loads(actum(home, "show", document["id"].upper(), "--json").stdout)
    assert by_id["run"] == 3
    assert json.loads(actum(home, "show", "#3", "--json").stdout)["run"] == 3


def test_lists_are_one_object_a_line_the_newest_first(home: Path) -> None:
    lines = [json.loads(line) for line in actum(home, "runs", "--json").stdout.splitlines()]
    assert [line["run"] for line in lines] == [3, 2, 1]
    assert {line["schema"] for line in lines} == {"actum.runs/1"}
    page = [json.loads(line) for line in actum(home, "runs", "--json", "--before", "3", "-n", "1").stdout.splitlines()]
    assert [line["run"] for line in page] == [2]
    assert actum(home, "runs", "--status", "failed", "--json").stdout == ""


def test_people_get_aligned_text_and_the_ledger(home: Path) -> None:
    text = actum(home, "show", "1").stdout
    assert text.splitlines()[0] == f"Run 1  {TASK} 1  Queued"
    assert "Completion  0 of 7 on record" in text
    assert "═" not in text, "the double rule stands under closed accounts only"
    assert actum(home, "alerts").stdout.startswith("No progress for 42 min")


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (["show", "99"], 3, "no_such_run"),
        (["results", "1"], 3, "no_result"),
        (["task", "show", "absent"], 3, "no_such_task"),
        (["logs", "1", "--attempt", "7"], 3, "no_such_attempt"),
        (["verify", "/absent/package"], 3, "no_package"),
        (["nonsense"], 2, "wrong_use"),
        (["logs", "1", "--grep", "("], 2, "wrong_use"),
        (["verify"], 2, "wrong_use"),
        (["runs", "--status", "odd"], 2, "unknown_status"),
        (["run", "t", "--set", "x"], 2, "wrong_use"),
    ],
)
def test_errors_are_objects_on_standard_output_with_their_exit_code(
    home: Path, words: list[str], code: int, error: str
) -> None:
    done = actum(home, *words, "--json")
    assert done.returncode == code
    document = json.loads(done.stdout)["error"]
    assert document["code"] == error
    assert {"code", "what", "why", "remedy"} <= document.keys()


def test_a_workspace_that_does_not_exist_is_empty_and_stays_absent(tmp_path: Path) -> None:
    home = tmp_path / "absent"
    for words, code in (
        (["runs"], 0),
        (["alerts"], 0),
        (["tasks"], 0),
        (["doctor"], 0),
        (["show", "1"], 3),
        (["stop", "1"], 3),
    ):
        assert actum(home, *words).returncode == code, words
    assert not home.exists()


def test_a_newer_or_damaged_workspace_is_unusable(tmp_path: Path) -> None:
    fill(Workspace(tmp_path / "w"), 1)
    (tmp_path / "w" / "actum.db").write_bytes(b"no database at all" * 100)
    done = actum(tmp_path / "w", "runs", "--json")
    assert done.returncode == 8
    assert json.loads(done.stdout)["error"]["what"]


def test_a_pipe_that_closes_is_no_error(home: Path) -> None:
    command = f"{sys.executable} -m actum_desktop.entry task show return-and-risk --json | head -c 1; exit ${{PIPESTATUS[0]}}"
    env = {**os.environ, "ACTUM_HOME": str(home)}
    done = subprocess.run(["bash", "-c", command], env=env, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_verb_of_this_table_is_one_of_the_program() -> None:
    assert READING.keys() <= VERBS.keys()
