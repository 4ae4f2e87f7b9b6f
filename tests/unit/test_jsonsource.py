"""JSON lines, as “Profile a table” reads them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from actum import limits
from actum.recipes.tableprofile import jsonsource
from actum.recipes.tableprofile.source import Scratch
from actum.sdk import TaskFailed

from tests.helpers.profiles import Profile, failure


def test_json_lines_keep_what_was_written(tmp_path: Path) -> None:
    lines = [
        '{"n":1,"price":0.10,"big":12345678901234567890,"text":"12","day":"2020-02-29","mixed":1,"ok":true,"in":{"b":[1,1.50],"a":null}}',
        '{"n":2,"price":3,"text":"","day":"2020-03-01","mixed":"one","late":"é","ok":null}',
    ]
    found = Profile(tmp_path, "\n".join(lines) + "\n\n", "table.jsonl")
    assert found.types == {
        "n": "integer",
        "price": "decimal",
        "big": "text",
        "text": "text",
        "day": "date",
        "mixed": "text",
        "ok": "boolean",
        "in": "nested",
        "late": "text",
    }
    assert found["price"]["min"] == "0.1"
    assert found.of("top_values", "in", "value") == [('{"b":[1,1.50],"a":null}',)]
    assert found.of("missing", "ok", "form", "count") == [("null", 1)]
    assert found.of("missing", "late", "form", "count") == [("absent", 1)]
    assert found.of("missing", "text", "form", "count") == [("empty text", 1)]
    assert found["mixed"]["remark"] == "Kept as text: 1 values are numbers, 1 are not, such as “one”."


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"a":1}\n{"a":\n', "Line 2: it is not a JSON object: "),
        ("[1,\n2]\n", "The file is one JSON array; JSON lines have one object a line."),
        ('{"a":1}\n[1]\n', "Line 2: it is not a JSON object. JSON lines have one object a line."),
        ('{"a":1,"a":2}\n', "Line 1: it is not a JSON object: the name “a” stands in one object twice."),
        (b'{"a":"\xe9"}\n', "Line 1: the file is not UTF-8 text (byte 0xe9)"),
        ('{"a":1}\n{"a":"\\ud800"}\n', "Lines 1 to 2: a text holds half a character"),
        ('{"a":' + "[" * 100_000 + "]" * 100_000 + "}\n", "Line 1: the value is nested too deeply."),
    ],
)
def test_json_lines_that_cannot_be_read_end_the_run_and_name_the_line(tmp_path: Path, content: bytes | str, words: str) -> None:
    assert words in failure(tmp_path, content, "table.jsonl")


def test_r11_json_lines_of_very_many_names_are_read_in_blocks_and_too_many_are_refused(tmp_path: Path) -> None:
    most = limits.TABLE_COLUMNS_MAX
    wide = json.dumps({f"n{i}": i for i in range(most)})
    rows = limits.PROFILE_BLOCK_CELLS_MAX // most
    some = json.dumps({"n0": 1, f"n{most - 1}": 2})
    content = "{}\n" + f"{wide}\n" + f"{some}\n" * (rows + 1)
    path = tmp_path / "wide.jsonl"
    path.write_text(content)
    (tmp_path / "scratch").mkdir()
    scratch = Scratch(tmp_path / "scratch")
    assert len(jsonsource.read(path, scratch, lambda count: None).columns) == most
    assert scratch.rows == rows + 3
    path.write_text(content + '{"one more":1}\n')
    with pytest.raises(TaskFailed, match=f"more than {most} columns"):
        jsonsource.read(path, Scratch(tmp_path / "scratch"), lambda count: None)


def test_names_that_come_up_late_are_columns_of_all_lines(tmp_path: Path) -> None:
    filler = "x" * 100_000
    lines = ["{}"] * 3 + [json.dumps({"a": filler})] * (limits.BATCH_BYTES // 100_000 + 2) + [json.dumps({"b": 1})] * 2
    found = Profile(tmp_path, "\n".join(lines), "table.ndjson")
    assert (found["a"]["rows"], found["b"]["rows"]) == (len(lines), len(lines))
    assert (found["a"]["values"], found["b"]["values"]) == (len(lines) - 5, 2)
    assert found.of("missing", "b", "form", "count") == [("absent", len(lines) - 2)]


def test_lines_before_the_first_that_has_any_name_count_as_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BATCH_BYTES", 10)
    found = Profile(tmp_path, "{}\n" * 20 + '{"a":1}\n' * 3, "table.jsonl")
    assert (found["a"]["rows"], found["a"]["values"], found["a"]["missing_as"]) == (23, 3, "absent 20")
