"""What a trial of a program came to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tried:
    """`exit_code` None = still at work when its time was over; `problem` is set when it could not be started at all."""

    exit_code: int | None
    seconds: float
    tail: str
    files: tuple[str, ...] = ()
    problem: str = ""
