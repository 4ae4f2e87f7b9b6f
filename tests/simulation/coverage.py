"""Which lines of the supervisor the simulation reaches: sys.settrace on its files alone, no dependency."""

from __future__ import annotations

import dis
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import actum.supervise

FOLDER = Path(actum.supervise.__file__).parent


def lines_of(code: types.CodeType) -> Iterator[int]:
    """Lines of functions that can be executed; a definition or an import is executed by the import, not by the simulation."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            first = constant.co_firstlineno
            if constant.co_flags & 0x2:  # optimised: a function, not a class body
                yield from (line for _, line in dis.findlinestarts(constant) if line is not None and line > first)
            yield from lines_of(constant)


class Coverage:
    """`reached` by file name; use as a context."""

    def __init__(self) -> None:
        self.reached: dict[str, set[int]] = {path.name: set() for path in FOLDER.glob("*.py")}

    def __enter__(self) -> Coverage:
        sys.settrace(self._call)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(None)

    def _call(self, frame: types.FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        path = Path(frame.f_code.co_filename)
        if path.parent != FOLDER:
            return None
        reached = self.reached[path.name]

        def line(frame: types.FrameType, event: str, argument: Any) -> Any:
            reached.add(frame.f_lineno)
            return line

        return line

    def missed(self) -> dict[str, list[int]]:
        """Lines that can be executed and were not, by file."""
        found = {}
        for path in sorted(FOLDER.glob("*.py")):
            wanted = set(lines_of(compile(path.read_text(), str(path), "exec")))
            found[path.name] = sorted(wanted - self.reached[path.name])
        return found

    def percent(self) -> float:
        wanted = {path.name: set(lines_of(compile(path.read_text(), str(path), "exec"))) for path in FOLDER.glob("*.py")}
        total = sum(len(lines) for lines in wanted.values())
        return 100.0 * sum(len(lines & self.reached[name]) for name, lines in wanted.items()) / total
