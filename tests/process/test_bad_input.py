"""Bad input and what it gets: condition → exit code → first line of the message; nothing lost, nothing half-created.

One table, run through the real program. The rows share a workspace with one task `copy` (a program that copies its input),
so that "nothing half-created" can be asked of the same store: a refused admission leaves the number of runs as it was.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.program import ACTUM, Place, made
from tests.helpers.waiting import wait_until

pytestmark = pytest.mark.leaves("the supervisor that the rows share starts its long-lived helpers when they are needed")

LONG_NAME = "长名字 with spaces " + "x" * 160  # some 200 characters; 190 bytes at most fit beside a suffix


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A workspace that is supervised by one process for all rows of the table."""
    place = made(tmp_path_factory.mktemp("bad"))
    environment = {**os.environ, "ACTUM_HOME": str(place.home)}
    supervisor = subprocess.Popen([*ACTUM, "supervise"], env=environment, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: (place.home / "endpoint").exists(), what="the supervisor's endpoint")
        copy = 'cat "$1" > "$ACTUM_OUTPUT/copy.txt"'
        place.define("copy", copy, "--param", "source:file", "--param", "times:integer=1", "--arg", "{source}")
        (place.data / "in.txt").write_text("content\n")
        (place.data / "empty.txt").write_text("")
        (place.data / "folder").mkdir()
        yield place
    finally:
        supervisor.terminate()
        supervisor.wait(30)


ONE_WRONG = "One parameter does not fit the task."
COPY_IN = ["run", "copy", "--set", "source=in.txt"]
ADD_SH = ["task", "add", "t", "--program", "/bin/sh"]
REFUSED: dict[str, tuple[list[str], int, str]] = {
    "unknown task": (["run", "absent"], 3, "There is no task “absent”."),
    "unknown version": ([*COPY_IN, "--task-version", "9"], 3, "There is no task “copy” of version 9."),
    "missing parameter": (["run", "copy"], 2, ONE_WRONG),
    "wrong parameter": ([*COPY_IN, "--set", "times=3O"], 2, ONE_WRONG),
    "unknown parameter": ([*COPY_IN, "--set", "sorce=x"], 2, ONE_WRONG),
    "secret-like parameter": ([*COPY_IN, "--set", "password=hunter2"], 2, ONE_WRONG),
    "input that is absent": (["run", "copy", "--set", "source=absent.txt"], 2, ""),
    "input that is a folder": (["run", "copy", "--set", "source=folder"], 2, ""),
    "stop of an unknown run": (["stop", "4711"], 3, "There is no run 4711."),
    "verify of an unknown run": (["verify", "4711"], 3, "There is no run 4711."),
    "task with a secret": ([*ADD_SH, "--param", "api_key:text"], 2, "The parameter “api_key” cannot be used."),
    "task that fills an unknown name": ([*ADD_SH, "--arg", "{x}"], 2, ""),
    "task without its program": (["task", "add", "t", "--program", "./absent"], 3, "There is no program “./absent”."),
    "task with a taken name": (
        ["task", "add", "return-and-risk", "--program", "/bin/sh"],
        4,
        "“return-and-risk” is the name of a task that comes with Actum.",
    ),
}


@pytest.mark.parametrize("condition", REFUSED)
def test_what_is_refused_at_admission_leaves_nothing(shared: Place, condition: str) -> None:
    words, code, first_line = REFUSED[condition]
    before = shared.runs()
    told = shared.actum(*words)
    assert told.code == code, told
    if first_line:
        assert told.first_line == first_line
    assert {"code", "what", "why", "remedy"} <= told.error.keys()
    assert shared.runs() == before


def test_each_wrong_parameter_is_named_in_a_sentence(shared: Place) -> None:
    told = shared.actum("run", "copy", "--set", "source=in.txt", "--set", "times=3O", "--set", "password=x")
    assert told.first_line == "2 parameters do not fit the task."
    assert told.error["details"]["fields"]["times"].startswith("“3O” is not a whole number.")
    assert "password" in told.error["details"]["fields"]


def test_an_empty_input_is_accepted(shared: Place) -> None:
    told = shared.actum("run", "copy", "--set", "source=empty.txt")
    assert told.code == 0, told
    assert told.objects[-1]["status"] == "SUCCEEDED"


