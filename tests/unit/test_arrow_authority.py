"""Arrow as a table's authority: which form a table gets, and that every type survives authority → Parquet → verify (R14)."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from actum import limits
from actum.errors import ActumError
from actum.results import authority, bits, browse
from actum.results.manifest import Messages, read_derived, read_manifest
from actum.results.verify import verify
from actum.sdk import tablewriter
from actum.sdk.cells import CellRefused
from actum.sdk.context import Context

from tests.helpers import arrowtables, packages
from tests.helpers.arrowtables import CONTRACT, package


def table_entry(made: packages.Made) -> dict[str, Any]:
    return next(entry for entry in read_manifest(made.path)[0]["files"] if entry["role"] == "table")


def failed(made: packages.Made) -> set[str]:
    return set(verify(made.path, made.expected).failed_checks)


def handed_over(folder: Path, table: pa.Table, name: str = "t.arrow", **options: Any) -> packages.Made:
    """A package whose table is a file that a program wrote itself."""
    place = packages.staging(folder)
    with ipc.new_file(place / "files" / name, table.schema, options=ipc.IpcWriteOptions(**options)) as out:
        out.write_table(table, max_chunksize=options.pop("rows", None))
    return packages.finish(place, Messages(tables=[{"table": "t", "path": name}]), contract=CONTRACT, required=[])


def test_every_type_survives_authority_parquet_and_verification(tmp_path: Path) -> None:
    table = arrowtables.every_type(repeats=5)
    made = package(tmp_path, table)
    report = verify(made.path, made.expected)
    assert report.ok, report.reason
    assert report.content.rows == 15
    entry = table_entry(made)
    assert (entry["rule"], entry["rows"], entry["form"]["why"]) == ("arrow.v1", 15, "arrow_types")
    found = pq.read_table(made.path / "derived" / "t.parquet")
    for name in table.schema.names:
        wanted = arrowtables.MAPPED.get(name, str(table.schema.field(name).type).replace("string_view", "string"))
        assert str(found.schema.field(name).type).replace("element", "item").replace(f" ('{name}')", "") == wanted, name
        values = table.column(name).combine_chunks()
        back = found.column(name).combine_chunks()
        values = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
        back = back.dictionary_decode() if pa.types.is_dictionary(back.type) else back
        back = back if back.type.equals(values.type) else back.cast(values.type)
        assert bits.first_difference(values, back) is None, name
    mapped = {each["column"]: each["parquet"] for each in read_derived(made.path)[0]["files"][0]["types"]}
    assert mapped == arrowtables.MAPPED


@pytest.mark.parametrize("name", sorted(arrowtables.EVERY))
def test_a_changed_value_of_any_type_is_found(tmp_path: Path, name: str) -> None:
    """Lie 1 for each type: the Parquet is changed in one row and every digest is made to fit."""
    table = arrowtables.every_type().select([name])
    made = package(tmp_path, table)
    path = packages.writable(made.path / "derived" / "t.parquet")
    good = pq.read_table(path)
    if name == "nothing":
        pq.write_table(good.slice(0, 2), path)
    else:
        pq.write_table(pa.concat_tables([good.slice(0, 2), good.slice(0, 1)]), path)
    packages.redigest(made.path)
    difference = verify(made.path, made.expected).content.first_difference
    assert difference is not None
    assert (difference.table, difference.row) == ("t", 3)
    assert difference.column == (None if name == "nothing" else name)


def change(table: pa.Table) -> pa.Table:
    return table.set_column(0, table.schema.field(0), pc.add(table.column(0), pa.scalar(1, table.column(0).type)))


def numbers(rows: int = 5) -> pa.Table:
    return pa.table({"n": pa.array(range(rows), pa.int32()), "x": pa.array([0.5] * rows, pa.float32())})


def rewrite_authority(made: packages.Made) -> None:
    path = packages.writable(made.path / "tables" / "t.arrow")
    table = change(ipc.open_file(path).read_all())
    with ipc.new_file(path, table.schema) as out:
        out.write_table(table)


VIEW = pa.list_view(pa.int64())
LIST_VIEWS = {
    "plain": pa.array([[1, 2], None, [3], []], VIEW),
    "sliced": pa.array([[1, 2], None, [3], []], VIEW).slice(1),
    "in another order": pa.ListViewArray.from_arrays(
        pa.array([2, 0, 1], pa.int32()), pa.array([1, 2, 2], pa.int32()), [1, 2, 3]
    ),
    "nothing": pa.array([None, None], VIEW),
    "texts": pa.array([["a", None], None, []], pa.large_list_view(pa.string())),
    "of list views": pa.array([[[1], [2, 3], None], None], pa.list_view(VIEW)),
    "of seconds": pa.array([[1, None], None], pa.list_view(pa.timestamp("s"))),
    "in a list": pa.array([[[1]], None, [None, []]], pa.list_(VIEW)),
    "in a struct": pa.array([{"a": [1], "b": "x"}, None, {"a": None, "b": None}], pa.struct([("a", VIEW), ("b", pa.string())])),
}


@pytest.mark.parametrize("name", LIST_VIEWS)
def test_a_list_view_keeps_its_values_in_a_list(tmp_path: Path, name: str) -> None:
    """Also in another order, with holes, nested, sliced. Arrow's own cast makes an array that no one can read."""
    made = handed_over(tmp_path, pa.table({"c": LIST_VIEWS[name]}))
    report = verify(made.path, made.expected)
    assert report.ok, report.reason
    assert pq.read_table(made.path / "derived" / "t.parquet").column("c").to_pylist() == LIST_VIEWS[name].to_pylist()


