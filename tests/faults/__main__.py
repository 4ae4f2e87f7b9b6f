"""`python -m tests.faults --all [--jobs 2] [--point P] [--action A] [--scenario S]`: run the fault matrix, print counts.

`--limit N` runs N cases of the chosen ones, picked evenly by `--seed`. A violation names its case and keeps its workspace.
"""

from __future__ import annotations

import argparse
import os
import queue
import random
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from actum.faults import CATALOGUE

from tests.faults import matrix
from tests.faults.matrix import Case, Verdict, Worker
from tests.faults.scenarios import SCENARIOS

Thing = TypeVar("Thing")


def main() -> int:
    options = _options()
    folder = Path(tempfile.mkdtemp(prefix="actum-f"))
    _own_folders(folder)
    begun = time.monotonic()
    passages = _baselines(folder, options.jobs)
    everything = list(matrix.generate(passages))
    cases = matrix.chosen(everything, options.point, options.action, options.scenario)
    if options.limit and options.limit < len(cases):
        cases = random.Random(options.seed).sample(cases, options.limit)
    _say(f"{len(CATALOGUE)} points; passed: " + ", ".join(f"{name} {len(passages[name])}" for name in SCENARIOS))
    _say(f"no scenario passes: {', '.join(matrix.unpassed(passages)) or 'none'}")
    _say(f"{len(everything)} cases generated, {len(cases)} to run")
    if options.list:
        _say("\n".join(str(case) for case in cases))
        return 0
    verdicts = _run(cases, folder, options.jobs)
    bad = _report(verdicts, time.monotonic() - begun)
    if not bad:
        _remove(folder)
    return 1 if bad else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--all", action="store_true", help="every case (else name what to run)")
    parser.add_argument("--list", action="store_true", help="print the cases, run none")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--point", help="one fault point, or a beginning and *")
    parser.add_argument("--action", help="kill-app, error=ENOSPC, …")
    parser.add_argument("--scenario", choices=list(SCENARIOS))
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not (options.all or options.list or options.point or options.action or options.scenario or options.limit):
        parser.error("say --all, or which cases: --point, --action, --scenario, --limit")
    return options


def _own_folders(folder: Path) -> None:
    """The user's own folders are never touched."""
    (folder / "home").mkdir()
    (folder / "run").mkdir(mode=0o700)
    os.environ.update(HOME=str(folder / "home"), XDG_RUNTIME_DIR=str(folder / "run"), QT_QPA_PLATFORM="offscreen")
    for name in [name for name in os.environ if name.startswith(("ACTUM_", "XDG_")) and name != "XDG_RUNTIME_DIR"]:
        del os.environ[name]


def _baselines(folder: Path, jobs: int) -> matrix.Passages:
    passages: matrix.Passages = {}

    def one(worker: Worker, scenario: str) -> None:
        passages[scenario] = worker.baseline(scenario)

    _in_parallel(list(SCENARIOS), folder, jobs, one)
    return passages


def _run(cases: list[Case], folder: Path, jobs: int) -> list[Verdict]:
    verdicts: list[Verdict] = []

    def one(worker: Worker, case: Case) -> None:
        begun = time.monotonic()
        verdict = worker.judge(case)
        verdicts.append(verdict)
        word = "VIOLATION" if verdict.found else "ok" if verdict.reached == "struck" else verdict.reached
        _say(f"{len(verdicts):5}/{len(cases)} {time.monotonic() - begun:5.1f} s  {word:11}  {case}")
        for line in verdict.found:
            _say(f"      {line}")
        if verdict.found:
            _say(f"      kept in {verdict.folder}")

    _in_parallel(cases, folder, jobs, one)
    return verdicts


def _in_parallel(things: list[Thing], folder: Path, jobs: int, one: Callable[[Worker, Thing], None]) -> None:
    waiting: queue.SimpleQueue[Thing] = queue.SimpleQueue()
    for thing in things:
        waiting.put(thing)
    failed: list[BaseException] = []

    def work() -> None:
        worker = Worker(folder)
        try:
            while not failed:
                one(worker, waiting.get_nowait())
        except queue.Empty:
            pass
        except BaseException as error:
            failed.append(error)
        finally:
            worker.close()

    threads = [threading.Thread(target=work) for _ in range(max(1, jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def _report(verdicts: list[Verdict], seconds: float) -> list[Verdict]:
    reached = Counter(verdict.reached for verdict in verdicts)
    struck = [verdict.case for verdict in verdicts if verdict.reached == "struck"]
    bad = [verdict for verdict in verdicts if verdict.found]
    _say(f"{len(verdicts)} cases in {seconds:.0f} s: {dict(reached)}")
    _say(f"struck: {len({case.point for case in struck})} points; by action {dict(Counter(case.action for case in struck))};")
    _say(f"        by scenario {dict(Counter(case.scenario for case in struck))}")
    _say(f"violations: {len(bad)}")
    for verdict in bad:
        _say(f"  {verdict.case}: {verdict.found[0][:200]}")
    return bad


def _remove(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
