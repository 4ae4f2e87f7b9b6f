"""The built-in task “Profile a table”: what is in the columns of a CSV, a Parquet or a file of JSON lines.

What a demanding reader may rely on: every figure is exact and of all rows, by the definitions of `tableprofile.measuring`; a
type is told from all values, by the table of `tableprofile.typing_rules`; what was taken for missing is counted text by text,
and what looks missing without having been declared so is named, never decided in silence.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from actum.recipes import profile_contract as contract
from actum.recipes.tableprofile import formats, report
from actum.recipes.tableprofile.source import Scratch, Source
from actum.sdk import Context, InputFile, TaskFailed, task

STAGES = ("read", "measure", "write")


@task(title="Profile a table", version="1")
def profile_table(
    ctx: Context,
    table: InputFile,
    missing_values: tuple[str, ...] = contract.MISSING_VALUES,
    empty: Literal["missing", "text"] = "missing",
    delimiter: Literal["auto", "comma", "semicolon", "tab", "pipe"] = "auto",
    header: bool = True,
    top: int = contract.TOP,
) -> None:
    """Types, gaps, quantiles, frequent values and histograms of a table's columns."""
    import duckdb

    from actum.recipes.tableprofile import measuring

    with tempfile.TemporaryDirectory(prefix="scratch-", dir=_scratch_parent(), ignore_cleanup_errors=True) as folder:
        scratch = Path(folder)
        with measuring.connected(scratch) as connection:
            try:
                source = _read(ctx, table, delimiter, header, scratch, connection)
                missing = measuring.Missing(tuple(missing_values), empty == "missing")
                measurer = measuring.Measurer(connection, ctx, source, missing, top)
                measured = [measurer.measure(column) for column in ctx.track(source.columns, "measure", unit="columns")]
            except (duckdb.IOException, duckdb.OutOfMemoryException) as error:
                raise TaskFailed(f"The table cannot be measured: {str(error).splitlines()[0]}") from None
    _write(ctx, measured)
    report.state_metrics(ctx, source, measured)
    for note in report.notes(source, measured, missing):
        ctx.note(note)


def _scratch_parent() -> Path | None:
    """The attempt's own folder, on the workspace's volume, which goes when the attempt goes; None outside Actum."""
    messages = os.environ.get("ACTUM_MESSAGES")
    return Path(messages).parent if messages else None


def _read(ctx: Context, table: InputFile, delimiter: str, header: bool, scratch: Path, connection: Any) -> Source:
    size = table.path.stat().st_size
    ctx.stage("read", size)

    def on_bytes(count: int) -> None:
        ctx.check_stop()
        ctx.progress(min(count, size), size, "bytes")

    import pyarrow as pa

    texts = Scratch(scratch)
    try:
        match formats.format_of(table):
            case formats.PARQUET:
                from actum.recipes.tableprofile import parquetsource

                source = parquetsource.read(table.path, connection)
            case formats.JSON_LINES:
                from actum.recipes.tableprofile import jsonsource

                source = jsonsource.read(table.path, texts, on_bytes)
            case _:
                from actum.recipes.tableprofile import csvsource

                source = csvsource.read(table.path, delimiter, header, texts, on_bytes)
    finally:
        texts.close()
    pa.default_memory_pool().release_unused()  # what reading took is free for measuring
    on_bytes(size)
    ctx.log.info("Read as %s: %s rows, %s columns.", source.format, f"{source.rows:,}", len(source.columns))
    return source


def _write(ctx: Context, measured: list[Any]) -> None:
    ctx.stage("write", 4)
    tables: tuple[tuple[str, Iterator[dict[str, Any]], list[dict[str, Any]]], ...] = (
        ("columns", report.column_rows(measured), contract.COLUMNS),
        ("missing", report.missing_rows(measured), contract.MISSING),
        ("top_values", report.top_rows(measured), contract.TOP_VALUES),
        ("histogram", report.histogram_rows(measured), contract.HISTOGRAM),
    )
    for done, (name, rows, schema) in enumerate(tables, start=1):
        ctx.check_stop()
        ctx.table(name, rows, schema)
        ctx.progress(done, len(tables), "tables")
