"""What the package refuses, in words: what happened, why, and what to do instead. Each is a ValueError too."""

from __future__ import annotations

from typing import Any

from actum.sdk.cells import INTEGER_BITS_MAX, NUMBER_CHARS_MAX, shown


class Refused(ValueError):
    """A value that cannot be said. Attributes: code, what, why, remedy."""

    def __init__(self, code: str, what: str, why: str, remedy: str) -> None:
        super().__init__(" ".join((what, why, remedy)))
        self.code, self.what, self.why, self.remedy = code, what, why, remedy


def too_long(whose: str, value: Any) -> Refused:
    """`whose` is a phrase such as “The metric “m””."""
    why = f"A number has at most {NUMBER_CHARS_MAX} characters (NUMBER_TEXT_CHARS_MAX)."
    return Refused("number_too_long", f"{whose} is {shown(value)}.", why, "Round it, or write it into a file of the result.")


def is_too_long(value: Any) -> bool:
    """Whether the text of a number, or of a whole number, has more than NUMBER_CHARS_MAX characters."""
    if isinstance(value, int):
        return value.bit_length() > INTEGER_BITS_MAX or len(str(value)) > NUMBER_CHARS_MAX
    return len(str(value)) > NUMBER_CHARS_MAX


def holds_too_long(value: Any) -> Any:
    """The first whole number in a message that is too long to be written, else None."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return next((found for found in map(holds_too_long, value) if found is not None), None)
    return value if isinstance(value, int) and value.bit_length() > INTEGER_BITS_MAX else None