@pytest.mark.parametrize(
    ("column", "why"),
    [
        (pa.array([Decimal(100)], pa.decimal128(5, -2)), "has a type that no result keeps: decimal128"),
        (pa.array([[[1]]], pa.list_(VIEW, 1)), "has a type that no result keeps: fixed_size_list"),
        (
            pa.ListViewArray.from_arrays(pa.array([0] * 700, pa.int32()), pa.array([100] * 700, pa.int32()), range(100)),
            "share members",
        ),
    ],
)
def test_what_a_parquet_cannot_hold_is_refused_in_words(tmp_path: Path, column: pa.Array, why: str) -> None:
    """The last one is of few bytes, and would be of many: a member of a list view may stand in all its lists."""
    with pytest.raises(ActumError) as refused:
        handed_over(tmp_path, pa.table({"c": column}))
    assert refused.value.code == "contract_invalid"
    assert why in f"{refused.value.what} {refused.value.why}"


def test_lie_1_in_an_arrow_package_is_caught_by_content(tmp_path: Path) -> None:
    made = package(tmp_path, numbers())
    path = packages.writable(made.path / "derived" / "t.parquet")
    pq.write_table(change(pq.read_table(path)), path)
    packages.redigest(made.path)
    assert failed(made) == {"content"}


def test_lie_2_in_an_arrow_package_is_caught_by_manifest_and_content(tmp_path: Path) -> None:
    made = package(tmp_path, numbers())
    rewrite_authority(made)
    lied = packages.reseal(made)
    assert failed(replace(lied, expected=made.expected)) == {"manifest_sha256", "content"}
    assert failed(lied) == {"content"}


def test_lie_3_in_an_arrow_package_is_caught_by_contract(tmp_path: Path) -> None:
    contract = {**CONTRACT, "tables": [{"name": "t", "required": True, "columns": []}]}
    place = packages.staging(tmp_path)
    ctx = Context.local(place / "files")
    ctx.table("t", numbers())
    made = packages.finish(place, Messages(tables=ctx.messages), contract=contract, required=[])
    (made.path / "tables" / "t.arrow").unlink()

    def leave_out(manifest: dict[str, Any]) -> None:
        manifest.update(files=[entry for entry in manifest["files"] if entry["role"] != "table"], authority={})

    lied = packages.reseal(made, leave_out)
    packages.rederive(lied.path)
    assert failed(lied) == {"contract"}


def test_lie_4_in_an_arrow_package_is_caught_by_identity(tmp_path: Path) -> None:
    wanted, other = package(tmp_path / "a", numbers()), package(tmp_path / "b", numbers(), run=18)
    pinned = replace(wanted.expected, manifest_sha256=other.sealed.manifest_sha256)
    assert failed(replace(other, expected=pinned)) == {"identity"}


