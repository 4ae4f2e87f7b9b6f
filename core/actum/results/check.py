"""What holds of a published result *now*: its result state, which never rewrites history (R16, §1).

| state     | meaning                                                                    |
|-----------|----------------------------------------------------------------------------|
| readable  | checked at the level named, and as it was published                        |
| unchecked | its place could not be looked at (disk absent, I/O error): nothing is known |
| damaged   | it is this result, and something in it is not as sealed                    |
| missing   | its place was looked at, and it is not there                               |
| replaced  | another package of the same run and attempt stands in its place            |
| forbidden | the system refuses to let us read it                                       |
| foreign   | what stands there is no package of this run and attempt, or no package     |

Levels: *presence* (manifest and derived.json as recorded, every listed file there with its size), *bytes* (every digest),
*content* (the whole verification), *content: chunks i–j* and *content: sample of n* (`chunks:3-7`, `sample:5`: presence, and
the content of these chunks), *authority* (every digest but those of the derived tables). Each state has its remedy in words.
Where it is on record which derived.json is this result's, another one is damage at every level but *content*, which compares
each row with the authority and so tells itself. A damaged result whose authorities are as sealed can have its derived tables
made again (`rebuildable`); a damaged authority is never repaired.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from actum.errors import StorageFailed, WrongUse
from actum.results import digests
from actum.results import manifest as names
from actum.results.chunks import WHOLE, Extent, extent_of
from actum.results.report import Expected, LevelReport, Report
from actum.results.verify import verify, verify_authority, verify_bytes

LEVELS = ("presence", "bytes", "content", "authority")
REMEDIES = {
    "readable": "",
    "unchecked": "Attach the disk that holds the workspace, or look at its state; then verify again.",
    "damaged": "Take the package from a backup, or run the task again. A damaged authority is never repaired.",
    "missing": "Put the folder back from a backup, or run the task again.",
    "replaced": "Move what stands there elsewhere, and put the published package back from a backup.",
    "forbidden": "Give yourself the right to read the folder; then verify again.",
    "foreign": "Move what stands there elsewhere, and put the published package back from a backup.",
}
REBUILD = "Its authority is as sealed: the derived tables can be made again (`actum verify RUN --rebuild`)."
_DERIVED_CHECKS = frozenset({"derived", "content"})
_FORBIDDEN = (errno.EACCES, errno.EPERM)
_ABSENT = (errno.ENOENT, errno.ENOTDIR)


@dataclass(frozen=True, slots=True)
class Check:
    """`reason` and `remedy` are sentences; `details` holds the report of the level, or nothing."""

    state: str
    reason: str
    level: str
    details: Mapping[str, Any] = field(default_factory=dict)
    rebuildable: bool = False

    @property
    def remedy(self) -> str:
        return REBUILD if self.rebuildable else REMEDIES[self.state]

    def to_json(self) -> dict[str, Any]:
        return {
            "state": self.state,
            "reason": self.reason,
            "level": self.level,
            "details": dict(self.details),
            "remedy": self.remedy,
            "rebuildable": self.rebuildable,
        }


def check(
    package: Path,
    digest: str,
    level: str,
    expected: Expected | None = None,
    progress: digests.Progress = digests.no_progress,
    resume: Path | None = None,
) -> Check:
    """The state of the result whose manifest had `digest`; `expected` says whose it is. `resume`: notes, as `verify` has them.

    Raises WrongUse for another level, or for chunks that are not there.
    """
    extent = extent_of(level)
    if level not in LEVELS and extent is None:
        known = f"Known: {', '.join(LEVELS)}, chunks:FIRST-LAST, sample:N."
        raise WrongUse("bad_level", f"There is no check level “{level}”.", known)
    try:
        return _check(package, digest, level, expected or Expected(), progress, extent, resume)
    except (OSError, StorageFailed) as error:
        return _unreadable(error, level)


def _check(
    package: Path,
    digest: str,
    level: str,
    expected: Expected,
    progress: digests.Progress,
    extent: Extent | None,
    resume: Path | None,
) -> Check:
    place = _look(package, level)
    if place is not None:
        return place
    try:
        manifest, found = names.read_manifest(package)
    except FileNotFoundError:
        return Check("damaged", "manifest.json is missing.", level)
    except names.NotAPackage as error:
        return Check("foreign", f"What stands there is no result package: {error}.", level)
    if found != digest:
        return _other(manifest, expected, level)
    derived = () if level == "content" else expected.derived_sha256
    wanted = Expected(**{**_identity(expected), "manifest_sha256": digest, "derived_sha256": derived})
    if level == "content" or extent is not None:
        return _from_report(verify(package, wanted, progress, extent=extent or WHOLE, resume=resume), level)
    if level == "bytes":
        return _from_level(verify_bytes(package, wanted, progress), level)
    if level == "authority":
        return _from_level(verify_authority(package, wanted, progress), level)
    return _presence(package, manifest, wanted)


def _look(package: Path, level: str) -> Check | None:
    """None if a folder is there. A folder that could not be listed above it is no proof of absence."""
    try:
        package.lstat()
    except (FileNotFoundError, NotADirectoryError):
        package.parent.parent.stat()  # results/ itself: raises where even that is gone
        return Check("missing", f"Nothing is at {package}.", level)
    if not package.is_dir() or package.is_symlink():
        return Check("foreign", "What stands there is not a folder.", level)
    return None


def _other(manifest: Mapping[str, Any], expected: Expected, level: str) -> Check:
    """Another manifest than recorded: of this attempt (replaced) or of another (foreign)."""
    for name in ("workspace", "run", "attempt"):
        wanted = getattr(expected, name)
        if wanted is not None and manifest.get(name) != wanted:
            return Check("foreign", f"The package there is of another {name}.", level)
    return Check("replaced", "Another package of this run stands in its place.", level)


def _presence(package: Path, manifest: Mapping[str, Any], expected: Expected) -> Check:
    try:
        derived, found = names.read_derived(package)
    except (FileNotFoundError, names.NotAPackage) as error:
        return Check("damaged", f"derived.json cannot be read: {error}.", "presence", rebuildable=True)
    if expected.derived_sha256 and found not in expected.derived_sha256:
        return Check("damaged", "derived.json is not the one that was published.", "presence", rebuildable=True)
    wanted = [(entry["name"], entry.get("size")) for entry in manifest["files"]]
    wanted += [(f"{names.DERIVED}/{entry['name']}", entry["size"]) for entry in derived["files"]]
    for name, size in wanted:
        of_derived = name.startswith(f"{names.DERIVED}/")
        try:
            status = (package / name).lstat()
        except FileNotFoundError:
            return Check("damaged", f"“{name}” is missing.", "presence", rebuildable=of_derived)
        if size is not None and status.st_size != size:
            said = f"“{name}” has {status.st_size:,} bytes, not {size:,}."
            return Check("damaged", said, "presence", rebuildable=of_derived)
    return Check("readable", f"{len(wanted)} files are there with their sizes.", "presence", {"files": len(wanted)})


def _from_report(report: Report, level: str) -> Check:
    if report.ok:
        extent = report.content.extent
        said = f"{report.bytes.files} files and {report.content.rows:,} rows are as they were."
        if extent != "whole":
            rows = f"{report.content.rows:,} rows mean what their authority means"
            said = f"{report.bytes.files} files are there; {rows} ({extent})."
        return Check("readable", said, level, report.to_json())
    return Check("damaged", report.reason, level, report.to_json(), report.failed_checks <= _DERIVED_CHECKS)


def _from_level(report: LevelReport, level: str) -> Check:
    if report.ok:
        return Check("readable", f"{report.files} files have their digests.", level, report.to_json())
    derived = {finding.check for finding in report.findings} <= _DERIVED_CHECKS
    return Check("damaged", report.findings[0].message, level, report.to_json(), derived)


def _unreadable(error: OSError | StorageFailed, level: str) -> Check:
    number = error.errno
    why = error.why if isinstance(error, StorageFailed) else f"{error.strerror or error}."
    if number in _FORBIDDEN:
        return Check("forbidden", f"The system refuses to let Actum read it: {why}", level)
    if number in _ABSENT:
        return Check("unchecked", f"The folder of the results is not there: {why}", level)
    return Check("unchecked", f"Its place could not be read: {why}", level)


def _identity(expected: Expected) -> dict[str, Any]:
    return {**expected.to_json(), "required": expected.required, "derived_sha256": expected.derived_sha256}