def test_r05_the_same_request_is_the_same_run_however_it_is_written(shared: Place) -> None:
    one = shared.actum("run", "copy", "--set", "source=./in.txt", "--key", "same")
    before = shared.runs()
    two = shared.actum("run", "copy", "--set", f"source={shared.data / 'in.txt'}", "--set", "times=1", "--key", "same")
    assert (one.code, two.code) == (0, 0)
    assert one.objects[-1]["run"] == two.objects[-1]["run"]
    assert shared.runs() == before


def test_r05_the_same_key_with_other_content_is_a_conflict(shared: Place) -> None:
    assert shared.actum("run", "copy", "--set", "source=in.txt", "--key", "mine").code == 0
    before = shared.runs()
    told = shared.actum("run", "copy", "--set", "source=in.txt", "--set", "times=2", "--key", "mine")
    assert (told.code, shared.runs()) == (4, before)


def test_paths_with_other_scripts_spaces_and_great_length_are_fine(shared: Place) -> None:
    folder = shared.data / LONG_NAME
    folder.mkdir()
    (folder / "价格 表.txt").write_text("content\n", encoding="utf-8")
    told = shared.actum("run", "copy", "--set", f"source={folder / '价格 表.txt'}")
    assert told.code == 0, told
    assert told.objects[-1]["inputs"][0]["path"].endswith("价格 表.txt")


def test_an_export_does_not_replace_a_file_unasked(shared: Place) -> None:
    target = shared.data / "mine.csv"
    target.write_text("mine")
    assert shared.actum("run", "copy", "--set", "source=in.txt", "--key", "no tables").code == 0
    number = str(shared.actum("runs", "-n", "1").objects[0]["run"])
    told = shared.actum("export", number, "returns", "-o", str(target))
    assert told.code in (3, 4), told
    assert target.read_text() == "mine"


