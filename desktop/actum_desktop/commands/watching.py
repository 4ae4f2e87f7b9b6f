"""Waiting for one run until it is closed, and saying meanwhile what is happening.

The store is what is read: a waiting command looks at the run when it hears that something changed, and twice a second
otherwise; live frames only add what the store does not hold. A run is *closed* when its status is terminal and its
resources are released; nothing shows 100 % before that (R10).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from enum import Enum
from types import TracebackType
from typing import TYPE_CHECKING, Any

from actum import limits
from actum.errors import CannotTell
from actum.model.status import RUN_TERMINAL, RunStatus

from actum_desktop import measures
from actum_desktop.commands.context import Context
from actum_desktop.commands.interrupts import Interrupts
from actum_desktop.commands.output import Output
from actum_desktop.commands.supervision import News, Session

if TYPE_CHECKING:
    from actum.store.queries import Reader

EXIT_CODES: dict[str, int] = {
    RunStatus.SUCCEEDED: 0,
    RunStatus.FAILED: 1,
    RunStatus.START_FAILED: 1,
    RunStatus.TIMEOUT: 1,
    RunStatus.STOPPED: 6,
}
# What a helper measures while it works: verb → the phase it belongs to, and the words for it.
STEPS: dict[str, tuple[str, str]] = {
    "freeze": ("FREEZING", "keeping inputs"),
    "derive": ("VERIFYING", "preparing tables"),
    "verify": ("VERIFYING", "reading it back"),
}
EXIT_CANNOT_TELL = 7
EXIT_INTERRUPTED = 130
_PERCENT_STEP = 10  # where progress is not redrawn in place, a line is news each so many per cent


class Ending(Enum):
    CLOSED = "closed"
    INTERRUPTED = "interrupted"


def is_closed(show: Mapping[str, Any]) -> bool:
    return show["status"] in RUN_TERMINAL and bool(show["released"])


def exit_code(show: Mapping[str, Any]) -> int:
    """The exit code of a command that waited for this run."""
    return EXIT_CODES[show["status"]] if is_closed(show) else EXIT_CANNOT_TELL


class Watch:
    """One run under observation. Attributes: show (as `actum show --json` has it), live (what frames told, or None)."""

    def __init__(self, context: Context, run: int) -> None:
        self.run = run
        self.show: Mapping[str, Any] = {}
        self.live: Mapping[str, Any] | None = None
        self._context = context
        self._reader: Reader | None = None
        self._read_at = 0.0
        self._news_key: tuple[object, ...] = ()

    def __enter__(self) -> Watch:
        from actum.store.queries import Reader

        self._reader = Reader(self._context.workspace)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def hear(self, news: News) -> None:
        """Something changed: the next look reads again."""
        if self.run in news:
            self.live = news[self.run] or self.live
            self._read_at = min(self._read_at, time.monotonic() - limits.CLIENT_READ_EVERY_S + 1 / limits.CHANGES_PER_S_MAX)

    def closed(self) -> bool:
        """Look, say what is happening, and tell whether the run is closed."""
        now = time.monotonic()
        if self.show and now - self._read_at < limits.CLIENT_READ_EVERY_S:
            return is_closed(self.show)
        self.look()
        if not is_closed(self.show):
            self._tell(self._context.out)
        return is_closed(self.show)

    def look(self) -> Mapping[str, Any]:
        """Read the run now."""
        from actum.store.show import show_document

        assert self._reader is not None, "used inside its with block"
        self.show = show_document(self._reader, self._context.workspace, self.run)
        self._read_at = time.monotonic()
        return self.show

    def _tell(self, out: Output) -> None:
        key = news_key(self.show)
        text = progress_text(self.show, self.live)
        if self.show["phase"] == "QUEUED" and self._reader is not None and self._reader.settings()["queue_paused"]:
            text += "  the queue is paused: `actum queue resume` opens it"
        out.progress(text, news=key != self._news_key)
        self._news_key = key


def wait_closed(session: Session, watch: Watch, interrupts: Interrupts, *, leave_at: int = 1) -> Ending:
    """Follow the run until it is closed, or until Ctrl-C was counted `leave_at` times. Raises CannotTell."""

    def done() -> bool:
        return watch.closed() or interrupts.count >= leave_at

    try:
        session.follow([watch.run], done, watch.hear)
    except CannotTell:
        if not interrupts.count:
            raise
    return Ending.CLOSED if is_closed(watch.show) else Ending.INTERRUPTED


def wait_or_detach(session: Session, watch: Watch, interrupts: Interrupts, *, back: str) -> Ending:
    """The same for a person at a terminal: the first Ctrl-C detaches and says how to come back, the second stops the run."""
    if wait_closed(session, watch, interrupts) is Ending.CLOSED:
        return Ending.CLOSED
    out, run = watch._context.out, watch.run
    out.note(f"Detached: run {run} goes on. {back}")
    out.note(f"Ctrl-C again within {limits.INTERRUPT_AGAIN_S} s stops it.")
    end = time.monotonic() + limits.INTERRUPT_AGAIN_S
    session.follow([run], _either(lambda: time.monotonic() > end, lambda: interrupts.count >= 2, watch.closed), watch.hear)
    if interrupts.count >= 2 and not is_closed(watch.show):
        session.submit({"verb": "stop", "run": run, "level": "ask"})
        out.note(f"Stop recorded: run {run} is being ended.")
        wait_closed(session, watch, interrupts, leave_at=3)
    return Ending.INTERRUPTED


def news_key(show: Mapping[str, Any]) -> tuple[object, ...]:
    """Equal for two states between which nothing happened that deserves a line of its own."""
    progress = show.get("progress") or {}
    fraction = _fraction(progress)
    step = None if fraction is None else int(fraction * 100) // _PERCENT_STEP
    return show["status"], show["phase"], progress.get("stage"), step, len(show.get("facts") or ())


def progress_text(show: Mapping[str, Any], live: Mapping[str, Any] | None) -> str:
    """`Run 17  Running  compute, 61 % (3 of 5 files)  CPU 98 %  12 s`: what is happening now, on one line."""
    from actum_desktop import wording

    word = wording.status(show["status"], show["phase"], show["released"]).word
    parts = [f"Run {show['run']}", word]
    step = (live or {}).get("step") or {}
    phase, words = STEPS.get(str(step.get("verb")), ("", ""))
    step = {**step, "stage": words} if phase == show["phase"] else None
    measure = _measure(step) if step else _measure(show.get("progress") or {}) if show["phase"] == "COMPUTING" else ""
    if measure:
        parts.append(measure)
    if show["phase"] == "COMPUTING" and live and live.get("cpu_percent") is not None:
        parts.append(f"CPU {measures.cpu(live['cpu_percent'])}")
    parts.extend(_warnings(live))
    if show.get("duration_s") is not None:
        parts.append(measures.duration(show["duration_s"]))
    return "  ".join(parts)


def _warnings(live: Mapping[str, Any] | None) -> list[str]:
    from actum_desktop import wording

    return [wording.warning(str(one["code"]), one.get("data") or {})[0] for one in (live or {}).get("warnings") or ()]


def _measure(progress: Mapping[str, Any]) -> str:
    """`compute, 61 % (3 of 5 files)`, with what is known of it."""
    done, total, unit = progress.get("done"), progress.get("total"), progress.get("unit") or ""
    stage = str(progress.get("stage") or "")
    numbers = ""
    fraction = _fraction(progress)
    if unit == "bytes":
        done, total, unit = measures.size(done), measures.size(total), ""
    else:
        done, total = measures.count(done), measures.count(total)
    behind = f" {unit}" if unit else ""
    if fraction is not None:
        numbers = f"{min(99, int(fraction * 100))} % ({done} of {total}{behind})"
    elif progress.get("done") is not None:
        numbers = f"{done}{behind}"
    return ", ".join(part for part in (stage, numbers, str(progress.get("message") or "")) if part)


def _fraction(progress: Mapping[str, Any]) -> float | None:
    done, total = progress.get("done"), progress.get("total")
    if not isinstance(done, int | float) or not isinstance(total, int | float) or total <= 0:
        return None
    return max(0.0, min(1.0, done / total))


def _either(*conditions: Callable[[], bool]) -> Callable[[], bool]:
    return lambda: any(condition() for condition in conditions)
