"""What the end of the work comes to: sealed, or failed with one code and a sentence (§5.6–8, R01, R07)."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from actum import limits
from actum.ipc import records as recordsfile
from actum.ipc import spool
from actum.ipc.logfile import STDERR, LogReader

from tests.helpers.hosts import Attempt, Server, make_attempt


def run(attempt: Attempt, timeout_s: float = 20) -> tuple[dict[str, Any], Server]:
    """Spawn the host and serve it to its end."""
    with Server(attempt) as server:
        attempt.spawn()
        server.serve_until_exit(timeout_s)
    assert server.violations == []
    assert attempt.leftovers() == ()
    return attempt.outcome(), server


def test_a_program_that_succeeds_is_sealed_after_its_tree_is_gone(tmp_path: Path) -> None:
    source = """
import json, os
open(os.path.join(os.environ["ACTUM_OUTPUT"], "a.csv"), "w").write("x\\n1\\n")
with open(os.environ["ACTUM_MESSAGES"], "a") as file:
    for message in ({"stage": "load", "total": 3}, {"progress": [1, 3]}, {"record": "trade", "data": {"a": 1}}):
        file.write(json.dumps(message) + "\\n")
"""
    attempt = make_attempt(tmp_path, source, required=["*.csv"])
    outcome, server = run(attempt)
    assert (outcome["kind"], outcome["code"], outcome["cause"]) == ("sealed", None, None)
    assert outcome["tree"]["method"] == "subreaper"
    assert outcome["ended"]["exit_code"] == 0
    assert outcome["manifest_sha256"] == spool_digest(attempt)
    order = [kind for kind in server.types() if kind not in ("heartbeat", "notice")]
    assert order == ["hello", "stage", "progress", "ended", "sealed"]
    assert server.frames[-1]["digest"] == spool.outcome_digest(outcome)
    records, _, more, _ = recordsfile.read(attempt.folder, 0)
    assert [(record["seq"], record["kind"], record["data"]) for record in records] == [(1, "trade", {"a": 1})]
    assert not more
    assert attempt.state()["phase"] == "done"
    assert spool.read_claim(attempt.folder)["session"] == attempt.launch["session"]  # type: ignore[index]


def spool_digest(attempt: Attempt) -> str:
    from hashlib import sha256

    return sha256((attempt.folder / "staging" / "manifest.json").read_bytes()).hexdigest()


def test_the_work_gets_the_promised_environment_and_nothing_of_the_host(tmp_path: Path) -> None:
    """§7: ACTUM_* of the promise, the task's variables, no ACTUM_FAULT, no descriptor above 2, no alive lock."""
    source = """
import json, os
fds = sorted(int(n) for n in os.listdir("/proc/self/fd"))
links = [os.readlink(f"/proc/self/fd/{n}") for n in fds if os.path.lexists(f"/proc/self/fd/{n}")]
json.dump({"env": dict(os.environ), "fds": len(links), "alive": any("alive" in l for l in links), "cwd": os.getcwd(),
           "sid": os.getsid(0) == os.getpid(), "sigpipe": open("/proc/self/status").read().split("SigIgn:")[1].split()[0]},
          open(os.path.join(os.environ["ACTUM_OUTPUT"], "seen.json"), "w"))
"""
    attempt = make_attempt(tmp_path, source, variables={"MINE": "1 2", "ACTUM_FAULT": "host.spawn.before:kill-host"})
    attempt.environment["ACTUM_HOME"] = "/elsewhere"
    with Server(attempt) as server:
        attempt.spawn(ACTUM_FAULT="host.nowhere:delay=1")
        server.serve_until_exit()
    seen = json.loads(attempt.output("seen.json").read_text())
    environment = seen["env"]
    assert environment["MINE"] == "1 2"
    assert environment["ACTUM_COOKIE"] == attempt.launch["cookie"]
    assert environment["ACTUM_KEY"] == attempt.launch["key"]
    assert environment["ACTUM_RUN"] == "1"
    assert "ACTUM_FAULT" not in environment
    assert "ACTUM_HOME" not in environment
    assert attempt.secret not in environment.values()
    assert seen["fds"] <= 4  # 0, 1, 2 and the listing itself
    assert not seen["alive"]
    assert seen["sid"]
    assert seen["cwd"] == str(tmp_path)


