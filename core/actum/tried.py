"""What was tried of this program, by kind: evidence.json as the tests and the long runs write it, read with its limits.

Theory. Nothing claims more than it shows. The file is written by what ran (`tests/evidence`), never by hand; each kind
carries its own commit, time and counts, for a long run may be older than the suite. A kind that did not run is named as
such. The file is data from outside: whatever is in it, reading answers with `Tried` or with the reason why not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from actum import clock, limits
from actum.ipc import regular

SCHEMA = "actum.evidence/1"


class Kind(StrEnum):
    """The closed list of kinds, in the order in which they are shown."""

    UNIT = "unit"
    PROPERTY = "property"
    HOUSE = "house"  # rules about the code itself
    PROCESS = "process"  # real programs, real signals
    WINDOW = "window"  # the real window, off the screen
    SIMULATION = "simulation"  # the supervisor in a simulated world
    FAULTS = "faults"  # killed and refused at named points
    UPGRADE = "upgrade"
    PACKAGING = "packaging"
    STRESS = "stress"  # many at once, for long
    SOAK = "soak"  # one program for very long
    FUZZ = "fuzz"


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing of one kind that ran: `part` is "suite" for what runs with all tests, else a long run's name; the newest
    that is less than the whole on record stands beside it, as "long newest". `counts` are (word, number); `skips` are
    (why, number); `complete` = all there is of it; `dirty` = files differed from the commit. None = not known."""

    kind: Kind
    part: str
    at_us: int
    commit: str | None
    dirty: bool | None
    complete: bool
    counts: tuple[tuple[str, int], ...]
    skips: tuple[tuple[str, int], ...] = ()
    seconds: int = 0
    note: str = ""

    @property
    def failed(self) -> int:
        """What did not hold."""
        return sum(number for word, number in self.counts if word in ("failed", "errors", "findings"))


@dataclass(frozen=True, slots=True)
class Tried:
    """The whole file. `entries` by kind, what ran of each, newest first; a kind that is not among them did not run."""

    entries: Mapping[Kind, tuple[Entry, ...]]
    environment: tuple[tuple[str, str], ...]

    @property
    def missing(self) -> list[Kind]:
        return [kind for kind in Kind if kind not in self.entries]


@dataclass(frozen=True, slots=True)
class NotThere:
    """No evidence can be shown, and why."""

    why: str  # "absent" | "unreadable"
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ByHand:
    """Something a person, or a person's stand-in at a display, did once. Texts are English, as recorded."""

    day: str
    what: str
    where: str
    found: str


def read(path: Path) -> Tried | NotThere:
    """The evidence in `path`, whatever it holds. Never raises for its content."""
    document = _document(path)
    if isinstance(document, NotThere):
        return document
    if document.get("schema") != SCHEMA:
        return NotThere("unreadable", f"its schema is {str(document.get('schema'))[:40]!r}")
    try:
        entries = {Kind(name): _parts(Kind(name), dict(parts)) for name, parts in dict(document["kinds"]).items()}
        environment = tuple((str(name), str(value)[:200]) for name, value in dict(document["environment"]).items())
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        return NotThere("unreadable", f"{type(error).__name__}: {str(error)[:100]}")
    return Tried({kind: found for kind, found in entries.items() if found}, environment[: limits.EVIDENCE_NAMES_MAX])


def by_hand(path: Path) -> list[ByHand]:
    """The dated list of what was done by hand, the newest first; nothing where it cannot be read."""
    document = _document(path)
    entries = document.get("entries") if isinstance(document, dict) else None
    fields = ("day", "what", "where", "found")
    listed = entries if isinstance(entries, list) else []
    good = [entry for entry in listed if isinstance(entry, dict) and all(isinstance(entry.get(f), str) for f in fields)]
    return sorted((ByHand(*(entry[field] for field in fields)) for entry in good), key=lambda done: done.day, reverse=True)


def not_yet(path: Path) -> list[str]:
    """What nobody has done by hand so far, from the same list."""
    document = _document(path)
    listed = document.get("not_yet") if isinstance(document, dict) else None
    return [each[:200] for each in listed if isinstance(each, str)] if isinstance(listed, list) else []


def checkout() -> Path | None:
    """The folder this program is run from, where that is its own repository."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / "pyproject.toml").is_file() and (root / ".git").exists() else None


def commit_of(root: Path) -> str | None:
    """The commit that is checked out in `root`, read from its files: no program is asked."""
    git = root / ".git"
    try:
        head = _git_text(git / "HEAD")
        if not head.startswith("ref: "):
            return head or None
        name = head.removeprefix("ref: ")
        loose = git / name
        if loose.is_file():
            return _git_text(loose) or None
        packed = _git_text(git / "packed-refs").splitlines()
    except (OSError, ValueError):
        return None
    return next((line.split(" ")[0] for line in packed if line.endswith(f" {name}")), None)


def _git_text(path: Path) -> str:
    return regular.content(path, limits.GIT_FILE_BYTES_MAX, follow=True).decode("utf-8").strip()


def _document(path: Path) -> dict[str, Any] | NotThere:
    try:
        data = regular.content(path, limits.EVIDENCE_BYTES_MAX + 1, follow=True)
    except FileNotFoundError:
        return NotThere("absent")
    except OSError as error:
        return NotThere("unreadable", error.strerror or "")
    if len(data) > limits.EVIDENCE_BYTES_MAX:
        return NotThere("unreadable", f"it is longer than {limits.EVIDENCE_BYTES_MAX:,} bytes")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return NotThere("unreadable", "it is no JSON")
    return document if isinstance(document, dict) else NotThere("unreadable", "it is no object")


def _parts(kind: Kind, parts: Mapping[str, Any]) -> tuple[Entry, ...]:
    found = [_entry(kind, str(part)[:64], entry) for part, entry in parts.items()]
    return tuple(sorted(found, key=lambda entry: entry.at_us, reverse=True)[: limits.EVIDENCE_NAMES_MAX])


def _entry(kind: Kind, part: str, entry: Mapping[str, Any]) -> Entry:
    return Entry(
        kind,
        part,
        clock.parse_rfc3339(entry["at"]),
        _text(entry.get("commit")),
        entry["dirty"] if isinstance(entry.get("dirty"), bool) else None,
        entry.get("complete") is True,
        _numbers(entry["counts"]),
        _numbers(entry.get("skips") or {}),
        int(entry.get("seconds") or 0),
        str(entry.get("note") or "")[:500],
    )


def _numbers(found: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    pairs = [(str(name)[:200], number) for name, number in dict(found).items() if isinstance(number, int)]
    return tuple(pairs[: limits.EVIDENCE_NAMES_MAX])


def _text(value: object) -> str | None:
    return value[:64] if isinstance(value, str) and value else None
