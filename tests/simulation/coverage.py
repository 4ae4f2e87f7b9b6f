"""Which lines of the supervisor the simulation reaches: sys.settrace on its files alone, no dependency.

A function whose lines were all reached is not traced any more, so that the later seeds cost little.
"""

from __future__ import annotations

import dis
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import actum.supervise

FOLDER = Path(actum.supervise.__file__).parent


def functions_of(code: types.CodeType) -> Iterator[tuple[int, set[int]]]:
    """(first line, lines) of each function in a module: what can be executed by calling, not by importing."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            first = constant.co_firstlineno
            if constant.co_flags & 0x2:  # optimised: a function, not a class body
                yield first, {line for _, line in dis.findlinestarts(constant) if line is not None and line > first}
            yield from functions_of(constant)


class Coverage:
    """`left` by file name: lines not reached yet; use as a context."""

    def __init__(self) -> None:
        self.wanted: dict[str, set[int]] = {}
        for path in sorted(FOLDER.glob("*.py")):
            code = compile(path.read_text(), str(path), "exec")
            self.wanted[path.name] = {line for _, lines in functions_of(code) for line in lines}
        self.left = {name: set(lines) for name, lines in self.wanted.items()}
        self._codes: dict[types.CodeType, set[int] | None] = {}

    def __enter__(self) -> Coverage:
        sys.settrace(self._call)
        for name in self.wanted:  # tables are built by functions that only an import calls
            path = FOLDER / name
            module = {"__name__": f"actum.supervise.{path.stem}", "__file__": str(path)}
            exec(compile(path.read_text(), str(path), "exec"), module)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(None)

    def _call(self, frame: types.FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        code = frame.f_code
        lines = self._codes.get(code, ...)  # type: ignore[call-overload]
        if lines is None:
            return None
        if lines is ...:
            path = Path(code.co_filename)
            ours = path.parent == FOLDER and path.name in self.wanted
            lines = self._codes[code] = {line for _, line in dis.findlinestarts(code) if line is not None} if ours else None
            if lines is None:
                return None
        left = self.left[code.co_filename.rpartition("/")[2]]

        def line(frame: types.FrameType, event: str, argument: Any) -> Any:
            lines.discard(frame.f_lineno)
            left.discard(frame.f_lineno)
            return line

        if not lines & left:
            self._codes[code] = None
            return None
        return line

    def missed(self) -> dict[str, list[int]]:
        """Lines that can be executed and were not, by file."""
        return {name: sorted(lines) for name, lines in self.left.items()}

    def percent(self) -> float:
        total = sum(len(lines) for lines in self.wanted.values())
        return 100.0 * (total - sum(len(lines) for lines in self.left.values())) / total
