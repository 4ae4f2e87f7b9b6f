"""Writes a table in the one form that its contents have: JSON lines up to a limit, Arrow above it. In bounded memory.

Rows may be mappings or sequences (any iterable, also a generator), an Arrow table, a record batch or several, a pandas
DataFrame, or whatever offers an Arrow stream. Without a schema the columns come from an Arrow table's own, else from the
first rows; a later value that does not fit them is refused by row and column, and a schema then says what is meant.

Which form it is depends on the table alone, not on how it was handed over: JSON lines hold at most JSON_LINES_ROWS_MAX rows
and JSON_LINES_BYTES_MAX bytes, and only what they hold exactly. All else is an Arrow file (IPC), which takes pyarrow in this
interpreter. Where there is none, a longer table stays JSON lines, and that is said with it.
"""

from __future__ import annotations

import base64
import contextlib
import importlib
import itertools
import json
import os
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import IO, Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

from actum.sdk import arrowsource
from actum.sdk.cells import CellRefused, Column, columns_of, infer, line

INFER_ROWS = 1_000  # without a schema, the columns are settled by so many rows
JSON_LINES_ROWS_MAX = 100_000
JSON_LINES_BYTES_MAX = 1 << 24
BATCH_ROWS = 1_024
BUFFER_BYTES = 1 << 18

LINES, ARROW = ".jsonl", ".arrow"


@dataclass(frozen=True)
class Written:
    """`columns` is empty for Arrow, which says them itself; `form` is why it is in this form, for the manifest."""

    path: str
    columns: Tuple[Column, ...]
    rows: int
    form: str


class _TooLong(Exception):
    """JSON lines reached their limit."""


def write_table(stem: str, rows: Any, schema: Any = None) -> Written:
    """Write `rows` to the new file `stem` + its ending. Raises CellRefused, FileExistsError; then no file of it is left."""
    for ending in (LINES, ARROW):
        if os.path.lexists(stem + ending):
            raise FileExistsError(stem + ending)
    if hasattr(schema, "names") and hasattr(schema, "types"):  # an Arrow schema
        return _write_arrow(stem, *_under(rows, schema))
    columns = columns_of(schema) if schema is not None else None
    source, rows = arrowsource.peeked(rows)
    if source is not None and columns is None:
        return _write_arrow(stem, *source)
    if source is not None and columns is not None:
        wanted = arrowsource.types_of(arrowsource.pyarrow(), columns)
        if [field.type for field in source[0]] == [field.type for field in wanted] and source[0].names == wanted.names:
            return _write_arrow(stem, wanted, source[1])
        rows = _rows_of_batches(source[1])
    return _write_rows(stem, _rows_of(rows), columns)


@contextlib.contextmanager
def _new_file(path: str, mode: str, **how: Any) -> Iterator[IO[Any]]:
    """A file that is durable at the end. What cannot be finished goes: it would be published when the work goes on."""
    with open(path, mode, **how) as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
        except _TooLong:
            raise  # its rows are still wanted
        except BaseException:
            os.unlink(path)
            raise


# Arrow


def _under(rows: Any, schema: Any) -> Tuple[Any, Iterator[Any]]:
    """Rows of any kind as batches of an Arrow schema."""
    source, rows = arrowsource.peeked(rows)
    if source is not None:
        return schema, source[1]
    return schema, _batches_of_rows(iter(_rows_of(rows)), schema)


def _batches_of_rows(rows: Iterator[Any], schema: Any) -> Iterator[Any]:
    pa = arrowsource.pyarrow()
    assert pa is not None, "an Arrow schema was given"
    while chunk := list(itertools.islice(rows, BATCH_ROWS)):
        named = [row if hasattr(row, "keys") else dict(zip(schema.names, row)) for row in chunk]  # noqa: B905 - since 3.10
        for row in named:
            unknown = set(row) - set(schema.names)
            if unknown:
                raise CellRefused(f"“{min(map(str, unknown))}” is not a column of the table.")
        try:
            yield pa.RecordBatch.from_pylist(named, schema=schema)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise CellRefused(f"A row does not fit the schema: {error}") from None


def _write_arrow(stem: str, schema: Any, batches: Iterator[Any]) -> Written:
    """An Arrow table: as JSON lines if they hold it exactly and within their limit."""
    pa = arrowsource.pyarrow()
    schema = arrowsource.canonical_schema(pa, schema)
    columns = arrowsource.columns_of(schema)
    if columns is None:
        return Written(stem + ARROW, (), _arrow_file(stem + ARROW, schema, batches), "arrow_types")
    kept: List[Any] = []
    rows = 0
    for batch in batches:
        kept.append(batch)
        rows += batch.num_rows
        if rows > JSON_LINES_ROWS_MAX:
            break
    else:
        with contextlib.suppress(_TooLong):
            count = _Lines(columns, _rows_of_batches(iter(kept)), stop=lambda: True).write(stem + LINES)
            return Written(stem + LINES, columns, count, "within_limit")
        os.unlink(stem + LINES)
    return Written(stem + ARROW, (), _arrow_file(stem + ARROW, schema, itertools.chain(kept, batches)), "above_limit")


def _arrow_file(path: str, schema: Any, batches: Iterable[Any]) -> int:
    pa, ipc = arrowsource.pyarrow(), importlib.import_module("pyarrow.ipc")
    assert pa is not None, "whoever has Arrow batches has the library"
    rows = 0
    try:
        options = ipc.IpcWriteOptions(emit_dictionary_deltas=True)
        with _new_file(path, "xb") as file, ipc.new_file(file, schema, options=options) as out:
            for batch in arrowsource.canonical_batches(pa, schema, batches):
                out.write_batch(batch)
                rows += batch.num_rows
    except pa.ArrowException as error:
        raise CellRefused(f"The table cannot be written: {str(error).splitlines()[0]}") from None
    return rows


