"""The rules of the Spreadsheet profile, and what each of them costs, by column, before anything is written (§8, R19).

| what is met                                             | what is written                    | loss code       |
|---------------------------------------------------------|------------------------------------|-----------------|
| integers of more than 15 digits in a column             | the column as text                 | long_numbers    |
| decimals of more than 15 digits by their type           | the column as text                 | long_decimals   |
| texts that a sheet would calculate (= + - @ tab return) | guarded                            | formulas        |
| texts that a sheet would take for a number              | guarded                            | number_texts    |
| times with a zone                                       | UTC without zone, to a thousandth  | times           |
| nulls                                                   | empty cells                        | missing         |
| nulls beside empty texts                                | both empty                         | empty_texts     |
| floats of more than 15 digits                           | whole; a sheet keeps 15            | long_floats     |
| floats that are not finite                              | nan, inf as text                   | not_finite      |
| texts of more than SHEET_CELL_CHARS_MAX                 | whole; a sheet cuts them           | long_texts      |
| more than SHEET_ROWS_MAX rows (no column)               | all; a sheet shows the first       | rows            |

*As text* and *guarded* mean an apostrophe before the value: no sheet calculates or rounds it, and taking one apostrophe away
gives the value back. Numbers themselves are never guarded. A text that begins with an apostrophe is guarded too, for that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from actum import limits
from actum.contracts.tables import REASON_SUFFIX
from actum.results import texts

if TYPE_CHECKING:
    import pyarrow as pa

GUARD = "'"
_KEPT_DIGITS = 15  # what a spreadsheet keeps of a number
_LONG_BITS = 64  # shorter integers never have so many digits
_FORMULA = r"^[=+\-@\t\r\n＝＋－＠]"
_NUMBER = r"^\s*(0[0-9]+|[0-9]{16,}|[0-9]+[eE][0-9]+)\s*$"
_GUARDED = rf"{_FORMULA}|{_NUMBER}|^'"


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that a spreadsheet does not keep. `column` None = the whole table; `count` = cells (or rows) it concerns."""

    column: str | None
    code: str
    count: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(slots=True)
class Survey:
    """What was met while every row was looked at. `add` each batch, then ask."""

    schema: pa.Schema
    rows: int = 0
    _counts: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, batch: pa.RecordBatch) -> None:
        self.rows += batch.num_rows
        for column_field, column in zip(self.schema, batch.columns, strict=True):
            for code, count in _met(column):
                if count:
                    key = (column_field.name, code)
                    self._counts[key] = self._counts.get(key, 0) + count

    def losses(self) -> tuple[Loss, ...]:
        companions = {item.name + REASON_SUFFIX for item in self.schema}  # empty wherever there is a value
        told = [(name, code, count) for (name, code), count in self._counts.items() if code != "_empty"]
        found = [Loss(*each) for each in told if each[0] not in companions or each[1] != "missing"]
        for item in self.schema:
            empty = self._counts.get((item.name, "_empty"), 0)
            if empty and self._counts.get((item.name, "missing")):
                found.append(Loss(item.name, "empty_texts", empty))
        order = {item.name: place for place, item in enumerate(self.schema)}
        found.sort(key=lambda loss: order[loss.column or ""])
        if self.rows + 1 > limits.SHEET_ROWS_MAX:  # the header takes a row
            found.insert(0, Loss(None, "rows", self.rows + 1 - limits.SHEET_ROWS_MAX))
        return tuple(found)

    def as_text(self) -> frozenset[str]:
        """Columns whose every value is guarded."""
        return frozenset(name for name, code in self._counts if code in ("long_numbers", "long_decimals"))


def cells(batch: pa.RecordBatch, as_text: frozenset[str]) -> pa.RecordBatch:
    """The texts a sheet gets, null where there is no value."""
    import pyarrow as pa

    columns = [_cells(name, column, name in as_text) for name, column in zip(batch.schema.names, batch.columns, strict=True)]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _cells(name: str, column: pa.Array, as_text: bool) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as is_

    kind = column.type
    if is_.is_timestamp(kind):
        coarse = column.cast(pa.timestamp("ms", kind.tz), safe=False)
        utc = coarse if kind.tz is None else coarse.cast(pa.timestamp("ms", "UTC"))
        return pc.strftime(utc, "%Y-%m-%d %H:%M:%S", locale="C")
    told = texts.of_array(name, column)
    if as_text:
        return pc.binary_join_element_wise(GUARD, told, "")
    if not _is_text(kind):
        return told
    guarded = pc.binary_join_element_wise(GUARD, told, "")
    return pc.if_else(pc.match_substring_regex(told, _GUARDED), guarded, told)


def _met(column: pa.Array) -> Iterator[tuple[str, int]]:
    """(code, cells) of one column of one batch."""
    import pyarrow.types as is_

    kind = column.type
    if is_.is_dictionary(kind):
        column, kind = column.dictionary_decode(), kind.value_type
    yield "missing", column.null_count
    if is_.is_integer(kind):
        yield "long_numbers", _count(_longer(column)) if kind.bit_width == _LONG_BITS else 0
    elif is_.is_decimal(kind):
        yield "long_decimals", len(column) - column.null_count if kind.precision > _KEPT_DIGITS else 0
    elif is_.is_timestamp(kind):
        yield "times", len(column) - column.null_count if kind.tz is not None or kind.unit in ("us", "ns") else 0
    elif is_.is_floating(kind):
        yield from _floats(column)
    elif _is_text(kind):
        yield from _texts(column)


def _longer(column: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as is_

    most = 10**_KEPT_DIGITS
    beyond = pc.greater_equal(column, pa.scalar(most, column.type))
    return beyond if is_.is_unsigned_integer(column.type) else pc.or_(beyond, pc.less_equal(column, -most))


def _floats(column: pa.Array) -> Iterator[tuple[str, int]]:
    import pyarrow as pa
    import pyarrow.compute as pc

    finite = pc.is_finite(column)
    yield "not_finite", len(column) - column.null_count - _count(finite)
    digits = pc.replace_substring_regex(column.cast(pa.string()), r"[eE].*$|[.+-]|^-?0\.0*", "")
    yield "long_floats", _count(pc.and_(finite, pc.greater(pc.utf8_length(digits), _KEPT_DIGITS)))


def _texts(column: pa.Array) -> Iterator[tuple[str, int]]:
    import pyarrow as pa
    import pyarrow.compute as pc

    told = column.cast(pa.string())
    yield "formulas", _count(pc.match_substring_regex(told, _FORMULA))
    yield "number_texts", _count(pc.match_substring_regex(told, _NUMBER))
    yield "long_texts", _count(pc.greater(pc.utf8_length(told), limits.SHEET_CELL_CHARS_MAX))
    yield "_empty", _count(pc.equal(told, ""))


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow.types as is_

    if is_.is_dictionary(kind):
        return _is_text(kind.value_type)
    return bool(is_.is_string(kind) or is_.is_large_string(kind) or is_.is_string_view(kind))


def _count(flags: pa.Array) -> int:
    import pyarrow.compute as pc

    return int(pc.sum(flags).as_py() or 0)
