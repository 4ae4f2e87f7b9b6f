"""Reads a JSON object field by field and says in words what is wrong with it, and where.

A `Fields` knows its place (`parameters[2]`); every refusal names it. `done()` refuses what nobody asked for, so that a
misspelt key is found and not ignored.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from actum.errors import WrongUse

T = TypeVar("T")


def refuse(place: str, why: str, remedy: str = "") -> WrongUse:
    return WrongUse("contract_invalid", f"The contract cannot be used: {place}: {why}", remedy=remedy)


class Fields:
    """The fields of one JSON object. Attributes: place."""

    def __init__(self, document: Any, place: str) -> None:
        if not isinstance(document, Mapping):
            raise refuse(place, "an object is expected here.")
        self.place = place
        self._document = document
        self._asked: set[str] = set()

    def raw(self, name: str, default: Any = None) -> Any:
        self._asked.add(name)
        return self._document.get(name, default)

    def has(self, name: str) -> bool:
        return self.raw(name) is not None

    def text(self, name: str, default: str | None = None) -> str:
        value = self.raw(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            raise self.refuse(name, "text is expected.")
        if "\x00" in value:
            raise self.refuse(name, "the text holds a NUL character.")
        return value

    def optional_text(self, name: str) -> str | None:
        return None if self.raw(name) is None else self.text(name)

    def boolean(self, name: str, default: bool) -> bool:
        value = self.raw(name)
        if value is not None and not isinstance(value, bool):
            raise self.refuse(name, "true or false is expected.")
        return default if value is None else value

    def whole(self, name: str, default: int, minimum: int = 0) -> int:
        value = self.raw(name)
        if value is None:
            return default
        if type(value) is not int or value < minimum:
            raise self.refuse(name, f"a whole number from {minimum} up is expected.")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        return tuple(self._members(name, lambda item, place: _text_at(item, place)))

    def items(self, name: str, read: Callable[[Any, str], T]) -> tuple[T, ...]:
        """The members of a list, each read by `read(member, its place)`."""
        return tuple(self._members(name, read))

    def mapping(self, name: str) -> Mapping[str, Any]:
        value = self.raw(name)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise self.refuse(name, "an object is expected.")
        return value

    def _members(self, name: str, read: Callable[[Any, str], T]) -> Iterator[T]:
        value = self.raw(name)
        if value is None:
            return
        if not isinstance(value, (list, tuple)):
            raise self.refuse(name, "a list is expected.")
        for position, item in enumerate(value):
            yield read(item, f"{self.place_of(name)}[{position}]")

    def place_of(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place else name

    def refuse(self, name: str, why: str, remedy: str = "") -> WrongUse:
        return refuse(self.place_of(name), why, remedy)

    def done(self) -> None:
        """Refuses every field that nobody has asked for."""
        for name in self._document:
            if name not in self._asked:
                near = difflib.get_close_matches(str(name), self._asked, n=1)
                hint = f" Probably “{near[0]}” is meant." if near else ""
                raise self.refuse(str(name), f"no such field.{hint}")


def _text_at(item: Any, place: str) -> str:
    if not isinstance(item, str) or "\x00" in item:
        raise refuse(place, "text is expected.")
    return item
