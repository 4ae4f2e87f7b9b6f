"""Verb `verify`: a package against the identity it must have, at both levels, whole.

`{"package", "expected": Expected, "resume": path|null}` → the report (`report.Report.to_json`): a package that fails is an answer, not an error.
Errors: disk_full, io_error (the disk did not answer: no verdict).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum.helpers.arguments import Arguments, refused
from actum.results import digests
from actum.results.report import Expected
from actum.results.verify import verify


def run(args: Mapping[str, Any], progress: digests.Progress) -> dict[str, Any]:
    given = Arguments(args, "package", "expected", "resume")
    try:
        expected = Expected.from_json(given.take("expected", dict))
    except TypeError as error:
        raise refused(f"{error}.") from error
    resume = given.path("resume") if args.get("resume") is not None else None
    return verify(given.path("package"), expected, progress, resume=resume).to_json()