def test_an_input_that_changes_before_launch_ends_the_start(shared: Place) -> None:
    """START_FAILED(input_changed), exit 1: the run waits behind another one while its input changes."""
    shared.define("wait", 'while [ ! -e "$1" ]; do sleep 0.05; done', "--param", "gate:text", "--arg", "{gate}")
    gate, late = shared.data / "gate", shared.data / "late.txt"
    late.write_text("as admitted\n")
    slots = os.cpu_count() or 1
    for position in range(max(1, slots // 2)):
        assert shared.actum("run", "wait", "--set", f"gate={gate}", "--key", f"wait-{position}", "--detach").code == 0
    assert shared.actum("run", "copy", "--set", "source=late.txt", "--key", "late", "--detach").code == 0
    late.write_text("changed meanwhile\n")
    gate.touch()
    late_again = late.read_text()
    assert late_again == "changed meanwhile\n"
    number = next(str(row["run"]) for row in shared.actum("runs").objects if row["key"] == "late")

    def closed() -> dict[str, Any] | None:
        show = shared.actum("show", number).objects[-1]
        return show if show["released"] and show["phase"] == "CLOSED" else None

    show = wait_until(closed, 60, "the late run to close")
    assert show is not None
    assert (show["status"], show["failure"]["code"]) == ("START_FAILED", "input_changed")


def test_a_program_that_changes_during_the_run_fails_it(shared: Place) -> None:
    """FAILED(input_changed), exit 1: the program is an input too (R17)."""
    shared.define("selfish", 'echo "# changed" >> "$0"; echo done > "$ACTUM_OUTPUT/a.txt"')
    told = shared.actum("run", "selfish")
    assert told.code == 1, told
    assert (told.objects[-1]["status"], told.objects[-1]["failure"]["code"]) == ("FAILED", "input_changed")


def test_an_input_over_the_copy_limit_is_pinned_and_that_is_said(shared: Place) -> None:
    from actum import limits

    large = shared.data / "large.bin"
    with large.open("wb") as file:
        file.truncate(limits.INPUT_COPY_BYTES_MAX_DEFAULT + 1)  # a hole: it takes no room
    shared.define("look", 'test -r "$1"', "--param", "source:file", "--arg", "{source}")
    told = shared.actum("run", "look", "--set", "source=large.bin")
    assert told.code == 0, told
    policies = {one["name"]: one["policy"] for one in told.objects[-1]["inputs"]}
    assert policies["source"] == "pin"


def test_files_of_a_failed_run_are_reachable_and_labelled(shared: Place) -> None:
    """R13: exit 3 from `results`, the log readable, the folder named as no result."""
    shared.define("half", 'echo half > "$ACTUM_OUTPUT/half.txt"; echo said; exit 3')
    told = shared.actum("run", "half")
    assert told.code == 1, told
    number = str(told.objects[-1]["run"])
    results = shared.actum("results", number)
    assert results.code == 3
    assert "not a result, not verified" in results.error["why"]
    assert Path(results.error["details"]["unverified_files"]["folder"], "half.txt").read_text() == "half\n"
    assert [line["text"] for line in shared.actum("logs", number).objects] == ["said"]


# Places that cannot be used ------------------------------------------------------------------------------------------


def newer(place: Place) -> None:
    import sqlite3

    assert place.actum("reconcile").code == 0
    connection = sqlite3.connect(place.home / "actum.db")
    connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.commit()
    connection.close()


def corrupt(place: Place) -> None:
    assert place.actum("reconcile").code == 0
    for name in ("actum.db", "actum.db-wal"):
        path = place.home / name
        if path.exists():
            path.write_bytes(b"\x00garbage" * 2048)


def a_file(place: Place) -> None:
    place.home.write_text("a file where a folder is needed")


@pytest.mark.parametrize(("spoil", "code"), [(newer, 8), (corrupt, 8), (a_file, 8)])
def test_a_workspace_that_cannot_be_used_is_refused_in_words(tmp_path: Path, spoil: Callable[[Place], None], code: int) -> None:
    place = made(tmp_path)
    spoil(place)
    for words in (["run", "demo-fails"], ["reconcile"]):
        told = place.actum(*words)
        assert told.code == code, told
        assert {"code", "what", "why", "remedy"} <= told.error.keys()


def mounted(place: Place, options: str, then: str) -> tuple[str, ...]:
    """A prefix that runs a command with its own file system at the workspace; what is mounted ends with the command."""
    script = f'mount -t tmpfs -o {options} tmpfs "$0" && {then} && exec "$@"'
    return ("unshare", "--mount", "sh", "-c", script, str(place.home))


needs_mount = pytest.mark.skipif(
    subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode != 0,
    reason="a mount namespace of its own needs root; run the suite as root or in a container",
)


@needs_mount
def test_a_read_only_workspace_is_refused(tmp_path: Path) -> None:
    place = made(tmp_path)
    place.home.mkdir()
    told = place.actum("run", "demo-fails", prefix=mounted(place, "size=4m", 'mount -o remount,ro "$0"'))
    assert told.code == 8, told
    assert told.first_line == f"The workspace {place.home} cannot be written."


@needs_mount
def test_a_full_disk_at_admission_creates_nothing(tmp_path: Path) -> None:
    place = made(tmp_path)
    place.home.mkdir()
    told = place.actum("run", "demo-fails", prefix=mounted(place, "size=16k", "true"))
    assert told.code == 8, told
    assert not list(place.home.iterdir())


@pytest.mark.parametrize(
    ("fault", "status"),
    [("freeze.copy.fsync.before:error=ENOSPC", "START_FAILED"), ("seal.file.fsync.before:error=ENOSPC", "FAILED")],
)
def test_a_full_disk_later_fails_the_run_and_says_so(tmp_path: Path, fault: str, status: str) -> None:
    place = made(tmp_path)
    (place.data / "in.txt").write_text("content\n")
    place.define("copy", 'cat "$1" > "$ACTUM_OUTPUT/copy.txt"', "--param", "source:file", "--arg", "{source}")
    told = place.actum("run", "copy", "--set", "source=in.txt", fault=fault)
    assert told.code == 1, told
    assert (told.objects[-1]["status"], told.objects[-1]["failure"]["code"]) == (status, "disk_full")


def test_a_synced_folder_is_a_warning_and_no_refusal(tmp_path: Path) -> None:
    place = made(tmp_path / "Dropbox")
    place.define("nothing", "true")
    told = place.actum("run", "nothing")
    assert told.code == 0, told
    assert "synced folder" in told.notes
