"""Chunks: the smallest parts that are verified, named, resumed; an extent never says more than was looked at (R11, R18)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from actum import limits
from actum.errors import ActumError, WrongUse
from actum.results import ahead, authority, chunks, exportsource, logical, throttle
from actum.results.chunks import Extent, extent_of
from actum.results.manifest import Messages, read_derived, read_manifest
from actum.results.verify import verify

from tests.helpers import arrowtables, packages
from tests.helpers.packages import Made


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of twelve rows, row groups of six, batches of three."""
    monkeypatch.setattr(limits, "BATCH_ROWS", 3)
    monkeypatch.setattr(limits, "ROW_GROUP_ROWS_MAX", 6)
    monkeypatch.setattr(limits, "CHUNK_ROWS", 12)


@pytest.fixture
def made(small: None, tmp_path: Path) -> Made:
    """The table t of 40 rows (four chunks), and u of 5 (one)."""
    place = packages.staging(tmp_path)
    for name, rows in (("t", 40), ("u", 5)):
        table = pa.table({"n": pa.array(range(rows), pa.int32()), "s": [None if n % 7 == 0 else f"s{n}" for n in range(rows)]})
        with pa.ipc.new_file(place / "files" / f"{name}.arrow", table.schema) as out:
            out.write_table(table, max_chunksize=9)
    messages = Messages(tables=[{"table": name, "path": f"{name}.arrow"} for name in "tu"])
    return packages.finish(place, messages, contract=arrowtables.CONTRACT, required=[])


def listed(made: Made) -> list[chunks.Chunk]:
    return chunks.listed(read_manifest(made.path)[0], read_derived(made.path)[0])


def change(made: Made, row: int) -> None:
    """Another value in one row of t's Parquet; every digest and the chunk list are made to fit."""
    path = packages.writable(made.path / "derived" / "t.parquet")
    table = pq.read_table(path)
    values = table.column("n").to_pylist()
    values[row - 1] += 1000
    pq.write_table(table.set_column(0, table.schema.field(0), pa.array(values, pa.int32())), path, row_group_size=6)
    packages.redigest(made.path)


def test_chunks_are_numbered_through_the_tables_with_their_identities(made: Made) -> None:
    found = listed(made)
    assert [(chunk.number, chunk.table, chunk.first, chunk.rows) for chunk in found] == [
        (1, "t", 0, 12),
        (2, "t", 12, 12),
        (3, "t", 24, 12),
        (4, "t", 36, 4),
        (5, "u", 0, 5),
    ]
    assert len({chunk.logical for chunk in found} | {chunk.sha256 for chunk in found}) == 10
    ends = [chunk.offset + chunk.size for chunk in found[:3]]
    assert ends == [chunk.offset for chunk in found[1:4]]


def test_r11_a_table_of_exactly_a_chunk_has_one_and_of_a_row_more_has_two(small: None, tmp_path: Path) -> None:
    for rows, count in ((limits.CHUNK_ROWS, 1), (limits.CHUNK_ROWS + 1, 2)):
        made = arrowtables.package(tmp_path / str(rows), pa.table({"n": pa.array(range(rows), pa.int16())}))
        assert len(listed(made)) == count
        assert verify(made.path, made.expected).content.chunks == count


def test_a_partial_look_covers_its_chunks_and_says_so(made: Made) -> None:
    change(made, row=30)  # in chunk 3
    for extent, words, seen in (
        (Extent(chunks=(1, 2)), "chunks 1–2 of 5", False),
        (Extent(chunks=(4, 5)), "chunks 4–5 of 5", False),
        (Extent(chunks=(3, 3)), "chunks 3–3 of 5", True),
        (Extent(chunks=(2, 5)), "chunks 2–5 of 5", True),
        (Extent(sample=5), "sample of 5 of 5 chunks", True),
        (Extent(sample=9), "sample of 5 of 5 chunks", True),
    ):
        report = verify(made.path, made.expected, extent=extent)
        assert (report.content.extent, report.bytes.level) == (words, "presence")
        assert (not report.content.ok) == seen, words
        if seen:
            difference = report.content.first_difference
            assert difference is not None
            assert (difference.row, difference.column) == (30, "n")


