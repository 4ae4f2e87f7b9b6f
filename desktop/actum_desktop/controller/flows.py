"""Work of several steps with helper calls in between, written as generators and run one answer at a time.

A flow is a generator that yields `HelperCall`s and is sent `HelperAnswer`s; what it returns is its result. So a flow reads
from top to bottom, holds nothing up while a helper works, and can be tried without Qt by sending it answers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from actum.limits import HELPER_TRIES_MAX

from actum_desktop.controller.helpers import HelperAnswer, Helpers

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class HelperCall:
    """One call of a named helper."""

    helper: str
    verb: str
    args: Mapping[str, Any]


Flow = Generator[HelperCall, HelperAnswer, T]
Progress = Callable[[str, int, int, str], None]


def patiently(call: HelperCall, between: Callable[[], None] = lambda: None) -> Flow[HelperAnswer]:
    """The answer to a call that may be repeated. A helper that crashes is no rejection: it is asked HELPER_TRIES_MAX times,
    with `between` done after each crash, and when it is given up."""
    for tries_left in reversed(range(HELPER_TRIES_MAX)):
        try:
            answer = yield call
        except GeneratorExit:  # given up, and the helper with it
            between()
            raise
        if not answer.crashed:
            break
        between()
        if not tries_left:
            break
    return answer


class Running:
    """A flow under way. What is `cancel`led is not done: its call is given up, and what it would return is told to nobody.

    Attributes: `done` when it has returned, or was cancelled and its last call is answered.
    """

    def __init__(self) -> None:
        self.cancelled = self.done = False
        self.give_up: Callable[[], None] = lambda: None

    def cancel(self) -> None:
        if not (self.cancelled or self.done):
            self.cancelled = True
            self.give_up()


def run(flow: Flow[T], helpers: Helpers, done: Callable[[T], None], progress: Progress | None = None) -> Running:
    """Run `flow` to its end; `done` gets what it returns, in this thread."""
    running = Running()

    def step(answer: HelperAnswer | None) -> None:
        if running.cancelled:
            running.done = True
            flow.close()
            return
        try:
            call = flow.send(answer) if answer is not None else next(flow)
        except StopIteration as stop:
            running.done = True
            done(stop.value)
            return
        report = None
        if progress is not None:
            report = lambda count, total, unit: progress(call.verb, count, total, unit)  # noqa: E731
        helper = helpers[call.helper]
        asked = [0]  # the number is known when the call returns, which may be after its answer
        running.give_up = lambda: helper.cancel(asked[0])
        asked[0] = helper.call(call.verb, call.args, step, report)

    step(None)
    return running
