"""`python -m tests.evidence [PATH]`: evidence.json in words. `--package` lays it beside the resources for a package."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from actum import clock
from actum.tried import Entry, Kind, NotThere, read

from tests import evidence


def main(words: list[str]) -> int:
    if words[:1] == ["--package"]:
        return 0 if evidence.package() else 1
    path = Path(words[0]) if words else evidence.DEFAULT
    found = read(path)
    if isinstance(found, NotThere):
        sys.stdout.write(f"{path.name}: {found.why} {found.detail}\n")
        return 1
    sys.stdout.write("; ".join(f"{name} {value}" for name, value in found.environment) + "\n")
    for kind in Kind:
        for line in _lines(kind, found.entries.get(kind, ())):
            sys.stdout.write(line + "\n")
    return 1 if any(entry.failed for parts in found.entries.values() for entry in parts) else 0


def _lines(kind: Kind, parts: tuple[Entry, ...]) -> Iterator[str]:
    if not parts:
        yield f"{kind:11} did not run"
    for entry in parts:
        counts = ", ".join(f"{number:,} {word}" for word, number in entry.counts)
        code = f"{(entry.commit or 'unknown')[:12]}{' with changes' if entry.dirty else ''}"
        part = "" if entry.complete else " (in part)"
        when = clock.rfc3339(entry.at_us)[:16]
        yield f"{kind:11} {entry.part}: {counts}{part}; {entry.seconds} s; {when}; {code} {entry.note}".rstrip()
        for why, number in entry.skips:
            yield f"{'':13}{number} skipped: {why}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