# Rows


def _write_rows(stem: str, source: Iterator[Any], columns: Optional[Tuple[Column, ...]]) -> Written:
    if columns is None:
        head = list(itertools.islice(source, INFER_ROWS))
        columns = infer(head)
        source = itertools.chain(head, source)
    lines = _Lines(columns, source, stop=lambda: arrowsource.pyarrow() is not None)  # not looked for before it is needed
    try:
        count = lines.write(stem + LINES)
    except _TooLong:
        pa = arrowsource.pyarrow()
        schema = arrowsource.types_of(pa, columns)
        cells = itertools.chain(_written_cells(stem + LINES), lines.rest())
        try:
            count = _arrow_file(stem + ARROW, schema, _batches_of_cells(pa, schema, columns, cells))
        finally:
            os.unlink(stem + LINES)
        return Written(stem + ARROW, (), count, "above_limit")
    return Written(stem + LINES, columns, count, "no_arrow_library" if lines.above else "within_limit")


class _Lines:
    """Rows as lines of JSON. If `stop` says so, the first row beyond the limit ends the writing; `rest` then has it and those
    that follow, as cells. `above` says whether the limit was passed."""

    def __init__(self, columns: Sequence[Column], source: Iterator[Any], *, stop: Callable[[], bool]) -> None:
        self._columns, self._source, self._stop = columns, source, stop
        self._count = self._bytes = 0
        self._over = ""
        self.above = False

    def write(self, path: str) -> int:
        with _new_file(path, "x", encoding="utf-8", newline="\n", buffering=BUFFER_BYTES) as file:
            self._write(file)
        return self._count

    def _write(self, file: IO[str]) -> None:
        for row in self._source:
            text = self._line(row)
            self._bytes += len(text) + 1 if text.isascii() else len(text.encode("utf-8")) + 1
            if not self.above and (self._count >= JSON_LINES_ROWS_MAX or self._bytes > JSON_LINES_BYTES_MAX):
                self.above = True
                if self._stop():
                    self._over = text
                    raise _TooLong
            file.write(text + "\n")
            self._count += 1

    def _line(self, row: Any) -> str:
        try:
            return line(self._columns, row)
        except CellRefused as error:
            raise CellRefused(f"Row {self._count + 1}: {error}") from None

    def rest(self) -> Iterator[Dict[str, Any]]:
        yield json.loads(self._over)
        self._count += 1
        for row in self._source:
            yield json.loads(self._line(row))
            self._count += 1


def _written_cells(path: str) -> Iterator[Dict[str, Any]]:
    with open(path, encoding="utf-8") as file:
        for text in file:
            yield json.loads(text)


def _batches_of_cells(pa: Any, schema: Any, columns: Sequence[Column], cells: Iterator[Dict[str, Any]]) -> Iterator[Any]:
    while chunk := list(itertools.islice(cells, arrowsource.ARROW_BATCH_ROWS)):
        arrays = []
        for column, field in zip(columns, schema):  # noqa: B905 - since 3.10
            read = _READERS[column.type]
            values = [None if row[column.name] is None else read(row[column.name]) for row in chunk]
            arrays.append(pa.array(values, field.type))
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


_READERS: Dict[str, Callable[[Any], Any]] = {
    "text": str,
    "integer": int,
    "decimal": Decimal,
    "float64": float,
    "boolean": bool,
    "date": date.fromisoformat,
    "timestamp": lambda cell: datetime.fromisoformat(cell.replace("Z", "+00:00")),
    "binary": base64.b64decode,
}


def _rows_of(rows: Any) -> Iterator[Any]:
    if hasattr(rows, "itertuples") and hasattr(rows, "columns"):
        return _frame_rows(rows, [str(name) for name in rows.columns])
    if isinstance(rows, (str, bytes)) or not isinstance(rows, Iterable):
        raise CellRefused(f"A table's rows are an iterable, not {type(rows).__name__}.")
    return iter(rows)


def _rows_of_batches(batches: Iterable[Any]) -> Iterator[Any]:
    done = 0
    for batch in batches:
        for start in range(0, batch.num_rows, BATCH_ROWS):
            piece = batch.slice(start, BATCH_ROWS)
            try:
                rows = piece.to_pylist()
            except (OverflowError, ValueError):
                raise _not_of_python(piece, done) from None
            yield from rows
            done += len(rows)


def _not_of_python(piece: Any, before: int) -> CellRefused:
    """Which value of a piece of a batch is none of Python's: a date of the year 12000, a text that is not UTF-8."""
    for name, column in zip(piece.schema.names, piece.columns):  # noqa: B905 - since 3.10
        for number in range(len(column)):
            try:
                column[number].as_py()
            except (OverflowError, ValueError):
                timed = str(column.type).startswith(("date", "timestamp"))
                what = "a date outside the years 1 to 9999" if timed else f"a value that is no {column.type}"
                return CellRefused(f"Row {before + number + 1}: “{name}” holds {what}.")
    return CellRefused(f"Rows {before + 1} to {before + len(piece)} hold a value that cannot be read.")


def _frame_rows(frame: Any, names: List[str]) -> Iterator[Any]:
    """A data frame's rows; its NaN and NaT mean "missing" and become null, without a reason."""
    for row in frame.itertuples(index=False, name=None):
        yield {name: None if _missing(value) else value for name, value in zip(names, row)}  # noqa: B905 - since 3.10


def _missing(value: Any) -> bool:
    if type(value).__name__ == "NAType":
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return False
