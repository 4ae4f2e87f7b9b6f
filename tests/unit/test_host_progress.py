"""Printed progress: what counts and what only looks like it (§7)."""

from __future__ import annotations

import pytest
from actum import limits
from actum.host import progress


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        (b"3/10\n", (3, 10, "")),
        (b"[ 3 / 10 ] reading\n", (3, 10, "")),
        (b"done 45%\n", (45, 100, "%")),
        (b"done 45.5 %\r", (45.5, 100, "%")),
        (b" 45%|####      | 45/100 [00:01<00:01, 45.00it/s]\r", (45, 100, "")),
        (b" 10%|#  | 1/10\r 20%|## | 2/10\r", (2, 10, "")),
        (b"1/10\nnothing here\n", (1, 10, "")),
        (b"Epoch 2/5: loss 0.25\n", (2, 5, "")),
        (b"2024/01/05\n", None),
        (b"/data/3/10/file\n", None),
        (b"3/0\n", None),
        (b"11/10\n", None),
        (b"ratio 1.5/2\n", None),
        (b"120%\n", None),
        (b"a/b c%\n", None),
        (b"\xff\xfe\n", None),
        (b"", None),
    ],
)
def test_what_counts(printed: bytes, found: object) -> None:
    assert progress.find(printed) == found


def test_a_long_line_is_no_progress_and_only_the_last_lines_are_looked_at() -> None:
    fill = limits.PROGRESS_LINE_CHARS_MAX - len(b" 1/2")
    assert progress.find(b"x" * fill + b" 1/2") == (1, 2, "")
    assert progress.find(b"x" * fill + b"x 1/2") is None
    lines = limits.PROGRESS_LINES_PER_READ_MAX
    assert progress.find(b"1/2\n" + b"x\n" * (lines - 2)) == (1, 2, "")
    assert progress.find(b"1/2\n" + b"x\n" * (lines - 1)) is None
