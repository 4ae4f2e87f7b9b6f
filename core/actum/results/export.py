"""Exports of a table or of the metrics: written, read back, compared with the source, then named (§8, R14, R19).

The *Data* profile is lossless: csv, json, jsonl, parquet, arrow. The *Spreadsheet* profile is for people, csv and xlsx; its
losses are counted before anything is written (`preview`) and stand in the sidecar. A file is written in a hidden folder
beside its target, made durable, read back by code that had no part in the writing, and only renamed into place when every
value is equal. An existing file is never replaced unless asked. Beside it stands `<file>.actum.json`, which says what this is:
result, digests, rule, query, losses, and each column's type (`exportsaid`, which also finishes what was killed). The source is
the package's verified Parquet, whole or what a query leaves of it. Rows stream; what is held at once is bounded by
EXPORT_CELLS_MAX for each of EXPORT_THREADS_MAX threads.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from actum import canonical
from actum.errors import CheckFailed, WrongUse
from actum.results import (
    digests,
    export_arrow,
    export_csv,
    export_json,
    export_parquet,
    export_spreadsheet,
    export_xlsx,
    exportplace,
    exportsaid,
    exportsource,
    exportwords,
    parquetcopy,
    spreadsheet,
)
from actum.results.compare import Comparison
from actum.results.durable import action
from actum.results.exportplace import EXISTING, REFUSE, REPLACE, Temporaries, sidecar_of
from actum.results.exportsource import METRICS, Source
from actum.results.query import Query
from actum.results.spreadsheet import Survey
from actum.results.tables import Published, read_manifest

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["DATA_FORMATS", "FORMATS", "METRICS", "PROFILES", "SPREADSHEET_FORMATS", "Exported", "export", "preview"]

PROFILES = ("data", "spreadsheet")
_SAMPLE_ROWS, _SAMPLE_CELLS = 1_000, 10_000  # from which the size of a file is guessed
_PACKED = {"parquet": 2, "xlsx": 2}  # how much smaller than its rows a packed file is, at least


@dataclass(frozen=True, slots=True)
class Data:
    """A format of the Data profile."""

    rule: str
    refuse: Callable[[pa.Schema], None]
    write: Callable[[IO[bytes], Iterator[pa.RecordBatch], pa.Schema, dict[str, Any]], int]
    compare: Callable[[Path, str, Iterator[pa.RecordBatch], pa.Schema], Comparison]


DATA = {
    "csv": Data(export_csv.RULE, export_csv.refuse, export_csv.write, export_csv.compare),
    "json": Data(export_json.RULE, export_json.refuse, export_json.write, export_json.compare),
    "jsonl": Data(export_json.LINES_RULE, export_json.refuse, export_json.write_lines, export_json.compare_lines),
    "parquet": Data(export_parquet.RULE, export_parquet.refuse, export_parquet.write, export_parquet.compare),
    "arrow": Data(export_arrow.RULE, export_arrow.refuse, export_arrow.write, export_arrow.compare),
}
_SHEETS = {
    "csv": (export_spreadsheet.RULE, export_spreadsheet.refuse),
    "xlsx": (export_xlsx.RULE, export_xlsx.refuse),
}
DATA_FORMATS = tuple(DATA)
SPREADSHEET_FORMATS = tuple(_SHEETS)
FORMATS = (*DATA_FORMATS, "xlsx")


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written. `compared_rows` were read back and found equal; for a copied Parquet, by its digest.

    `path` is the file, or where there are several `parts` the name they share, and `sha256` then the digest of theirs.
    `exact` = nothing is lost; else `losses` name what, where.
    """

    path: str
    sidecar: str
    sha256: str
    size_bytes: int
    rows: int
    compared_rows: int
    rule: str
    source_sha256: str
    exact: bool = True
    losses: tuple[dict[str, Any], ...] = ()
    parts: tuple[dict[str, Any], ...] = ()
    options: Mapping[str, Any] | None = None
    instead: str | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"losses": list(self.losses), "parts": list(self.parts), "options": dict(self.options or {})}


