"""`open_result(path)`: a result package read anywhere, without a workspace and without a window (§8).

    with actum.open_result("returns.actumpack") as result:      # or results/17/1, or 17: a run of your workspace
        result.metrics["sharpe"].value, result.table("returns").to_pandas(), result.verify().ok

Reading verifies nothing by itself. `verify()` proves the package against its own manifest and, where the caller knows them,
against the digest and the identity it must have: only those make it *that* result. A pack is unpacked into a temporary folder,
which is gone when the result is closed or forgotten.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from actum.errors import ActumError, CheckFailed, NotFound, StorageFailed
from actum.results import manifest as names
from actum.results import tables as stored
from actum.results.chunks import WHOLE, extent_of
from actum.results.report import Expected, Report
from actum.results.verify import verify

if TYPE_CHECKING:
    import pyarrow as pa

# What a verification elsewhere can and cannot say. `{digest}` is the sha256 of manifest.json.
PROVED = "The package is consistent with itself: every file has its digest, and every table means what its authority means."
PROVED_SEALED = "It is the package whose manifest has the digest you gave: nothing in it was changed since it was sealed."
PROVED_MANIFEST = "Its manifest is the one whose digest you gave. Of its files only that was looked at which the level names."
NOT_PROVED = (
    "Whose result it is, and that it is the one that was sealed: compare the digest with the one its sender tells you.",
    "That its source is trustworthy, or its formula right.",
)
NOT_PROVED_SEALED = NOT_PROVED[1:]


def open_result(path: str | os.PathLike[str] | int) -> Result:
    """The result package at `path`: a folder, a pack, or the number of a run in the workspace that ACTUM_HOME names.

    Raises NotFound, CheckFailed (no readable package), StorageFailed.
    """
    from actum.results import pack

    package = _of_run(path) if isinstance(path, int) else Path(path).expanduser().absolute()
    kept = contextlib.ExitStack()
    if pack.is_pack(package):
        package = kept.enter_context(pack.unpacked(package))
    try:
        manifest, digest = names.read_manifest(package)
        document = names.read_result(package)
    except (FileNotFoundError, NotADirectoryError) as error:
        kept.close()
        raise NotFound("no_package", f"No result package is at {package}.", f"{error.strerror}: {error.filename}.") from error
    except names.NotAPackage as error:
        kept.close()
        raise CheckFailed("result_damaged", "The package cannot be read.", f"{error}.") from error
    except OSError as error:
        kept.close()
        raise StorageFailed("opening the package", error) from error
    return Result(package, manifest, digest, document, kept)


@contextlib.contextmanager
def _libraries() -> Iterator[None]:
    """Tables are read by libraries of the reader's own interpreter: one that is not there is told in words."""
    try:
        yield
    except ModuleNotFoundError as error:
        what = f"This needs the library {error.name}."
        why = "Metrics, notes and files are read without it; tables are not."
        remedy = f"Install it into the interpreter you use: python -m pip install {error.name}"
        raise ActumError("no_library", what, why, remedy) from error


def _of_run(run: int) -> Path:
    """The published package of a run: its newest attempt that has one."""
    from actum.workspace import locate

    folder = locate(None).results / str(run)
    attempts = [int(entry.name) for entry in folder.iterdir() if entry.name.isdigit()] if folder.is_dir() else []
    if not attempts:
        raise NotFound("no_package", f"Run {run} has no result.", f"{folder}.", "`actum runs` lists the runs.")
    return folder / str(max(attempts))


class Result:
    """One opened package. Attributes: path, manifest (as read), digest (sha256 of manifest.json), notes.

    Use it in a `with` statement, or close it, where it was a pack.
    """

    def __init__(
        self,
        path: Path,
        manifest: Mapping[str, Any],
        digest: str,
        document: Mapping[str, Any],
        kept: contextlib.ExitStack | None = None,
    ) -> None:
        self.path = path
        self.manifest = manifest
        self.digest = digest
        self.notes: tuple[str, ...] = tuple(document["notes"])
        self._metrics = {metric["name"]: MetricValue(metric) for metric in document["metrics"]}
        self._kept = kept or contextlib.ExitStack()

    @property
    def run(self) -> int:
        return int(self.manifest["run"])

    @property
    def task(self) -> str:
        return str(self.manifest.get("task") or "")

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
        """Raises NotFound, CheckFailed, ActumError(no_library)."""
        return ResultTable(stored.locate(self.path, name))

    def verify(self, expected: Expected | None = None, *, digest: str | None = None, level: str = "content") -> Report:
        """Both levels, whole; or the chunks that `level` names (`chunks:3-7`, `sample:5`).

        `digest`: what manifest.json must have, as its sender told it. Raises StorageFailed where the disk does not answer,
        ActumError(no_library) where a table cannot be read here.
        """
        wanted = expected or Expected(manifest_sha256=digest)
        with _libraries():
            return verify(self.path, wanted, extent=extent_of(level) or WHOLE)

    def close(self) -> None:
        """Take away what was unpacked."""
        self._kept.close()

    def __enter__(self) -> Result:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


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
        """All rows, at most BATCH_ROWS at once. Raises ActumError(no_library)."""
        with _libraries():
            import pyarrow  # noqa: F401 - asked for here, since what follows begins with the first batch
        return self._table.batches()

    def to_arrow(self) -> pa.Table:
        """All rows at once. Raises CheckFailed where the file is no such table any more, ActumError(no_library)."""
        with _libraries():
            import pyarrow as pa
            import pyarrow.parquet as pq

        try:
            with pq.ParquetFile(self.path, pre_buffer=False) as file:  # `read_table` would read columns out of a folder's name
                return file.read()
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None and not isinstance(error, FileNotFoundError):
                raise StorageFailed("reading the table", error) from error
            why = f"{str(error).splitlines()[0]}."
            raise CheckFailed(
                "result_damaged", f"The table “{self.name}” cannot be read.", why, "Verify the result."
            ) from error

    def to_pandas(self, **options: Any) -> Any:
        """A pandas data frame; `options` are those of pyarrow.Table.to_pandas. Decimals stay Decimal objects."""
        with _libraries():
            import pandas  # type: ignore[import-untyped]  # noqa: F401
        return self.to_arrow().to_pandas(**options)

    def to_duckdb(self, connection: Any = None) -> Any:
        """A DuckDB relation over the Parquet file; nothing is loaded. `connection`: one of yours, else DuckDB's own."""
        with _libraries():
            import duckdb

        from actum.results.query import pattern

        return (connection or duckdb).read_parquet(pattern(self.path), hive_partitioning=False)