def test_lie_5_in_an_arrow_package_is_caught_by_the_sealed_digest_alone(tmp_path: Path) -> None:
    made = package(tmp_path, numbers())
    rewrite_authority(made)
    lied = packages.reseal(made)
    packages.rederive(lied.path)
    assert failed(replace(lied, expected=made.expected)) == {"manifest_sha256"}
    assert failed(lied) == set()


def test_a_false_chunk_list_is_found(tmp_path: Path) -> None:
    made = package(tmp_path, numbers())
    for member in ("logical_sha256", "sha256"):
        document = packages.read_json(made.path / "derived" / "derived.json")
        good = document["chunks"]["t"][0][member]
        document["chunks"]["t"][0][member] = "00" * 32
        packages.write_json(made.path / "derived" / "derived.json", document)
        assert failed(made) == {"content"}
        document["chunks"]["t"][0][member] = good
        packages.write_json(made.path / "derived" / "derived.json", document)
    assert failed(made) == set()


def lines_and_arrow(folder: Path, count: int, text: str = "x") -> tuple[str, str]:
    """The form that `count` rows get, handed over as rows and as an Arrow table."""
    found = []
    for kind in ("rows", "arrow"):
        ctx = Context.local(folder / f"{count}-{kind}-{len(text)}")
        rows = [{"n": number, "s": text} for number in range(count)]
        schema = pa.schema([pa.field("n", pa.int64()), pa.field("s", pa.string())])
        ctx.table("t", rows if kind == "rows" else pa.Table.from_pylist(rows, schema))
        found.append(ctx.messages[-1]["form"])
    return found[0], found[1]


def test_r11_json_lines_up_to_the_limit_in_rows_and_arrow_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tablewriter, "JSON_LINES_ROWS_MAX", 10)
    assert lines_and_arrow(tmp_path, 10) == ("within_limit", "within_limit")
    assert lines_and_arrow(tmp_path, 11) == ("above_limit", "above_limit")


def test_r11_json_lines_up_to_the_limit_in_bytes_and_arrow_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = len('{"n":0,"s":"é"}\n'.encode())
    monkeypatch.setattr(tablewriter, "JSON_LINES_BYTES_MAX", 3 * line)
    assert lines_and_arrow(tmp_path, 3, "é") == ("within_limit", "within_limit")
    assert lines_and_arrow(tmp_path, 3, "éx") == ("above_limit", "above_limit")


def test_the_limit_is_recorded_with_every_table_and_is_the_sdks(tmp_path: Path) -> None:
    assert tablewriter.JSON_LINES_ROWS_MAX == limits.JSON_LINES_ROWS_MAX
    assert tablewriter.JSON_LINES_BYTES_MAX == limits.JSON_LINES_BYTES_MAX
    form = table_entry(package(tmp_path / "rows", [{"n": 1}]))["form"]
    assert form == {"why": "within_limit", "json_lines_rows_max": 100_000, "json_lines_bytes_max": 1 << 24}
    assert table_entry(packages.sample(tmp_path / "csv"))["form"]["why"] == "handed_over"


def test_the_same_rows_give_the_same_authority_however_they_are_handed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"n": number, "s": None if number % 3 else f"t{number}"} for number in range(50)]
    schema = pa.schema([pa.field("n", pa.int64()), pa.field("s", pa.string())])
    whole = pa.Table.from_pylist(rows, schema)
    cut = pa.Table.from_batches([*whole.slice(0, 7).to_batches(), *whole.slice(7).to_batches()])
    padded = pa.concat_tables([whole.slice(9, 3), whole]).slice(3)
    columns = [("n", "integer"), ("s", "text")]
    ways: list[tuple[Any, Any]] = [(rows, columns), (iter(rows), columns), (whole, None), (cut, None), (padded, None)]
    ways += [(iter(cut.to_batches()), None), (whole.to_reader(), None), (whole, schema), (rows, schema), (whole, columns)]
    for bound in (10, 1000):
        monkeypatch.setattr(tablewriter, "JSON_LINES_ROWS_MAX", bound)
        written = set()
        for position, (given, wanted) in enumerate(ways):
            given = iter(rows) if position == 1 else iter(cut.to_batches()) if position == 5 else given
            given = whole.to_reader() if position == 6 else given
            ctx = Context.local(tmp_path / f"{bound}-{position}")
            assert ctx.table("t", given, wanted) == 50
            written.add((tmp_path / f"{bound}-{position}" / ctx.messages[-1]["path"]).read_bytes())
        assert len(written) == 1