def export(
    package: Path,
    name: str,
    format: str,
    profile: str,
    path: Path,
    *,
    overwrite: bool = False,
    existing: str | None = None,
    options: Mapping[str, Any] | None = None,
    published: Published | None = None,
    progress: digests.Progress = digests.no_progress,
) -> Exported:
    """Export the table `name` (or "metrics") of a package to `path`. Progress counts rows: looked at, written, compared.

    `existing`: refuse, replace, keep_both, or once: as keep_both, but what was made before under any of its names, and is
    whole, is not made again. `overwrite` is short for replace. `options`: {"query": of `query.Query`}. `published`: what is on
    record of the result; a package that is another is refused, and a copy that is another gives way to the authority.
    Raises WrongUse (format, profile, option, place, a type without a form), NotFound, Conflict (something is there),
    CheckFailed (the package is not as published, or the file read back differs), StorageFailed (no room, no right).
    """
    existing = existing or (REPLACE if overwrite else REFUSE)
    _refuse_wrong_use(package, format, profile, path, options or {}, existing)
    asked = Query.from_json(options["query"]) if options and options.get("query") is not None else Query()
    exportplace.settled(path, 1, existing)
    with action("reading the package"):
        manifest, manifest_sha256 = read_manifest(package, published)
        if existing == exportplace.ONCE:
            whose = exportsaid.identity(manifest_sha256, name, format, profile, exportwords.options(asked))
            if (before := _made_before(path, whose)) is not None:
                return before
        source = exportsource.find(package, name, published)
    with action("exporting"), exportplace.scratch(path.parent) as scratch:
        if not asked.whole:
            source = exportsource.filtered(source, asked, scratch)
        job = Job(source, format, profile, scratch, progress)
        job.refuse()

        def say(made: exportwords.Written) -> bytes:
            document = exportwords.sidecar(manifest, manifest_sha256, source, made, asked)
            document |= {"format": format, "profile": profile, "rule": job.rule}
            document["losses"] = [loss.to_json() for loss in job.losses]
            return canonical.pretty(document).encode()

        written = job.run(path, existing, say)
    return Exported(
        str(written.path),
        str(sidecar_of(written.path)),
        written.sha256,
        written.size_bytes,
        source.rows,
        written.compared_rows,
        job.rule,
        source.sha256,
        not any(loss.lossy for loss in job.losses),
        tuple(loss.to_json() for loss in job.losses),
        written.parts if len(written.parts) > 1 else (),
        exportwords.recorded(exportwords.options(asked), written),
        source.instead,
    )


def _refuse_wrong_use(package: Path, format: str, profile: str, path: Path, options: Mapping[str, Any], existing: str) -> None:
    if format not in FORMATS:
        raise WrongUse("bad_format", f"There is no export format “{format}”.", f"Known: {', '.join(FORMATS)}.")
    if profile not in PROFILES:
        raise WrongUse("bad_profile", f"There is no export profile “{profile}”.", f"Known: {', '.join(PROFILES)}.")
    known = SPREADSHEET_FORMATS if profile == "spreadsheet" else DATA_FORMATS
    if format not in known:
        other = "data" if profile == "spreadsheet" else "spreadsheet"
        remedy = f"The profile {profile} has {', '.join(known)}."
        raise WrongUse("bad_format", f"The format “{format}” belongs to the profile {other}.", "", remedy)
    if existing not in EXISTING:
        raise WrongUse("bad_option", f"“{existing}” is no way to treat what exists.", f"Known: {', '.join(EXISTING)}.")
    surplus = sorted(options.keys() - {"query"})
    if surplus:
        raise WrongUse("bad_option", f"The {format} export has no option “{surplus[0]}”.")
    if not path.name.isprintable() and any("\ud800" <= sign <= "\udfff" for sign in path.name):
        why = "The file that says what this is could not name it."
        raise WrongUse("bad_name", f"“{path.name.encode(errors='replace').decode()}” is no text.", why, "Choose another name.")
    if path.parent.exists() and not path.parent.is_dir():
        what = f"“{path.parent.name}”, where “{path.name}” should go, is no folder."
        raise WrongUse("no_folder", what, f"{path.parent}.", "Name another folder, or move what stands there.")
    if not path.parent.is_dir():
        raise WrongUse("no_folder", f"The folder of “{path.name}” does not exist.", f"{path.parent}.", "Make it first.")
    if path.is_dir():
        raise WrongUse("is_folder", f"“{path.name}” is a folder.", f"{path}.", "Name a file in it.")
    if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(package)):
        raise WrongUse("inside_package", "A published result is never written into.", f"{path}.", "Choose another folder.")


