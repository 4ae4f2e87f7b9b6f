"""Many exports in one go, as plain data: what is written where, how far it is, how each ended, what is tried again (§8).

Theory. One file after the other, so that one helper and one disk do one thing at a time; a cancelled batch leaves whole files
only, since each appears under its name only when it was read back and compared. A file that fails does not stop the others:
its outcome stands in the list, and `again` gives those that did not succeed back as a batch of their own. What is there
already is refused, replaced, kept beside or, when asked, left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from actum import limits
from actum.errors import ActumError, WrongUse

ENDINGS = {"csv": ".csv", "json": ".json", "jsonl": ".jsonl", "parquet": ".parquet", "arrow": ".arrow", "xlsx": ".xlsx"}
WAITING, WRITING, WRITTEN, THERE, FAILED, CANCELLED = ("waiting", "writing", "written", "there", "failed", "cancelled")
_FORBIDDEN = '/\\:*?"<>|'


@dataclass(frozen=True, slots=True)
class Item:
    """One file to write. `weight` counts in the progress: its rows, one at least; `size_bytes` about what it takes."""

    run: int
    name: str
    path: Path
    format: str
    profile: str
    weight: int = 1
    size_bytes: int = 0
    state: str = WAITING
    answer: Mapping[str, Any] | None = None
    error: ActumError | None = None

    def body(self, existing: str) -> dict[str, Any]:
        """The command that writes it."""
        return {
            "verb": "export",
            "run": self.run,
            "name": self.name,
            "format": self.format,
            "profile": self.profile,
            "path": str(self.path),
            "existing": existing,
        }

    def to_json(self) -> dict[str, Any]:
        told: dict[str, Any] = {"run": self.run, "name": self.name, "outcome": self.state, "path": str(self.path)}
        if self.answer is not None:
            told |= dict(self.answer)
        if self.error is not None:
            told |= self.error.to_json()
        return told


@dataclass(slots=True)
class Batch:
    """The files of one batch. Attributes: items, existing, skip_there (whole files that are there are left out)."""

    items: list[Item]
    existing: str = "refuse"
    skip_there: bool = False
    _fraction: float = field(default=0.0, init=False)

    def next(self) -> Item | None:
        """The next file to write, now under way; None when there is none. Files that are there are left out where asked."""
        for place, item in enumerate(self.items):
            if item.state != WAITING:
                continue
            if self.skip_there and is_there(item.path):
                self.items[place] = replace(item, state=THERE)
                continue
            self._fraction = 0.0
            self.items[place] = replace(item, state=WRITING)
            return self.items[place]
        return None

    @property
    def current(self) -> Item | None:
        return next((item for item in self.items if item.state == WRITING), None)

    def advance(self, done: int, total: int) -> None:
        """How far the file under way is; never back, never quite whole before it is answered (R10)."""
        self._fraction = max(self._fraction, min(done / total if total else 0.0, 0.99))

    def settle(self, answer: Mapping[str, Any] | None, error: ActumError | None) -> None:
        """The answer for the file under way."""
        for place, item in enumerate(self.items):
            if item.state == WRITING:
                state = WRITTEN if answer is not None else (CANCELLED if _is_cancel(error) else FAILED)
                path = Path(str(answer["path"])) if answer is not None else item.path
                self.items[place] = replace(item, state=state, answer=answer, error=error, path=path)
        self._fraction = 0.0

    def cancel(self) -> None:
        """What has not begun does not begin."""
        self.items = [replace(item, state=CANCELLED) if item.state == WAITING else item for item in self.items]

    def again(self) -> Batch:
        """Those that were not written, as a batch of their own."""
        left = [item for item in self.items if item.state in (FAILED, CANCELLED)]
        return Batch([replace(item, state=WAITING, answer=None, error=None) for item in left], self.existing, self.skip_there)

    @property
    def ended(self) -> bool:
        return all(item.state not in (WAITING, WRITING) for item in self.items)

    @property
    def fraction(self) -> float:
        """0 … 1 of all weights."""
        total = sum(item.weight for item in self.items) or 1
        done = sum(item.weight for item in self.items if item.state in (WRITTEN, THERE))
        current = self.current
        return (done + (current.weight * self._fraction if current is not None else 0)) / total

    def count(self, *states: str) -> int:
        return sum(item.state in states for item in self.items)

    @property
    def size_bytes(self) -> int:
        """About how much is still to be written."""
        return sum(item.size_bytes for item in self.items if item.state in (WAITING, WRITING))


def plan(
    results: Iterable[tuple[int, Sequence[Mapping[str, Any]], bool]], folder: Path, format: str, profile: str
) -> list[Item]:
    """A file for each table of each result `(run, tables as `browse.tables`, whether it has metrics to export)`.

    Raises WrongUse for nothing to write, or for more than BATCH_FILES_MAX.
    """
    items: list[Item] = []
    taken: set[str] = set()
    for run, tables, metrics in results:
        named = [*tables, *([{"name": "metrics", "rows": 1}] if metrics else [])]
        for table in named:
            name = free_name(f"{file_name(str(table['name']))}-{run}", ENDINGS[format], taken)
            rows = max(1, int(table.get("rows") or 1))
            size = int(table.get("size_bytes") or 0)
            items.append(Item(run, str(table["name"]), folder / name, format, profile, rows, size))
    if not items:
        raise WrongUse("nothing_to_export", "There is no table to export.", "None of these results has one.", "Name others.")
    if len(items) > limits.BATCH_FILES_MAX:
        remedy = "Export fewer results at a time."
        raise WrongUse("too_many_files", f"These are {len(items):,} files.", f"At most {limits.BATCH_FILES_MAX:,}.", remedy)
    return items


def file_name(name: str) -> str:
    """A table's name as part of a file's name on any file system."""
    plain = "".join("_" if character in _FORBIDDEN or ord(character) < 32 else character for character in name)
    cut = plain.encode()[: limits.EXPORT_NAME_BYTES_MAX].decode("utf-8", "ignore")
    return cut.rstrip(" .") or "table"


def free_name(stem: str, ending: str, taken: set[str]) -> str:
    """A name no other file of the batch has, on file systems that do not tell cases apart too."""
    number, name = 1, f"{stem}{ending}"
    while name.lower() in taken:
        number += 1
        name = f"{stem} ({number}){ending}"
    taken.add(name.lower())
    return name


def free_path(path: Path) -> Path:
    """The next name at which neither a file nor a sidecar stands: `x.csv`, `x (2).csv`."""
    number, tried = 1, path
    while (tried.exists() or is_there(tried)) and number < limits.EXPORT_NAMES_MAX:
        number += 1
        tried = path.with_name(f"{path.stem} ({number}){path.suffix}")
    return tried


def is_there(path: Path) -> bool:
    """Whether an export of this name is whole: its sidecar is written last."""
    return path.with_name(f"{path.name}.actum.json").is_file()


def _is_cancel(error: ActumError | None) -> bool:
    return error is not None and error.code == "cancelled"
