"""Reads JSON lines as texts, and names the line of whatever is wrong.

One object a line; its names are the columns, and a name that comes up late is a column of all lines. A number stays the
text that was written, an object or list becomes compact JSON, and beside each value stands how it was written, so that
the text "12" and the number 12 are two things, and so are null and a name that is absent.
"""

from __future__ import annotations

import codecs
import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from actum import limits
from actum.recipes.tableprofile.formats import JSON_LINES
from actum.recipes.tableprofile.source import (
    BOOLEAN,
    NESTED,
    NULL,
    NUMBER,
    TEXT,
    OnBytes,
    Scratch,
    Source,
    SourceColumn,
    distinct_names,
)
from actum.sdk import TaskFailed


class _Number(str):
    """A number as it was written."""

    __slots__ = ()


class _Block:
    """Rows on their way to the scratch: by column the texts and how each was written. Attributes: names, first_line."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.first_line = 1
        self.bytes = self.rows = 0
        self._texts: list[list[str | None]] = []
        self._kinds: list[list[str | None]] = []

    @property
    def full(self) -> bool:
        return self.bytes >= limits.BATCH_BYTES or self.rows * len(self.names) >= limits.PROFILE_BLOCK_CELLS_MAX

    def add(self, found: dict[str, Any], size: int) -> None:
        for name, value in found.items():
            position = self.names.setdefault(name, len(self.names))
            if position == len(self._texts):
                self._texts.append([])
                self._kinds.append([])
            texts, kinds = self._texts[position], self._kinds[position]
            if len(texts) < self.rows:
                texts.extend([None] * (self.rows - len(texts)))
                kinds.extend([None] * (self.rows - len(kinds)))
            text, kind = _cell(value)
            texts.append(text)
            kinds.append(kind)
        self.rows += 1
        self.bytes += size

    def flush(self, scratch: Scratch, line: int) -> None:
        """Hand the rows on; `line` is the last one read."""
        arrays: dict[str, pa.Array] = {}
        try:
            for position, (texts, kinds) in enumerate(zip(self._texts, self._kinds, strict=True)):
                for cells in (texts, kinds):
                    cells.extend([None] * (self.rows - len(cells)))
                arrays[f"c{position}"] = pa.array(texts, pa.string())
                arrays[f"k{position}"] = pa.array(kinds, pa.string())
                texts.clear()
                kinds.clear()
        except UnicodeEncodeError:
            raise TaskFailed(f"Lines {self.first_line} to {line}: a text holds half a character (a lone surrogate).") from None
        if self.rows and arrays:
            scratch.write(pa.table(arrays))
        self.first_line, self.bytes, self.rows = line + 1, 0, 0


def read(path: Path, scratch: Scratch, on_bytes: OnBytes) -> Source:
    """The table of a file of JSON lines. Raises TaskFailed, OSError."""
    block, line, rows, told = _Block(), 0, 0, 0
    with path.open("rb") as file:
        while raw := file.readline(limits.TABLE_LINE_BYTES_MAX + 1):
            line += 1
            if len(raw) > limits.TABLE_LINE_BYTES_MAX:
                raise TaskFailed(f"Line {line}: it is longer than {limits.TABLE_LINE_BYTES_MAX:,} bytes.")
            content = raw.removeprefix(codecs.BOM_UTF8) if line == 1 else raw
            told += len(raw)
            if line % 256 == 1:
                on_bytes(told)
            if content.strip():
                block.add(_object(content, line), len(raw))
                rows += 1
            if len(block.names) > limits.TABLE_COLUMNS_MAX:
                raise TaskFailed(f"Line {line}: the table has more than {limits.TABLE_COLUMNS_MAX} columns.")
            if block.full:
                block.flush(scratch, line)
    on_bytes(told)
    block.flush(scratch, line)
    scratch.close()
    if not rows:
        return Source(JSON_LINES, 0, "", (), "absent", ("The file is empty: it has no columns and no rows.",))
    names, notes = distinct_names(list(block.names))
    columns = tuple(SourceColumn(name, f"c{position}", f"k{position}") for position, name in enumerate(names))
    return Source(JSON_LINES, rows, scratch.relation(), columns, "absent", tuple(notes))


def _object(content: bytes, line: int) -> dict[str, Any]:
    try:
        found = json.loads(
            content.decode(), parse_int=_Number, parse_float=_Number, parse_constant=_Number, object_pairs_hook=_once
        )
    except UnicodeDecodeError as error:
        raise TaskFailed(
            f"Line {line}: the file is not UTF-8 text (byte {content[error.start]:#04x}). Save it as UTF-8."
        ) from None
    except RecursionError:
        raise TaskFailed(f"Line {line}: the value is nested too deeply.") from None
    except ValueError as error:
        hint = " The file is one JSON array; JSON lines have one object a line." if content.lstrip()[:1] == b"[" else ""
        raise TaskFailed(f"Line {line}: it is not a JSON object: {error}.{hint}") from None
    if not isinstance(found, dict):
        raise TaskFailed(f"Line {line}: it is not a JSON object. JSON lines have one object a line.")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        doubled = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name “{doubled}” stands in one object twice")
    return found


def _cell(value: Any) -> tuple[str | None, str]:
    if value is None:
        return None, NULL
    if type(value) is _Number:
        return str(value), NUMBER
    if isinstance(value, bool):
        return ("true" if value else "false"), BOOLEAN
    if isinstance(value, str):
        return value, TEXT
    return _compact(value), NESTED


def _compact(value: Any) -> str:
    """Compact JSON, its numbers as they were written."""
    if isinstance(value, dict):
        inside = ",".join(f"{json.dumps(name, ensure_ascii=False)}:{_compact(member)}" for name, member in value.items())
        return "{" + inside + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_compact, value)) + "]"
    return str(value) if type(value) is _Number else json.dumps(value, ensure_ascii=False)