def test_a_listed_arrow_table_has_its_columns_in_the_words_of_the_contract(tmp_path: Path) -> None:
    (table,) = browse.tables(package(tmp_path, numbers()).path)
    assert [(column["name"], column["type"]) for column in table["columns"]] == [("n", "integer"), ("x", "float")]
    assert (table["rows"], table["rule"]) == (5, "arrow.v1")


def test_dictionaries_that_differ_from_batch_to_batch_become_one(tmp_path: Path) -> None:
    first = pa.record_batch({"c": pa.array(["b", "a"]).dictionary_encode()})
    second = pa.record_batch({"c": pa.array(["c", None, "a"]).dictionary_encode()})
    whole = pa.record_batch({"c": pa.array(["b", "a", "c", None, "a"]).dictionary_encode()})
    one = package(tmp_path / "one", iter([first, second]))
    other = package(tmp_path / "other", whole)
    assert verify(one.path, one.expected).ok
    assert (one.path / "tables/t.arrow").read_bytes() == (other.path / "tables/t.arrow").read_bytes()
    assert pq.read_table(one.path / "derived/t.parquet").column(0).to_pylist() == ["b", "a", "c", None, "a"]


def test_without_the_table_library_a_long_table_stays_json_lines_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tablewriter, "JSON_LINES_ROWS_MAX", 3)
    monkeypatch.setattr(tablewriter.arrowsource, "pyarrow", lambda: None)
    made = package(tmp_path, [{"n": number} for number in range(9)])
    entry = table_entry(made)
    assert (entry["rule"], entry["rows"], entry["form"]["why"]) == ("jsonl.v1", 9, "no_arrow_library")
    assert verify(made.path, made.expected).ok


def test_metadata_nullability_and_units_are_kept_and_compared(tmp_path: Path) -> None:
    field = pa.field("price", pa.decimal128(10, 2), nullable=False, metadata={"unit": "USD", "source": "desk"})
    schema = pa.schema([field], metadata={"made": "by hand", "pandas": "{}"})
    made = package(tmp_path, pa.table([pa.array([1], pa.decimal128(10, 2))], schema=schema))
    found = pq.read_schema(made.path / "derived" / "t.parquet")
    assert (found.field(0).nullable, found.field(0).metadata[b"unit"]) == (False, b"USD")
    assert (found.metadata[b"made"], b"pandas" in found.metadata) == (b"by hand", False)
    path = packages.writable(made.path / "derived" / "t.parquet")
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({**table.schema.metadata, b"made": b"by machine"}), path)
    packages.redigest(made.path)
    assert failed(made) == {"content"}


def test_an_arrow_table_is_held_against_the_columns_of_its_contract(tmp_path: Path) -> None:
    def declared(folder: str, rows: list[int | None], **column: Any) -> packages.Made:
        columns = [{"name": "n", "type": "integer", "nullable": False} | column]
        contract = {**CONTRACT, "tables": [{"name": "t", "required": True, "columns": columns}]}
        place = packages.staging(tmp_path / folder)
        ctx = Context.local(place / "files")
        ctx.table("t", pa.table({"n": pa.array(rows, pa.int16())}))
        return packages.finish(place, Messages(tables=ctx.messages), contract=contract, required=[])

    assert failed(declared("right", [1, 2])) == set()
    assert failed(declared("text", [1, 2], type="text")) == {"content"}
    assert failed(declared("name", [1, 2], name="m")) == {"content"}
    empty = declared("empty", [1, None])
    assert failed(empty) == {"content"}
    assert "may not be empty" in verify(empty.path, empty.expected).reason


