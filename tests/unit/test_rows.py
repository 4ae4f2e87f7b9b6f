"""Reading a table file by pieces: long row groups and packed batches stay in bounds, and a damaged index is said (R11, R14)."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from actum import limits
from actum.errors import ActumError, CheckFailed
from actum.results import arrowindex, search, tables, view
from actum.results.browse import TableBrowser
from actum.results.browse import tables as listed
from actum.results.export import export
from actum.results.manifest import Messages
from actum.results.pages import TablePages
from actum.results.query import Order, Query
from actum.results.rows import open_rows
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import arrowtables, packages

ROWS = 1_000
_LOOKED_AT = """
import sys
from pathlib import Path
import pyarrow as pa
from actum.results.pages import TablePages
with TablePages(Path(sys.argv[1])) as opened:
    opened.page(0, 256, opened.names)
    print(opened.page(1_999_990, 5, opened.names)["d"][0], pa.default_memory_pool().max_memory())
"""


LOOKED = """
import sys
from pathlib import Path
from actum.results.browse import TableBrowser, tables
place = Path(sys.argv[1])
with TableBrowser(place, "t", check=True) as opened:
    print(opened.read.instead, opened.read.path.name, opened.total, tables(place)[0]["rows"])
"""


def numbers(rows: int = ROWS) -> pa.Table:
    return pa.table({"n": pa.array(range(rows)), "text": [f"row {n}" for n in range(rows)]})


def arrow(path: Path, packed: str | None = None, *, batch: int = ROWS, stream: bool = False) -> Path:
    opening = ipc.new_stream if stream else ipc.new_file
    with opening(path, numbers().schema, options=ipc.IpcWriteOptions(compression=packed)) as out:
        out.write_table(numbers(), max_chunksize=batch)
    return path


def package(folder: Path, batch: int = 300) -> Path:
    place = packages.staging(folder)
    arrow(place / "files" / "t.arrow", batch=batch)
    messages = Messages(tables=[{"table": "t", "path": "t.arrow", "rows": ROWS}])
    return packages.finish(place, messages, contract=arrowtables.CONTRACT, required=[]).path


@pytest.fixture
def short_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ROW_GROUP_ROWS_MAX", 128)
    monkeypatch.setattr(limits, "BATCH_ROWS", 64)


@pytest.mark.usefixtures("short_pieces")
@pytest.mark.parametrize("form", ["parquet", "arrow", "lz4", "zstd", "stream", "packed stream"])
def test_r11_one_long_group_is_read_by_pieces_and_only_a_piece_is_kept(tmp_path: Path, form: str) -> None:
    """A foreign file may hold all of its rows in one row group, or in one packed batch."""
    path = tmp_path / "t.arrow"
    if form == "parquet":
        path = tmp_path / "t.parquet"
        pq.write_table(numbers(), path, row_group_size=ROWS)
    else:
        arrow(path, {"arrow": None, "stream": None, "packed stream": "lz4"}.get(form, form), stream="stream" in form)
    with open_rows(path) as rows, TablePages(path) as opened:
        assert rows.starts == [0, ROWS]
        for start in (0, 127, 128, 600, 872, 990):
            wanted = [str(n) for n in range(start, min(start + 20, ROWS))]
            assert opened.page(start, 20, ["n"])["n"] == wanted
        assert opened.page(995, 20, ["text", "n"])["text"] == [f"row {n}" for n in range(995, ROWS)]
        for number in range(8):
            kept = rows.piece(0, number, ["text"])["text"]
            assert len(kept) == min(limits.ROW_GROUP_ROWS_MAX, ROWS - number * 128)
            assert sum(chunk.get_total_buffer_size() for chunk in kept.chunks) < 8_000 or form in ("arrow", "stream")
        assert [batch.num_rows for batch in rows.stream(["n"])] == [64] * 15 + [40]
    assert search.find(path, "row 900", ["text"], 0, 0, False) == {"row": 900, "column": "text", "wrapped": False}
    assert search.find(path, "row 1", ["text"], 900, 0, True) == {"row": 199, "column": "text", "wrapped": False}
    assert search.find(path, "row 3", ["n", "text"], 500, 0, False)["row"] == 3
    assert search.count(path, "row 99", ["text"])["cells"] == 11


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_r11_a_page_of_a_group_of_two_million_rows_takes_a_small_part_of_its_memory(tmp_path: Path, form: str) -> None:
    """A foreign Parquet of one row group, and an Arrow file of one packed batch: 64 MB of values, looked at in a process."""
    rows = 2_000_000
    made = pa.table({name: pa.array(range(rows)) for name in "abcd"})
    path = tmp_path / f"t.{form}"
    if form == "parquet":
        pq.write_table(made, path, row_group_size=rows)
    else:
        with ipc.new_file(path, made.schema, options=ipc.IpcWriteOptions(compression="lz4")) as out:
            out.write_table(made, max_chunksize=rows)
    told = subprocess.run([sys.executable, "-c", _LOOKED_AT, str(path)], capture_output=True, text=True, check=True)
    cell, peak = told.stdout.split()
    packed = 0 if form == "parquet" else path.stat().st_size  # the library sets aside room for all, and fills what is asked
    assert (cell, int(peak) < packed + 32_000_000) == ("1999990", True), told.stdout  # a column at a time: of 16 MB


def test_r11_what_is_kept_of_an_arrow_file_has_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = arrow(tmp_path / "t.arrow", "zstd", batch=50)
    monkeypatch.setattr(limits, "TABLE_CACHE_BYTES_MAX", 4_000)
    with TablePages(path) as opened:
        for start in range(0, ROWS, 100):
            opened.page(start, 20, ["n", "text"])
            assert opened.kept_bytes <= limits.TABLE_CACHE_BYTES_MAX + 2_000  # what is looked at stays, whatever its size


def test_r11_a_text_authority_is_read_whole_up_to_its_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = packages.sample(tmp_path)
    path = made.path / "tables" / "returns.jsonl"
    monkeypatch.setattr(limits, "TEXT_AUTHORITY_BYTES_MAX", path.stat().st_size)
    with open_rows(path) as rows:
        assert rows.total == 3
    monkeypatch.setattr(limits, "TEXT_AUTHORITY_BYTES_MAX", path.stat().st_size - 1)
    with pytest.raises(ActumError, match="too long") as refused:
        open_rows(path)
    assert refused.value.code == "too_long_to_browse"


def test_r14_what_a_package_is_browsed_by(tmp_path: Path) -> None:
    place = package(tmp_path)
    copy = tables.readable(place, "t")
    assert (copy.instead, copy.path.name) == (None, "t.parquet")
    with TableBrowser(place, "t") as browser:
        before, described = browser.page(400, 7), listed(place)
    path = packages.writable(copy.path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-6] + b"??????")
    assert tables.readable(place, "t").instead == "damaged"
    path.unlink()
    assert tables.readable(place, "t").instead == "missing"
    path.write_bytes(whole)
    document = packages.read_json(place / "derived" / "derived.json")
    packages.write_json(place / "derived" / "derived.json", {**document, "manifest_sha256": "0" * 64})
    assert tables.readable(place, "t").instead == "damaged"
    (place / "derived" / "derived.json").write_text("{")
    assert tables.readable(place, "t").instead == "damaged"
    shutil.rmtree(place / "derived")
    with TableBrowser(place, "t") as browser:
        assert (browser.read.instead, browser.read.path.name, browser.page(400, 7)) == ("absent", "t.arrow", before)
    assert [(table["rows"], table["columns"]) for table in listed(place)] == [
        (table["rows"], table["columns"]) for table in described
    ]
    export(place, "t", "csv", "data", tmp_path / "t.csv", options={"query": Query(order=(Order("n", True),)).to_json()})
    assert (tmp_path / "t.csv").read_text().splitlines()[:2] == ["n,text", '999,"row 999"']


@pytest.mark.parametrize("said", ["actum.table", "actum.manifest"])
def test_r14_the_parquet_of_another_table_or_package_gives_way_to_the_authority(tmp_path: Path, said: str) -> None:
    place = package(tmp_path)
    copy = packages.writable(tables.readable(place, "t").path)
    other = pq.read_table(copy)
    pq.write_table(other.slice(3).replace_schema_metadata({**other.schema.metadata, said.encode(): "another"}), copy)
    with TableBrowser(place, "t") as browser:
        assert (browser.read.instead, browser.total, browser.page(0, 1).rows) == ("damaged", ROWS, (("0", "row 0"),))


def test_r14_r16_a_copy_that_may_not_be_read_gives_way_with_its_own_word(tmp_path: Path) -> None:
    """As one who has no rights beyond those of the files: not damaged, for nothing is known of it."""
    setpriv = shutil.which("setpriv")
    plain = [] if os.getuid() else [setpriv or "", "--bounding-set=-all", "--inh-caps=-all"]
    if plain and setpriv is None:
        pytest.skip("root without its rights needs setpriv")
    place = package(tmp_path)
    command = [*plain, sys.executable, "-c", LOOKED, str(place)]
    for sealed in ("t.parquet", "derived.json"):
        (place / "derived" / sealed).chmod(0)
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": ":".join(sys.path)})
        assert done.stdout == f"forbidden t.arrow {ROWS} {ROWS}\n", done.stderr
        (place / "derived" / sealed).chmod(0o444)


@pytest.mark.parametrize("instead", ["link", "loop", "folder", "pipe"])
def test_r14_what_stands_in_the_place_of_a_copy_and_is_no_file_gives_way_to_the_authority(tmp_path: Path, instead: str) -> None:
    place = package(tmp_path)
    copy = packages.writable(tables.readable(place, "t").path)
    kept = copy.rename(tmp_path / "kept.parquet")
    if instead == "folder":
        copy.mkdir()
    elif instead == "pipe":
        os.mkfifo(copy)
    else:
        copy.symlink_to(kept if instead == "link" else copy)
    with TableBrowser(place, "t") as browser:
        assert (browser.read.instead, browser.read.path.name) == ("damaged", "t.arrow")
        assert browser.page(0, 1).rows == (("0", "row 0"),)
    export(place, "t", "csv", "data", tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().count("\n") == ROWS + 1
    own = packages.writable(place / "tables" / "t.arrow")
    own.rename(tmp_path / "own.arrow")
    own.symlink_to(tmp_path / "own.arrow")
    with pytest.raises(CheckFailed, match="not as it was published"):
        TableBrowser(place, "t", check=True)


def test_r14_an_index_that_is_none_is_said_and_nothing_falls(tmp_path: Path) -> None:
    """Any byte of the footer changed: the rows that are read are the rows, or a damage is named."""
    path = arrow(tmp_path / "t.arrow", batch=300)
    good = path.read_bytes()
    assert [batch.rows for batch in arrowindex.batches(good)] == [300, 300, 300, 100]
    draw = random.Random(7)
    for at in range(1, 400, 3):
        changed = bytearray(good)
        changed[-at] ^= 1 << draw.randrange(8)
        path.write_bytes(bytes(changed))
        assert outcome(path) in ("read", "result_damaged"), at
    for cut in (0, 7, 8, 21, len(good) - 1):
        path.write_bytes(good[:cut])
        with pytest.raises(ActumError):
            TablePages(path)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=300), st.integers(0, 400), st.booleans())
def test_r14_any_bytes_are_an_index_or_none(drawn: bytes, at: int, stream: bool) -> None:
    """An index comes from outside: whatever it is, it is read to its end, or refused in words."""
    content = bytearray(_index(stream))
    at = min(at, len(content))
    content[-at or len(content) : -at + len(drawn) if at > len(drawn) else None] = drawn
    for whole in (bytes(content), b"ARROW1\0\0" + drawn + b"ARROW1", drawn):
        with contextlib.suppress(arrowindex.NoIndex):
            assert all(batch.rows >= 0 for batch in arrowindex.batches(whole))


@functools.cache
def _index(stream: bool) -> bytes:
    written = pa.BufferOutputStream()
    with (ipc.new_stream if stream else ipc.new_file)(written, numbers().schema) as out:
        out.write_table(numbers(9), max_chunksize=4)
    return written.getvalue().to_pybytes()


def outcome(path: Path) -> str:
    try:
        with TablePages(path) as opened:
            opened.page(0, 5, opened.names)
            opened.page(opened.total - 1, 5, opened.names)
    except ActumError as error:
        return error.code
    return "read"


def test_r14_a_damage_that_a_question_meets_is_told_as_damage(tmp_path: Path) -> None:
    path = arrow(tmp_path / "t.arrow", "zstd", batch=100)
    content = bytearray(path.read_bytes())
    packed = content.index(b"\x28\xb5\x2f\xfd", len(content) // 2)  # a zstd frame
    content[packed : packed + 40] = bytes(40)
    path.write_bytes(bytes(content))
    with pytest.raises(ActumError) as refused:
        view.make(path, tmp_path / "v.parquet", Query(order=(Order("n"),)))
    assert refused.value.code == "result_damaged"
    assert json.dumps(refused.value.to_json())
