"""Verb `check`: what holds of a published result now (R16).

`{"package", "digest", "level": presence|bytes|content, "expected": Expected|null}` → `{"state", "reason", "level", "details"}`.
A damaged or absent result is an answer, not an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum.helpers.arguments import Arguments, refused
from actum.results import digests
from actum.results.check import check
from actum.results.report import Expected


def run(args: Mapping[str, Any], progress: digests.Progress) -> dict[str, Any]:
    given = Arguments(args, "package", "digest", "level", "expected")
    try:
        expected = Expected.from_json(given.optional("expected", dict) or {})
    except TypeError as error:
        raise refused(f"{error}.") from error
    return check(given.path("package"), given.take("digest", str), given.take("level", str), expected, progress).to_json()
