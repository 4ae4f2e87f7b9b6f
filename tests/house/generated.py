"""What is drawn from the code: parts of README.md and core/ARCHITECTURE.md, and the read side's compiled statements.

`python -m tests.house.generated` writes them; tests/house/test_generated.py compares. A block stands between
`<!-- NAME: drawn from … -->` and `<!-- NAME: end -->`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable

from tests.house import diagrams, rules
from tests.house.sources import ROOT

COMPILED = ROOT / "core/actum/store/compiled.json"
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


def compiled() -> str:
    """The file with text and constants of every question of the read side, one a line."""
    from actum.store import clauses, sql
    from actum.store.question import key

    lines = []
    for asked in clauses.every():
        text, fixed = sql.compiled(clauses.clause(asked))
        lines.append(f"{json.dumps(key(asked))}: {json.dumps([' '.join(text.split()), dict(fixed)])}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write() -> list[str]:
    """Draw everything anew; the names of what changed."""
    changed = []
    if COMPILED.read_text(encoding="utf-8") != (statements := compiled()):
        changed.append(str(COMPILED.relative_to(ROOT)))
        COMPILED.write_text(statements, encoding="utf-8")
    for file, name in BLOCKS:
        text, fresh = (ROOT / file).read_text(encoding="utf-8"), drawn(file, name)
        if current(file, name) != fresh:
            changed.append(f"{file}: {name}")
            text = block(name).sub(lambda match, fresh=fresh: match[1] + fresh + match[3], text)
            (ROOT / file).write_text(text, encoding="utf-8")
    return changed


if __name__ == "__main__":
    sys.stdout.write("".join(f"{line}\n" for line in write()) or "everything was current\n")
