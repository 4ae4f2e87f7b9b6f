"""What is being done when a fault strikes: first use, success, failure, stop, export, an altered package, a robbed spool.

Each scenario does its part with the fault armed in the app (its host and helpers inherit it), then, in `go_on`, what a
person does after a crash: start again without faults and let everything come to its end. Workspaces are used for several
cases, one run each, since a fresh one costs as much as the case.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from actum import lock
from actum.errors import NotFound

from tests.faults import roles
from tests.helpers.app import App
from tests.helpers.waiting import wait_until

COMMAND_S_MAX = 90.0  # a command that takes longer hangs: a violation
DATA = "n,square\n" + "".join(f"{n},{n * n}\n" for n in range(10))

# Says in the trace that it was started and that it came to its end; fails or waits at a gate as its parameter tells it.
WORK = """
import json, os, shutil, sys, time
trace, gate, wanted, data, key = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4], os.environ["ACTUM_KEY"]
def say(word):
    with open(trace, "a") as file:
        file.write(f"{key} {word}\\n")
say("start")
messages = open(os.environ["ACTUM_MESSAGES"], "a", buffering=1)
messages.write(json.dumps({"progress": [1, 2]}) + "\\n")
print("half way", flush=True)
while wanted == "stop" and not os.path.exists(gate):
    time.sleep(0.02)
if wanted == "rob":
    spool = os.path.join(os.path.dirname(os.environ["ACTUM_MESSAGES"]), "spool")
    shutil.rmtree(spool)
    while not os.path.exists(os.path.join(spool, "claim")):
        time.sleep(0.02)
    with open(os.path.join(spool, "outcome.json"), "w") as outcome:
        outcome.write("{}")
with open(data) as source, open(os.path.join(os.environ["ACTUM_OUTPUT"], "table.csv"), "w") as table:
    source.readline()
    table.write(source.read())
if wanted == "fail":
    say("end")
    sys.exit(3)
