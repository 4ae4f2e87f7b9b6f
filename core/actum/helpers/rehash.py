"""Verb `rehash`: the digest of one file or folder as it is now, past every cache.

`{"path"}` → `{"sha256", "size", "stat": [inode, size, mtime_ns, ctime_ns]}`. Errors: input_unreadable; io_error where the
disk or the network did not serve, which says nothing about the file.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Any

from actum.errors import StorageFailed
from actum.helpers.arguments import Arguments
from actum.helpers.counting import counter
from actum.helpers.digest import unreadable
from actum.results import digests, inputs


def run(args: Mapping[str, Any], progress: digests.Progress) -> dict[str, Any]:
    path = Arguments(args, "path").path("path")
    try:
        digest = inputs.digest_of(path, counter(progress, inputs.stat_of(path)[1]))
        return {"sha256": digest.sha256, "size": digest.size, "stat": list(inputs.stat_of(path))}
    except OSError as error:
        if error.errno in (errno.EIO, errno.ESTALE, errno.ETIMEDOUT):
            raise StorageFailed("reading an input again", error) from error
        raise unreadable(path, error) from error
