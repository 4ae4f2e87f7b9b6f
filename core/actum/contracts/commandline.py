"""Fills parameters into a program's arguments, without a shell (R19).

`{NAME}` stands for a parameter's value, `{{` and `}}` for braces. An argument stays one argument whatever the value holds:
spaces, quotes, `$` and newlines are data. Where a parameter has no value (an optional one left out), every argument that
names it is dropped, and with it a directly preceding argument that is only its flag (`--window {window}` loses both). An
argument that is exactly `{NAME}` for a parameter with several values becomes that many arguments; inside a longer argument
the values are joined with commas.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from actum.errors import WrongUse

OUTPUT = "ACTUM_OUTPUT"  # {ACTUM_OUTPUT} is the folder for files, for programs that are told where to write
_PIECE = re.compile(r"\{\{|\}\}|\{([A-Za-z][A-Za-z0-9_]*)\}|[{}]")
_FLAG = re.compile(r"--?[A-Za-z0-9][A-Za-z0-9_.-]*")

Value = str | Sequence[str] | None


def names(arguments: Iterable[str]) -> set[str]:
    """The parameters that the arguments name. Raises WrongUse for a brace that stands alone."""
    found: set[str] = set()
    for argument in arguments:
        for piece in _PIECE.finditer(argument):
            if piece[0] in ("{", "}"):
                raise WrongUse(
                    "argument_invalid",
                    f"The argument “{argument}” has a brace that belongs to no parameter.",
                    remedy="Write {NAME} for a parameter, {{ and }} for braces.",
                )
            if piece[1]:
                found.add(piece[1])
    return found


def fill(arguments: Sequence[str], values: Mapping[str, Value]) -> list[str]:
    """The arguments with every `{NAME}` replaced; the module's text gives the rules. Raises WrongUse, KeyError."""
    filled: list[str] = []
    for position, argument in enumerate(arguments):
        named = names([argument])
        if any(values[name] is None for name in named):
            bare = argument.startswith("{")
            flag_before = position > 0 and _FLAG.fullmatch(arguments[position - 1])
            if bare and flag_before and filled and filled[-1] == arguments[position - 1]:
                filled.pop()
            continue
        whole = _PIECE.fullmatch(argument)
        several = values.get(whole[1]) if whole and whole[1] else None
        if several is not None and not isinstance(several, str):
            filled.extend(several)
        else:
            filled.append(_PIECE.sub(lambda piece: _replacement(piece, values), argument))
    return filled


def _replacement(piece: re.Match[str], values: Mapping[str, Value]) -> str:
    if not piece[1]:
        return piece[0][0]  # {{ or }}
    value = values[piece[1]]
    assert value is not None
    return value if isinstance(value, str) else ",".join(value)
