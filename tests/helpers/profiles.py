"""Profiles of small tables, made in this process and read back as their tables, metrics and notes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from actum.contracts.tables import read_line, schema_from_json
from actum.recipes.profile_contract import COLUMNS, HISTOGRAM, MISSING, TOP_VALUES
from actum.recipes.profile_table import profile_table
from actum.sdk import Context, InputFile, TaskFailed

SCHEMAS = {"columns": COLUMNS, "missing": MISSING, "top_values": TOP_VALUES, "histogram": HISTOGRAM}


class Profile:
    """What a profile said. Attributes: context, tables (name → rows)."""

    def __init__(self, folder: Path, content: bytes | str, name: str = "table.csv", **parameters: Any) -> None:
        path = folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.context = Context.local(folder / "output")
        profile_table(self.context, InputFile(path), **parameters)
        self.tables = {name: list(self._rows(name)) for name in SCHEMAS}

    def _rows(self, name: str) -> Iterator[dict[str, Any]]:
        columns = schema_from_json(SCHEMAS[name])
        for line in (self.context.output / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            yield read_line(columns, line)

    def __getitem__(self, column: str) -> dict[str, Any]:
        return next(row for row in self.tables["columns"] if row["name"] == column)

    def of(self, table: str, column: str, *fields: str) -> list[tuple[Any, ...]]:
        return [tuple(row[field] for field in fields) for row in self.tables[table] if row["column"] == column]

    @property
    def types(self) -> dict[str, str]:
        return {row["name"]: row["type"] for row in self.tables["columns"]}

    @property
    def metrics(self) -> dict[str, Any]:
        messages = self.context.messages
        said = {m["metric"]: m["value"] for m in messages if "metric" in m}
        return said | {m["unavailable"]: m["reason"] for m in messages if "unavailable" in m}

    @property
    def notes(self) -> str:
        return "\n".join(m["note"] for m in self.context.messages if "note" in m)


def failure(folder: Path, content: bytes | str, name: str = "table.csv", **parameters: Any) -> str:
    """What is said of a table that cannot be profiled."""
    with pytest.raises(TaskFailed) as failed:
        Profile(folder, content, name, **parameters)
    return str(failed.value)
