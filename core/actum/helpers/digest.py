"""Verb `digest`: sha256 of files and folders, with a cache by device, inode, size, mtime and ctime (R17).

`{"paths": [absolute]}` → `{"files": [{path, sha256, size, stat: [inode, size, mtime_ns, ctime_ns]}]}`. A file is not put into
the cache if it changed within DIGEST_SETTLED_S: a second write in the same tick of the file system's clock would go unseen.
Errors: input_unreadable, with the path.
"""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actum import limits
from actum.errors import WrongUse
from actum.helpers.arguments import Arguments, refused
from actum.helpers.counting import counter
from actum.results import digests, inputs

Key = tuple[int, int, int, int, int]


class Cache:
    """Digests by (device, inode, size, mtime, ctime); at DIGESTS_CACHED_MAX the one used longest ago goes."""

    def __init__(self) -> None:
        self._known: OrderedDict[Key, str] = OrderedDict()

    def find(self, key: Key) -> str | None:
        sha256 = self._known.get(key)
        if sha256 is not None:
            self._known.move_to_end(key)
        return sha256

    def put(self, key: Key, sha256: str) -> None:
        newest = max(key[3], key[4])
        if time.time_ns() - newest < limits.DIGEST_SETTLED_S * 1e9:
            return
        self._known[key] = sha256
        if len(self._known) > limits.DIGESTS_CACHED_MAX:
            self._known.popitem(last=False)

    def __len__(self) -> int:
        return len(self._known)


_cache = Cache()


def run(args: Mapping[str, Any], progress: digests.Progress) -> dict[str, Any]:
    given = Arguments(args, "paths").take("paths", list)
    if not all(isinstance(path, str) and os.path.isabs(path) for path in given):
        raise refused("“paths” must be a list of absolute paths.")
    paths = [Path(path) for path in given]
    before = [_stat(path) for path in paths]
    advance = counter(progress, sum(stat[1] for stat in before))
    return {"files": [_describe(path, stat, advance) for path, stat in zip(paths, before, strict=True)]}


def _stat(path: Path) -> inputs.Stat:
    try:
        return inputs.stat_of(path)
    except OSError as error:
        raise unreadable(path, error) from error


def _describe(path: Path, stat: inputs.Stat, advance: Any) -> dict[str, Any]:
    try:
        key = (path.stat().st_dev, *stat)
        sha256 = _cache.find(key)
        if sha256 is None:
            digest = inputs.digest_of(path, advance)
            sha256, after = digest.sha256, inputs.stat_of(path)
            stat = (after[0], digest.size, after[2], after[3])
            if after == key[1:]:
                _cache.put(key, sha256)
        else:
            advance(stat[1])
    except OSError as error:
        raise unreadable(path, error) from error
    return {"path": str(path), "sha256": sha256, "size": stat[1], "stat": list(stat)}


def unreadable(path: Path, error: OSError) -> WrongUse:
    return WrongUse(
        "input_unreadable",
        f"“{path.name}” cannot be read.",
        f"{error.strerror or error}: {path}.",
        "Check the path and its permissions.",
        path=str(path),
        errno=error.errno,
    )
