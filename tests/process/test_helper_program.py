"""The helper program as a real process: its protocol, its verbs, its end (R11, R17, §3, §7 Helpers)."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest
from actum import limits
from actum.errors import ActumError
from actum.helpers import program
from actum.helpers.program import VERBS

from tests.helpers import packages
from tests.helpers.waiting import wait_until


class Helper:
    """A helper process and the test's end of its streams."""

    def __init__(self, **variables: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "actum.helpers", "--parent", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | variables,
        )
        self._last = 0

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())  # type: ignore[no-any-return]

    def ask(self, verb: str, **args: Any) -> tuple[dict[str, Any], list[list[Any]]]:
        """The last answer to a request, and its progress reports."""
        self._last += 1
        self.send(json.dumps({"id": self._last, "verb": verb, "args": args}).encode())
        progress = []
        while "progress" in (answer := self.read()):
            progress.append(answer["progress"])
        assert answer["id"] == self._last
        return answer, progress

    def ok(self, verb: str, **args: Any) -> dict[str, Any]:
        answer, _ = self.ask(verb, **args)
        assert "ok" in answer, answer
        return answer["ok"]  # type: ignore[no-any-return]

    def error(self, verb: str, **args: Any) -> dict[str, Any]:
        answer, _ = self.ask(verb, **args)
        assert "error" in answer, answer
        return answer["error"]  # type: ignore[no-any-return]

    def close(self) -> int:
        """End it by the end of its stdin; its exit code."""
        self.process.communicate(timeout=20)
        return self.process.returncode


@pytest.fixture(scope="module")
def shared() -> Iterator[Helper]:
    helper = Helper()
    yield helper
    assert helper.close() == 0


@pytest.fixture
def helper() -> Iterator[Helper]:
    helper = Helper()
    yield helper
    if helper.process.returncode is None:
        helper.close()


def test_every_verb_has_a_module_that_says_what_it_takes() -> None:
    import importlib

    for verb in VERBS:
        module = importlib.import_module(f"actum.helpers.{verb}")
        assert module.__doc__ is not None
        assert module.__doc__.startswith(f"Verb `{verb}`")


def test_malformed_lines_are_answered_and_the_helper_lives_on(helper: Helper) -> None:
    for line, known in (
        (b"not json", None),
        (b"\xff\xfe", None),
        (b"[]", None),
        (b"", None),
        (b'{"id": 7}', 7),
        (b'{"id": 8, "verb": "digest", "args": []}', 8),
        (b'{"id": 9, "verb": "digest", "args": {}, "more": 1}', 9),
        (b'{"id": 10, "verb": "../os", "args": {}}', 10),
        (b'{"id": 11, "verb": "digest", "args": {"paths": [1]}}', 11),
        (b'{"id": 12, "verb": "rehash", "args": {"path": "relative"}}', 12),
        (b'{"id": 13, "verb": "rehash", "args": {"path": "/", "extra": 1}}', 13),
    ):
        helper.send(line)
        answer = helper.read()
        assert (answer["id"], answer["error"]["code"]) == (known, "bad_request"), line
    assert helper.ok("digest", paths=[]) == {"files": []}


def test_r11_a_line_at_the_bound_is_read_and_one_above_is_skipped(helper: Helper, tmp_path: Path) -> None:
    request = json.dumps({"id": 1, "verb": "digest", "args": {"paths": []}}).encode()
    helper.send(request + b" " * (limits.HELPER_REQUEST_BYTES_MAX - len(request) - 1))
    assert "ok" in helper.read()
    helper.send(request + b" " * (limits.HELPER_REQUEST_BYTES_MAX - len(request)))
    answer = helper.read()
    assert (answer["id"], answer["error"]["what"]) == (None, "The request is too long.")
    helper.send(b"x" * (3 * limits.HELPER_REQUEST_BYTES_MAX))
    assert helper.read()["error"]["what"] == "The request is too long."
    assert helper.ok("digest", paths=[]) == {"files": []}


def test_a_bug_in_a_verb_is_an_answer_and_the_helper_lives_on(helper: Helper, tmp_path: Path) -> None:
    made = packages.sample(tmp_path)
    error = helper.error("verify", package=str(made.path), expected={"required": [1]})
    assert error["code"] == "bug"
    assert "TypeError" in error["why"]
    assert helper.ok("digest", paths=[]) == {"files": []}


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (MemoryError(), "out_of_memory"),
        (OSError(errno.ENOMEM, "no memory"), "out_of_memory"),
        (OSError(errno.EIO, "no answer"), "io_error"),
        (TypeError("None"), "bug"),
    ],
)
def test_r11_whatever_ran_out_of_memory_says_so_and_nothing_of_what_was_looked_at(given: Exception, code: str) -> None:
    """A library may have told it as a damaged table."""
    output = io.BytesIO()
    told = ActumError("contract_invalid", "The Parquet is damaged.")
    told.__cause__ = given
    for error in (given, *((told,) if code == "out_of_memory" else ())):
        program._tell(error.with_traceback(_trace()), "verify", program.Replies(output, 1))
    assert {json.loads(line)["error"]["code"] for line in output.getvalue().splitlines()} == {code}


