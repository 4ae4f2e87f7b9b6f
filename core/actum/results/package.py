"""`open_result(path)`: a result package read anywhere, without a workspace (§8).

    result = actum.open_result("results/17/1")
    result.metrics["sharpe"].value, result.table("returns").to_pandas(), result.verify().ok

Reading verifies nothing by itself. `verify()` proves the package against its own manifest and, where the caller knows them,
against the digest and the identity it must have: only those make it *that* result.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actum.errors import CheckFailed, NotFound, StorageFailed
from actum.results import manifest as names
from actum.results import tables as stored
from actum.results.report import Expected, Report
from actum.results.verify import verify

if TYPE_CHECKING:
    import pyarrow as pa


def open_result(path: str | os.PathLike[str]) -> Result:
    """The result package at `path`. Raises NotFound, CheckFailed (no readable package), StorageFailed."""
    package = Path(path).absolute()
    try:
        manifest, digest = names.read_manifest(package)
        document = names.read_result(package)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound("no_package", f"No result package is at {package}.", f"{error.strerror}: {error.filename}.") from error
    except names.NotAPackage as error:
        raise CheckFailed("result_damaged", "The package cannot be read.", f"{error}.") from error
    except OSError as error:
        raise StorageFailed("opening the package", error) from error
    return Result(package, manifest, digest, document)


class Result:
    """One opened package. Attributes: path, manifest (as read), digest (sha256 of manifest.json), notes."""

    def __init__(self, path: Path, manifest: Mapping[str, Any], digest: str, document: Mapping[str, Any]) -> None:
        self.path = path
        self.manifest = manifest
        self.digest = digest
        self.notes: tuple[str, ...] = tuple(document["notes"])
        self._metrics = {metric["name"]: MetricValue(metric) for metric in document["metrics"]}

    @property
    def run(self) -> int:
        return int(self.manifest["run"])

    @property
    def metrics(self) -> Mapping[str, MetricValue]:
        return dict(self._metrics)

    @property
    def tables(self) -> tuple[str, ...]:
        return tuple(sorted(self.manifest["authority"]))

    @property
    def files(self) -> tuple[Path, ...]:
        """The output files of the work, as absolute paths."""
        return tuple(self.path / entry["name"] for entry in self.manifest["files"] if entry["role"] in ("output", "link"))

    def table(self, name: str) -> ResultTable:
        """Raises NotFound, CheckFailed."""
        return ResultTable(stored.locate(self.path, name))

    def verify(self, expected: Expected | None = None) -> Report:
        """Both levels, whole. Raises StorageFailed where the disk does not answer."""
        return verify(self.path, expected or Expected())


class MetricValue:
    """One metric: `value` is a Decimal, or None with a `status` and a `reason`; `document` is what result.json says."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = dict(document)
        self.name: str = document["name"]
        self.status: str = document["status"]
        self.reason: str | None = document["reason"]
        self.unit: str | None = document["unit"]
        self.value = None if document["value"] is None else Decimal(document["value"])

    def __repr__(self) -> str:
        said = self.value if self.value is not None else f"{self.status}: {self.reason}"
        return f"<metric {self.name}: {said}{f' {self.unit}' if self.unit else ''}>"


class ResultTable:
    """One table of a package, by its verified Parquet."""

    def __init__(self, table: stored.StoredTable) -> None:
        self.name = table.name
        self.path = table.path
        self._table = table

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All rows, at most BATCH_ROWS at once."""
        return self._table.batches()

    def to_arrow(self) -> pa.Table:
        import pyarrow.parquet as pq

        return pq.read_table(self.path)

    def to_pandas(self, **options: Any) -> Any:
        """A pandas data frame; `options` are those of pyarrow.Table.to_pandas. Decimals stay Decimal objects."""
        return self.to_arrow().to_pandas(**options)