def test_a_partial_look_counts_the_tables_it_looked_at(made: Made) -> None:
    report = verify(made.path, made.expected, extent=Extent(chunks=(1, 2)))
    assert (report.content.files, report.content.size_bytes, report.content.rows) == (1, 0, 24)


def test_a_sample_names_the_chunks_it_took(made: Made) -> None:
    report = verify(made.path, made.expected, extent=Extent(sample=2))
    assert report.content.extent == "sample of 2 of 5 chunks"
    assert len(set(report.content.chunk_numbers)) == 2
    assert Extent(sample=2).choose(listed(made), seed=3) == Extent(sample=2).choose(listed(made), seed=3)


@pytest.mark.parametrize("wrong", [(0, 1), (2, 1), (1, 6)])
def test_chunks_that_are_not_there_are_refused(made: Made, wrong: tuple[int, int]) -> None:
    with pytest.raises(WrongUse):
        verify(made.path, made.expected, extent=Extent(chunks=wrong))


def test_an_extent_has_one_spelling() -> None:
    assert extent_of("chunks:3-7") == extent_of("content:chunks:3-7") == Extent(chunks=(3, 7))
    assert extent_of("sample:5") == Extent(sample=5)
    assert (extent_of("content"), extent_of("chunks:3"), extent_of("sample:")) == (None, None, None)
    with pytest.raises(WrongUse):
        extent_of("sample:0")


def test_a_package_without_a_chunk_list_is_verified_whole(made: Made) -> None:
    """Packages of earlier versions have none."""
    document = packages.read_json(made.path / "derived" / "derived.json")
    del document["chunks"], document["chunks_rule"]
    packages.write_json(made.path / "derived" / "derived.json", document)
    report = verify(made.path, made.expected)
    assert (report.ok, report.content.rows, report.content.chunks) == (True, 45, 2)


class Killed(BaseException):
    """Stands for SIGKILL: nothing of ours catches it."""


def broken_off(made: Made, notes: Path, after_bytes: int) -> None:
    def progress(done: int, total: int, unit: str) -> None:
        if done >= after_bytes:
            raise Killed

    with pytest.raises(Killed):
        verify(made.path, made.expected, progress, resume=notes)


def content_bytes(made: Made) -> int:
    """Where the content begins in the count of progress: behind the bytes of every file."""
    manifest, derived = read_manifest(made.path)[0], read_derived(made.path)[0]
    return sum(int(entry.get("size", 0)) for entry in [*manifest["files"], *derived["files"]])


def test_r18_an_interrupted_verification_goes_on_behind_its_last_chunk(made: Made, tmp_path: Path) -> None:
    notes = tmp_path / "verification.jsonl"
    broken_off(made, notes, content_bytes(made) + 300)
    noted = [json.loads(line) for line in notes.read_text().splitlines()]
    done = [note["chunk"] for note in noted if "chunk" in note]
    assert 0 < len(done) < 5
    report = verify(made.path, made.expected, resume=notes)
    assert (report.ok, report.content.rows, report.content.resumed) == (True, 45, len(done))
    assert report.bytes.resumed == report.bytes.files
    assert not notes.exists()


def test_what_was_touched_meanwhile_is_looked_at_again(made: Made, tmp_path: Path) -> None:
    notes = tmp_path / "verification.jsonl"
    broken_off(made, notes, content_bytes(made) + 300)
    path = packages.writable(made.path / "derived" / "t.parquet")
    path.write_bytes(path.read_bytes())
    report = verify(made.path, made.expected, resume=notes)
    assert (report.ok, report.content.resumed) == (True, 0)


