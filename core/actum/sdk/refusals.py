"""What the package refuses, in words: what happened, why, and what to do instead. Each is a ValueError too."""

from __future__ import annotations

from typing import Any

NUMBER_CHARS_MAX = 400  # of a number's text: the longest exact text of a float64 fits; the program takes no longer one
_INTEGER_BITS_MAX = 4 * NUMBER_CHARS_MAX  # no shorter one is longer as text; Python would not even write longer ones out


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
        return value.bit_length() > _INTEGER_BITS_MAX or len(str(value)) > NUMBER_CHARS_MAX
    return len(str(value)) > NUMBER_CHARS_MAX


def shown(value: Any) -> str:
    """A value in a sentence, however long it is."""
    if isinstance(value, int) and value.bit_length() > _INTEGER_BITS_MAX:
        return f"a whole number of {value.bit_length():,} bits"
    text = repr(value)
    return text if len(text) <= NUMBER_CHARS_MAX else f"a value of {len(text):,} characters, {text[:40]}…"


def holds_too_long(value: Any) -> Any:
    """The first whole number in a message that is too long to be written, else None."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return next((found for found in map(holds_too_long, value) if found is not None), None)
    return value if isinstance(value, int) and value.bit_length() > _INTEGER_BITS_MAX else None
