"""R05: one press of Run is one key; a press that follows at once, or after an answer that cannot be told, has the same one."""

from __future__ import annotations

from actum_desktop.forms.presses import AGAIN_S, Presses


def test_a_key_for_each_press_and_none_while_one_is_awaited() -> None:
    now = [0.0]
    presses = Presses(lambda: now[0])
    first = presses.press("values")
    assert first
    assert presses.press("values") is None
    presses.answered()
    now[0] = AGAIN_S - 0.01
    assert presses.press("values") == first
    presses.answered()
    now[0] += AGAIN_S + 0.01
    assert presses.press("values") not in (first, None)


def test_other_values_are_another_run_at_once() -> None:
    presses = Presses(lambda: 0.0)
    first = presses.press("a")
    presses.answered()
    assert presses.press("b") not in (first, None)


def test_what_cannot_be_told_keeps_its_key_and_a_refusal_does_not() -> None:
    now = [0.0]
    presses = Presses(lambda: now[0])
    first = presses.press("a")
    presses.answered(cannot_tell=True)
    now[0] = 1e6
    assert presses.press("a") == first
    presses.refused()
    assert presses.press("a") != first
