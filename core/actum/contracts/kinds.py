"""The types a parameter can have: how text and JSON become a value, and how the value is written canonically (§15).

One small class a type. Text comes from the command line and from forms, JSON from `--params` and from the store; both give
equal values, and `read_json(to_json(value)) == value`. Canonical JSON holds no float: decimals, floats, dates and durations
are text, equal values equal text. A refusal (`Unfit`) says what is wrong with this value and shows one that fits.
"""

from __future__ import annotations

import json
import math
import os.path
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from actum import limits
from actum.contracts import durations, numbers

_WHOLE = re.compile(r"[+-]?[0-9]+")
_ENGLISH_DATE = re.compile(r"([A-Za-z]{3})[a-z]* ([0-9]{1,2}),? ([0-9]{4})")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_YES, _NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
FLOAT_DIGITS_EXACT = 15  # a decimal of so many digits survives the way through a float64


class Unfit(ValueError):
    """A value that does not fit; the message is a sentence for the field."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A type without an order. `ordered` types take minimum and maximum; `is_path` types name files that become inputs."""

    name: str
    ordered: bool = False
    is_path: bool = False

    def read_text(self, text: str, base: Path) -> Any:
        return text

    def read_json(self, raw: Any, base: Path) -> Any:
        if isinstance(raw, str):
            return self.read_text(raw, base)
        raise Unfit(f"{shown(raw)} is not text.")

    def to_json(self, value: Any) -> Any:
        return value


class Text(Kind):
    def read_text(self, text: str, base: Path) -> str:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise Unfit("The text holds characters that have no UTF-8.") from None
        if "\x00" in text:
            raise Unfit("The text holds a NUL character.")
        return text


class Integer(Kind):
    def read_text(self, text: str, base: Path) -> int:
        stripped = text.strip()
        if not _WHOLE.fullmatch(stripped) or len(stripped) > limits.NUMBER_TEXT_CHARS_MAX:
            raise Unfit(f"{shown(text)} is not a whole number. Use digits only, for example 30.")
        return int(stripped)

    def read_json(self, raw: Any, base: Path) -> int:
        return raw if type(raw) is int else self.read_text(_as_text(raw), base)


class DecimalNumber(Kind):
    def read_text(self, text: str, base: Path) -> Decimal:
        try:
            number = numbers.exact_number(text)
        except numbers.NumberRefused:
            raise Unfit(f"{shown(text)} is not a decimal number. Write it with a point, for example 0.05.") from None
        digits = len(numbers.plain(number).replace(".", "").replace("-", ""))
        if digits > limits.DECIMAL_DIGITS_MAX:
            raise Unfit(f"{shown(text)} has more than {limits.DECIMAL_DIGITS_MAX} digits.")
        return number

    def read_json(self, raw: Any, base: Path) -> Decimal:
        if isinstance(raw, float):
            raw = _decimal_text(raw)
        return self.read_text(_as_text(raw), base)

    def to_json(self, value: Decimal) -> str:
        text = numbers.plain(value)
        trimmed = text.rstrip("0").rstrip(".") if "." in text else text
        return "0" if trimmed in ("-0", "") else trimmed


class Float(Kind):
    def read_text(self, text: str, base: Path) -> float:
        try:
            number = float(numbers.exact_number(text))
        except numbers.NumberRefused:
            raise Unfit(f"{shown(text)} is not a number. Write it with a point, for example 0.5 or 1e-6.") from None
        if not math.isfinite(number):
            raise Unfit(f"{shown(text)} is too large for a float.")
        return number + 0.0  # no negative zero

    def read_json(self, raw: Any, base: Path) -> float:
        return self.read_text(repr(raw) if type(raw) is float else _as_text(raw), base)

    def to_json(self, value: float) -> str:
        return repr(value)


class Boolean(Kind):
    def read_text(self, text: str, base: Path) -> bool:
        word = text.strip().lower()
        if word not in _YES + _NO:
            raise Unfit(f"{shown(text)} is neither yes nor no. Write yes or no.")
        return word in _YES

    def read_json(self, raw: Any, base: Path) -> bool:
        return raw if isinstance(raw, bool) else self.read_text(_as_text(raw), base)


class Date(Kind):
    def read_text(self, text: str, base: Path) -> date:
        found = parse_date(text)
        if found is None:
            raise Unfit(f"{shown(text)} is not a date. Write year, month and day, for example 2026-03-31.")
        return found

    def to_json(self, value: date) -> str:
        return value.isoformat()


