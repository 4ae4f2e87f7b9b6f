"""Frames: what one guard accepts in a second, against a bare loop of json.loads; and the window's delay meanwhile."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from actum import clock, limits
from actum.ipc import framing, messages
from actum.ipc.session import Accepted, Expected, Guard

from tests.bench.harness import Comparison
from tests.house.sources import ROOT

FRAMES = 20_000
SECRET, SESSION = "5" * 32, "7" * 32


def envelope(kind: str, seq: int, **fields: object) -> dict[str, object]:
    about = {"v": messages.VERSION, "type": kind, "run": 17, "attempt": "a" * 36, "session": SESSION, "channel": "c" * 32}
    return {**about, "seq": seq, "at": clock.utc_us(), **fields}


def hello() -> dict[str, object]:
    identity = {"machine": "m", "boot": "b", "pid_namespace": "n", "pid": 4711, "start_ticks": 99}
    return envelope("hello", 0, secret=SECRET, protocol=messages.PROTOCOL, identity=identity, claimed=True)


def progress(seq: int) -> dict[str, object]:
    return envelope("progress", seq, done=seq, total=FRAMES, unit="rows", stage="compute", message="")


def expected() -> Expected:
    return Expected(17, "a" * 36, SESSION, hashlib.sha256(SECRET.encode()).hexdigest())


def flooded(frames: int, what: str) -> float:
    """One figure of the program in flooded.py, in a process and a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="actum-b") as folder:
        command = [sys.executable, "-m", "tests.bench.flooded", folder, str(frames)]
        shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60).stdout
    return float(json.loads(shown)[what])


@contextmanager
def prepare(folder: Path) -> Iterator[list[Comparison]]:
    documents = [hello(), *(progress(seq) for seq in range(1, FRAMES))]
    stream = b"".join(framing.encode(document) for document in documents)
    lines = [json.dumps(document).encode() for document in documents]
    read = limits.CHANNEL_READ_BYTES_MAX

    def ours() -> float:
        channel, accepted = Guard(lambda hello: expected()), 0
        began = time.perf_counter()
        for start in range(0, len(stream), read):
            accepted += sum(isinstance(seen, Accepted) for seen in channel.receive(stream[start : start + read]))
        elapsed = time.perf_counter() - began
        assert accepted == FRAMES
        return FRAMES / elapsed

    def reference() -> float:
        began = time.perf_counter()
        for line in lines:
            json.loads(line)
        return FRAMES / (time.perf_counter() - began)

    yield [
        Comparison(
            "frames decoded, checked and proven",
            "/s",
            ours,
            reference,
            "json.loads of the same documents",
            "≥ 100,000/s",
            lambda ours, ratio: ours >= 100_000,
        ),
        Comparison(
            "frames through the local server, 8 hosts flooding",
            "/s",
            lambda: flooded(FRAMES, "frames_per_s"),
            reference,
            "json.loads, with a core of its own",
            "report (flooders share the cores)",
            lambda ours, ratio: True,
            rounds=3,
        ),
        Comparison(
            "delay of a GUI timer meanwhile, p99",
            "ms",
            lambda: flooded(FRAMES, "delay_p99_ms"),
            lambda: flooded(0, "delay_p99_ms"),
            "idle window",
            "≤ 4 ms",
            lambda ours, ratio: ours <= 4,
            rounds=3,
        ),
        Comparison(
            "delay of a GUI timer meanwhile, largest",
            "ms",
            lambda: flooded(FRAMES, "delay_max_ms"),
            lambda: flooded(0, "delay_max_ms"),
            "idle window",
            "≤ 50 ms",
            lambda ours, ratio: ours <= 50,
            rounds=3,
        ),
    ]
