"""The files the work has written so far, looked at while it may still be writing."""

from __future__ import annotations

import os
from collections.abc import Iterator

from actum import limits


def output_files(folder: str) -> Iterator[tuple[str, int]]:
    """(path below `folder` with slashes, size) of the files there now; links are not followed."""
    waiting, seen = [""], 0
    while waiting:
        below = waiting.pop()
        try:
            with os.scandir(os.path.join(folder, below)) as entries:
                for entry in entries:
                    path = f"{below}/{entry.name}" if below else entry.name
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(path)
                    else:
                        yield path, entry.stat(follow_symlinks=False).st_size
                        seen += 1
        except OSError:
            continue  # it went away while it was looked at
        if seen > limits.OUTPUT_FILES_COUNTED_MAX:
            return  # what has been seen is counted; sealing sees the rest