def _made_before(path: Path, whose: Mapping[str, Any]) -> Exported | None:
    """The export that was made under this name, or the name with a number, and is whole still."""
    exportplace.wait_for(path.parent, whose)
    found = exportsaid.made_before(tuple(exportplace.names(path)), whose)
    if found is None:
        return None
    place, said = found
    written = exportwords.Written(place, int(said["rows"]), tuple(said["parts"]))
    losses = tuple(said.get("losses") or ())
    return Exported(
        str(place),
        str(sidecar_of(place)),
        written.sha256,
        written.size_bytes,
        int(said["rows"]),
        int(said["rows"]),
        str(said["rule"]),
        str(said["source"]["sha256"]),
        not any(loss.get("lossy") for loss in losses),
        losses,
        written.parts if len(written.parts) > 1 else (),
        exportwords.recorded(said["options"], written),
    )


class Job:
    """One export being made. Attributes: rule, losses (known once `run` has looked)."""

    def __init__(self, source: Source, format: str, profile: str, scratch: Path, progress: digests.Progress) -> None:
        if format == "arrow":
            source = replace(source, batches=export_arrow.unified(source.batches, source.schema))
        self._source, self._format, self._scratch = source, format, scratch
        self._sheet = profile == "spreadsheet"
        self._progress = progress
        self._passes, self._passed = (3 if self._sheet else 2), 0
        self.rule = _SHEETS[format][0] if self._sheet else DATA[format].rule
        self.losses: tuple[spreadsheet.Loss, ...] = ()
        self._survey = Survey(source.schema, numbers=source.numbers)

    def refuse(self) -> None:
        """Raises WrongUse for a table that the format cannot hold."""
        (_SHEETS[self._format][1] if self._sheet else DATA[self._format].refuse)(self._source.schema)

    def run(self, path: Path, existing: str, say: Callable[[exportwords.Written], bytes] | None = None) -> exportwords.Written:
        """Look, write, read back, compare, name, with what `say` says beside it. Raises as `export`."""
        source, parts = self._source, 1
        exportplace.need_room(path.parent, sizes(source, (self._format,))[self._format])
        if self._sheet:
            self._survey = export_spreadsheet.survey(self._counted(), source.schema, source.numbers)
            self.losses = self._survey.losses(self._format)
            parts = self._survey.parts if self._format == "csv" else 1
        path = exportplace.settled(path, parts, existing)
        with Temporaries(exportplace.part_paths(path, parts), self._scratch) as temporary:
            with temporary.opened() as files:
                counts = self._write(files, temporary.paths)
            compared = self._compare(temporary.paths)
            found = [digests.of_file(each) for each in temporary.paths]
            written = exportwords.Written(path, compared, exportwords.parts(temporary.targets, found, counts))
            said = None if say is None else exportsaid.write(self._scratch, say(written))
            with exportplace.alone(path.parent):
                if existing == REPLACE:  # killed in between, a file without a word of it is left, never with another's
                    sidecar_of(path).unlink(missing_ok=True)
                temporary.into_place(said, sidecar_of(path), existing == REPLACE)
        return written

    def _write(self, files: list[IO[bytes]], paths: list[Path]) -> list[int]:
        source, schema = self._source, self._source.schema
        if self._sheet and self._format == "csv":
            return export_spreadsheet.write(files, self._counted(), schema, self._survey)
        if self._sheet:
            return [export_xlsx.write(files[0], self._counted(), schema, self._survey, source.name, self._scratch)]
        if self._copied:
            assert source.parquet is not None
            export_parquet.copy(files[0], source.parquet)
            return [source.rows]
        if self._format == "parquet" and source.view is not None:
            if parquetcopy.write(source.view, schema, paths[0]):
                self._skipped()
                return [source.rows]
            files[0].truncate(0)
        return [DATA[self._format].write(files[0], self._counted(), schema, exportwords.about(source))]

    def _compare(self, paths: list[Path]) -> int:
        import pyarrow as pa

        source, schema = self._source, self._source.schema
        if self._copied:
            export_parquet.compare_copy(paths[0], source.sha256)
            return source.rows
        try:
            if self._sheet and self._format == "csv":
                outcome = export_spreadsheet.compare(paths, source.name, self._counted(), schema, self._survey)
            elif self._sheet:
                outcome = export_xlsx.compare(paths[0], source.name, self._counted(), schema, self._survey)
            else:
                outcome = DATA[self._format].compare(paths[0], source.name, self._counted(), schema)
        except (pa.ArrowException, ValueError) as error:
            why = f"{str(error).splitlines()[0]}."
            raise CheckFailed("export_differs", "The export cannot be read back.", why, "Export again.") from error
        if outcome.difference is not None:
            why = f"{outcome.difference}."
            raise CheckFailed("export_differs", "The export, read back, differs from the result.", why, "Export again.")
        return outcome.rows

    @property
    def _copied(self) -> bool:
        return self._format == "parquet" and self._source.parquet is not None

    def _skipped(self) -> None:
        """A pass that was made without us seeing its batches."""
        self._passed += 1
        self._progress(self._passed * self._source.rows, self._passes * self._source.rows, "rows")

    def _counted(self) -> Iterator[pa.RecordBatch]:
        """The batches of one pass over the table, each reported once it was dealt with."""
        done, total = self._passed * self._source.rows, self._passes * self._source.rows
        self._passed += 1
        for batch in self._source.batches():
            yield batch
            done += batch.num_rows
            self._progress(done, total, "rows")


