"""Reconciling 1,000 leftovers: evidence of every attempt and its verdict, against one bare pass over /proc."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from actum.model.identity import new_token
from actum.model.status import Pair, Phase, Status
from actum.processes import identity as identities
from actum.processes.evidence import Question, gather_many
from actum.supervise.reconcile import decide

from tests.bench.harness import Comparison

LEFTOVERS = 1_000
COMPUTING = Pair(Status.RUNNING, Phase.COMPUTING)


def leftover(folder: Path, number: int) -> Question:
    """The folder of an attempt whose host was killed while it computed: a claim, a free lock, recorded members, no outcome."""
    attempt = folder / str(number) / "1"
    spool = attempt / "spool"
    spool.mkdir(parents=True)
    (spool / "alive").touch(mode=0o600)
    session = new_token()
    gone = {**identities.own().to_json(), "pid": 4_000_000 + number, "start_ticks": 1}
    claim = {"v": 1, "by": "host", "session": session, "identity": gone, "at": 1}
    tree = {"v": 1, "session": session, "at": 1, "members": [{**gone, "command": "work"}]}
    (spool / "claim").write_text(json.dumps(claim))
    (spool / "tree.json").write_text(json.dumps(tree))
    return Question(attempt, session, new_token())


def scan_bare() -> None:
    """What any search costs at the least: stat, environ and descriptors of every process."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            Path("/proc", name, "stat").read_bytes()
            Path("/proc", name, "environ").read_bytes()
            for descriptor in os.listdir(f"/proc/{name}/fd"):
                os.readlink(f"/proc/{name}/fd/{descriptor}")
        except OSError:
            continue


@contextmanager
def prepare(folder: Path) -> Iterator[list[Comparison]]:
    questions = [leftover(folder, number) for number in range(1, LEFTOVERS + 1)]

    def ours() -> float:
        began = time.perf_counter()
        verdicts = [decide(COMPUTING, False, evidence) for evidence in gather_many(questions, workspace_path=folder)]
        elapsed = time.perf_counter() - began
        assert {verdict.number for verdict in verdicts} == {18}, verdicts[:3]
        return elapsed * 1000

    def reference() -> float:
        began = time.perf_counter()
        scan_bare()
        return (time.perf_counter() - began) * 1000

    yield [
        Comparison(
            f"evidence and verdicts of {LEFTOVERS:,} leftovers",
            "ms",
            ours,
            reference,
            "one bare pass over /proc",
            "≤ 2 s",
            lambda ours, ratio: ours <= 2000,
        )
    ]
