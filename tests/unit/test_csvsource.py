"""Kind and hostile CSVs, as “Profile a table” reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from actum import limits
from actum.recipes.tableprofile.csvsource import LOOK_AT_BYTES

from tests.helpers.profiles import Profile, failure


def test_quoted_newlines_crlf_and_a_byte_order_mark(tmp_path: Path) -> None:
    found = Profile(tmp_path, b'\xef\xbb\xbfname,n\r\n"two\r\nlines, ""quoted""",1\r\n\xc3\xa9,2\r\n')
    assert list(found.types) == ["name", "n"]
    assert found.of("top_values", "name", "value") == [('two\r\nlines, "quoted"',), ("é",)]
    assert (found["n"]["type"], found.metrics["rows"]) == ("integer", "2")


@pytest.mark.parametrize("content", [b"", b"\n\r\n", b"\xef\xbb\xbf"])
def test_an_empty_file_has_no_columns_and_says_so(tmp_path: Path, content: bytes) -> None:
    found = Profile(tmp_path, content)
    assert (found.tables["columns"], found.metrics["rows"], found.metrics["missing_share"]) == ([], "0", "no_cells")
    assert "The file is empty" in found.notes


def test_a_header_alone_has_columns_without_values(tmp_path: Path) -> None:
    found = Profile(tmp_path, "a,b")
    assert found.types == {"a": "no values", "b": "no values"}
    assert (found["a"]["rows"], found["a"]["mean__reason"]) == (0, "no_values")


def test_columns_of_one_name_or_none_are_told_apart(tmp_path: Path) -> None:
    found = Profile(tmp_path, "a,a,,a (2),a\n1,2,3,4,5\n")
    assert list(found.types) == ["a", "a (3)", "(column 3)", "a (2)", "a (4)"]
    assert [row["max"] for row in found.tables["columns"]] == ["1", "2", "3", "4", "5"]
    assert "told apart by a number: “a”" in found.notes
    assert "Columns without a name, called after their position: 1." in found.notes


def test_r19_names_and_cells_are_data(tmp_path: Path) -> None:
    name, cell = "x'); DROP TABLE g; --", "'; SELECT 1; --"
    found = Profile(tmp_path, f'"{name}","a""b"\n"{cell}",1\n', missing_values=("')",))
    assert found.of("top_values", name, "value") == [(cell,)]
    assert found['a"b']["type"] == "integer"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a,b\n1,2\n3\n", "Line 3: it has 1 fields, and the first line has 2."),
        ('a,b\n"x\ny",2\n1,2,3\n', "Line 4: it has 3 fields, and the first line has 2."),
        ("\n\na,b\n1,2\n\n1,2,3\n", "Line 6: it has 3 fields"),
        (b"a,b\n1,2\n1,caf\xe9\n", "Line 3: the file is not UTF-8 text (byte 0xe9). Save it as UTF-8"),
        (b"caf\xe9,b\n1,2\n", "Line 1: the file is not UTF-8 text (byte 0xe9)"),
        ('a,b\n1,2\n"3,4\n', "a quote that is opened is never closed"),
        ("a,b\r1,2\r", "The lines end in a carriage return alone."),
        (b"\x1f\x8b\x08\x00", "compressed with gzip. Unpack it"),
        (b"PK\x03\x04", "a ZIP archive or an Excel workbook"),
        ("a,b\n1,2\n".encode("utf-16"), "The file is UTF-16 text. Save it as UTF-8."),
    ],
)
def test_a_file_that_cannot_be_read_ends_the_run_and_names_the_line(tmp_path: Path, content: bytes | str, words: str) -> None:
    assert words in failure(tmp_path, content)


def test_a_ragged_record_far_down_is_named_by_its_line(tmp_path: Path) -> None:
    row = b"1," + b"x" * 1_000 + b"\n"
    count = limits.BATCH_BYTES // len(row) * 2
    assert failure(tmp_path, b"a,b\n" + row * count + b"1\n" + row).startswith(f"Line {count + 2:}: it has 1 fields")


def test_r11_a_record_as_long_as_a_line_may_be_is_read_and_a_longer_one_is_refused(tmp_path: Path) -> None:
    start = b'a\n"'
    fits = b"x" * (limits.TABLE_LINE_BYTES_MAX - 3)
    found = Profile(tmp_path, start + fits + b'"\n')
    assert found.of("top_values", "a", "value") == [("x" * limits.PROFILE_TEXT_CHARS_MAX + "…",)]
    assert "a quote that is opened there is not closed" in failure(tmp_path, start + fits + b"x" * limits.BATCH_BYTES)


def test_r11_a_long_value_is_cut_where_it_is_shown(tmp_path: Path) -> None:
    most = limits.PROFILE_TEXT_CHARS_MAX
    fits, longer = "é" * most, "é" * (most + 1)
    found = Profile(tmp_path, f"a,b\n{fits},{longer}\n")
    assert (found["a"]["min"], found["b"]["min"]) == (fits, fits + "…")
    assert found.of("top_values", "b", "value") == [(fits + "…",)]


@pytest.mark.parametrize(("sign", "word"), [(";", "semicolon"), ("\t", "tab"), ("|", "pipe"), (",", "comma")])
def test_the_delimiter_is_told_from_the_first_lines_or_declared(tmp_path: Path, sign: str, word: str) -> None:
    content = f'a{sign}b\n"1,5;x|"{sign}2\n' * 3
    for delimiter in ("auto", word):
        found = Profile(tmp_path, content, delimiter=delimiter)
        assert list(found.types) == ["a", "b"]
        assert (f"divided by a {word}" in found.notes) == (delimiter == "auto")
        for path in found.context.output.iterdir():
            path.unlink()


def test_a_delimiter_is_told_from_lines_that_are_whole(tmp_path: Path) -> None:
    cut = "x" * (LOOK_AT_BYTES - 10)
    assert list(Profile(tmp_path, f"a;b\n1;{cut},,,,,,,,,,,,,,,,\n").types) == ["a", "b"]


def test_without_a_header_columns_have_their_numbers(tmp_path: Path) -> None:
    found = Profile(tmp_path, "1,2\n3,4\n", header=False)
    assert (list(found.types), found.metrics["rows"]) == (["column 1", "column 2"], "2")
