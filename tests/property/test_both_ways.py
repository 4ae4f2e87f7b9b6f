"""What is browsed answers the same whether the derived Parquet is read or the authority itself (R14, R11).

Tables of drawn columns, of every type an Arrow authority may have and of every cell of the export matrix, in batches and row
groups of drawn lengths, packed or not, as files and as streams; pages, searches, filters, orders, value counts, statistics and
plots of both are compared.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc as ipc
import pytest
from actum import limits
from actum.errors import ActumError
from actum.results import arrowrule, filtertext, pages, plotdata, query, search, statistics, tables, valuecounts, view
from actum.results.browse import TableBrowser
from actum.results.manifest import Messages
from actum.results.query import Order, Query
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.helpers import arrowtables, everyarrow, packages
from tests.property import test_tables_round_trip as written

PACKED = st.sampled_from([None, "lz4", "zstd"])


def columns() -> dict[str, pa.Array]:
    """Every column that a result may keep."""
    found = {name: pa.array(values, kind) for name, (kind, values) in arrowtables.EVERY.items()}
    for name, array in everyarrow.cases().items():
        try:
            arrowrule.stored_type(array.type)
        except TypeError:
            continue
        found[f"case {name}"] = array
    return found


COLUMNS = columns()
VIEWED = [name for name in COLUMNS if "256" not in str(COLUMNS[name].type)]  # longer decimals are refused, both ways


def table(names: list[str], rows: int) -> pa.Table:
    """Each column's values again and again, from another of them on."""
    made = {}
    for place, name in enumerate(names):
        again = pa.concat_arrays([COLUMNS[name]] * (rows // len(COLUMNS[name]) + 2))
        made[name] = again.slice(place % len(COLUMNS[name]), rows)
    return pa.table(made)


@contextmanager
def both(made: pa.Table, batch: int, group: int, packed: str | None, stream: bool) -> Iterator[tuple[Path, Path, Path]]:
    """The derived Parquet, the authority, and a place for views."""
    folder = Path(tempfile.mkdtemp(prefix="actum-w"))
    rows_max = limits.ROW_GROUP_ROWS_MAX
    try:
        place = packages.staging(folder)
        opening = ipc.new_stream if stream else ipc.new_file
        with opening(place / "files" / "t.arrow", made.schema, options=ipc.IpcWriteOptions(compression=packed)) as out:
            out.write_table(made, max_chunksize=batch)
        limits.ROW_GROUP_ROWS_MAX = group
        message = {"table": "t", "path": "t.arrow", "rows": made.num_rows}
        package = packages.finish(place, Messages(tables=[message]), contract=arrowtables.CONTRACT, required=[]).path
        copy = tables.readable(package, "t")
        own = copy.by_authority("damaged")
        assert (copy.instead, own.instead, own.path.suffix) == (None, "damaged", ".arrow")
        yield copy.path, own.path, folder
    finally:
        limits.ROW_GROUP_ROWS_MAX = rows_max
        shutil.rmtree(folder)


def paged(path: Path, step: int) -> list[Any]:
    with pages.TablePages(path) as opened:
        told = [opened.page(start, step, opened.names) for start in range(0, opened.total, step)]
        return [opened.total, opened.columns, opened.reason_of, told]


def viewed(path: Path, folder: Path, asked: Query) -> list[Any]:
    out = Path(tempfile.mkdtemp(dir=folder)) / "view.parquet"
    made = view.make(path, out, asked)
    return [made["rows"], made["of"], *paged(out, 500)]


def asked_of(call: Any, *args: Any) -> Any:
    """An answer, or why there is none."""
    try:
        return call(*args)
    except ActumError as error:
        return error.code, error.what


def alike(found: Any) -> Any:
    """A NaN is itself, so that answers can be compared; of two zeros, which are equal, either may stand at a quartile."""
    if isinstance(found, dict):
        return {name: alike(value) for name, value in found.items()}
    if isinstance(found, list | tuple):
        return [alike(value) for value in found]
    if found == "-0.0":
        return "0.0"
    return "nan" if isinstance(found, float) and found != found else found


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), packed=PACKED, stream=st.booleans())
def test_r14_the_authority_answers_what_its_copy_answers(data: st.DataObject, packed: str | None, stream: bool) -> None:
    names = data.draw(st.lists(st.sampled_from(list(COLUMNS)), min_size=1, max_size=5, unique=True))
    rows, batch, group = (data.draw(st.integers(1, most)) for most in (40, 17, 13))
    where = data.draw(st.sampled_from([f"`{names[0]}` is null", f"not (`{names[-1]}` is null)", ""]))
    order = tuple(Order(name, data.draw(st.booleans())) for name in data.draw(st.permutations(names))[:2])
    text = data.draw(st.sampled_from(["a", "1", "0", "中", "nan", "-", "2026", "tru"]))
    with both(table(names, rows), batch, group, packed, stream) as (copy, own, folder):
        assert paged(own, 7) == paged(copy, 7)
        for backward in (False, True):
            at = data.draw(st.integers(0, rows)), data.draw(st.integers(0, len(names) - 1))
            assert search.find(own, text, names, *at, backward) == search.find(copy, text, names, *at, backward)
        assert search.count(own, text, names) == search.count(copy, text, names)
        described = query.Table(own).described
        assert described == query.Table(copy).described
        asked = Query(filtertext.parse(where, described) if where else None, order)
        assert asked_of(viewed, own, folder, asked) == asked_of(viewed, copy, folder, asked)
        for name in names:
            for ask in (valuecounts.of_column, statistics.of_column):
                assert alike(asked_of(ask, own, name)) == alike(asked_of(ask, copy, name)), (ask, name)
            drawn = (data.draw(st.sampled_from(plotdata.KINDS)), None, name)
            assert alike(asked_of(plotdata.plot, own, *drawn)) == alike(asked_of(plotdata.plot, copy, *drawn)), drawn


