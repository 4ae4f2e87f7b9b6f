"""Exports of a table or of the metrics: written, read back, compared with the source, then named (§8, R14, R19).

Formats csv, json, parquet in the *Data* profile, which is lossless; csv in the *Spreadsheet* profile, whose losses are
counted before anything is written (`preview`) and stand in the sidecar. The file is written under a temporary name beside its
target, made durable, read back by a reader that had no part in the writing, and only renamed into place when every value is
equal. An existing file is never replaced unless asked. Beside it stands `<file>.actum.json`, which says what this is: result,
digests, rule, options. The source is the package's verified Parquet; its digest is checked before it is used.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actum import canonical, clock, faults
from actum.errors import CheckFailed, Conflict, NotFound, WrongUse
from actum.results import columns, digests, durable, export_csv, export_json, export_parquet, export_spreadsheet
from actum.results import manifest as names
from actum.results.compare import Comparison
from actum.results.durable import action
from actum.results.publish import rename_noreplace
from actum.results.spreadsheet import Survey
from actum.results.tables import locate, table_names

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = ("csv", "json", "parquet")
PROFILES = ("data", "spreadsheet")
SPREADSHEET_FORMATS = ("csv",)
METRICS = "metrics"  # the name under which metrics are exported, unless a table has it
SIDECAR_ENDING = ".actum.json"
_RULES = {"csv": export_csv.RULE, "json": export_json.RULE, "parquet": export_parquet.RULE}


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written. `compared_rows` were read back and found equal; for a Parquet, by its digest."""

    path: str
    sidecar: str
    sha256: str
    size_bytes: int
    rows: int
    compared_rows: int
    rule: str
    source_sha256: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Source:
    """Where the rows come from: a Parquet of the package, or the metrics of result.json."""

    name: str
    origin: str
    sha256: str
    schema: pa.Schema
    rows: int
    parquet: Path | None
    batches: Callable[[], Iterator[pa.RecordBatch]]


def export(
    package: Path,
    name: str,
    format: str,
    profile: str,
    path: Path,
    *,
    overwrite: bool = False,
    options: Mapping[str, Any] | None = None,
    progress: digests.Progress = digests.no_progress,
) -> Exported:
    """Export the table `name` (or "metrics") of a package to `path`. Progress counts rows: written, then compared.

    Raises WrongUse (format, profile, option, place), NotFound, Conflict (something is there), CheckFailed (the package is
    not as published, or the file read back differs), StorageFailed.
    """
    _refuse_wrong_use(package, format, profile, path, options or {})
    sidecar = path.with_name(path.name + SIDECAR_ENDING)
    for existing in (path, sidecar):
        if not overwrite and os.path.lexists(existing):
            raise Conflict(
                "file_exists", f"“{existing.name}” exists.", f"{existing}.", "Choose another name, or ask to replace it."
            )
    with action("reading the package"):
        manifest, manifest_sha256 = _read(package)
        source = _find(package, name)
    rule = export_spreadsheet.RULE if profile == "spreadsheet" else _RULES[format]
    with action("exporting"):
        survey = _survey(source, progress, passes=3) if profile == "spreadsheet" else None
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        try:
            compared = _write(temporary, source, format, progress, survey)
            digest = digests.of_file(temporary)
            document = _sidecar(manifest, manifest_sha256, source, format, profile, options or {}, path, digest)
            document |= {"rule": rule, "losses": [loss.to_json() for loss in survey.losses()] if survey else []}
            _into_place(temporary, path, overwrite)
        finally:
            with contextlib.suppress(FileNotFoundError):
                temporary.unlink()
        durable.write_file(sidecar, canonical.pretty(document).encode(), fault="export.sidecar", mode=0o644)
    return Exported(str(path), str(sidecar), digest.sha256, digest.size, source.rows, compared, rule, source.sha256)


def _refuse_wrong_use(package: Path, format: str, profile: str, path: Path, options: Mapping[str, Any]) -> None:
    if format not in FORMATS:
        raise WrongUse("bad_format", f"There is no export format “{format}”.", f"Known: {', '.join(FORMATS)}.")
    if profile not in PROFILES:
        raise WrongUse("bad_profile", f"There is no export profile “{profile}”.", f"Known: {', '.join(PROFILES)}.")
    if profile == "spreadsheet" and format not in SPREADSHEET_FORMATS:
        raise WrongUse("bad_format", f"The format “{format}” belongs to the profile data.", "A spreadsheet reads csv.")
    if options:
        raise WrongUse("bad_option", f"The {format} export has no option “{next(iter(options))}”.")
    if not path.parent.is_dir():
        raise WrongUse("no_folder", f"The folder of “{path.name}” does not exist.", f"{path.parent}.", "Make it first.")
    if path.is_dir():
        raise WrongUse("is_folder", f"“{path.name}” is a folder.", f"{path}.", "Name a file in it.")
    if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(package)):
        raise WrongUse("inside_package", "A published result is never written into.", f"{path}.", "Choose another folder.")


def _read(package: Path) -> tuple[dict[str, Any], str]:
    try:
        return names.read_manifest(package)
    except names.NotAPackage as error:
        raise CheckFailed("result_damaged", "The package cannot be read.", f"{error}.", "Verify the run.") from error


def _find(package: Path, name: str, *, check: bool = True) -> _Source:
    known = table_names(package)
    if name in known:
        table = locate(package, name)
        if check and digests.of_file(table.path).sha256 != table.sha256:
            raise CheckFailed("result_damaged", f"The table “{name}” is not as it was published.", remedy="Verify the run.")
        place = table.path.relative_to(package).as_posix()
        return _Source(name, place, table.sha256, table.schema(), table.rows(), table.path, table.batches)
    if name == METRICS:
        return _metrics(package)
    raise NotFound("no_table", f"The result has no table “{name}”.", f"It has: {', '.join([*known, METRICS])}.")


