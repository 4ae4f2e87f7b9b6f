"""`python -m tests.evidence [PATH]`: evidence.json in words. `--package` lays it beside the resources for a package."""

from __future__ import annotations

import sys
from pathlib import Path

from actum import clock
from actum.tried import Kind, NotThere, read

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
        entry = found.entries.get(kind)
        if entry is None:
            sys.stdout.write(f"{kind:11} did not run\n")
            continue
        counts = ", ".join(f"{number:,} {word}" for word, number in entry.counts)
        code = f"{(entry.commit or 'unknown')[:12]}{' with changes' if entry.dirty else ''}"
        part = "" if entry.complete else " (in part)"
        sys.stdout.write(
            f"{kind:11} {counts}{part}; {entry.seconds} s; {clock.rfc3339(entry.at_us)[:16]}; {code} {entry.note}\n"
        )
        for why, number in entry.skips:
            sys.stdout.write(f"{'':11}   {number} skipped: {why}\n")
    return 1 if any(entry.failed for entry in found.entries.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