def test_notes_of_another_package_or_half_written_ones_count_for_nothing(made: Made, tmp_path: Path) -> None:
    notes = tmp_path / "verification.jsonl"
    broken_off(made, notes, content_bytes(made) + 300)
    kept = notes.read_text()
    notes.write_text(kept.replace(made.sealed.manifest_sha256, "00" * 32))
    assert verify(made.path, made.expected, resume=notes).content.resumed == 0
    notes.write_text(kept.rstrip()[:-5])
    assert verify(made.path, made.expected, resume=notes).ok
    assert verify(made.path, made.expected, resume=tmp_path / "no" / "folder").ok


def test_what_was_found_before_the_interruption_is_found_after_it(made: Made, tmp_path: Path) -> None:
    """R18: a chunk with a finding is no chunk to go on behind."""
    document = packages.read_json(made.path / "derived" / "derived.json")
    document["chunks"]["t"][0]["logical_sha256"] = "00" * 32
    packages.write_json(made.path / "derived" / "derived.json", document)
    notes = tmp_path / "verification.jsonl"
    broken_off(made, notes, content_bytes(made) + 300)
    report = verify(made.path, made.expected, resume=notes)
    assert "Chunk 1: the chunk list names other rows" in report.reason


@pytest.mark.parametrize(
    "line", ["5", "[]", '{"file": "x"}', '{"file": 1, "stat": [], "size": "a", "sha256": ""}', "[" * 99_999]
)
def test_notes_that_somebody_wrote_cost_time_and_nothing_else(made: Made, tmp_path: Path, line: str) -> None:
    notes = tmp_path / "verification.jsonl"
    broken_off(made, notes, content_bytes(made) + 300)
    notes.write_text(f"{notes.read_text()}{line}\n{line.replace('x', 'result.json')}\n")
    assert verify(made.path, made.expected, resume=notes).ok


@pytest.mark.parametrize("places", [[2, 2], [2], [1, 1], [2, 1, 3, 4], [1, 3]])
def test_a_whole_look_leaves_no_row_out_whatever_the_chunk_list_says(made: Made, places: list[int]) -> None:
    """Lie 1 behind a list that passes over it: row 1 is changed, or row 13, and the list names other rows."""
    change(made, 13 if places[0] == 1 else 1)
    document = packages.read_json(made.path / "derived" / "derived.json")
    honest = document["chunks"]["t"]
    document["chunks"]["t"] = [honest[place - 1] for place in places]
    document["files"][0]["rows"] = sum(part["rows"] for part in document["chunks"]["t"])
    packages.write_json(made.path / "derived" / "derived.json", document)
    report = verify(made.path, made.expected)
    assert not report.ok
    assert "does not run from its first row to its last" in report.reason


def test_some_chunks_of_a_list_that_ends_too_early_are_not_what_they_are_called(made: Made) -> None:
    """“chunks 1–2 of 3” would say that there are three."""
    document = packages.read_json(made.path / "derived" / "derived.json")
    document["chunks"]["t"] = document["chunks"]["t"][:2]
    packages.write_json(made.path / "derived" / "derived.json", document)
    report = verify(made.path, made.expected, extent=Extent(chunks=(1, 2)))
    assert "The chunk list holds 24 rows of the table “t”; its Parquet has 40." in report.reason


@pytest.mark.parametrize("lists", [[1], {"t": 5}, {"t": [5]}, {"t": "abc"}])
def test_chunk_lists_of_another_shape_are_a_finding(made: Made, lists: Any) -> None:
    document = packages.read_json(made.path / "derived" / "derived.json")
    document["chunks"] = lists
    packages.write_json(made.path / "derived" / "derived.json", document)
    assert "derived" in verify(made.path, made.expected).failed_checks


@pytest.mark.parametrize("member", ["first", "rows", "offset", "size", "sha256", "logical_sha256"])
@pytest.mark.parametrize("wrong", ["x", None, -1, 2**63, 1.0])
def test_members_of_a_chunk_list_that_are_none_are_a_finding(made: Made, member: str, wrong: Any) -> None:
    document = packages.read_json(made.path / "derived" / "derived.json")
    document["chunks"]["t"][0][member] = wrong
    packages.write_json(made.path / "derived" / "derived.json", document)
    assert not verify(made.path, made.expected).ok