def test_a_refused_exit_code_is_work_failed_with_its_last_words(tmp_path: Path) -> None:
    outcome, server = run(make_attempt(tmp_path, "import sys; sys.stderr.write('no such table\\n'); sys.exit(3)"))
    assert (outcome["kind"], outcome["code"]) == ("failed", "work_failed")
    assert outcome["details"] == {"exit_code": 3, "stderr": ["no such table"]}
    assert "exit code 3" in outcome["message"]
    assert "ended" not in server.types()


def test_the_last_words_of_a_failure_are_bounded(tmp_path: Path) -> None:
    source = "import sys; sys.stderr.write('x' * 100_000 + '\\n' + 'the reason\\n'); sys.exit(1)"
    outcome, _ = run(make_attempt(tmp_path, source))
    words = outcome["details"]["stderr"]
    assert words[-1] == "the reason"
    assert sum(map(len, words)) <= limits.ERROR_TEXT_CHARS_MAX


def test_an_accepted_exit_code_is_no_failure(tmp_path: Path) -> None:
    outcome, _ = run(make_attempt(tmp_path, "import sys; sys.exit(3)", accepted_exit_codes=[0, 3]))
    assert outcome["kind"] == "sealed"
    assert outcome["ended"]["exit_code"] == 3


def test_a_signal_is_work_crashed(tmp_path: Path) -> None:
    outcome, _ = run(make_attempt(tmp_path, "import os; os.kill(os.getpid(), 11)"))
    assert (outcome["kind"], outcome["code"]) == ("failed", "work_crashed")
    assert outcome["details"]["signal"] == signal.SIGSEGV
    assert outcome["ended"]["signal"] == signal.SIGSEGV


def test_a_missing_required_output_is_named(tmp_path: Path) -> None:
    outcome, server = run(make_attempt(tmp_path, "pass", required=["*.csv", "report.html"]))
    assert (outcome["kind"], outcome["code"]) == ("failed", "result_incomplete")
    assert outcome["details"]["missing"] == ["*.csv", "report.html"]
    assert "“report.html”" in outcome["message"]
    assert "ended" not in server.types()


@pytest.mark.parametrize(
    ("command", "cwd", "named"),
    [(["/nowhere/program"], None, "/nowhere/program"), (["/bin/true"], "/no/folder", "/no/folder")],
)
def test_what_cannot_be_started_is_named(tmp_path: Path, command: list[str], cwd: str | None, named: str) -> None:
    changes = {"cwd": cwd} if cwd else {}
    outcome, _ = run(make_attempt(tmp_path, command=command, **changes))
    assert (outcome["kind"], outcome["code"]) == ("failed", "start_error")
    assert named in outcome["message"]
    assert outcome["ended"] == {"exit_code": None, "signal": None, "descendants_left": 0, "at": outcome["ended"]["at"]}


def test_a_function_must_say_that_it_returned(tmp_path: Path) -> None:
    outcome, _ = run(make_attempt(tmp_path, "pass", kind="function"))
    assert (outcome["kind"], outcome["code"]) == ("failed", "work_failed")
    done = "import os; open(os.environ['ACTUM_MESSAGES'], 'a').write('{\"done\": true}')"  # no line end at all
    outcome, _ = run(make_attempt(tmp_path, done, kind="function"))
    assert outcome["kind"] == "sealed"


def test_messages_that_contradict_the_contract_fail_the_attempt(tmp_path: Path) -> None:
    source = "import os; open(os.environ['ACTUM_MESSAGES'], 'a').write('{\"metric\": 5}\\n')"
    outcome, _ = run(make_attempt(tmp_path, source))
    assert (outcome["kind"], outcome["code"]) == ("failed", "contract_invalid")


