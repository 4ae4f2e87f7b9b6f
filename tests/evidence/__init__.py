"""Evidence by kind: what ran writes what it ran, with counts, skips and why, commit, dirty flag, environment and time.

`report(kind, counts, …)` adds one kind to evidence.json; the plugin of pytest calls it for each folder of tests that ran
as a whole, and each long run calls it when it ends. Nothing else writes the file.

Theory. A part never takes the place of the whole. Of each kind and part two entries are kept: under its own name the best
whole one (of those that have no end, such as seeds, the one with the greatest `extent`; else the newest), and under the name
with NEWEST the newest of all others, which is smaller or in part. So a short run after a long one is shown beside it, each
with its own age and commit.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import subprocess
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actum import clock, limits
from actum.tried import SCHEMA, Kind

ROOT = Path(__file__).resolve().parents[2]
DEFAULT = ROOT / "build" / "evidence.json"
PACKAGED = ROOT / "resources" / "actum_resources" / "evidence.json"

# Which kind a test is of, by the folder below tests/ in which it stands.
FOLDERS = {
    "unit": Kind.UNIT,
    "property": Kind.PROPERTY,
    "house": Kind.HOUSE,
    "process": Kind.PROCESS,
    "gui": Kind.WINDOW,
    "simulation": Kind.SIMULATION,
    "faults": Kind.FAULTS,
    "upgrade": Kind.UPGRADE,
    "packaging": Kind.PACKAGING,
    "stress": Kind.STRESS,
    "soak": Kind.SOAK,
    "fuzz": Kind.FUZZ,
}


NEWEST = " newest"


@dataclass(frozen=True)
class Code:
    """What was tried: the commit, and whether files differed from it. None = git does not say."""

    commit: str | None
    dirty: bool | None

    @classmethod
    def now(cls) -> Code:
        commit = _git("rev-parse", "HEAD")
        changes = _git("status", "--porcelain", "--untracked-files=no")
        return cls(commit or None, None if changes is None else bool(changes))

    def until(self, end: Code) -> Code:
        """What held from here to `end`: code that changed while it was tried is dirty."""
        dirty = self.dirty or end.dirty or (self.commit != end.commit)
        return Code(end.commit, dirty)


def report(
    kind: str,
    counts: Mapping[str, int],
    *,
    seconds: float,
    code: Code | None = None,
    held: Code | None = None,
    skips: Mapping[str, int] | None = None,
    complete: bool = True,
    note: str = "",
    part: str = "long",
    extent: int | None = None,
    worth: bool = True,
    path: Path = DEFAULT,
) -> None:
    """Put what ran of one kind into evidence.json: in place of what stood there, or beside it where that was more.

    `part` tells what runs with all tests ("suite") from long runs, and these from each other; `counts` = what was done, by
    word ("passed", "failed", "seeds", "executions", "findings"); `note` = one line that says what the counts mean; `code` =
    Code.now() from the beginning of the run, so that code that changed meanwhile is told; `held` = what was tried, where that
    is not the code of now; `extent` = how much was done, where there is no natural whole: less than before stands beside it.
    Not `worth` it = a short look, which writes nothing.
    """
    if not worth:
        return
    now = Code.now()
    held = held or (code.until(now) if code else now)
    entry = {
        "at": clock.rfc3339(clock.utc_us()),
        "commit": held.commit,
        "dirty": held.dirty,
        "complete": complete,
        "counts": {name: int(number) for name, number in counts.items()},
        "skips": _bounded(skips or {}),
        "seconds": round(seconds),
        "note": note,
        "environment": environment_digest(),
        **({} if extent is None else {"extent": extent}),
    }
    _put(path, Kind(kind).value, part, entry)


def environment() -> dict[str, str]:
    """What it was tried on; nothing in it tells one machine's owner from another's."""
    return {
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "cores": str(os.cpu_count()),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": _lock_digest(),
    }


def environment_digest() -> str:
    return hashlib.sha256(json.dumps(environment(), sort_keys=True).encode()).hexdigest()[:16]


def package(source: Path = DEFAULT, target: Path = PACKAGED) -> bool:
    """Lay the evidence beside the resources, so that a package takes it along. False where there is none."""
    if not source.is_file():
        target.unlink(missing_ok=True)
        return False
    target.write_bytes(source.read_bytes())
    return True


def _put(path: Path, kind: str, part: str, entry: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_suffix(".lock"), "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several runs may end at once
        try:
            document = json.loads(path.read_bytes())
            kinds = dict(document["kinds"]) if document.get("schema") == SCHEMA else {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            kinds = {}
        parts = kinds[kind] if isinstance(kinds.get(kind), dict) and "at" not in kinds[kind] else {}
        kinds[kind] = {**parts, _place(parts.get(part), part, entry): entry}
        ordered = {name.value: kinds[name.value] for name in Kind if name.value in kinds}
        document = {"schema": SCHEMA, "environment": environment(), "kinds": ordered}
        temporary = path.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        temporary.replace(path)


def _place(there: object, part: str, entry: Mapping[str, Any]) -> str:
    """Under which name an entry is kept, beside `there`, which has the name of the part so far."""
    if not entry["complete"]:
        return part + NEWEST
    smaller = isinstance(there, dict) and there.get("complete") is True and entry.get("extent", _extent(there)) < _extent(there)
    return part + NEWEST if smaller else part


def _extent(entry: Mapping[str, Any]) -> int:
    """How much an entry is of; of one that does not say it, what was counted first."""
    counts = entry.get("counts")
    first = next(iter(counts.values()), 0) if isinstance(counts, dict) else 0
    extent = entry.get("extent", first)
    return extent if isinstance(extent, int) else 0


def _bounded(skips: Mapping[str, int]) -> dict[str, int]:
    """The most frequent reasons; the rest as one."""
    ordered = Counter(dict(skips)).most_common()
    most = limits.EVIDENCE_NAMES_MAX - 1
    rest = sum(number for _, number in ordered[most:])
    return {why[:200]: number for why, number in ordered[:most]} | ({"other reasons": rest} if rest else {})


def _lock_digest() -> str:
    lock = ROOT / "requirements.lock"
    return f"requirements.lock sha256 {hashlib.sha256(lock.read_bytes()).hexdigest()[:16]}" if lock.is_file() else "unknown"


def _git(*words: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
