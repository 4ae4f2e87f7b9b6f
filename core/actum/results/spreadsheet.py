"""The rules of the Spreadsheet profile, and what each of them costs, by column, before anything is written (§8, R19).

| what is met                               | in CSV                       | in XLSX             | code          |
|-------------------------------------------|------------------------------|---------------------|---------------|
| integers of more than 15 digits           | the column as text           | those as text       | long_numbers  |
| decimals of more than 15 digits           | the column as text           | those as text       | long_decimals |
| dates before 1900 or after 9999           | ISO 8601                     | as text, ISO 8601   | early_dates   |
| times finer than a thousandth             | cut to a thousandth          | cut to a thousandth | fine_times    |
| floats of more than 15 digits             | whole; a sheet keeps 15      | whole, and kept     | long_floats   |
| texts beyond SHEET_CELL_CHARS_MAX         | whole; a sheet cuts them     | cut                 | long_texts    |
| columns beyond SHEET_COLUMNS_MAX          | all; a sheet shows the first | refused             | columns       |
| *not lost, only written otherwise:*       |                              |                     |               |
| texts a sheet would calculate (= + - @ …) | guarded                      | marked as text      | formulas      |
| texts a sheet would take for a number     | guarded                      | marked as text      | number_texts  |
| times with a zone                         | UTC, without zone            | UTC, without zone   | zones         |
| nulls                                     | empty cells                  | empty cells         | missing       |
| nulls beside empty texts                  | both empty                   | told apart          | empty_texts   |
| floats that are not finite                | nan, inf as text             | nan, inf as text    | not_finite    |
| lists, structs, maps                      | JSON as text                 | refused             | nested        |
| rows beyond SHEET_ROWS_MAX                | numbered files               | further sheets      | parts         |

*As text* and *guarded* mean, in CSV, an apostrophe before the value: no sheet calculates or rounds it, and taking one
apostrophe away gives the value back. Numbers themselves are never guarded. A text that begins with an apostrophe is guarded
too, for that. In XLSX a cell has a type, so a text stays what it is; it is marked so that editing does not change it. The
values of metrics are numbers of which each has its own scale: held as texts, they go by the rules of decimals one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from actum import limits
from actum.contracts.tables import REASON_SUFFIX
from actum.results import scalartexts, texts

if TYPE_CHECKING:
    import pyarrow as pa

GUARD = "'"
LOSSY = frozenset({"long_numbers", "long_decimals", "early_dates", "fine_times", "long_floats", "long_texts", "columns"})
FIRST_DAY, LAST_DAY = -25_567, 2_932_896  # 1900-01-01 and 9999-12-31, in days since 1970: what a sheet has a date for
FORMULA = r"^[=+\-@\t\r\n＝＋－＠]"
NUMBER = r"^\s*(0[0-9]+|[0-9]{16,}|[0-9]+[eE][0-9]+)\s*$"
_KEPT_DIGITS = 15  # what a spreadsheet keeps of a number
_KEPT_POWER = 306  # of ten: beyond, a sheet has no number, and nearer to 0 it has fewer digits
_LONG_BITS = 64  # shorter integers never have so many digits
_GUARDED = rf"{FORMULA}|{NUMBER}|^'"
_NOT_OF_XLSX = frozenset({"long_floats", "empty_texts"})


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that a spreadsheet does not keep, or gets otherwise. `column` None = the whole table; `count` = the cells
    it concerns, or for `parts` their number. `lossy` = it cannot be told back as a value of its type."""

    column: str | None
    code: str
    count: int

    @property
    def lossy(self) -> bool:
        return self.code in LOSSY

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"lossy": self.lossy}


