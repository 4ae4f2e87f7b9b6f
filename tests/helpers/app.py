"""The program as a person runs it: its command line in processes of their own, killed and started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from actum import lock
from actum.generation import read_endpoint
from actum.store.queries import Reader
from actum.workspace import Workspace

from tests.helpers.waiting import wait_until

ENTRY = "import sys; from actum_desktop.entry import main; sys.argv[0] = 'actum'; sys.exit(main())"

# A program that leaves a trace of every start, says something each step, and writes what it is asked to write.
WORK = """
import json, os, sys, time
trace, gate, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open(trace, "a") as file:
    file.write(f"{os.getpid()}\\n")
messages = open(os.environ["ACTUM_MESSAGES"], "a", buffering=1)
for step in range(1, steps + 1):
    print(f"step {step} of {steps}", flush=True)
    messages.write(json.dumps({"progress": [step, steps]}) + "\\n")
    while step == steps // 2 and gate != "-" and not os.path.exists(gate):
        time.sleep(0.02)
with open(os.path.join(os.environ["ACTUM_OUTPUT"], "table.csv"), "w") as file:
    file.write("n,square\\n" + "".join(f"{n},{n * n}\\n" for n in range(10)))
messages.write(json.dumps({"table": "squares", "path": "table.csv"}) + "\\n")
messages.write(json.dumps({"metric": "steps", "value": str(steps), "observations": steps}) + "\\n")
"""


class App:
    """One workspace and the commands run on it. Attributes: ws, folder (for the work's own files)."""

    entry = ENTRY  # the program text of every command
    prefix: tuple[str, ...] = ()  # what every command is run by, such as unshare

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ws = Workspace(folder / "workspace")
        self.trace = folder / "trace.txt"
        self.gate = folder / "gate"
        self._started: list[subprocess.Popen[str]] = []

    # Commands

    def start(self, *args: str, fault: str = "", **environment: str) -> subprocess.Popen[str]:
        """Start a command; `fault` arms ACTUM_FAULT in it."""
        env = {**os.environ, "NO_COLOR": "1", **environment}
        if fault:
            env["ACTUM_FAULT"] = fault
        command = [*self.prefix, sys.executable, "-c", self.entry, "--workspace", str(self.ws.path), *args]
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        process = subprocess.Popen(command, env=env, text=True, stdin=nothing, stdout=pipe, stderr=pipe, cwd=self.folder)
        self._started.append(process)
        return process

    def run(self, *args: str, timeout_s: float = 60, code: int | None = 0, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end; `code` is the exit code that is right (None = any)."""
        process = self.start(*args, **more)
        out, err = process.communicate(timeout=timeout_s)
        done = subprocess.CompletedProcess(args, process.returncode, out, err)
        assert code is None or done.returncode == code, f"{args} ended {done.returncode}:\n{out}\n{err}"
        return done

    def json(self, *args: str, code: int | None = 0) -> Any:
        """The one JSON document a command answers."""
        return json.loads(self.run(*args, "--json", code=code).stdout)

    def lines(self, *args: str, code: int | None = 0) -> list[Any]:
        """The JSON documents a command answers, one a line."""
        return [json.loads(line) for line in self.run(*args, "--json", code=code).stdout.splitlines()]

    # The work

    def define(self, *more: str, steps: int = 10, gated: bool = True, source: str = WORK, name: str = "work") -> None:
        """A task of the user's: the program above, or `source`."""
        script = self.folder / f"{name}.py"
        script.write_text(source)
        gate = str(self.gate) if gated else "-"
        arguments = [f"--arg={each}" for each in (str(script), str(self.trace), gate, str(steps))]
        self.run("task", "add", name, "--program", sys.executable, *arguments, "--grace", "1s", *more)

    def pids(self) -> list[int]:
        """The pids of every start of the work, in order."""
        return [int(line) for line in self.trace.read_text().split()] if self.trace.exists() else []

    # What is on record

    @contextmanager
    def reader(self) -> Iterator[Reader]:
        with Reader(self.ws) as reader:
            yield reader

    def facts(self, run: int = 1) -> list[str]:
        with self.reader() as reader:
            return [str(row.fact) for row in reader.facts(run)]

    def journal(self, run: int = 1) -> list[str]:
        with self.reader() as reader:
            return [row.kind for row in reader.journal(run)]

    def status(self, run: int = 1) -> str:
        with self.reader() as reader:
            return str(reader.run(run).status)

    def wait_status(self, *wanted: str, run: int = 1, timeout_s: float = 30) -> str:
        return wait_until(lambda: (s := self.status(run)) in wanted and s, timeout_s, f"run {run} in {wanted}")  # type: ignore[return-value]

    def end(self) -> None:
        """End everything: commands, then what they left in flight."""
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.communicate()
        self.gate.touch()
        if self.ws.database.exists():
            with self.reader() as reader:
                runs = {row.run for row in reader.attempt_rows(open_only=True)}
            for run in runs:
                self.run("stop", str(run), code=None)
            if runs:
                self.run("reconcile", "--wait", code=None)
        self.send_home()

    def send_home(self) -> None:
        """An idle supervisor that was left behind leaves at once, instead of lingering for the next command."""
        endpoint = read_endpoint(self.ws)
        if endpoint is not None and lock.held_by_someone(self.ws):
            with suppress(ProcessLookupError):
                os.kill(endpoint["pid"], signal.SIGTERM)
