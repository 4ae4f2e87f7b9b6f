"""A command given before the supervisor is up waits for it, in order, up to a bound that says so (R11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum import limits
from actum.errors import ActumError
from actum_desktop.controller.events import Answered
from actum_desktop.sending import Sending


class Wire:
    """The bridge's end: keeps what was sent, numbers it from 1."""

    def __init__(self) -> None:
        self.sent: list[Mapping[str, Any]] = []

    def command(self, body: Mapping[str, Any]) -> int:
        self.sent.append(body)
        return len(self.sent)


def bodies(count: int) -> list[dict[str, int]]:
    return [{"n": number} for number in range(count)]


def test_what_was_given_early_goes_first_and_in_order() -> None:
    told: list[ActumError] = []
    answers: list[Mapping[str, Any]] = []
    sending, wire = Sending(told.append), Wire()
    for body in bodies(3):
        sending.send(body, answers.append)
    assert (wire.sent, told) == ([], [])
    sending.join(wire)
    sending.send({"n": 3})
    assert wire.sent == bodies(4)
    sending.answered(Answered(2, {"run": 7}))
    assert answers == [{"run": 7}]


def test_early_commands_max_and_one_more() -> None:
    told: list[ActumError] = []
    sending = Sending(told.append)
    for body in bodies(limits.EARLY_COMMANDS_MAX):
        sending.send(body)
    assert not told
    sending.send({"n": -1})
    assert [error.code for error in told] == ["not_ready"]
    wire = Wire()
    sending.join(wire)
    assert wire.sent == bodies(limits.EARLY_COMMANDS_MAX)


def test_a_supervisor_that_does_not_come_up_answers_what_waited() -> None:
    told: list[ActumError] = []
    taken: list[ActumError] = []
    sending = Sending(told.append)
    sending.send({"n": 0}, failed=lambda error: taken.append(error) is None)
    sending.send({"n": 1})
    sending.refuse(ActumError("workspace_newer", "Newer."))
    assert [error.code for error in taken] == [error.code for error in told] == ["workspace_newer"]
    sending.join(Wire())  # nothing is left to send
