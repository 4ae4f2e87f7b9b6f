"""Frames: what one guard accepts in a second, against a bare loop of json.loads; and the window's delay meanwhile."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from actum import clock, limits
from actum.ipc import framing, messages
from actum.ipc.session import Accepted, Expected, Guard

from tests.bench.harness import Comparison

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


def guard() -> Guard:
    expected = Expected(17, "a" * 36, SESSION, hashlib.sha256(SECRET.encode()).hexdigest())
    return Guard(lambda hello: expected)


@contextmanager
def prepare(folder: Path) -> Iterator[list[Comparison]]:
    documents = [hello(), *(progress(seq) for seq in range(1, FRAMES))]
    stream = b"".join(framing.encode(document) for document in documents)
    lines = [json.dumps(document).encode() for document in documents]
    read = limits.CHANNEL_READ_BYTES_MAX

    def ours() -> float:
        channel, accepted = guard(), 0
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
        )
    ]