def test_half_lines_unknown_kinds_and_garbage_are_notices_and_nothing_else(tmp_path: Path) -> None:
    source = """
import os
out = open(os.environ["ACTUM_MESSAGES"], "ab", buffering=0)
out.write(b'{"progress": [1, ')
out.write(b'4]}\\n{"wonder": 1}\\n\\xff\\xfe garbage\\n[1]\\n{"progress": "x"}\\n{"progress": NaN}\\n\\n')
out.write(b'{"record": "half')
"""
    attempt = make_attempt(tmp_path, source)
    outcome, server = run(attempt)
    assert outcome["kind"] == "sealed"
    progress = [frame for frame in server.frames if frame["type"] == "progress"][-1]
    assert (progress["done"], progress["total"]) == (1, 4)
    codes = [frame["code"] for frame in server.frames if frame["type"] == "notice"]
    assert sorted(set(codes)) == ["message_malformed", "message_unknown", "message_unreadable"]
    assert recordsfile.read(attempt.folder, 0).records == []


def test_the_log_has_every_line_of_ten_thousand_and_an_immediate_exit(tmp_path: Path) -> None:
    source = "import os; os.write(1, b''.join(b'line %d\\n' % n for n in range(10000))); os._exit(0)"
    attempt = make_attempt(tmp_path, source)
    run(attempt)
    reader = LogReader(attempt.folder / "log")
    assert (attempt.folder / "log" / "000000.log").stat().st_size < limits.LOG_READ_BYTES_MAX
    assert reader.count() == 10_000
    assert [line.text for line in reader.tail(2)] == ["line 9998", "line 9999"]
    assert reader.lines(4711, 1)[0].text == "line 4711"


def test_the_log_keeps_bytes_that_are_no_text_and_says_which_stream(tmp_path: Path) -> None:
    source = "import os; os.write(1, b'a\\xff\\x00b\\n'); os.write(2, b'\\xe4\\xb8')"
    attempt = make_attempt(tmp_path, source)
    run(attempt)
    lines = LogReader(attempt.folder / "log").tail(5)
    assert sorted(line.raw for line in lines) == [b"a\xff\x00b\n", b"\xe4\xb8"]
    assert {line.stream for line in lines if line.raw.startswith(b"\xe4")} == {STDERR}
    assert (attempt.folder / "staging" / "log" / "000000.log").read_bytes() == b"".join(line.raw for line in lines)


def test_printed_progress_counts_until_the_work_speaks_itself(tmp_path: Path) -> None:
    attempt = make_attempt(tmp_path, "print(' 45%|####      | 45/100 [00:01<00:01, 45it/s]', end='\\r')")
    _, server = run(attempt)
    progress = [frame for frame in server.frames if frame["type"] == "progress"][-1]
    assert (progress["done"], progress["total"]) == (45, 100)


@pytest.mark.parametrize("limit", ["memory_bytes", "log_bytes", "output_bytes"])
def test_a_declared_limit_ends_the_work(tmp_path: Path, limit: str) -> None:
    source = """
import os, time
open(os.path.join(os.environ["ACTUM_OUTPUT"], "big"), "wb").write(bytes(3000))
os.write(1, b"x" * 2000)
time.sleep(60)
"""
    bounds = {"memory_bytes": None, "log_bytes": None, "output_bytes": None, limit: 1000}
    outcome, _ = run(make_attempt(tmp_path, source, limits=bounds, grace_s=1))
    assert (outcome["kind"], outcome["code"]) == ("failed", "limit_exceeded")
    assert outcome["details"]["bound"] == 1000


def test_what_is_said_after_a_line_that_is_too_long_is_heard(tmp_path: Path) -> None:
    """The end of the computation reads on through a line of several pieces; `done` may stand behind it."""
    source = f"""
import os
out = open(os.environ["ACTUM_MESSAGES"], "ab", buffering=0)
out.write(b'{{"note": "' + b"n" * {3 * limits.MESSAGE_LINE_BYTES_MAX} + b'"}}\\n{{"progress": [4, 4]}}\\n')
os._exit(0)
"""
    attempt = make_attempt(tmp_path, source)
    outcome, _ = run(attempt)
    assert outcome["kind"] == "sealed"
    assert (attempt.state()["progress"]["done"], attempt.state()["notices"]["message_too_long"]) == (4, 1)
