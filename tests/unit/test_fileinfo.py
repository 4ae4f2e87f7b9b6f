"""What is said of a chosen path before it becomes an input; every look at the disk is bounded (R11, R17)."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from actum import limits
from actum_desktop.forms import fileinfo, header


def test_a_file_is_counted_and_digested(tmp_path: Path) -> None:
    path = tmp_path / "价格.csv"
    path.write_bytes(b"a,b\n1,2\n3,4")
    info = fileinfo.look("价格.csv", tmp_path)
    assert (info.path, info.size, info.lines, info.problem) == (str(path), 11, 3, "")
    assert info.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert fileinfo.line(info, "auto", 11).endswith("will be copied")
    assert fileinfo.line(info, "auto", 10).endswith("will be pinned, not copied")
    assert fileinfo.line(info, "pin", 1 << 40).endswith("will be pinned, not copied")


def test_what_cannot_be_an_input_is_said(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    assert fileinfo.look("nothing", tmp_path).problem == "There is nothing at this path."
    assert fileinfo.look(".", tmp_path).problem == "This is a folder; a file is needed."
    assert fileinfo.look("f", tmp_path, folder=True).problem == "This is a file; a folder is needed."
    assert fileinfo.look_all(["f", "none"], tmp_path).problem == "none: There is nothing at this path."
    assert fileinfo.look_all(["f", "f"], tmp_path).files == 2


def test_r11_a_large_file_is_not_read_for_a_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "FORM_READ_BYTES_MAX", 10)
    (tmp_path / "at").write_bytes(b"x" * limits.FORM_READ_BYTES_MAX)
    (tmp_path / "above").write_bytes(b"x" * (limits.FORM_READ_BYTES_MAX + 1))
    assert fileinfo.look("at", tmp_path).sha256
    assert fileinfo.look("above", tmp_path).sha256 is None
    assert fileinfo.look("above", tmp_path).size == 11


def test_r11_a_large_folder_is_not_counted_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "FORM_FOLDER_FILES_MAX", 3)
    for number in range(limits.FORM_FOLDER_FILES_MAX):
        (tmp_path / f"{number}").write_bytes(b"x")
    assert fileinfo.line(fileinfo.look(".", tmp_path, folder=True), "pin", 0).startswith("3 files · 3 B")
    (tmp_path / "one more").touch()
    info = fileinfo.look(".", tmp_path, folder=True)
    assert not info.complete
    assert fileinfo.line(info, "pin", 0).startswith("more than 3 files · at least ")


@pytest.mark.parametrize(
    ("name", "text", "columns"),
    [
        ("a.csv", '\ufeffdate,"a, b",close\n1,2,3\n', ["date", "a, b", "close"]),
        ("a.csv", "a;b;c\n", ["a", "b", "c"]),
        ("a.tsv", "a\tb\n", ["a", "b"]),
        ("a.jsonl", '{"x": 1, "y": 2}\n{"z": 1}\n', ["x", "y"]),
        ("a.json", "[1]\n", []),
        ("a.csv", "", []),
    ],
)
def test_the_head_of_a_table_names_its_columns(tmp_path: Path, name: str, text: str, columns: list[str]) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    assert header.columns(name, tmp_path) == columns


def test_a_parquet_names_its_columns(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table({"x": [1], "价": [2]}), tmp_path / "t.parquet")
    assert header.columns("t.parquet", tmp_path) == ["x", "价"]
    (tmp_path / "broken.parquet").write_bytes(b"no parquet")
    assert header.columns("broken.parquet", tmp_path) == []


def test_r11_only_the_head_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HEAD_BYTES_MAX", 8)
    (tmp_path / "at.csv").write_text("abc,def\n" + "1,2\n" * 100)
    (tmp_path / "above.csv").write_text("abc,defg\n" + "1,2\n" * 100)
    assert header.columns("at.csv", tmp_path) == ["abc", "def"]
    assert header.columns("above.csv", tmp_path) == [], "a head that does not end within the bound names nothing"
