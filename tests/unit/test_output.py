"""What the commands print: aligned, cut to fit, and never obeyed by the terminal (R19)."""

from __future__ import annotations

import io
import json

import pytest
from actum.errors import InvalidParameters, NotFound
from actum_desktop.commands.output import Output, coloured_line, fitted, plain, width


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def streams() -> tuple[io.StringIO, io.StringIO]:
    return io.StringIO(), io.StringIO()


def test_r19_what_could_steer_a_terminal_is_shown() -> None:
    assert plain("a\x1b[2Jb\r\nc\x9bd\u202ee") == "a\\x1b[2Jb\\x0d\\x0ac\\x9bd\\u202ee"
    assert plain("价格 café") == "价格 café"


def test_r19_a_log_line_keeps_its_colours_and_nothing_else() -> None:
    assert coloured_line("\x1b[31mred\x1b[0m\tok") == "\x1b[31mred\x1b[0m\tok\x1b[0m"
    assert coloured_line("\x1b]0;title\x07") == "\\x1b]0;title\\x07"


def test_wide_characters_take_two_columns() -> None:
    assert width("价格") == 4
    assert width("cafe\u0301") == 4
    assert fitted("价格表格", 5) == "价格…"
    assert fitted("abc", 3) == "abc"


def test_an_error_for_programs_stands_on_standard_output(streams: tuple[io.StringIO, io.StringIO]) -> None:
    out, err = streams
    Output(as_json=True, out=out, err=err).error(NotFound("no_such_run", "There is no run 9.", "", "Look."))
    error = json.loads(out.getvalue())["error"]
    assert {"code", "what", "why", "remedy"} <= error.keys()
    assert (error["code"], err.getvalue()) == ("no_such_run", "")


def test_an_error_for_people_names_each_field(streams: tuple[io.StringIO, io.StringIO]) -> None:
    out, err = streams
    error = InvalidParameters(
        "Two parameters do not fit.", {"window": "“x” is no number.", "": "start is after end."}, "Mend them."
    )
    Output(as_json=False, out=out, err=err).error(error)
    assert out.getvalue() == ""
    assert err.getvalue().splitlines() == [
        "Two parameters do not fit.",
        "  window: “x” is no number.",
        "  start is after end.",
        "Mend them.",
    ]


def test_a_document_says_its_schema_first_and_takes_one_line(streams: tuple[io.StringIO, io.StringIO]) -> None:
    out, err = streams
    Output(as_json=True, out=out, err=err).document("show", {"run": 1, "schema": "other", "text": "two\nlines"})
    assert out.getvalue() == '{"schema": "actum.show/1", "run": 1, "text": "two\\nlines"}\n'


def test_columns_are_aligned(streams: tuple[io.StringIO, io.StringIO]) -> None:
    out, err = streams
    Output(as_json=False, out=out, err=err).rows(("RUN", "TASK"), [("1", "价格"), ("1000", "b\nc")], right=[0])
    assert out.getvalue().splitlines() == [" RUN  TASK", "   1  价格", "1000  b\\x0ac"]


def test_progress_elsewhere_than_on_a_terminal_is_lines_and_only_news(streams: tuple[io.StringIO, io.StringIO]) -> None:
    out, err = streams
    printed = Output(as_json=False, out=out, err=err)
    printed.progress("1 %")
    printed.progress("2 %", news=False)
    printed.progress("1 %")
    assert err.getvalue() == "1 %\n"
    assert out.getvalue() == ""


def test_progress_on_a_terminal_is_one_line_that_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TERM", raising=False)
    out, err = io.StringIO(), Terminal()
    printed = Output(as_json=False, out=out, err=err)
    printed.progress("1 %", news=False)
    printed.progress("2 %", news=False)
    printed.say("done")
    assert err.getvalue() == "\r1 %\x1b[K\r2 %\x1b[K\r\x1b[K"
    assert out.getvalue() == "done\n"


def test_no_color_is_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TERM", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert Output(as_json=False, out=Terminal(), err=Terminal()).toned("x", "ok") == "\x1b[32mx\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert Output(as_json=False, out=Terminal(), err=Terminal()).toned("x", "ok") == "x"


def test_marks_that_cannot_be_written_become_letters() -> None:
    ascii_only = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    assert Output(as_json=False, out=ascii_only, err=io.StringIO()).mark("✓", "x") == "x"
    ascii_only.close()