@dataclass(slots=True)
class Survey:
    """What was met while every row was looked at. `add` each batch, then ask.

    `numbers` = places of the columns of texts that are all numbers.
    """

    schema: pa.Schema
    rows: int = 0
    numbers: frozenset[int] = frozenset()
    _counts: dict[tuple[int, str], int] = field(default_factory=dict)

    def add(self, batch: pa.RecordBatch) -> None:
        self.rows += batch.num_rows
        for place, column in enumerate(batch.columns):
            for code, count in _met_numbers(column) if place in self.numbers else _met(column):
                if count:
                    self._counts[place, code] = self._counts.get((place, code), 0) + count

    def losses(self, format: str = "csv") -> tuple[Loss, ...]:
        names = self.schema.names
        companions = {name + REASON_SUFFIX for name in names}  # empty wherever there is a value
        found = []
        for (place, code), count in sorted(self._counts.items(), key=lambda item: item[0][0]):
            told = code != "_empty" and (code != "missing" or names[place] not in companions)
            if told and not (format == "xlsx" and code in _NOT_OF_XLSX):
                found.append(Loss(names[place], code, count))
            if code == "_empty" and format == "csv" and self._counts.get((place, "missing")):
                found.append(Loss(names[place], "empty_texts", count))
        if self.parts > 1:
            found.insert(0, Loss(None, "parts", self.parts))
        if len(names) > limits.SHEET_COLUMNS_MAX:
            found.insert(0, Loss(None, "columns", len(names) - limits.SHEET_COLUMNS_MAX))
        return tuple(found)

    @property
    def parts(self) -> int:
        """Sheets or files that the rows fill; one at least."""
        return max(1, -(-self.rows // part_rows()))

    def as_text(self) -> frozenset[int]:
        """Places of the columns whose every value is text."""
        long = {place for place, code in self._counts if code in ("long_numbers", "long_decimals")}
        return frozenset(long - self.numbers)


def part_rows() -> int:
    """Rows of one sheet; its header takes one."""
    return limits.SHEET_ROWS_MAX - 1


def cells(batch: pa.RecordBatch, as_text: frozenset[int], numbers: frozenset[int] = frozenset()) -> pa.RecordBatch:
    """The texts a sheet gets, null where there is no value."""
    import pyarrow as pa

    columns = [
        _number_texts(column) if place in numbers else _cells(column, place in as_text)
        for place, column in enumerate(batch.columns)
    ]
    return pa.RecordBatch.from_arrays(columns, names=[str(place) for place in range(len(columns))])


def coarse(array: pa.Array) -> pa.Array:
    """Times of a column, to the thousandth that a sheet keeps: what is finer is cut, never rounded up. Instants in UTC."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    per_ms = {"us": 1_000, "ns": 1_000_000}.get(kind.unit)
    if per_ms is not None:
        counts = array.cast(pa.int64())
        array = pc.subtract(counts, _modulo(counts, per_ms)).cast(kind)
    if pa.types.is_time(kind):
        return array.cast(pa.time32("ms"))
    return array.cast(pa.timestamp("ms", kind.tz)).cast(pa.timestamp("ms"))


def _modulo(counts: pa.Array, divisor: int) -> pa.Array:
    """What is left above the next lower multiple; Arrow's own division cuts towards zero."""
    import pyarrow.compute as pc

    rest = pc.subtract(counts, pc.multiply(pc.divide(counts, divisor), divisor))
    return pc.if_else(pc.less(rest, 0), pc.add(rest, divisor), rest)


def _cells(column: pa.Array, as_text: bool) -> pa.Array:
    import pyarrow.compute as pc
    import pyarrow.types as is_

    column = scalartexts.unwrapped(column)
    kind = column.type
    if is_.is_timestamp(kind):
        return pc.replace_substring(texts.of_array(coarse(column)), "T", " ", max_replacements=1)
    if is_.is_time(kind):
        return texts.of_array(coarse(column))
    told = texts.of_array(column)
    if as_text:
        return pc.binary_join_element_wise(GUARD, told, "")
    if not scalartexts.is_text(kind):
        return told
    guarded = pc.binary_join_element_wise(GUARD, told, "")
    return pc.if_else(pc.match_substring_regex(told, _GUARDED), guarded, told)


def fits(number: Decimal) -> bool:
    """Whether a sheet keeps all digits of a number; zeros at either end are not counted."""
    digits = "".join(map(str, number.as_tuple().digits)).strip("0")
    return len(digits) <= _KEPT_DIGITS and (not digits or -_KEPT_POWER <= number.adjusted() <= _KEPT_POWER)


def _number_texts(column: pa.Array) -> pa.Array:
    import pyarrow as pa

    told = column.to_pylist()
    return pa.array([text if text is None or fits(Decimal(text)) else GUARD + text for text in told], pa.string())


def _met_numbers(column: pa.Array) -> Iterator[tuple[str, int]]:
    yield "missing", column.null_count
    yield "long_decimals", sum(text is not None and not fits(Decimal(text)) for text in column.to_pylist())


def _met(column: pa.Array) -> Iterator[tuple[str, int]]:
    """(code, cells) of one column of one batch."""
    import pyarrow.types as is_

    column = scalartexts.unwrapped(column)
    kind = column.type
    there = len(column) - column.null_count
    yield "missing", column.null_count
    if is_.is_integer(kind):
        yield "long_numbers", count_true(too_long(column)) if kind.bit_width == _LONG_BITS else 0
    elif is_.is_decimal(kind):
        yield "long_decimals", count_true(too_long(column)) if kind.precision > _KEPT_DIGITS else 0
    elif is_.is_date(kind) or is_.is_timestamp(kind):
        yield "early_dates", there - count_true(in_sheet(column))
        if is_.is_timestamp(kind):
            yield "zones", there if kind.tz is not None else 0
            yield "fine_times", _finer(column)
    elif is_.is_time(kind):
        yield "fine_times", _finer(column)
    elif is_.is_floating(kind):
        yield from _floats(column)
    elif is_.is_nested(kind):
        yield "nested", there
    elif scalartexts.is_text(kind):
        yield from _texts(column)


def in_sheet(column: pa.Array) -> pa.Array:
    """Whether a sheet has a date for each day or instant; null for a null."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as is_

    kind = column.type
    per_day = scalartexts.per_day(kind)
    counts = column.view(pa.int32() if is_.is_date32(kind) else pa.int64()).cast(pa.int64())
    first, end = FIRST_DAY * per_day, min((LAST_DAY + 1) * per_day, 2**63 - 1)
    return pc.and_(pc.greater_equal(counts, max(first, -(2**63))), pc.less(counts, end))


def _finer(column: pa.Array) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc

    per_ms = {"us": 1_000, "ns": 1_000_000}.get(column.type.unit)
    return 0 if per_ms is None else count_true(pc.not_equal(_modulo(column.cast(pa.int64()), per_ms), 0))


def too_long(column: pa.Array) -> pa.Array:
    """Whether each integer or decimal has more digits than a sheet keeps, zeros at either end of a decimal not counted."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as is_

    if is_.is_decimal(column.type):
        digits = pc.replace_substring_regex(texts.of_array(column), r"[-.]", "")
        return pc.greater(pc.utf8_length(pc.utf8_trim(digits, "0")), _KEPT_DIGITS)
    if column.type.bit_width < _LONG_BITS:
        return pc.and_(pc.is_valid(column), False)
    most = 10**_KEPT_DIGITS
    beyond = pc.greater_equal(column, pa.scalar(most, column.type))
    return beyond if is_.is_unsigned_integer(column.type) else pc.or_(beyond, pc.less_equal(column, -most))


def _floats(column: pa.Array) -> Iterator[tuple[str, int]]:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as is_

    finite = pc.is_finite(column.cast(pa.float32()) if is_.is_float16(column.type) else column)
    yield "not_finite", len(column) - column.null_count - count_true(finite)
    digits = pc.replace_substring_regex(column.cast(pa.string()), r"[eE].*$|[.+-]|^-?0\.0*", "")
    yield "long_floats", count_true(pc.and_(finite, pc.greater(pc.utf8_length(digits), _KEPT_DIGITS)))


def _texts(column: pa.Array) -> Iterator[tuple[str, int]]:
    import pyarrow as pa
    import pyarrow.compute as pc

    told = column.cast(pa.string())
    yield "formulas", count_true(pc.match_substring_regex(told, FORMULA))
    yield "number_texts", count_true(pc.match_substring_regex(told, NUMBER))
    yield "long_texts", _longer_than_a_cell(told)
    yield "_empty", count_true(pc.equal(told, ""))


def _longer_than_a_cell(told: pa.Array) -> int:
    """Sheets count in units of UTF-16: a character beyond the first plane is two."""
    import pyarrow.compute as pc

    lengths = pc.utf8_length(told)
    if 2 * (pc.max(lengths).as_py() or 0) <= limits.SHEET_CELL_CHARS_MAX:
        return 0
    lengths = pc.add(lengths, pc.count_substring_regex(told, r"[\x{10000}-\x{10FFFF}]"))
    return count_true(pc.greater(lengths, limits.SHEET_CELL_CHARS_MAX))


def count_true(flags: pa.Array) -> int:
    import pyarrow.compute as pc

    return int(pc.sum(flags).as_py() or 0)
