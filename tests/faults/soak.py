"""`python -m tests.faults.soak --minutes 30`: mixed runs, and kills at random instants; prints kills, runs, violations.

In rounds, each with a workspace of its own: runs of many kinds are started, stopped and exported; meanwhile app, host, work
and helpers are killed, or halted for a while, without any regard to what they are doing. Then all is left alone, what is
open comes to its end, and everything must be true: nothing computed twice by the outside file of pids, no false success,
nothing finished lost, nothing left running, every success readable, the audit without a finding. Random by `--seed`: the
choices repeat, their instants do not. A round with a violation keeps its folder.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from actum import lock

from tests import evidence
from tests.faults import roles, soakchecks
from tests.faults.__main__ import own_folders, remove
from tests.faults.scenarios import COMMAND_S_MAX, DATA
from tests.faults.soakstage import APP, HELPER, KINDS, Living, SoakStage
from tests.helpers.waiting import wait_until

OPEN_MAX = 4  # runs asked for and not yet closed
EVIDENCE_MINUTES = 5  # a shorter soak is a look, and no evidence
HALTED_S = (0.1, 4.0)
ROLES = (APP, roles.HOST, roles.WORK, HELPER)
# what is done next → how often, of a hundred times
DOINGS = {"run": 36, "kill": 26, "halt": 12, "stop": 6, "restart": 14, "export": 6}
DEFECTS = ("Traceback (most recent call last)", "met a defect", "Segmentation fault")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--round", type=float, default=120, metavar="S", help="seconds of a round, before it is left to settle")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="actum-s"))
    own_folders(folder)
    say(f"seed {options.seed}, in {folder}")
    begun, code = time.monotonic(), evidence.Code.now()
    end = begun + 60 * options.minutes
    total, number, wrong = Counter[str](), 0, 0
    while time.monotonic() < end:
        number += 1
        seconds = min(options.round, max(5.0, end - time.monotonic()))
        done = Round(folder / f"{number}", random.Random(options.seed * 1000 + number))
        found = done.soak(seconds)
        total += done.told()
        wrong += len(found)
        say(f"round {number}: {_words(done.told())}; violations: {len(found)}")
        for line in found:
            say(f"      {line}")
        if found:
            say(f"      kept in {done.stage.folder}")
        else:
            remove(done.stage.folder)
    say(f"{number} rounds: {_words(total)}; violations: {wrong}")
    counts = {"rounds": number, **total, "findings": wrong}
    note, worth = "kills at random instants", options.minutes >= EVIDENCE_MINUTES
    seconds = round(time.monotonic() - begun)
    evidence.report("soak", counts, seconds=seconds, code=code, note=note, extent=seconds, worth=worth)
    if not wrong:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if wrong else 0


@dataclass
class Asked:
    """A run that was asked for: its kind, and the command that waits for it."""

    kind: str
    process: subprocess.Popen[bytes]


@dataclass
class Round:
    """One workspace under fire, then at rest."""

    folder: Path
    chance: random.Random
    asked: dict[str, Asked] = field(default_factory=dict)
    hit: soakchecks.Hit = field(default_factory=soakchecks.Hit)
    others: list[subprocess.Popen[bytes]] = field(default_factory=list)
    halted: dict[int, float] = field(default_factory=dict)  # pid → when it goes on
    broken: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder.mkdir()
        self._nothing = threading.Event()
        self.stage = SoakStage(self.folder)
        self.stage.define_tasks()

    def soak(self, seconds: float) -> list[str]:
        """Fire for so long, then rest; everything that is wrong, in words."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._go_on()
            getattr(self, f"_{self.chance.choices(list(DOINGS), list(DOINGS.values()))[0]}")()
            self._nothing.wait(self.chance.uniform(0.02, 0.6))  # nothing to wait for: the next thing comes at a random instant
        try:
            self._settle()
        except AssertionError as error:
            self.broken.append(str(error))
        kinds = {key: asked.kind for key, asked in self.asked.items()}
        found = [*self.broken, *self._defects(), *soakchecks.violations(self.stage, kinds, self.hit)]
        if found:
            self._end_all()
        return found

    def told(self) -> Counter[str]:
        """What was done, and what became of the runs."""
        told = Counter(self.hit.count)
        for key in self.asked:
            number = self.stage.number(key)
            if number is not None:
                told["runs"] += 1
                with self.stage.reader() as reader:
                    told[str(reader.run(number).status)] += 1
        return told

    # What is done

    def _run(self) -> None:
        if sum(asked.process.poll() is None for asked in self.asked.values()) >= OPEN_MAX:
            return
        key = f"run-{len(self.asked):04}"
        kind = self.chance.choices(list(KINDS), [share for _, share in KINDS.values()])[0]
        data = self.folder / f"{key}.csv"
        data.write_text(f"{key}\n{DATA}")
        words = ["run", KINDS[kind][0], "--key", key, "--set", f"kind={kind}", "--set", f"data={data}"]
        words += ["--detach"] if self.chance.random() < 0.3 else []
        self.asked[key] = Asked(kind, self.stage.launch(key, *words))

    def _kill(self) -> None:
        target = self._target()
        if target is not None and self._signal(target, signal.SIGKILL):
            self._note(f"kill {target.role}")
            self.halted.pop(target.pid, None)
            if target.role == roles.HOST and target.of:
                self.hit.hosts.add((target.of[0], target.of[1]))
            if target.role == roles.WORK:
                self.hit.work.update(target.of)

    def _halt(self) -> None:
        target = self._target()
        if target is not None and self._signal(target, signal.SIGSTOP):
            self._note(f"halt {target.role}")
            self.halted[target.pid] = time.monotonic() + self.chance.uniform(*HALTED_S)

    def _stop(self) -> None:
        with_number = [number for key in self.asked if (number := self._open_number(key)) is not None]
        if with_number:
            self._note("stop")
            self.others.append(self.stage.launch("stop", "stop", str(self.chance.choice(with_number))))

    def _restart(self) -> None:
        if sum(process.poll() is None for process in self.others) < 3:
            self._note("restart")
            words = self.chance.choice((("reconcile", "--wait"), ("supervise", "--until-idle"), ("runs",)))
            self.others.append(self.stage.launch("restart", *words))

    def _export(self) -> None:
        done = [key for key, asked in self.asked.items() if asked.process.poll() == 0]
        if done:
            key = self.chance.choice(done)
            target = self.folder / f"{key}.parquet"
            words = (
                "export",
                str(self.stage.number(key)),
                "squares",
                "--format",
                "parquet",
                "--profile",
                "data",
                "-o",
                str(target),
            )
            self._note("export")
            self.others.append(self.stage.launch("export", *words, "--overwrite"))

    # Rest

    def _settle(self) -> None:
        """Nothing is hit any more: whatever waits for a person is stopped, all else comes to its end. Raises AssertionError."""
        for pid in list(self.halted):
            self._go_on(pid)
        for key, asked in self.asked.items():
            if asked.kind == "stopped":
                self._admitted(key, asked.process)
            if asked.kind == "stopped" and (number := self._open_number(key)) is not None:
                self._must_end(self.stage.launch("settle", "stop", str(number)), f"stop {number}")
        self._must_end(self.stage.launch("settle", "reconcile", "--wait"), "reconcile --wait", code=0)
        for key, asked in self.asked.items():
            self._must_end(asked.process, f"the command of {key}")
        for process in self.others:
            self._must_end(process, "a command")
        wait_until(lambda: not self.stage.living(), COMMAND_S_MAX, "the end of all processes")
        wait_until(lambda: lock.held_by_someone(self.stage.ws) is not True, COMMAND_S_MAX, "the end of the last supervisor")

    def _admitted(self, key: str, command: subprocess.Popen[bytes]) -> None:
        """A run asked for a moment ago is on record, or its command has ended without one."""
        what = f"the admission of {key}, or the end of its command,"
        wait_until(lambda: self.stage.number(key) is not None or command.poll() is not None, COMMAND_S_MAX, what)

    def _must_end(self, process: subprocess.Popen[bytes], what: str, code: int | None = None) -> None:
        try:
            process.wait(COMMAND_S_MAX)
        except subprocess.TimeoutExpired:
            self.broken.append(f"{what} hangs")
            process.kill()
            process.wait()
        if code is not None and process.returncode != code:
            self.broken.append(f"{what} ended {process.returncode}")

    def _defects(self) -> list[str]:
        """What only a defect of the program says or does."""
        logs = [*self.folder.glob("*.said"), *Path(os.environ["XDG_RUNTIME_DIR"]).glob("actum/supervise-*.log")]
        said = [f"{path} says “{word}”" for path in logs for word in DEFECTS if word in path.read_text(errors="replace")]
        processes = [*(asked.process for asked in self.asked.values()), *self.others]
        bad = [code for process in processes if (code := process.poll()) is not None and code not in _ALLOWED]
        return said + [f"a command ended {code}" for code in bad]

    def _end_all(self) -> None:
        for each in self.stage.living():
            self._signal(each, signal.SIGKILL)
        for process in (*(asked.process for asked in self.asked.values()), *self.others):
            process.kill()
            process.wait()

    # Small steps

    def _target(self) -> Living | None:
        """Of the roles that live, each is as likely."""
        living = self.stage.living()
        role = self.chance.choice(ROLES)
        return self.chance.choice([each for each in living if each.role == role] or [None])  # type: ignore[list-item]

    @staticmethod
    def _signal(target: Living, number: int) -> bool:
        try:
            os.kill(target.pid, number)
        except ProcessLookupError:
            return False
        return True

    def _go_on(self, *pids: int) -> None:
        now = time.monotonic()
        for pid in pids or [pid for pid, due in self.halted.items() if due <= now]:
            del self.halted[pid]
            try:
                os.kill(pid, signal.SIGCONT)
            except ProcessLookupError:
                pass

    def _open_number(self, key: str) -> int | None:
        number = self.stage.number(key)
        if number is None:
            return None
        with self.stage.reader() as reader:
            rows = reader.attempt_rows(open_only=True)
        return number if any(row.run == number for row in rows) else None

    def _note(self, what: str) -> None:
        self.hit.count[what] = self.hit.count.get(what, 0) + 1


# Every exit code a command may have, and the kill that it may have died of.
_ALLOWED = frozenset({0, 1, 2, 3, 4, 6, 7, 75, -signal.SIGKILL})


def _words(told: Counter[str]) -> str:
    return ", ".join(
        f"{name} {count}" for name, count in sorted(told.items(), key=lambda item: (not item[0].islower(), item[0]))
    )


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
