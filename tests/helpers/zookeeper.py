"""Runs the animals of tests/helpers/zoo under one headless supervisor, and looks after what is left of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actum.generation import read_endpoint
from actum.ipc import spool
from actum.ipc.logfile import LogReader
from actum.model.changes import SetSetting
from actum.model.identity import ProcessIdentity
from actum.processes import identity
from actum.store.queries import Reader
from actum.store.show import show_document
from actum.store.writer import Writer
from actum.workspace import Workspace, create_folders
from actum_desktop import wording

from tests.helpers import leaks
from tests.helpers.app import ENTRY
from tests.helpers.ends import End
from tests.helpers.waiting import wait_until

ZOO = Path(__file__).parent / "zoo"
SLOTS = 8


@dataclass(frozen=True)
class Den:
    """One run of an animal. Attributes: run (its number), den (its own folder), folder (its attempt's)."""

    keeper: Keeper
    run: int
    den: Path

    @property
    def folder(self) -> Path:
        return self.keeper.ws.attempt_folder(self.run, 1)

    def ready(self) -> None:
        """Until the animal says that it is about to misbehave."""
        wait_until((self.den / "ready").exists, 30, f"run {self.run} to be ready")

    def shown(self) -> dict[str, Any]:
        with Reader(self.keeper.ws) as reader:
            return show_document(reader, self.keeper.ws, self.run)

    def journal(self) -> list[str]:
        with Reader(self.keeper.ws) as reader:
            return [row.kind for row in reader.journal(self.run)]

    def words(self) -> str:
        """What a person reads first."""
        return wording.sentence(self.shown())

    def closed(self, timeout_s: float = 60) -> dict[str, Any]:
        """The document of `show` once everything is said and done."""

        def over() -> dict[str, Any] | None:
            self._weigh_host()
            shown = self.shown()
            return shown if shown["phase"] == "CLOSED" and shown["released"] else None

        return wait_until(over, timeout_s, f"the end of run {self.run}, {self.shown()['phase']}")  # type: ignore[return-value]

    @property
    def host_mib(self) -> float:
        """The most that the host was seen to have resident while `closed` waited for it."""
        return self.keeper.host_mib.get(self.run, 0.0)

    def _weigh_host(self) -> None:
        claim = spool.read_claim(self.folder)
        if isinstance(claim, dict) and "identity" in claim:
            self.keeper.host_mib[self.run] = max(self.host_mib, peak_mib(claim["identity"]["pid"]))

    def stop(self, level: str = "ask") -> None:
        self.keeper.command(verb="stop", run=self.run, level=level)

    def log(self) -> LogReader:
        return LogReader(self.folder / "log")

    def members(self) -> list[ProcessIdentity]:
        """What the host recorded of the tree, and itself."""
        found = spool.read_tree(self.folder)
        members = found["members"] if isinstance(found, dict) else []
        claim = spool.read_claim(self.folder)
        hosts = [claim["identity"]] if isinstance(claim, dict) and "identity" in claim else []
        return [ProcessIdentity.from_json(each) for each in [*members, *hosts]]

    def strays(self) -> list[int]:
        """Living processes whose command line names the den, found without Actum; then recorded ones that live."""
        return [*pids_that_name(self.den), *(each.pid for each in self.members() if identity.state(each) == "alive")]


class Keeper:
    """Attributes: ws, folder, pid (of the supervising process)."""

    def __init__(self, folder: Path, slots: int = SLOTS, patience_s: float = 30) -> None:
        """`patience_s` = how long an answer may take: more where everything yields to other work."""
        self.folder = folder
        self._patience_s = patience_s
        self.ws = Workspace(folder / "workspace")
        create_folders(self.ws)
        self.host_mib: dict[int, float] = {}
        self._end: End | None = None
        set_setting(self.ws, "slots", slots)
        command = [sys.executable, "-c", ENTRY, "--workspace", str(self.ws.path), "supervise"]
        with open(folder / "supervise.log", "wb") as log:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder)
        self.pid = self._process.pid
        self._connect()

    def release(self, animal: str, *words: object, **contract: Any) -> Den:
        """Start an animal as a run of its own; `contract` = members of its contract (`policies`, `required`, `outputs`)."""
        name = f"{animal}-{uuid.uuid4().hex[:8]}"
        den = self.folder / "dens" / name
        den.mkdir(parents=True)
        arguments = ["-u", str(ZOO / f"{animal}.py"), str(den), *map(str, words)]
        work = {"kind": "program", "program": sys.executable, "arguments": arguments, "cwd": None}
        policies = {"grace": "1s", **contract.pop("policies", {})}
        self.command(verb="task_add", contract={"name": name, "work": work, "policies": policies, **contract})
        answer = self.command(verb="run", task=name, parameters={}, base=str(den), key=name)
        return Den(self, answer["run"], den)

    def command(self, **body: Any) -> dict[str, Any]:
        """One command and its answer."""
        assert self._end is not None
        before = sum(frame["type"] == "answer" for frame in self._end.hear())
        self._end.command(**body)

        def answered() -> dict[str, Any] | None:
            answers = [frame["body"] for frame in self._end.hear() if frame["type"] == "answer"]  # type: ignore[union-attr]
            return answers[before] if len(answers) > before else None

        answer = wait_until(answered, self._patience_s, f"the answer to {body['verb']}")
        assert answer is not None
        assert answer.get("ok") is not None, answer
        return dict(answer["ok"])

    @contextmanager
    def halted(self) -> Iterator[None]:
        """Meanwhile the supervising process does nothing; hosts and helpers go on."""
        self._process.send_signal(signal.SIGSTOP)
        try:
            stat = Path(f"/proc/{self.pid}/stat")
            wait_until(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T", what="the supervisor to be halted")
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def alerts(self) -> list[str]:
        with Reader(self.ws) as reader:
            return [row.code for row in reader.alerts(open_only=True)]

    def journal(self) -> list[dict[str, Any]]:
        """The newest rows of the workspace, with what each says."""
        with Reader(self.ws) as reader:
            return [{"kind": row.kind, "run": row.run, **row.data} for row in reader.journal_tail()]

    def memory_mib(self) -> float:
        """The most that the supervising process has had resident so far."""
        return peak_mib(self.pid)

    def actum(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", ENTRY, "--workspace", str(self.ws.path), *words]
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=4 * self._patience_s,
            cwd=self.folder,
            check=False,
        )

    def close(self) -> None:
        """Stop whatever is open, then the supervisor; its helpers end with it, those it has only just started as well."""
        with Reader(self.ws) as reader:
            runs = {row.run for row in reader.attempt_rows(open_only=True)}
        for run in runs:
            Den(self, run, self.folder).stop("insist")
        try:
            for run in runs:
                Den(self, run, self.folder).closed()
        finally:
            if self._end is not None:
                self._end.close()
            helpers = [identity.of(pid) for pid in leaks.helpers_of(self.pid)]
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(self._patience_s)
            wait_until(
                lambda: not any(each is not None and identity.state(each) == "alive" for each in helpers),
                self._patience_s,
                "the supervisor's helpers to be gone",
            )

    def _connect(self) -> None:
        def greeted() -> End | None:
            endpoint = read_endpoint(self.ws) or {}
            if endpoint.get("pid") != self.pid or not endpoint.get("socket"):
                return None
            end = End(endpoint["socket"])
            end.greet()
            return end

        self._end = wait_until(greeted, self._patience_s, "the supervisor")
        wait_until(lambda: self._end and self._end.heard("client-hello-ack"), self._patience_s, "the greeting")


def set_setting(ws: Workspace, name: str, value: object) -> None:
    """Before anything supervises the workspace."""
    writer = Writer(ws)
    writer.start(str(uuid.uuid4()))
    try:
        writer.ask(SetSetting(name, value, 1), 30)
    finally:
        writer.close()


def peak_mib(pid: int) -> float:
    """VmHWM of a process; 0 where it has ended."""
    try:
        with open(f"/proc/{pid}/status") as file:
            line = next((line for line in file if line.startswith("VmHWM")), "VmHWM: 0 kB")
    except OSError:
        return 0.0
    return int(line.split()[1]) / 1024


def pids_that_name(path: Path) -> list[int]:
    """Living processes whose command line holds `path`."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                if os.fsencode(path) in file.read():
                    found.append(int(name))
        except OSError:
            continue
    return found
