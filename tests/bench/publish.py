"""Publication: our file-system steps on a sealed package, against three fsyncs, a rename and a directory fsync."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from actum.results import publish
from actum.workspace import Workspace, create_folders

from tests.bench.harness import Comparison

FILES = 3
TIMES = 20


def package(folder: Path, *, sealed: bool) -> Path:
    """A small package: as sealing leaves it, read-only and durable, or freshly written and neither."""
    folder.mkdir(parents=True)
    for number in range(FILES):
        path = folder / f"file-{number}"
        path.write_bytes(b"x" * 4096)
        if sealed:
            path.chmod(0o444)
            sync(path)
    if sealed:
        sync(folder)
    return folder


def sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


@contextmanager
def prepare(folder: Path) -> Iterator[list[Comparison]]:
    ws = Workspace(folder / "ours")
    create_folders(ws)
    numbers = itertools.count(1)

    def ours() -> float:
        total = 0.0
        for _ in range(TIMES):
            run = next(numbers)
            staging = package(ws.attempts / str(run) / "1" / "staging", sealed=True)
            began = time.perf_counter()
            target = publish.prepare_target(ws, run) / "1"
            publish.make_files_readonly(staging)
            publish.publish(staging, target)
            publish.make_durable(target, staging.parent)
            total += time.perf_counter() - began
        return total / TIMES * 1000

    def reference() -> float:
        total = 0.0
        for _ in range(TIMES):
            number = next(numbers)
            source = package(folder / "bare" / "from" / str(number), sealed=False)
            (folder / "bare" / "to").mkdir(exist_ok=True)
            began = time.perf_counter()
            for name in range(FILES):
                sync(source / f"file-{name}")
            os.rename(source, folder / "bare" / "to" / str(number))
            sync(folder / "bare" / "to")
            total += time.perf_counter() - began
        return total / TIMES * 1000

    yield [
        Comparison(
            "publish a package",
            "ms",
            ours,
            reference,
            f"{FILES} fsyncs, rename, directory fsync",
            "≤ 2 × the reference",
            lambda ours, ratio: ratio <= 2,
        )
    ]
