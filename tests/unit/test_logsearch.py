"""Search through logs: what is found is what a person sees, in small pieces, up to the bound (R11)."""

from __future__ import annotations

from pathlib import Path

import pytest
from actum import limits
from actum.host.logs import LogWriter
from actum.ipc.logfile import STDERR, STDOUT, LogReader
from actum_desktop.models import logsearch, logtext
from actum_desktop.models.logsearch import Found
from actum_desktop.models.logtext import Span
from actum_desktop.tokens import DARK, LIGHT, contrast


def found(folder: Path, text: str, first: int = 0, room: int = limits.LOG_HITS_MAX) -> list[Found]:
    news: list[Found] = []
    logsearch.look(logsearch._Question(1, folder, text, first, room), news.append, lambda: False)
    return news


def hits(folder: Path, text: str, **more: int) -> list[int]:
    return [number for news in found(folder, text, **more) for number in news.hits]


def write(folder: Path, *pieces: bytes, stream: int = STDOUT) -> Path:
    writer = LogWriter(str(folder))
    for piece in pieces:
        assert writer.write(stream, piece, 1_000_000) is None
    writer.close()
    return folder


def test_what_is_seen_is_found_and_what_is_hidden_is_not(tmp_path: Path) -> None:
    log = write(
        tmp_path / "log",
        b"Alpha beta\n",
        b"al\x1b[31mph\x1b[0ma in colours\n",
        b"10 %\r20 %\rdone alpha\n",
        b"alpha overwritten\rgone\n",
        "Größe ALPHA 长度\n".encode(),
        b"bad bytes \xff alpha\n",
    )
    assert hits(log, "alpha") == [0, 1, 2, 4, 5]
    assert hits(log, "größe") == [4]
    assert hits(log, "长度") == [4]
    assert hits(log, "10 %") == []


def test_a_log_of_several_segments_is_looked_through_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LOG_SEGMENT_BYTES", 40_000)
    log = write(tmp_path / "log", *(f"line {n} of many\n".encode() for n in range(10_000)))
    assert len(LogReader(log).segments()) > 3
    assert hits(log, "line 9999 ") == [9_999]
    assert hits(log, "line 77 ") == [77]
    assert hits(log, "LINE 77 ", first=78) == []
    news = found(log, "many")
    assert news[-1].done
    assert news[-1].looked == 10_000
    assert all(len(each.hits) <= limits.LOG_SEARCH_LINES_MAX for each in news)


def test_r11_more_hits_than_are_kept_end_the_search_and_say_so(tmp_path: Path) -> None:
    log = write(tmp_path / "log", *(b"x\n" for _ in range(10)))
    at, above = found(log, "x", room=10)[-1], found(log, "x", room=9)[-1]
    assert (len(at.hits), at.full) == (10, False)
    assert (len(above.hits), above.full) == (9, True)
    assert limits.LOG_HITS_MAX >= 10


def test_r11_a_block_holds_so_many_lines_and_bytes_but_always_one(tmp_path: Path) -> None:
    short = write(tmp_path / "short", b"x\n" * (limits.LOG_SEARCH_LINES_MAX + 1))
    most = limits.LOG_SEARCH_LINES_MAX
    assert LogReader(short).block(0, most, limits.LOG_SEARCH_BYTES_MAX).pieces == most
    half = limits.LOG_LINE_BYTES_MAX // 2
    wide = write(tmp_path / "wide", *(b"y" * (half - 1) + b"\n" for _ in range(16)))
    fits = limits.LOG_SEARCH_BYTES_MAX // half
    assert LogReader(wide).block(0, fits, limits.LOG_SEARCH_BYTES_MAX).pieces == fits
    assert LogReader(wide).block(0, fits + 1, limits.LOG_SEARCH_BYTES_MAX).pieces < fits + 1
    assert LogReader(wide).block(3, 9, 1).pieces == 1
    assert LogReader(wide).block(99, 9, 1).pieces == 0


def test_errors_are_found_by_level_and_by_traceback(tmp_path: Path) -> None:
    log = write(
        tmp_path / "log",
        b"all fine\n",
        b"2026-01-01 ERROR it broke\n",
        b"Traceback (most recent call last):\n",
        b"x" * 200 + b" error far behind\n",
    )
    assert hits(log, logsearch.ERRORS) == [1, 2]
    assert hits(log, logsearch.ERRORS, room=1) == [1]


def test_a_stale_question_is_given_up(tmp_path: Path) -> None:
    log = write(tmp_path / "log", b"x\n")
    news: list[Found] = []
    logsearch.look(logsearch._Question(1, log, "x", 0, 1), news.append, lambda: True)
    assert news == []


def test_sixteen_colours_are_tokens_and_others_are_kept_apart() -> None:
    line = "\x1b[1;31mred\x1b[0m plain \x1b[38;5;196mcube\x1b[38;2;1;2;3mtrue\x1b[48;5;4m\x1b[39mback\x1b]0;title\x07\x1b[2K"
    assert logtext.spans(line) == [
        Span("red", "bad", True),
        Span(" plain "),
        Span("cube", "#FF0000"),
        Span("true", "#010203"),
        Span("back"),
    ]
    assert logtext.plain(line) == "red plain cubetrueback"
    assert logtext.plain("a\x9bb\x00c\td") == "abc    d"


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("colour", ["#FFFF00", "#000000", "#FFFFFF", "#0000FF", "#808080", "#00FF00"])
def test_any_colour_is_made_legible_on_every_row(theme: object, colour: str) -> None:
    made = logtext.legible(colour, theme)  # type: ignore[arg-type]
    for ground in logtext.ROW_GROUNDS:
        assert contrast(made, getattr(theme, ground)) >= logtext.CONTRAST_MIN


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_every_ink_of_the_sixteen_reads_on_every_row(theme: object) -> None:
    for name in {*logtext._SIXTEEN, "text3"}:
        for ground in logtext.ROW_GROUNDS:
            assert contrast(getattr(theme, name), getattr(theme, ground)) >= 4.4, (name, ground)


def test_the_mark_changes_when_a_line_only_grows(tmp_path: Path) -> None:
    writer = LogWriter(str(tmp_path / "log"))
    reader = LogReader(tmp_path / "log")
    assert reader.mark() == (0, 0)
    writer.write(STDERR, b"10 %\r", 1)
    first = reader.mark()
    writer.write(STDERR, b"20 %\r", 1)
    assert reader.mark()[0] == first[0] == 1
    assert reader.mark() != first
    assert reader.tail(1)[0].text == "20 %"
    writer.close()
