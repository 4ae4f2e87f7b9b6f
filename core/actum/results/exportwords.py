"""What an export says of itself: the sidecar, the schema in a JSON document, and the options of the export's row."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actum import clock
from actum.results import columns, digests, jsontexts
from actum.results.exportsource import Source
from actum.results.query import Query

if TYPE_CHECKING:
    import pyarrow as pa

_IDENTITY = ("workspace", "task", "task_version", "run", "attempt", "n", "session", "request_digest", "contract_digest")


@dataclass(frozen=True, slots=True)
class Written:
    """Files in place. `parts` = `{file, sha256, size_bytes, rows}` of each; `path` is the one, or the name they share."""

    path: Path
    compared_rows: int
    parts: tuple[dict[str, Any], ...]

    @property
    def sha256(self) -> str:
        """Of the file; of several, of their digests one a line."""
        if len(self.parts) == 1:
            return str(self.parts[0]["sha256"])
        return digests.of_bytes("\n".join(part["sha256"] for part in self.parts).encode())

    @property
    def size_bytes(self) -> int:
        return sum(part["size_bytes"] for part in self.parts)


def parts(paths: Sequence[Path], found: Sequence[digests.FileDigest], rows: Sequence[int]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {"file": path.name, "sha256": digest.sha256, "size_bytes": digest.size, "rows": count}
        for path, digest, count in zip(paths, found, rows, strict=True)
    )


def about(source: Source) -> dict[str, Any]:
    """The schema member of a JSON document."""
    return {"table": source.name, "rows": source.rows, "columns": described(source.schema)}


def described(schema: pa.Schema) -> list[dict[str, Any]]:
    """Each column in the words of the contract, with its key in JSON and its Arrow type, from which values are brought back."""
    keys = jsontexts.keys(schema.names)
    return [
        item | {"key": key, "arrow": str(field.type)}
        for item, key, field in zip(columns.describe(schema), keys, schema, strict=True)
    ]


def sidecar(
    manifest: Mapping[str, Any], manifest_sha256: str, source: Source, written: Written, asked: Query
) -> dict[str, Any]:
    """All but the format, its rule and what it loses."""
    return {
        "schema": "actum.export/1",
        "file": written.path.name,
        "sha256": written.sha256,
        "size_bytes": written.size_bytes,
        "rows": source.rows,
        "parts": [dict(part) for part in written.parts],
        "options": options(asked),
        "of_rows": source.rows if source.of_rows is None else source.of_rows,
        "result": {name: manifest.get(name) for name in _IDENTITY} | {"manifest_sha256": manifest_sha256},
        "source": {"name": source.name, "file": source.origin, "sha256": source.sha256},
        "columns": described(source.schema),
        "arrow_schema": base64.b64encode(source.schema.serialize()).decode("ascii"),
        "compared": "every value, read back from the file",
        "exported_at": clock.rfc3339(clock.utc_us()),
    }


def options(asked: Query) -> dict[str, Any]:
    """What was asked of the export beyond its table and form."""
    return {} if asked.whole else {"query": asked.to_json()}


def recorded(asked: Mapping[str, Any], written: Written) -> dict[str, Any]:
    """The options of the export's row: what was asked of it, and its files where there are several."""
    if len(written.parts) > 1:
        return {**asked, "parts": [dict(part) for part in written.parts]}
    return dict(asked)