def test_a_parquet_handed_over_has_chunks_too(small: None, tmp_path: Path) -> None:
    place = packages.staging(tmp_path)
    table = pa.table({"x": pa.array([0.5] * 40, pa.float32())})
    pq.write_table(table, place / "files" / "t.parquet", row_group_size=5)
    made = packages.finish(
        place, Messages(tables=[{"table": "t", "path": "t.parquet"}]), contract=arrowtables.CONTRACT, required=[]
    )
    assert [chunk.rows for chunk in listed(made)] == [15, 15, 10]
    assert verify(made.path, made.expected).ok
    assert verify(made.path, made.expected, extent=Extent(chunks=(2, 3))).content.rows == 25


def digest(table: pa.Table) -> str:
    rows = logical.Rows()
    for batch in table.to_batches():
        rows.add(batch)
    return rows.hexdigest()


@pytest.mark.parametrize("name", sorted(arrowtables.EVERY))
def test_the_logical_digest_is_of_values_however_they_are_stored(name: str) -> None:
    from actum.results import arrowrule

    table = arrowtables.every_type(4).select([name])
    stored = arrowrule.stored_schema("t", table.schema)
    batches = [arrowrule.stored_batch("t", batch, stored, 1) for batch in table.to_batches()]
    whole = pa.Table.from_batches(batches, stored)
    cut = pa.concat_tables([whole.slice(0, 5), whole.slice(5)])
    padded = pa.concat_tables([whole.slice(1, 2), whole]).combine_chunks().slice(2)
    assert digest(whole) == digest(cut) == digest(padded)
    if name != "nothing":
        assert digest(whole) != digest(pa.concat_tables([whole.slice(0, 11), whole.slice(9, 1)]))


def test_reading_ahead_hands_on_what_happens_and_ends_its_thread() -> None:
    """BATCHES_AHEAD_MAX at most wait; an exception comes out where its item would have."""

    def numbers() -> Any:
        yield from range(limits.BATCHES_AHEAD_MAX + 3)
        raise ActumError("contract_invalid", "no more")

    handed = ahead.ahead(numbers())
    assert [next(handed) for _ in range(limits.BATCHES_AHEAD_MAX + 3)] == list(range(limits.BATCHES_AHEAD_MAX + 3))
    with pytest.raises(ActumError, match="no more"):
        next(handed)
    early = ahead.ahead(iter(range(1_000_000)))
    assert next(early) == 0
    early.close()  # type: ignore[attr-defined]


@dataclass
class Time:
    now: float = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_a_background_look_reads_no_faster_than_it_may() -> None:
    time = Time()
    told: list[int] = []
    report = throttle.throttled(lambda done, total, unit: told.append(done), 100, lambda: time.now, time.sleep)
    for done in (50, 250, 1000):
        report(done, 1000, "bytes")
        assert time.now == done / 100
    time.now += 100
    report(1000, 1000, "bytes")
    assert (time.now, told) == (110, [50, 250, 1000, 1000])


def test_r11_reading_a_parquet_keeps_no_more_than_it_hands_out(tmp_path: Path) -> None:
    """Whatever its length: the reader of the library would keep the bytes of every row group it has read."""
    path, rows = tmp_path / "t.parquet", 24 * limits.ROW_GROUP_ROWS_MAX
    table = pa.table({"n": pa.array(range(0, rows * 7919, 7919))})
    pq.write_table(table, path, row_group_size=limits.ROW_GROUP_ROWS_MAX, use_dictionary=False, compression="none")
    del table
    before = pa.total_allocated_bytes()
    for reading in (lambda: authority.parquet_batches(path, "t"), lambda: exportsource.parquet_batches(path)):
        most = max(pa.total_allocated_bytes() - before for _ in reading())
        assert most < path.stat().st_size // 4
