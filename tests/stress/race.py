"""Two apps and a command line race for one workspace, again and again: one supervises, one run comes of each key (R02, R05).

Each round starts two supervising programs and one `actum run` at the same instant, on the same workspace. A command that got
no answer, because who supervised left in that instant, says so, and asks again with the same key. Afterwards: the run of the
round's key is there once and has succeeded, the programs ended in order, nobody was told that the database is locked,
and no two service instances were open at the same time.
"""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.helpers.program import ACTUM, Place, made

ROUND_S_MAX = 120
CANNOT_TELL, BUSY = 7, 75  # whoever is told so asks again with the same key


@dataclass
class Found:
    """What the rounds showed. `problems` = (round, what); `unanswered` = rounds whose command had to be asked again."""

    rounds: int = 0
    led_by: dict[str, int] = field(default_factory=dict)  # who the command found: itself, or a supervisor that was there
    unanswered: list[int] = field(default_factory=list)
    problems: list[tuple[int, str]] = field(default_factory=list)


def race(folder: Path, rounds: int, seed: int = 0) -> Found:
    """`rounds` rounds in a fresh workspace below `folder`."""
    place, found, rng = made(folder), Found(), random.Random(seed)
    place.define("small", 'printf "a\\n1\\n" > "$ACTUM_OUTPUT/a.csv"')
    told = 0
    try:
        for number in range(1, rounds + 1):
            _round(place, number, rng, found)
            found.rounds = number
            for _round_number, what in found.problems[told:]:
                sys.stderr.write(f"round {number}: {what}\n")
            told = len(found.problems)
            if number % 20 == 0:
                sys.stderr.write(f"{number} rounds, {told} problems\n")
    except KeyboardInterrupt:
        sys.stderr.write("ended early; what was done is reported\n")
    found.problems += [(found.rounds, problem) for problem in _overlapping(place)]
    told = place.actum("audit")
    if told.code != 0:
        found.problems.append((found.rounds, f"the audit ended with {told.code}: {told.objects[-3:]}"))
    return found


def _round(place: Place, number: int, rng: random.Random, found: Found) -> None:
    words = [
        ["supervise", "--until-idle"],
        ["supervise", "--until-idle"],
        ["run", "small", "--key", f"round-{number}", "--json"],
    ]
    rng.shuffle(words)
    gate_read, gate_write = os.pipe()
    gated = ["sh", "-c", 'read _; exec "$@" </dev/null', "sh"]  # all wait for the gate to close, so that they begin together
    environment = {**os.environ, "ACTUM_HOME": str(place.home)}
    pipe = subprocess.PIPE
    streams: dict[str, Any] = {"stdin": gate_read, "stdout": pipe, "stderr": pipe, "text": True}
    racers = [(each, subprocess.Popen([*gated, *ACTUM, *each], env=environment, cwd=place.data, **streams)) for each in words]
    os.close(gate_read)
    os.close(gate_write)
    for each, process in racers:
        try:
            out, err = process.communicate(timeout=ROUND_S_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            found.problems.append((number, f"{each[0]} did not end within {ROUND_S_MAX} s: {err[-300:]}"))
            continue
        _judge(number, each[0], process.returncode, out, err, found)
    if number in found.unanswered:
        told = place.actum("run", "small", "--key", f"round-{number}")
        if told.code != 0:
            found.problems.append((number, f"asked again, run ended with {told.code}: {told.objects[-1:]}"))
    if (of_key := _of_key(place, f"round-{number}")) != ["SUCCEEDED"]:
        found.problems.append((number, f"the runs of its key are {of_key}"))


def _of_key(place: Place, key: str) -> list[str]:
    connection = sqlite3.connect(f"file:{place.home / 'actum.db'}?mode=ro", uri=True)
    rows = connection.execute("SELECT status FROM run WHERE key = ?", (key,)).fetchall()
    connection.close()
    return [row[0] for row in rows]


def _judge(number: int, name: str, code: int, out: str, err: str, found: Found) -> None:
    if "locked" in out + err or "Traceback" in err:
        found.problems.append((number, f"{name} said: {err[-400:]}"))
    if name == "run" and code in (CANNOT_TELL, BUSY):
        found.unanswered.append(number)
    elif name == "run" and code != 0:
        found.problems.append((number, f"run ended with {code}: {out[-300:]} {err[-300:]}"))
    if name == "supervise" and code not in (0, BUSY):
        found.problems.append((number, f"supervise ended with {code}: {err[-300:]}"))
    key = f"{name} {code}"
    found.led_by[key] = found.led_by.get(key, 0) + 1


def _overlapping(place: Place) -> list[str]:
    """Service instances that were open while another was, by the store's own record."""
    connection = sqlite3.connect(f"file:{place.home / 'actum.db'}?mode=ro", uri=True)
    rows = connection.execute("SELECT epoch, opened_at_us, closed_at_us FROM service_instance ORDER BY epoch").fetchall()
    connection.close()
    problems = [f"epoch {epoch} was not closed in order" for epoch, _, closed in rows if closed is None]
    return problems + [
        f"epoch {later[0]} was opened before epoch {earlier[0]} was closed"
        for earlier, later in pairwise(rows)
        if earlier[2] is not None and later[1] < earlier[2]
    ]


def main(rounds: int, folder: Path) -> tuple[dict[str, int], list[str]]:
    """Counts for the evidence, and what was found."""
    found = race(folder, rounds)
    sys.stdout.write(
        f"race: {found.rounds} rounds; exits {found.led_by}; {len(found.unanswered)} asked again; "
        f"{len(found.problems)} problems\n"
    )
    counts = {"race rounds": found.rounds, "asked again": len(found.unanswered), "findings": len(found.problems)}
    return counts, [f"round {number}: {what}" for number, what in found.problems]
