"""What the work says in its message file: read as it grows, sorted, and collected for sealing (§7).

Theory. The file is append-only and it is the queue: the host reads a bounded piece each turn, so its memory is bounded and
nothing is ever dropped. Records go to spool/records.jsonl with a seq before the read position moves on. How the work's
write waits at the bound (R12): an append cannot be refused, so when more than MESSAGES_BACKLOG_BYTES_MAX lie unread the
main loop pauses the work's processes (`wants_pause`) until half of that is read; a disk that takes no records holds the
read position, which comes to the same.

A line that is no JSON object, a kind or key nobody knows, a value that makes no sense, a message deeper than
MESSAGE_LEVELS_MAX: a notice, and the line is ignored; but a malformed or too deep metric, table, file, record or done
*contradicts the contract*, for without it the result would not be what the work said; and so do more than
COLLECTED_MESSAGES_MAX of one kind or COLLECTED_BYTES_MAX of all: kept in `contradictions`, which fail the attempt
(contract_invalid). Of messages about the same metric, table or file the last one is kept, so work may say each step's.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from actum import clock, limits
from actum.ipc import nesting, regular, spool

Document = dict[str, Any]
Notice = Callable[[str, str, Document], None]

_NUMBER = (int, float)


class MessageFile:
    """The growing file. `next_lines` yields complete lines; `backlog` is what lies unread."""

    def __init__(self, path: str, notice: Notice) -> None:
        """Creates the file where it is missing. Raises OSError."""
        self._path = path
        self._descriptor = self._open()
        self._notice = notice
        self._offset = 0  # of what was read
        self._partial = b""
        self._skipping = False  # inside a line that is too long
        self._refused = False  # something that is no file stands in its place

    def close(self) -> None:
        os.close(self._descriptor)

    @property
    def backlog(self) -> int:
        return os.fstat(self._descriptor).st_size - self._offset

    def wants_pause(self, paused: bool) -> bool:
        """Whether so much lies unread that the work must wait; once it waits, until half of the bound is read."""
        bound = limits.MESSAGES_BACKLOG_BYTES_MAX
        return self.backlog > (bound // 2 if paused else bound)

    def next_lines(self, *, final: bool = False) -> list[bytes]:
        """The complete lines of one bounded piece; with `final`, at the end of the file, the unfinished line as well."""
        status = os.fstat(self._descriptor)
        if status.st_nlink == 0 and status.st_size <= self._offset:
            self._follow()
            status = os.fstat(self._descriptor)
        size = status.st_size
        if size < self._offset:
            self._notice("messages_cut", "The message file became shorter; what was cut off is not read again.", {})
            self._offset, self._partial, self._skipping = size, b"", False
        data = b""
        if size > self._offset:
            data = os.pread(self._descriptor, limits.MESSAGES_READ_BYTES_MAX, self._offset)
            self._offset += len(data)
        if not data and not (final and self._partial):
            return []
        *lines, rest = (self._partial + data).split(b"\n")
        if final and not data:
            lines, rest = [rest], b""
        if self._skipping and lines:
            self._skipping = False
            del lines[0]
        self._partial = self._bounded(rest)
        return [line for line in lines if self._fits(line)]

    def _open(self) -> int:
        return regular.descriptor(self._path, os.O_CREAT | os.O_RDONLY)

    def _follow(self) -> None:
        """The file was deleted or replaced, and has been read to its end: go on with the one of its name."""
        try:
            opened = self._open()
        except regular.NotRegular:
            if not self._refused:
                words = f"What stands in the place of the message file {regular.WORDS}: nothing is read from it."
                self._notice("messages_replaced", words, {})
            self._refused = True
            return
        except OSError:
            return  # its folder is gone as well
        self._refused = False
        os.close(self._descriptor)
        self._descriptor, self._offset, self._partial, self._skipping = opened, 0, b"", False
        self._notice("messages_replaced", "The message file was deleted or replaced; the new one is read from its start.", {})

    def _bounded(self, rest: bytes) -> bytes:
        if self._skipping or not self._fits(rest):
            self._skipping = True
            return b""
        return rest

    def _fits(self, line: bytes) -> bool:
        if len(line) <= limits.MESSAGE_LINE_BYTES_MAX:
            return bool(line.strip()) or not line
        self._notice("message_too_long", "A line in the message file is too long and is ignored.", {"bytes": len(line)})
        return False


class Collected:
    """What the work has said. Attributes: metrics, tables, files, notes, done, records, contradictions; stage, progress,
    checkpoint: the newest; spoke: it has sent progress itself."""

    def __init__(self, folder: str, notice: Notice) -> None:
        """`folder` is the attempt's, for its records."""
        self._folder = folder
        self._notice = notice
        self._records: list[str] = []  # ready to be written
        self._records_file = -1
        self._kept: dict[tuple[str, str], tuple[int, int]] = {}  # (kind, name) → place in its list, bytes
        self._bytes = 0  # of all that is kept
        self._line_bytes = 0  # of the message being sorted
        self.metrics: list[Document] = []
        self.tables: list[Document] = []
        self.files: list[Document] = []
        self.notes: list[str] = []
        self.contradictions: list[str] = []
        self.records = 0
        self.done = False
        self.stage: Document | None = None  # {name, total, at}
        self.progress: Document | None = None  # {done, total, unit, stage, message, at}
        self.checkpoint: Any = None
        self.spoke = False  # it sends progress itself, so what it prints does not count

    def take(self, lines: list[bytes]) -> Iterator[str]:
        """Sort the lines; yields "stage" and "progress" where these have changed. Records wait for `write_records`."""
        for line in lines:
            if not line.strip():
                continue
            self._line_bytes = len(line)
            message = _object(line)
            if message is None:
                shown = line[:80].decode("utf-8", "replace")
                self._notice("message_unreadable", "A line in the message file is not a JSON object.", {"line": shown})
                continue
            names = message.keys() if isinstance(message, dict) else message.keys
            kind = next((kind for kind in _KINDS if kind in names), None)
            if kind is None:
                self._notice("message_unknown", "A message of an unknown kind is ignored.", {"keys": _names(names)})
            elif isinstance(message, TooDeep):
                self._on_too_deep(kind)
            elif changed := _KINDS[kind](self, message):
                yield changed

    @property
    def waits(self) -> bool:
        """Whether there are records that the disk has not taken."""
        return bool(self._records)

    def write_records(self) -> None:
        """Append the waiting records to the spool; where the disk takes them not, they wait on."""
        if not self._records:
            return
        try:
            if self._records_file < 0:
                self._records_file = self._open_records()
            end = os.fstat(self._records_file).st_size
            data = "".join(self._records).encode("utf-8", "replace")
            if os.write(self._records_file, data) < len(data):
                os.ftruncate(self._records_file, end)  # never half a record
                return
        except OSError:
            return
        self._records.clear()

    def reopen(self, restore: Callable[[int], bool]) -> bool:
        """Let `restore` make the spool anew, with the records that the open file still reaches; the next go to its own file."""
        if not restore(self._records_file):
            return False
        self._let_go()
        return True

    def mend(self, mend: Callable[[int], list[str]]) -> list[str]:
        """Let `mend` make anew what is spoiled in the spool, the records by what the open file reaches; what it has mended."""
        mended = mend(self._records_file)
        if "records.jsonl" in mended and self._records_file >= 0:
            self._let_go()
            with suppress(OSError):  # from the next records on
                self._records_file = self._open_records()
        return mended

    def _open_records(self) -> int:
        flags = os.O_CREAT | os.O_RDWR | os.O_APPEND  # for reading too: they may have to be made anew
        return regular.descriptor(spool.spool_path(self._folder, "records.jsonl"), flags)

    def _let_go(self) -> None:
        if self._records_file >= 0:
            os.close(self._records_file)
            self._records_file = -1

    def settle(self) -> None:
        """Make the records durable; the file stays open, for its name may yet be made to lead elsewhere. Raises OSError."""
        if self._records_file >= 0:
            os.fsync(self._records_file)

    def close(self) -> None:
        """Settle and let go. Raises OSError."""
        self.settle()
        self._let_go()

    def printed(self, done: float, total: float, unit: str) -> None:
        """Progress that was found in the work's output."""
        stage = self.stage["name"] if self.stage else None
        self.progress = _progress(done, total, unit or None, stage, None)

    def _on_progress(self, message: Document) -> str | None:
        pair = message["progress"]
        done, total = [*pair, None, None][:2] if isinstance(pair, list) else (pair, None)
        if not _is_number(done) or not (total is None or _is_number(total)):
            self._notice("message_malformed", "A progress message is [done, total].", {})
            return None
        self.spoke = True
        stage = message.get("stage") or (self.stage["name"] if self.stage else None)
        self.progress = _progress(done, total, _text(message.get("unit")), _text(stage), _text(message.get("message")))
        return "progress"

    def _on_stage(self, message: Document) -> str | None:
        name, total = _text(message["stage"]), message.get("total")
        if not name:
            self._notice("message_malformed", "A stage message names the stage.", {})
            return None
        self.stage = {"name": name, "total": total if _is_number(total) else None, "at": clock.utc_us()}
        self.progress = _progress(0, self.stage["total"], _text(message.get("unit")), name, None)
        return "stage"

    def _on_metric(self, message: Document) -> None:
        self._collect("metric", message, self.metrics)

    def _on_unavailable(self, message: Document) -> None:
        self._collect("unavailable", message, self.metrics)

    def _on_table(self, message: Document) -> None:
        self._collect("table", message, self.tables)

    def _on_file(self, message: Document) -> None:
        self._collect("file", message, self.files)

    def _on_note(self, message: Document) -> None:
        if len(self.notes) >= limits.COLLECTED_MESSAGES_MAX:
            self._contradict(f"There are more than {limits.COLLECTED_MESSAGES_MAX} notes.")
        elif self._fits(0):
            self.notes.append(str(message["note"]))

    def _on_record(self, message: Document) -> None:
        data = message.get("data", {})
        if not _text(message["record"]) or not isinstance(data, dict):
            self._contradict("A record names its kind and has an object as data.")
            return
        self.records += 1
        record = {"seq": self.records, "at": clock.utc_us(), "kind": message["record"], "data": data}
        self._records.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")

    def _on_too_deep(self, kind: str) -> None:
        """What the result or the records would lack is never passed over in silence (R12)."""
        words = f"A {kind} message {nesting.WORDS}."
        if kind in _KEPT:
            self._contradict(words)
        else:
            self._notice("message_malformed", words, {})

    def _on_checkpoint(self, message: Document) -> None:
        self.checkpoint = message["checkpoint"]

    def _on_done(self, message: Document) -> None:
        if message["done"] is True:
            self.done = True
        else:
            self._contradict('A done message is {"done": true}.')

    def _collect(self, kind: str, message: Document, into: list[Document]) -> None:
        name = message[kind]
        if not _text(name):
            self._contradict(f"A {kind} message has no name.")
            return
        key = ("metric" if kind == "unavailable" else kind, name)
        place, taken = self._kept.get(key, (len(into), 0))
        if place >= limits.COLLECTED_MESSAGES_MAX:
            self._contradict(f"There are more than {limits.COLLECTED_MESSAGES_MAX} {kind} messages.")
        elif self._fits(taken):
            self._kept[key] = (place, self._line_bytes)
            into[place : place + 1] = [message]

    def _fits(self, instead_of_bytes: int) -> bool:
        """Whether there is room to keep this message in place of one of so many bytes."""
        size = self._bytes + self._line_bytes - instead_of_bytes
        if size > limits.COLLECTED_BYTES_MAX:
            self._contradict(f"The messages to be kept are longer than {limits.COLLECTED_BYTES_MAX:,} bytes in all.")
            return False
        self._bytes = size
        return True

    def _contradict(self, why: str) -> None:
        if why not in self.contradictions and len(self.contradictions) < limits.NOTICES_PER_CODE_MAX:
            self.contradictions.append(why)


