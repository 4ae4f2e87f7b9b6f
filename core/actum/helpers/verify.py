"""Verb `verify`: a package against the identity it must have, at both levels, whole unless a `level` says otherwise.

`{"package", "expected": Expected, "resume": path|null, "level": content|bytes|chunks:i-j|sample:n|null}` → the report
(`report.Report.to_json`; of *bytes* alone `{"ok", "reason", "bytes"}`): a package that fails is an answer, not an error.
Errors: disk_full, io_error (the disk did not answer: no verdict), bad_level, bad_extent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum.errors import WrongUse
from actum.helpers.arguments import Arguments, refused
from actum.results import digests
from actum.results.chunks import WHOLE, extent_of
from actum.results.report import Expected
from actum.results.verify import verify, verify_bytes


def run(args: Mapping[str, Any], progress: digests.Progress) -> dict[str, Any]:
    given = Arguments(args, "package", "expected", "resume", "level")
    try:
        expected = Expected.from_json(given.take("expected", dict))
    except TypeError as error:
        raise refused(f"{error}.") from error
    resume = given.path("resume") if args.get("resume") is not None else None
    level = given.optional("level", str) or "content"
    if level == "bytes":
        only = verify_bytes(given.path("package"), expected, progress)
        return {"ok": only.ok, "reason": only.findings[0].message if only.findings else "", "bytes": only.to_json()}
    extent = WHOLE if level == "content" else extent_of(level)
    if extent is None:
        raise WrongUse("bad_level", f"There is no level “{level}”.", "Known: content, bytes, chunks:FIRST-LAST, sample:N.")
    return verify(given.path("package"), expected, progress, extent=extent, resume=resume).to_json()