@pytest.mark.parametrize(("packed", "stream"), [(None, False), ("lz4", True), ("zstd", False)])
def test_r14_every_type_is_paged_alike(packed: str | None, stream: bool) -> None:
    with both(table(list(COLUMNS), 24), 9, 10, packed, stream) as (copy, own, _folder):
        assert paged(own, 5) == paged(copy, 5)


def test_r14_every_type_is_ordered_alike() -> None:
    """Each of them sorted by: what hypothesis draws some of. A view keeps its types, so that one proves the counts' too."""
    with both(table(VIEWED, 24), 9, 10, None, False) as (copy, own, folder):
        for place, name in enumerate(VIEWED):
            asked = Query(None, (Order(name, descending=place % 2 == 0),), (name,))
            assert asked_of(viewed, own, folder, asked) == asked_of(viewed, copy, folder, asked), name


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(written.tables())
def test_r14_json_lines_answer_what_their_copy_answers(drawn: tuple[Any, list[dict[str, Any]]]) -> None:
    columns, rows = drawn
    folder = Path(tempfile.mkdtemp(prefix="actum-l"))
    try:
        place = packages.staging(folder, {"t.jsonl": packages.lines(columns, rows)})
        messages = Messages(tables=[packages.table_message(columns, "t", rows=len(rows))])
        contract = {**packages.CONTRACT, "tables": [], "required": []}
        package = packages.finish(place, messages, contract=contract, required=[]).path
        with TableBrowser(package, "t") as browser:
            before = browser.page(0, 20)
        copy = tables.readable(package, "t")
        own = copy.by_authority("damaged")
        assert paged(own.path, 3) == paged(copy.path, 3)
        for column in columns:
            asked = Query(None, (Order(column.name),))
            assert asked_of(viewed, own.path, folder, asked) == asked_of(viewed, copy.path, folder, asked)
            assert alike(valuecounts.of_column(own.path, column.name)) == alike(valuecounts.of_column(copy.path, column.name))
        shutil.rmtree(package / "derived")
        with TableBrowser(package, "t") as browser:
            assert (browser.read.instead, browser.page(0, 20)) == ("absent", before)
    finally:
        shutil.rmtree(folder)