class Moment(Kind):
    def read_text(self, text: str, base: Path) -> datetime:
        try:
            moment = datetime.fromisoformat(text.strip())
            zoned = moment.tzinfo is not None
            in_utc = moment.astimezone(UTC) if zoned else moment
        except (ValueError, OverflowError):
            raise Unfit(f"{shown(text)} is not a time. Write it like 2026-03-31T09:41:00+02:00.") from None
        if not zoned:
            raise Unfit(f"{shown(text)} has no time zone. Add one, for example {text.strip()}Z or +02:00.")
        return in_utc

    def to_json(self, value: datetime) -> str:
        return value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


class Duration(Kind):
    def read_text(self, text: str, base: Path) -> timedelta:
        try:
            return durations.parse(text)
        except ValueError as error:
            raise Unfit(str(error)) from None

    def to_json(self, value: timedelta) -> str:
        return durations.text_of(value)


class FilePath(Kind):
    """A path, absolute from `base` on; whether anything is there is seen at admission, not here."""

    def read_text(self, text: str, base: Path) -> str:
        if not text.strip() or "\x00" in text:
            raise Unfit("A path is needed, for example ./prices.csv.")
        return os.path.abspath(os.path.join(base, os.path.expanduser(text)))


class Texts(Kind):
    """Several words: JSON, or text with one a line, or with commas where `commas` allows it."""

    def read_text(self, text: str, base: Path) -> tuple[str, ...]:
        if text.lstrip().startswith("["):
            return self.read_json(_json(text), base)
        separator = "\n" if self.is_path else ","
        return self.read_json([part.strip() for part in text.split(separator) if part.strip()], base)

    def read_json(self, raw: Any, base: Path) -> tuple[str, ...]:
        if isinstance(raw, str):
            return self.read_text(raw, base)
        if not isinstance(raw, (list, tuple)):
            raise Unfit(f"{shown(raw)} is not a list.")
        member: Kind = FilePath("file") if self.is_path else Text("text")
        return tuple(member.read_json(item, base) for item in raw)

    def to_json(self, value: tuple[str, ...]) -> list[str]:
        return list(value)


class Unknown(Kind):
    """A type this program does not know, from a newer one or from an author's own: its text is handed on as it stands."""

    def read_json(self, raw: Any, base: Path) -> str:
        if not isinstance(raw, str):
            raise Unfit(f"{shown(raw)} is not text, and of the type {self.name} Actum hands on text alone.")
        return Text("text").read_text(raw, base)


def parse_date(text: str) -> date | None:
    """A day as `2000-01-31` or `Jan 31 2000` (English month names, whatever the locale); None if it is neither."""
    stripped = text.strip()
    english = _ENGLISH_DATE.fullmatch(stripped)
    try:
        if english and english[1].lower() in _MONTHS:
            return date(int(english[3]), _MONTHS.index(english[1].lower()) + 1, int(english[2]))
        return date.fromisoformat(stripped) if len(stripped) == len("2000-01-31") else None
    except ValueError:
        return None


def shown(raw: Any) -> str:
    """A value in quotation marks, short, for a message."""
    text = raw if isinstance(raw, str) else repr(raw)
    return f"“{text if len(text) <= 60 else text[:57] + '…'}”"


def _as_text(raw: Any) -> str:
    if isinstance(raw, (str, Decimal)) or type(raw) is int:
        return str(raw)
    if type(raw) is float:
        return repr(raw)
    raise Unfit(f"{shown(raw)} is neither text nor a number.")


def _decimal_text(number: float) -> str:
    """The decimal that was written, if it came through a float unharmed."""
    text = repr(number)
    if len(re.sub(r"e.*|[^0-9]", "", text)) > FLOAT_DIGITS_EXACT:
        raise Unfit(f"{shown(text)} came as a float, which does not hold all its digits. Write it as text, in quotes.")
    return text


def _json(text: str) -> Any:
    try:
        return json.loads(text, parse_float=str, parse_constant=_no_constant)
    except ValueError as error:
        raise Unfit(f"{shown(text)} is not JSON: {error}.") from None


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is not a number of JSON")


json_of: Callable[[str], Any] = _json

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Text("text"),
        Integer("integer", ordered=True),
        DecimalNumber("decimal", ordered=True),
        Float("float", ordered=True),
        Boolean("boolean"),
        Text("choice"),
        Date("date", ordered=True),
        Moment("datetime", ordered=True),
        Duration("duration", ordered=True),
        FilePath("file", is_path=True),
        Texts("files", is_path=True),
        FilePath("folder", is_path=True),
        Texts("columns"),
    )
}


def kind_of(type_name: str) -> Kind:
    """The kind of a type that is not made of others."""
    return KINDS.get(type_name) or Unknown(type_name)


COMPOUND = ("list", "record")  # made of others; parameters.py reads them
REFUSED = {
    "secret": "Actum keeps parameters in plain text and has no place for secrets.",
    "connection": "A connection carries credentials, and Actum keeps parameters in plain text.",
}
