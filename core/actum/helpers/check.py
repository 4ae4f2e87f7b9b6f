"""Verb `check`: what holds of a published result now (R16).

`{"package", "digest", "level": presence|bytes|content|authority|chunks:i-j|sample:n, "expected": Expected|null,
"resume": path|null, "bytes_per_s": n|null}` → `{"state", "reason", "level", "details", "remedy", "rebuildable"}`.
A damaged or absent result is an answer, not an error. `bytes_per_s` bounds how fast it reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum.helpers.arguments import Arguments, refused
from actum.results import digests
from actum.results.check import check
from actum.results.report import Expected
from actum.results.throttle import throttled


def run(args: Mapping[str, Any], progress: digests.Progress) -> dict[str, Any]:
    given = Arguments(args, "package", "digest", "level", "expected", "resume", "bytes_per_s")
    try:
        expected = Expected.from_json(given.optional("expected", dict) or {})
    except TypeError as error:
        raise refused(f"{error}.") from error
    rate = given.optional("bytes_per_s", int)
    report = throttled(progress, rate) if rate else progress
    resume = given.path("resume") if args.get("resume") is not None else None
    level = given.take("level", str)
    return check(given.path("package"), given.take("digest", str), level, expected, report, resume).to_json()
