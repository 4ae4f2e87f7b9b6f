"""Published results in a workspace: packages by the real sealing and deriving, moved to their place, with their rows."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from actum import canonical, clock
from actum.contracts import tables
from actum.model.changes import AddTask, ResultRow
from actum.results import digests
from actum.results.manifest import Messages
from actum.store.writer import Writer
from actum.workspace import Workspace

from tests.helpers import packages, workspaces

PRICES = (
    tables.Column("date", "date", nullable=False),
    tables.Column("close", "decimal", unit="USD", precision=12, scale=2),
    tables.Column("return", "decimal", precision=18, scale=6),
    tables.Column("return__reason", "text"),
    tables.Column("volume", "integer"),
    tables.Column("note", "text"),
    tables.Column("at", "timestamp"),
)
METRICS: Sequence[Mapping[str, Any]] = (
    {"metric": "annual_return", "value": "11.8372", "unit": "%", "observations": 749},
    {"metric": "volatility", "value": "19.20", "unit": "%", "observations": 749},
    {"metric": "sharpe", "value": "0.62"},
    {"unavailable": "sortino", "status": "unavailable", "reason": "insufficient_observations", "observations": 3},
    {"metric": "drawdown", "value": "-23.41", "unit": "%"},
)
TITLES = {
    "annual_return": "Annual return",
    "volatility": "Volatility",
    "sharpe": "Sharpe ratio",
    "sortino": "Sortino ratio",
    "drawdown": "Max drawdown",
}


def prices(count: int = 749) -> list[dict[str, Any]]:
    """Rows of PRICES: every fortieth return is missing, the first for a reason of its own."""
    rows: list[dict[str, Any]] = []
    close = Decimal("100.00")
    for n in range(count):
        moved = Decimal((n * 7919) % 401 - 195) / 10_000
        close = max(Decimal("1.00"), (close * (1 + moved)).quantize(Decimal("0.01")))
        gone = n % 40 == 0
        rows.append(
            {
                "date": date(2023, 1, 3) + timedelta(days=n),
                "close": close,
                "return": None if gone else moved.quantize(Decimal("0.000001")),
                "return__reason": ("no_previous_row" if n == 0 else "market_closed") if gone else None,
                "volume": None if n % 50 == 7 else 2_000_000 + (n * 104_729) % 3_000_000,
                "note": ("=SUM(A1)", "", "ordinary", "half\tday", "a\nb")[n % 5],
                "at": datetime(2023, 1, 3, 16, tzinfo=UTC) + timedelta(days=n),
            }
        )
    return rows


def define(writer: Writer, policies: Mapping[str, Any] | None = None) -> str:
    """The task whose results these are; the digest of its contract."""
    metrics = [{"name": key, "title": title, "unit": None, "rule": None, "meaning": ""} for key, title in TITLES.items()]
    document = {**workspaces.CONTRACT, "title": "Return and risk", "metrics": metrics}
    if policies is not None:
        document["policies"] = dict(policies)
    digest = canonical.digest(document)
    workspaces.persisted(writer.ask(AddTask("sample", "1", digest, document, False, clock.utc_us())))
    return digest


def publish(
    ws: Workspace,
    writer: Writer,
    row: Any,
    files: Mapping[str, str | bytes],
    messages: Messages,
    handed: Mapping[str, Path] | None = None,
) -> Path:
    """Bring a fresh attempt to SUCCEEDED with a package of its own. `handed` = further files, moved in. Returns the package."""
    work = ws.path / f"made-{row.run}"
    place = packages.staging(work, dict(files))
    for name, path in (handed or {}).items():
        shutil.copyfile(path, place / "files" / name)
    told = {**packages.CONTRACT, "tables": [], "required": []}
    made = packages.finish(place, messages, run=row.run, attempt=row.attempt, contract=told, required=[])
    target = ws.result_folder(row.run, row.n)
    target.parent.mkdir(parents=True, exist_ok=True)
    made.path.rename(target)
    shutil.rmtree(work)
    listed = packages.read_json(target / "manifest.json")["files"]
    metrics = packages.read_json(target / "result.json")["metrics"]
    names = [{"name": item["table"], "rows": item.get("rows")} for item in listed if item.get("role") == "table"]
    result = ResultRow(
        path=str(target.relative_to(ws.path)),
        digest=made.sealed.manifest_sha256,
        derived_digest=digests.of_file(target / "derived" / "derived.json").sha256,
        metrics=tuple(metrics),
        tables=tuple(names),
        rows_total=sum(int(item["rows"] or 0) for item in names),
        size_bytes=made.sealed.size_bytes,
        files=tuple(listed),
    )
    workspaces.succeed(writer, row, result)
    return target


def publish_prices(ws: Workspace, writer: Writer, row: Any, count: int = 749) -> Path:
    """A result with five metrics, one of them unavailable, and the table `prices`."""
    content = packages.lines(PRICES, prices(count))
    messages = Messages(
        metrics=METRICS, tables=[packages.table_message(PRICES, "prices", rows=count)], notes=["Checked by hand."], done=True
    )
    return publish(ws, writer, row, {"prices.jsonl": content, "report.html": "<p>ok</p>"}, messages)