def _trace() -> TracebackType | None:
    try:
        raise ValueError
    except ValueError as error:
        return error.__traceback__


def test_it_ends_at_the_end_of_stdin_and_at_sigterm(helper: Helper) -> None:
    assert helper.close() == 0
    other = Helper()
    other.ok("digest", paths=[])
    other.process.send_signal(signal.SIGTERM)
    assert other.process.wait(timeout=20) == 128 + signal.SIGTERM
    other.process.communicate()


def test_it_leaves_at_once_if_its_parent_is_not_there() -> None:
    command = [sys.executable, "-m", "actum.helpers", "--parent", "1"]
    assert subprocess.run(command, input=b"", check=False).returncode == 1


def test_it_dies_with_its_parent_though_its_stdin_stays_open(tmp_path: Path) -> None:
    """PDEATHSIG: the parent is killed while somebody else still holds the pipe."""
    read_end, write_end = os.pipe()
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import subprocess, sys, os; h = subprocess.Popen([sys.executable, '-m', 'actum.helpers', '--parent',"
            " str(os.getpid())], stdin=int(sys.argv[1]), stdout=subprocess.PIPE); h.stdout.readline();"
            " print(h.pid, flush=True); h.wait()",
            str(read_end),
        ],
        pass_fds=(read_end,),
        stdout=subprocess.PIPE,
    )
    os.write(write_end, b'{"id": 1, "verb": "digest", "args": {"paths": []}}\n')
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.communicate()
    wait_until(lambda: ended(pid), what="the helper's death")
    os.close(read_end)
    os.close(write_end)