# A progress message may name a stage, so progress is looked for first.
_KINDS: dict[str, Callable[[Collected, Document], str | None]] = {
    "progress": Collected._on_progress,
    "stage": Collected._on_stage,
    "metric": Collected._on_metric,
    "unavailable": Collected._on_unavailable,
    "table": Collected._on_table,
    "file": Collected._on_file,
    "record": Collected._on_record,
    "checkpoint": Collected._on_checkpoint,
    "note": Collected._on_note,
    "done": Collected._on_done,
}


# Of these each one counts: they become the result, or the records.
_KEPT = frozenset({"metric", "unavailable", "table", "file", "record", "done"})


@dataclass(frozen=True, slots=True)
class TooDeep:
    """In place of a message that is nested too deeply. Attribute: keys (those of the message itself)."""

    keys: Collection[str]


def _object(line: bytes) -> Document | TooDeep | None:
    try:
        # NaN, ±Infinity and what is too large to be a number become text.
        document = json.loads(line.decode("utf-8", "replace"), parse_constant=str, parse_float=_finite_or_text)
    except RecursionError:
        names = nesting.outer_keys(line)
        return TooDeep(names) if names is not None else None
    except ValueError:
        return None
    if type(document) is not dict:
        return None
    return TooDeep(document.keys()) if nesting.too_deep(line, document) else document


def _finite_or_text(word: str) -> float | str:
    value = float(word)
    return value if value - value == 0.0 else word


def _names(names: Collection[str]) -> list[str]:
    return [name[: limits.NAME_CHARS_MAX] for name in sorted(names)[:10]]


def _is_number(value: Any) -> bool:
    if type(value) not in _NUMBER:
        return False
    return bool(abs(value) < 1 << 63)  # NaN and the infinities are not


def _text(value: Any) -> str | None:
    return value[: limits.ERROR_TEXT_CHARS_MAX] if isinstance(value, str) and value else None


def _progress(done: Any, total: Any, unit: str | None, stage: str | None, message: str | None) -> Document:
    at = clock.utc_us()
    return {"done": done, "total": total, "unit": unit, "stage": stage, "message": message, "at": at}
