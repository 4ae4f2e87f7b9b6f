"""Reads price series from a CSV with the columns symbol, date and price, and names the line of whatever is wrong."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from actum.contracts.kinds import parse_date
from actum.recipes.columns import PRICE_PRECISION, PRICE_SCALE
from actum.sdk import InputFile, TaskFailed

COLUMNS = ("symbol", "date", "price")
MISSING_WORDS = frozenset({"", "na", "n/a", "nan", "null", "none", "-"})
LOOK_EVERY_ROWS = 256
_PRICE = re.compile(r"\+?[0-9]+(\.[0-9]+)?|\.[0-9]+")


@dataclass(frozen=True)
class Price:
    day: date
    price: Decimal | None  # None: the file has the day, but no price
    line: int


def read_prices(file: InputFile, on_bytes: Callable[[int], None]) -> dict[str, list[Price]]:
    """Series by symbol, each in the order of time. `on_bytes` hears now and then how much was read. Raises TaskFailed."""
    series: dict[str, list[Price]] = {}
    with file.path.open("rb") as raw:
        lines = _Lines(raw)
        rows = csv.reader(lines, strict=True)
        try:
            header = next(rows, None)
            if header is None:
                return {}
            where = _positions(header)
            for count, row in enumerate(rows):
                if count % LOOK_EVERY_ROWS == 0:
                    on_bytes(lines.bytes)
                if row:
                    symbol, price = _price(row, where, rows.line_num)
                    series.setdefault(symbol, []).append(price)
        except csv.Error as error:
            raise TaskFailed(f"Line {rows.line_num}: the CSV cannot be read: {error}.") from None
        on_bytes(lines.bytes)
    return {symbol: _in_order(symbol, prices) for symbol, prices in sorted(series.items())}


class _Lines:
    """Lines of text out of lines of bytes. Attributes: bytes (read so far)."""

    def __init__(self, raw: Iterator[bytes]) -> None:
        self._raw = raw
        self._number = 0
        self.bytes = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = next(self._raw)
        self._number += 1
        self.bytes += len(line)
        try:
            return line.decode("utf-8-sig" if self._number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise TaskFailed(f"Line {self._number}: the file is not UTF-8 text.") from None


def _positions(header: list[str]) -> tuple[int, int, int]:
    names = [name.strip().lower() for name in header]
    lacking = [name for name in COLUMNS if name not in names]
    if lacking:
        raise TaskFailed(f"The file has no column {' and no column '.join(lacking)}. It has {', '.join(names) or 'none'}.")
    return names.index("symbol"), names.index("date"), names.index("price")


def _price(row: list[str], where: tuple[int, int, int], line: int) -> tuple[str, Price]:
    if len(row) <= max(where):
        raise TaskFailed(f"Line {line}: it has {len(row)} fields, fewer than the header.")
    symbol, day_text, price_text = (row[position].strip() for position in where)
    if not symbol:
        raise TaskFailed(f"Line {line}: the symbol is missing.")
    day = parse_date(day_text)
    if day is None:
        raise TaskFailed(f"Line {line}: “{day_text[:40]}” is not a date such as 2000-01-31 or Jan 31 2000.")
    if price_text.lower() in MISSING_WORDS:
        return symbol, Price(day, None, line)
    if not _PRICE.fullmatch(price_text):
        raise TaskFailed(f"Line {line}: “{price_text[:40]}” is not a price such as 25.94.")
    whole, _, fraction = price_text.lstrip("+0").partition(".")
    if len(whole) > PRICE_PRECISION - PRICE_SCALE or len(fraction.rstrip("0")) > PRICE_SCALE:
        raise TaskFailed(f"Line {line}: “{price_text[:60]}” has more than {PRICE_SCALE} digits after the point, or too many.")
    price = Decimal(price_text)
    if not price:
        raise TaskFailed(f"Line {line}: the price is 0, and a return from 0 has no meaning.")
    return symbol, Price(day, price, line)


def _in_order(symbol: str, prices: list[Price]) -> list[Price]:
    ordered = sorted(prices, key=lambda price: price.day)
    for before, after in itertools.pairwise(ordered):
        if before.day == after.day:
            lines = sorted((before.line, after.line))
            raise TaskFailed(f"Lines {lines[0]} and {lines[1]}: {symbol} has two prices on {after.day}.")
    return ordered