messages.write(json.dumps({"table": "squares", "path": "table.csv"}) + "\\n")
messages.write(json.dumps({"metric": "rows", "value": "10", "observations": 10}) + "\\n")
say("end")
"""


class Stage(App):
    """A workspace whose app knows its host and work, with the one task of the matrix. `case` counts what was done in it."""

    root = Path(__file__).resolve().parents[2]
    entry = (
        f"import sys; sys.path.insert(0, {str(root)!r}); sys.argv[0] = 'actum'\n"
        "from tests.faults import roles; roles.tell()\n"
        "from actum_desktop.entry import main; sys.exit(main())"
    )

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.case = 0

    def define_task(self, fault: str = "") -> subprocess.CompletedProcess[str]:
        script = self.folder / "work.py"
        script.write_text(WORK)
        words = (str(script), str(self.trace), str(self.gate), "{wanted}", "{data}")
        options = [f"--arg={word}" for word in words]
        more = ("--param", "wanted:choice[succeed,fail,stop,rob]", "--param", "data:file", "--grace", "1s")
        return self.run("task", "add", "work", "--program", sys.executable, *options, *more, code=None, fault=fault)

    def said(self, key: str) -> list[str]:
        """What the work of one run said, in order."""
        lines = self.trace.read_text().splitlines() if self.trace.exists() else []
        return [line.split()[1] for line in lines if line.split()[0] == key]

    def number(self, key: str) -> int | None:
        """The run of this key, if there is one."""
        if not self.ws.database.exists():
            return None
        with self.reader() as reader:
            found = reader.find_key(key)
        return None if found is None else int(found.number)

    def kill_leftovers(self) -> None:
        """After a violation: nothing of this workspace goes on."""
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.communicate()
        for role in (roles.HOST, roles.WORK):
            roles.kill(self.ws.path, role)


@dataclass
class Flight:
    """One case on its way: where, its key, the fault, what each command answered, and what went wrong at once."""

    stage: Stage
    key: str
    fault: str = ""
    codes: dict[str, int | None] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)

    @property
    def run(self) -> int | None:
        try:
            return self.stage.number(self.key)
        except NotFound:
            return None

    @property
    def target(self) -> Path:
        return self.stage.folder / f"{self.key}.parquet"

    def do(self, name: str, *args: str, fault: str = "") -> int | None:
        """One command to its end; a hanging one is killed and is a violation."""
        process = self.stage.start(*args, fault=fault)
        return self.end(name, process)

    def end(self, name: str, process: subprocess.Popen[str]) -> int | None:
        try:
            out, err = process.communicate(timeout=COMMAND_S_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            self.broken.append(f"{name} hangs: {(out + err)[-400:]}")
        self.codes[name], self.words[name] = process.returncode, (out + err)[-2000:]
        return process.returncode

    def begin(self, wanted: str, fault: str, *more: str) -> subprocess.Popen[str]:
        data = self.stage.folder / f"{self.key}.csv"
        if not data.exists():
            data.write_text(f"{self.key}\n{DATA}")
        return self.stage.start(
            "run", "work", *more, "--key", self.key, "--set", f"wanted={wanted}", "--set", f"data={data}", fault=fault
        )

    def go_on(self) -> None:
        """Start again without faults: everything that is open comes to its end, and nobody supervises any more.

        A stop that nobody could hear leaves a supervisor of its own behind, which a next case would be a client of.
        """
        self.do("reconcile", "reconcile", "--wait")
        wait_until(lambda: lock.held_by_someone(self.stage.ws) is not True, COMMAND_S_MAX, "the end of the last supervisor")


def _begins(flight: Flight) -> None:
    done = flight.stage.define_task(flight.fault)
    flight.codes["define"], flight.words["define"] = done.returncode, done.stdout + done.stderr
    if flight.stage.define_task().returncode != 0:
        flight.broken.append("the task cannot be defined after the fault")
    flight.end("run", flight.begin("succeed", ""))


def _succeeds(flight: Flight) -> None:
    flight.end("run", flight.begin("succeed", flight.fault))


def _fails(flight: Flight) -> None:
    flight.end("run", flight.begin("fail", flight.fault))


def _robbed(flight: Flight) -> None:
    """The work deletes its own spool, waits until its host has made it anew, and puts an outcome of its own there."""
    flight.end("run", flight.begin("rob", flight.fault))


def _stopped(flight: Flight) -> None:
    command = flight.begin("stop", flight.fault)
    wait_until(
        lambda: flight.stage.said(flight.key) or command.poll() is not None, COMMAND_S_MAX, "the work's start, or the app's end"
    )
    if flight.run is not None:
        flight.do("stop", "stop", str(flight.run))
    flight.end("run", command)
    if flight.run is not None:  # whatever became of the first try: the person asks again, and then it counts
        flight.do("stop again", "stop", str(flight.run), "--wait")


def _exports(flight: Flight) -> None:
    flight.end("prepare", flight.begin("succeed", ""))
    words = ("export", str(flight.run), "squares", "--format", "parquet", "--profile", "data", "-o", str(flight.target))
    flight.do("export", *words, fault=flight.fault)
    flight.do("export again", *words, "--overwrite")


def _rejected(flight: Flight) -> None:
    """Published, not committed, then altered by somebody: it must go to quarantine, whatever happens on the way."""
    code = flight.end("run", flight.begin("succeed", "publish.durable.fsync.after:kill-app"))
    assert code == -signal.SIGKILL, flight.words
    assert flight.run is not None
    [table] = (flight.stage.ws.result_folder(flight.run, 1) / "tables").glob("*.csv")
    table.chmod(0o644)
    table.write_text(table.read_text().replace("81", "82"))
    flight.do("look", "reconcile", "--wait", fault=flight.fault)


SCENARIOS: dict[str, Callable[[Flight], None]] = {
    "begins": _begins,
    "succeeds": _succeeds,
    "fails": _fails,
    "stopped": _stopped,
    "exports": _exports,
    "rejected": _rejected,
    "robbed": _robbed,
}


os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
