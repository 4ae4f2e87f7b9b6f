"""The parts of README.md and core/ARCHITECTURE.md that are drawn from the code: `python -m tests.house.generated` writes them.

A block stands between `<!-- NAME: drawn from … -->` and `<!-- NAME: end -->`. tests/house/test_generated.py compares.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable

from tests.house import diagrams, rules
from tests.house.sources import ROOT

README, ARCHITECTURE = "README.md", "core/ARCHITECTURE.md"

BLOCKS: dict[tuple[str, str], Callable[[], str]] = {
    (README, "commands"): diagrams.commands,
    (ARCHITECTURE, "statuses"): diagrams.statuses,
    (ARCHITECTURE, "arrows"): diagrams.arrow_table,
    (ARCHITECTURE, "reconciliation"): diagrams.reconciliation,
    (ARCHITECTURE, "rules"): rules.table,
    (ARCHITECTURE, "modules"): diagrams.modules_map,
}


def block(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {name}: drawn from [^>]*-->\n)(.*?)(<!-- {name}: end -->)", re.S)


def current(file: str, name: str) -> str:
    """What stands in the file now. Raises LookupError where the markers are missing."""
    match = block(name).search((ROOT / file).read_text(encoding="utf-8"))
    if match is None:
        raise LookupError(f"{file} has no block <!-- {name}: drawn from … -->")
    return match[2]


def drawn(file: str, name: str) -> str:
    return BLOCKS[file, name]().strip("\n") + "\n"


def write() -> list[str]:
    """Draw every block anew; the names of those that changed."""
    changed = []
    for file, name in BLOCKS:
        text, fresh = (ROOT / file).read_text(encoding="utf-8"), drawn(file, name)
        if current(file, name) != fresh:
            changed.append(f"{file}: {name}")
            text = block(name).sub(lambda match, fresh=fresh: match[1] + fresh + match[3], text)
            (ROOT / file).write_text(text, encoding="utf-8")
    return changed


if __name__ == "__main__":
    sys.stdout.write("".join(f"{line}\n" for line in write()) or "everything was current\n")