def _metrics(package: Path) -> _Source:
    import pyarrow as pa

    result = package / names.RESULT
    texts = ("name", "title", "value", "unit", "status", "reason", "rule", "meaning")
    schema = pa.schema([(member, pa.string()) for member in texts] + [("observation_count", pa.int64())])
    rows = [{field: metric.get(field) for field in schema.names} for metric in names.read_result(package)["metrics"]]
    batch = pa.RecordBatch.from_pylist(rows, schema=schema)
    return _Source(METRICS, names.RESULT, digests.of_file(result).sha256, schema, len(rows), None, lambda: iter((batch,)))


def preview(package: Path, name: str, progress: digests.Progress = digests.no_progress) -> dict[str, Any]:
    """What the Spreadsheet profile would lose of a table or of the metrics: `{"rows", "losses": [{column, code, count}]}`.

    Raises NotFound, CheckFailed, WrongUse (a column without a text form), StorageFailed.
    """
    with action("reading the package"):
        source = _find(package, name, check=False)
        survey = _survey(source, progress, passes=1)
    return {"rows": survey.rows, "losses": [loss.to_json() for loss in survey.losses()]}


def _survey(source: _Source, progress: digests.Progress, passes: int) -> Survey:
    return export_spreadsheet.survey(_counted(source.batches(), 0, passes * source.rows, progress), source.schema)


def _write(temporary: Path, source: _Source, format: str, progress: digests.Progress, survey: Survey | None) -> int:
    """Write and compare; returns the rows found equal. With a survey, by the Spreadsheet profile."""
    if survey is not None:
        return _write_sheet(temporary, source, progress, survey.as_text())
    total = 2 * source.rows
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    with open(descriptor, "wb") as file:
        if format == "parquet":
            _write_parquet(file, source)
        else:
            writer = export_csv.write if format == "csv" else export_json.write
            writer(file, _counted(source.batches(), 0, total, progress), source.schema, _about(source))
        file.flush()
        faults.point("export.file.fsync.before")
        os.fsync(descriptor)
        faults.point("export.file.fsync.after")
    if format == "parquet":
        if source.parquet is not None:
            export_parquet.compare(temporary, source.sha256)
        return source.rows
    comparer = export_csv.compare if format == "csv" else export_json.compare
    expected = _counted(source.batches(), source.rows, total, progress)
    return _equal(comparer(temporary, source.name, expected, source.schema))


def _write_sheet(temporary: Path, source: _Source, progress: digests.Progress, as_text: frozenset[str]) -> int:
    total = 3 * source.rows  # looked at, written, compared
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    with open(descriptor, "wb") as file:
        batches = _counted(source.batches(), source.rows, total, progress)
        export_spreadsheet.write(file, batches, source.schema, as_text)
        file.flush()
        faults.point("export.file.fsync.before")
        os.fsync(descriptor)
        faults.point("export.file.fsync.after")
    expected = _counted(source.batches(), 2 * source.rows, total, progress)
    return _equal(export_spreadsheet.compare(temporary, source.name, expected, source.schema, as_text))


def _equal(outcome: Comparison) -> int:
    if outcome.difference is not None:
        raise CheckFailed("export_differs", "The export, read back, differs from the result.", f"{outcome.difference}.")
    return outcome.rows


def _write_parquet(file: Any, source: _Source) -> None:
    if source.parquet is not None:
        export_parquet.write(file, source.parquet)
        return
    import pyarrow.parquet as pq

    with pq.ParquetWriter(file, source.schema) as writer:
        for batch in source.batches():
            writer.write_batch(batch)


def _counted(batches: Iterator[pa.RecordBatch], start: int, total: int, progress: digests.Progress) -> Iterator[pa.RecordBatch]:
    done = start
    for batch in batches:
        yield batch
        done += batch.num_rows
        progress(done, total, "rows")


def _into_place(temporary: Path, path: Path, overwrite: bool) -> None:
    faults.point("export.rename.before")
    if overwrite:
        os.replace(temporary, path)
    else:
        try:
            rename_noreplace(temporary, path)
        except FileExistsError as error:
            raise Conflict("file_exists", f"“{path.name}” exists.", f"{path}.", "Choose another name.") from error
    durable.fsync_folder(path.parent)
    faults.point("export.rename.after")


def _about(source: _Source) -> dict[str, Any]:
    return {"table": source.name, "rows": source.rows, "columns": columns.describe(source.schema)}


def _sidecar(
    manifest: Mapping[str, Any],
    manifest_sha256: str,
    source: _Source,
    format: str,
    profile: str,
    options: Mapping[str, Any],
    path: Path,
    digest: digests.FileDigest,
) -> dict[str, Any]:
    identity = ("workspace", "task", "task_version", "run", "attempt", "n", "session", "request_digest", "contract_digest")
    return {
        "schema": "actum.export/1",
        "file": path.name,
        "sha256": digest.sha256,
        "size_bytes": digest.size,
        "rows": source.rows,
        "format": format,
        "profile": profile,
        "rule": _RULES[format],
        "options": dict(options),
        "result": {name: manifest.get(name) for name in identity} | {"manifest_sha256": manifest_sha256},
        "source": {"name": source.name, "file": source.origin, "sha256": source.sha256},
        "columns": columns.describe(source.schema),
        "compared": "every value, read back from the file",
        "exported_at": clock.rfc3339(clock.utc_us()),
    }
