"""Many cases side by side: they mostly wait, each for processes of its own. Used by the command and by the suite."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from tests.evidence import Code
from tests.faults.matrix import Case, Passages, Verdict, Worker
from tests.faults.record import Record
from tests.faults.scenarios import SCENARIOS

Thing = TypeVar("Thing")


def baselines(folder: Path, jobs: int) -> Passages:
    """The passages of every scenario, without any fault. Raises AssertionError where one goes wrong by itself."""
    passages: Passages = {}

    def one(worker: Worker, scenario: str) -> None:
        passages[scenario] = worker.baseline(scenario)

    side_by_side(SCENARIOS, folder, jobs, one)
    return {scenario: passages[scenario] for scenario in SCENARIOS}


def judge_all(cases: Iterable[Case], folder: Path, jobs: int, record: Record, told: Callable[[Verdict, float], None]) -> None:
    """A verdict for each case, recorded and told as it falls."""

    side_by_side(cases, folder, jobs, lambda worker, case: judged(lambda: worker.judge(case), record, told))


def judged(judge: Callable[[], Verdict], record: Record, told: Callable[[Verdict, float], None]) -> None:
    """One verdict, with the code it is of."""
    begun, before = time.monotonic(), Code.now()
    verdict = judge()
    seconds = time.monotonic() - begun
    record.add(verdict, seconds, before.until(Code.now()))
    told(verdict, seconds)


def side_by_side(things: Iterable[Thing], folder: Path, jobs: int, one: Callable[[Worker, Thing], None]) -> None:
    """`one` for each thing, by `jobs` threads with a worker each; the first exception of any ends all and is raised."""
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
