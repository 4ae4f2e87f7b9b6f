"""Result packages made by the real sealing and deriving, and tools to tamper with them consistently."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from actum import canonical
from actum.contracts import tables
from actum.results import chunks, digests
from actum.results.derive import derive
from actum.results.manifest import Messages, Sealed, seal
from actum.results.report import Expected

# Of a table with a column n: the rows above 3, the last one first.
QUERY = {
    "schema": "actum.query/1",
    "where": {"op": ">", "column": "n", "value": "3"},
    "order": [{"column": "n", "descending": True}],
    "columns": None,
}
AT_US = 1_767_225_600_000_000

RETURNS = (
    tables.Column("day", "date", nullable=False),
    tables.Column("price", "decimal", unit="USD", precision=18, scale=6),
    tables.Column("price__reason", "text"),
    tables.Column("volume", "integer"),
    tables.Column("drift", "float64"),
)
ROWS: list[dict[str, Any]] = [
    {"day": date(2026, 1, 1), "price": Decimal("12.5"), "price__reason": None, "volume": 2**60, "drift": -0.0},
    {"day": date(2026, 1, 2), "price": None, "price__reason": "market_closed", "volume": 0, "drift": float("nan")},
    {"day": date(2026, 1, 3), "price": Decimal("0.000001"), "price__reason": None, "volume": None, "drift": None},
]
CONTRACT: dict[str, Any] = {
    "schema": "actum.contract/1",
    "name": "sample",
    "version": "1",
    "outputs": ["*"],
    "required": ["report.html"],
    "tables": [{"name": "returns", "required": True, "columns": tables.schema_to_json(RETURNS)}],
    "metrics": [{"name": "sharpe", "title": "Sharpe ratio", "unit": None, "rule": "ratio.v1", "meaning": "return per risk"}],
}


def launch(**changes: Any) -> dict[str, Any]:
    """A launch document with what sealing reads of it."""
    document = {
        "workspace_id": "5d4f",
        "run": 17,
        "attempt": "0190-a",
        "n": 1,
        "session": "ab" * 16,
        "task": "sample",
        "task_version": "1",
        "request_digest": "11" * 32,
        "contract": CONTRACT,
        "parameters": {"window": "12"},
        "inputs": [{"name": "prices", "path": "/data/p.csv", "policy": "copy", "sha256": "22" * 32, "size": 5, "store": None}],
        "code": None,
        "environment": None,
        "outputs": ["*"],
        "required": ["report.html"],
    } | changes
    return document | {"contract_digest": canonical.digest(document["contract"])}


def staging(folder: Path, files: dict[str, str | bytes] | None = None) -> Path:
    """An attempt's staging folder with the given output files."""
    place = folder / "staging"
    (place / "files").mkdir(parents=True)
    for name, content in (files or {}).items():
        path = place / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return place


def lines(columns: Sequence[tables.Column], rows: Sequence[dict[str, Any]]) -> str:
    return "".join(tables.line(columns, row) + "\n" for row in rows)


def table_message(columns: Sequence[tables.Column], name: str = "returns", **more: Any) -> dict[str, Any]:
    return {"table": name, "path": f"{name}.jsonl", "schema": tables.schema_to_json(columns), **more}


@dataclass(frozen=True)
class Made:
    """A package as it stands after deriving, what sealing said of it, and the identity it must have."""

    path: Path
    sealed: Sealed
    expected: Expected


def sample(folder: Path, **changes: Any) -> Made:
    """A package with a report, the table `returns` and a CSV table `quotes`."""
    place = staging(
        folder,
        {"report.html": "<p>ok</p>", "returns.jsonl": lines(RETURNS, ROWS), "quotes.csv": 'name,note\nA,\nB,""\n'},
    )
    messages = Messages(
        metrics=[{"metric": "sharpe", "value": "1.23", "observations": 3}],
        tables=[table_message(RETURNS, rows=3), {"table": "quotes", "path": "quotes.csv"}],
        done=True,
    )
    return finish(place, messages, **changes)


def finish(place: Path, messages: Messages, **changes: Any) -> Made:
    """Seal and derive what stands in `place`."""
    document = launch(**changes)
    sealed = seal(place, launch=document, messages=messages, log_folder=None, at_us=AT_US)
    derive(place, place / ".derive-1-1")
    (place / ".derive-1-1").rename(place / "derived")
    expected = Expected(
        workspace=document["workspace_id"],
        run=document["run"],
        attempt=document["attempt"],
        session=document["session"],
        request_digest=document["request_digest"],
        contract_digest=document["contract_digest"],
        manifest_sha256=sealed.manifest_sha256,
        required=tuple(document["required"]),
    )
    return Made(place, sealed, expected)


def writable(path: Path) -> Path:
    path.chmod(0o644)
    return path


def read_json(path: Path) -> Any:
    return json.loads(path.read_bytes())


def write_json(path: Path, document: Any) -> None:
    writable(path).write_text(canonical.pretty(document), encoding="utf-8")


def reseal(made: Made, change: Callable[[dict[str, Any]], None] = lambda manifest: None) -> Made:
    """A liar's consistent manifest: every digest as the files now are, derived tables and derived.json fitting it again.

    The answer expects the *new* manifest, as if the check of manifest_sha256 were switched off.
    """
    manifest = read_json(made.path / "manifest.json")
    change(manifest)
    fit(made.path, manifest)
    write_json(made.path / "manifest.json", manifest)
    digest = digests.of_file(made.path / "manifest.json").sha256
    for path in (made.path / "derived").glob("*.parquet"):
        restamp(path, digest)
    redigest(made.path, digest)
    return replace(made, expected=replace(made.expected, manifest_sha256=digest))


def fit(package: Path, manifest: dict[str, Any]) -> None:
    """Every digest of a manifest as the files now are."""
    for entry in manifest["files"]:
        digest = digests.of_file(package / entry["name"])
        entry |= {"sha256": digest.sha256, "size": digest.size}


def restamp(path: Path, manifest_sha256: str) -> None:
    """Write the manifest's digest into the metadata of a derived Parquet."""
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    metadata = {**(table.schema.metadata or {}), b"actum.manifest": manifest_sha256.encode()}
    pq.write_table(table.replace_schema_metadata(metadata), writable(path))


def redigest(package: Path, manifest_sha256: str | None = None) -> None:
    """derived.json with the digests of the derived files as they now are."""
    document = read_json(package / "derived" / "derived.json")
    document["manifest_sha256"] = manifest_sha256 or document["manifest_sha256"]
    for entry in document["files"]:
        digest = digests.of_file(package / "derived" / entry["name"])
        entry |= {"sha256": digest.sha256, "size": digest.size}
        with contextlib.suppress(Exception):  # a file that is no Parquet any more keeps its old list
            document["chunks"][entry["table"]] = chunks.describe(package / "derived" / entry["name"], entry["table"])
    write_json(package / "derived" / "derived.json", document)


def rederive(package: Path) -> None:
    shutil.rmtree(package / "derived")
    derive(package, package / ".derive-1-2")
    (package / ".derive-1-2").rename(package / "derived")
