"""Durations in words and back."""

from __future__ import annotations

from datetime import timedelta

import pytest
from actum.contracts import durations


@pytest.mark.parametrize(
    ("text", "duration", "canonical"),
    [
        ("2h", timedelta(hours=2), "2h"),
        ("90s", timedelta(seconds=90), "1m30s"),
        ("1h 30 min", timedelta(minutes=90), "1h30m"),
        ("0.5s", timedelta(milliseconds=500), "500ms"),
        ("1d", timedelta(days=1), "1d"),
        ("0s", timedelta(0), "0s"),
        ("1us", timedelta(microseconds=1), "1us"),
    ],
)
def test_durations(text: str, duration: timedelta, canonical: str) -> None:
    assert durations.parse(text) == duration
    assert durations.text_of(duration) == canonical
    assert durations.parse(canonical) == duration


@pytest.mark.parametrize("text", ["", "5", "-1s", "1s1s", "1s2m", "1.5.5h", "h", "1y", "0.1us", "99999999d", "１s"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match=r"duration|microsecond"):
        durations.parse(text)


def test_seconds_are_whole_where_they_can_be() -> None:
    assert repr(durations.seconds(timedelta(minutes=1))) == "60"
    assert durations.seconds(timedelta(milliseconds=250)) == 0.25