def test_r15_a_value_with_a_reason_for_being_missing_is_refused_in_arrow_too(tmp_path: Path) -> None:
    table = pa.table({"n": pa.array([None, 1], pa.int32()), "n__reason": ["closed", "closed"]})
    with pytest.raises(CellRefused, match="Row 2: “n” has a value and a reason"):
        Context.local(tmp_path).table("t", table)


@pytest.mark.parametrize("options", [{}, {"compression": "zstd"}, {"compression": "lz4"}])
@pytest.mark.parametrize("name", ["t.arrow", "t.feather"])
def test_an_arrow_file_that_a_program_wrote_is_taken_as_it_is(tmp_path: Path, name: str, options: dict[str, Any]) -> None:
    made = handed_over(tmp_path, arrowtables.every_type(3), name, **options)
    assert failed(made) == set()
    assert table_entry(made)["form"]["why"] == "handed_over"


def test_an_arrow_stream_is_taken_too_and_what_is_none_is_named(tmp_path: Path) -> None:
    place = packages.staging(tmp_path / "stream")
    with ipc.new_stream(place / "files" / "t.arrow", numbers().schema) as out:
        out.write_table(numbers())
    messages = Messages(tables=[{"table": "t", "path": "t.arrow"}])
    assert failed(packages.finish(place, messages, contract=CONTRACT, required=[])) == set()
    for number, content in enumerate((b"", b"FEA1....", b"no arrow at all", b"ARROW1\0\0cut off")):
        folder = packages.staging(tmp_path / str(number), {"t.arrow": content})
        with pytest.raises(ActumError) as caught:
            packages.finish(folder, messages, contract=CONTRACT, required=[])
        assert caught.value.code == "contract_invalid"


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"x": pa.array([None], pa.month_day_nano_interval())}),
        pa.table({"x": pa.array([{}], pa.struct([]))}),
        pa.table([pa.array([1]), pa.array([2])], names=["x", "x"]),
        pa.table({"x": pa.array([2**62], pa.timestamp("s"))}),
        pa.table({"x": pa.array([86_400_001], pa.int64()).view(pa.date64())}),
    ],
)
def test_what_parquet_cannot_hold_exactly_is_refused_in_words(tmp_path: Path, table: pa.Table) -> None:
    with pytest.raises(ActumError) as caught:
        handed_over(tmp_path, table)
    assert caught.value.code == "contract_invalid"
    assert "t" in caught.value.what


def test_r11_a_batch_of_any_length_is_handed_out_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BATCH_ROWS", 7)
    monkeypatch.setattr(limits, "MAPPED_BYTES_MAX", 64)
    made = handed_over(tmp_path, numbers(50))
    batches = list(authority.batches(made.path, table_entry(made)))
    assert max(batch.num_rows for batch in batches) <= limits.BATCH_ROWS
    assert pa.Table.from_batches(batches).equals(numbers(50))


@pytest.mark.parametrize("kind", ["jsonl", "csv", "arrow", "parquet"])
def test_reading_may_begin_after_any_row(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BATCH_ROWS", 4)
    table = pa.table({"n": pa.array(range(20), pa.int64())})
    place = packages.staging(tmp_path)
    path, message = place / "files" / f"t.{kind}", {"table": "t", "path": f"t.{kind}"}
    if kind == "jsonl":
        path.write_text("".join(f'{{"n":{n}}}\n' for n in range(20)))
        message["schema"] = [{"name": "n", "type": "integer"}]  # type: ignore[assignment]
    elif kind == "csv":
        path.write_text("n\n" + "".join(f"{n}\n" for n in range(20)))
    elif kind == "arrow":
        with ipc.new_file(path, table.schema) as out:
            out.write_table(table, max_chunksize=6)
    else:
        pq.write_table(table, path, row_group_size=6)
    made = packages.finish(place, Messages(tables=[message]), contract=CONTRACT, required=[])
    for skip in range(21):
        batches = list(authority.batches(made.path, table_entry(made), skip=skip))
        rows = [int(row) for batch in batches for row in batch.column(0).to_pylist()]
        assert rows == list(range(skip, 20)), skip