def ended(pid: int) -> bool:
    """Gone, or a zombie that nobody has waited for yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_what_libraries_print_does_not_reach_the_answers(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import atexit, os\natexit.register(os.write, 1, b'noise\\n')\n")
    helper = Helper(PYTHONPATH=os.pathsep.join([str(tmp_path), *filter(None, sys.path)]))
    helper.ok("digest", paths=[])
    stdout, stderr = helper.process.communicate(timeout=20)
    assert stdout == b""
    assert b"noise" in stderr


def test_r17_freeze_copies_durably_and_tells_a_change(shared: Helper, tmp_path: Path) -> None:
    source = tmp_path / "输入 1.csv"
    source.write_bytes(b"a\n" * 1000)
    (tmp_path / "inputs").mkdir()
    target = tmp_path / "inputs" / ".1-1"
    digest = shared.ok("digest", paths=[str(source)])["files"][0]
    frozen = shared.ok("freeze", source=str(source), target=str(target), expected_sha256=digest["sha256"])
    assert (frozen["sha256"], frozen["size"]) == (digest["sha256"], 2000)
    assert (target / "content").read_bytes() == source.read_bytes()
    assert frozen["source_stat"] == digest["stat"]
    assert frozen["stat"] == shared.ok("rehash", path=str(target / "content"))["stat"]
    source.write_bytes(b"b\n")
    error = shared.error("freeze", source=str(source), target=str(target), expected_sha256=digest["sha256"])
    assert error["code"] == "input_changed"
    assert not target.exists()


def test_freeze_of_a_vanished_input_and_of_a_folder(shared: Helper, tmp_path: Path) -> None:
    folder = tmp_path / "tree"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "a").write_text("1")
    (folder / "link").symlink_to("sub/a")
    (tmp_path / "inputs").mkdir()
    target = str(tmp_path / "inputs" / ".1-2")
    digest = shared.ok("digest", paths=[str(folder)])["files"][0]["sha256"]
    assert shared.ok("freeze", source=str(folder), target=target, expected_sha256=digest)["sha256"] == digest
    assert shared.ok("rehash", path=f"{target}/content")["sha256"] == digest
    (folder / "sub" / "b").write_text("2")
    assert shared.ok("rehash", path=str(folder))["sha256"] != digest
    os.mkfifo(folder / "pipe")
    assert shared.error("freeze", source=str(folder), target=target, expected_sha256=None)["code"] == "input_unreadable"
    assert shared.error("freeze", source=str(folder / "no"), target=target)["code"] == "input_unreadable"
    assert shared.error("digest", paths=[str(folder / "no")])["code"] == "input_unreadable"


def test_disk_full_at_the_freeze_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    helper = Helper(ACTUM_FAULT="freeze.copy.fsync.before:error=ENOSPC")
    error = helper.error("freeze", source=str(tmp_path / "a"), target=str(tmp_path / ".1-1"), expected_sha256=None)
    assert error["code"] == "disk_full"
    helper.close()


def test_derive_verify_check_and_export(shared: Helper, tmp_path: Path) -> None:
    made = packages.sample(tmp_path)
    shutil.rmtree(made.path / "derived")
    out = made.path / ".derive-3-1"
    derived = shared.ok("derive", package=str(made.path), out=str(out))
    out.rename(made.path / "derived")
    expected = made.expected.to_json()
    report = shared.ok("verify", package=str(made.path), expected=expected)
    assert report["ok"]
    assert report["derived_sha256"] == derived["derived_sha256"]
    assert not shared.ok("verify", package=str(made.path), expected={**expected, "run": 3})["ok"]
    digest = made.sealed.manifest_sha256
    checked = shared.ok("check", package=str(made.path), digest=digest, level="content", expected=expected)
    assert checked["state"] == "readable"
    given = {"package": str(made.path), "name": "returns", "format": "csv", "profile": "data", "path": str(tmp_path / "r.csv")}
    exported = shared.ok("export", **given, options={})
    assert (exported["rows"], exported["size_bytes"]) == (3, (tmp_path / "r.csv").stat().st_size)
    again = shared.error(
        "export", package=str(made.path), name="returns", format="csv", profile="data", path=str(tmp_path / "r.csv")
    )
    assert (again["code"], again["exit_code"]) == ("file_exists", 4)
    assert shared.error("verify", package=str(made.path), expected={"no": 1})["code"] == "bad_request"


def test_a_table_that_does_not_fit_is_contract_invalid(shared: Helper, tmp_path: Path) -> None:
    made = packages.sample(tmp_path)
    packages.writable(made.path / "tables" / "returns.jsonl").write_text('{"day":"2026-01-01"}\n')
    error = shared.error("derive", package=str(made.path), out=str(made.path / ".derive-3-1"))
    assert error["code"] == "contract_invalid"
    assert "Row 1" in error["what"]


def test_progress_is_reported_and_throttled(shared: Helper, tmp_path: Path) -> None:
    path = tmp_path / "large"
    with open(path, "wb") as file:
        file.truncate(64 * limits.HASH_BLOCK_BYTES)
    _, progress = shared.ask("rehash", path=str(path))
    assert progress
    assert len(progress) < 64
    assert progress[0][1:] == [64 * limits.HASH_BLOCK_BYTES, "bytes"]


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


def test_r17_codeidentity_of_a_file_and_of_a_tree(shared: Helper, tmp_path: Path) -> None:
    program = tmp_path / "work.py"
    program.write_text("print(1)\n")
    given = {"path": str(program), "interpreter": sys.executable, "variables": ["B", "A", "A"]}
    answer = shared.ok("codeidentity", **given)
    code, environment = answer["code"], answer["environment"]
    assert (code["git_commit"], code["git_dirty"]) == (None, None)
    assert environment["version"] == ".".join(map(str, sys.version_info[:3]))
    assert (environment["variable_names"], len(environment["distributions_sha256"])) == (["A", "B"], 64)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "work.py")
    git(tmp_path, "commit", "-q", "-m", "one")
    clean = shared.ok("codeidentity", **given)["code"]
    assert (len(clean["git_commit"]), clean["git_dirty"], clean["sha256"]) == (40, False, code["sha256"])
    program.write_text("print(2)\n")
    dirty = shared.ok("codeidentity", **given)["code"]
    assert (dirty["git_dirty"], dirty["sha256"] != code["sha256"]) == (True, True)
    tree = shared.ok("codeidentity", path=str(tmp_path), interpreter=None)["code"]["sha256"]
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "work.pyc").write_bytes(b"x")
    assert shared.ok("codeidentity", path=str(tmp_path), interpreter=None)["code"]["sha256"] == tree


def test_codeidentity_of_what_is_not_there(shared: Helper, tmp_path: Path) -> None:
    assert shared.error("codeidentity", path=str(tmp_path / "no.py"), interpreter=None)["code"] == "input_unreadable"
    assert shared.error("codeidentity", path=None, interpreter="/bin/false")["code"] == "start_error"
    nothing = shared.ok("codeidentity", path=None, interpreter=None, variables=[])
    assert nothing["code"] is None
    assert nothing["environment"]["interpreter"] is None