def preview(
    package: Path,
    name: str,
    progress: digests.Progress = digests.no_progress,
    query: Mapping[str, Any] | None = None,
    published: Published | None = None,
) -> dict[str, Any]:
    """What each export of a table, of what a query leaves of it, or of the metrics would be, before anything is written.

    `{"rows", "of", "losses": {format: [{column, code, count, lossy}]}, "refused": {format: why}, "bytes_about": {format: n}}`.
    Raises NotFound, CheckFailed, WrongUse, StorageFailed.
    """
    asked = Query() if query is None else Query.from_json(query)
    with action("reading the package"), tempfile.TemporaryDirectory(prefix="actum-preview-") as scratch:
        source = exportsource.find(package, name, published, check=False)
        if not asked.whole:
            source = exportsource.filtered(source, asked, Path(scratch))
        found = export_spreadsheet.survey(_reported(source, progress), source.schema, source.numbers)
        return {
            "rows": source.rows,
            "of": source.rows if source.of_rows is None else source.of_rows,
            "losses": {format: [loss.to_json() for loss in found.losses(format)] for format in SPREADSHEET_FORMATS},
            "refused": _refused(source.schema),
            "bytes_about": sizes(source),
        }


def _refused(schema: pa.Schema) -> dict[str, str]:
    told = {}
    for format in FORMATS:
        try:
            (_SHEETS[format][1] if format == "xlsx" else DATA[format].refuse)(schema)
        except WrongUse as error:
            told[format] = " ".join(part for part in (error.what, error.why) if part)
    return told


def _reported(source: Source, progress: digests.Progress) -> Iterator[pa.RecordBatch]:
    done = 0
    for batch in source.batches():
        yield batch
        done += batch.num_rows
        progress(done, source.rows, "rows")


def sizes(source: Source, formats: Sequence[str] = FORMATS) -> dict[str, int]:
    """About how many bytes each of the formats takes, from the first rows; a copied Parquet exactly."""
    import io

    first = next(iter(source.batches()), None)
    if first is None or first.num_rows == 0 or not source.schema.names:
        return dict.fromkeys(formats, 0)
    sample = first.slice(0, max(1, min(_SAMPLE_ROWS, _SAMPLE_CELLS // first.num_columns)))

    def text(format: str) -> int:
        file = io.BytesIO()
        DATA[format].write(file, iter((sample,)), source.schema, {})
        return len(file.getvalue())

    found: dict[str, int] = {}
    for format in formats:
        if format == "parquet" and source.parquet is not None:
            found[format] = source.parquet.stat().st_size
            continue
        size = sample.nbytes if format in ("arrow", "parquet") else text("jsonl" if format in ("json", "jsonl") else "csv")
        found[format] = size * source.rows // sample.num_rows // _PACKED.get(format, 1)
    return found
