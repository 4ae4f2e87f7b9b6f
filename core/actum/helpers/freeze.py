"""Verb `freeze`: one hashing copy of an input into the input store (R17).

`{"source", "target", "expected_sha256"|null}` (absolute paths; target = `inputs/.<epoch>-<n>`) → `{"sha256", "size", "stat",
"source_stat"}`; `stat` is that of `target/content`, to be recorded and compared later. Errors: input_changed,
input_unreadable, disk_full, io_error.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from actum.errors import StorageFailed
from actum.helpers.arguments import Arguments
from actum.helpers.counting import counter
from actum.helpers.digest import unreadable
from actum.results import digests, inputs


def run(args: Mapping[str, Any], progress: digests.Progress) -> dict[str, Any]:
    given = Arguments(args, "source", "target", "expected_sha256")
    source, target = given.path("source"), given.path("target")
    expected = given.optional("expected_sha256", str)
    try:
        total = inputs.stat_of(source)[1]
    except OSError as error:
        raise unreadable(source, error) from error
    try:
        return asdict(inputs.freeze(source, target, expected, counter(progress, total)))
    except OSError as error:
        is_source = str(error.filename or "").startswith(str(source)) or error.errno in (errno.EISDIR, errno.ENOTDIR)
        if is_source:
            raise unreadable(source, error) from error
        raise StorageFailed("copying the input", error) from error
