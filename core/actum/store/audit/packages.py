"""Checks of what was given away: result packages on disk, packages nobody refers to, exported files (R13, R16)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from actum.errors import StorageFailed
from actum.model.status import Phase
from actum.results import digests, manifest
from actum.results.report import Expected
from actum.results.verify import verify_bytes
from actum.store.audit.report import Finding, Look

_EXPORT_AGAIN = "Export it again if you need it; the result itself is kept."


def packages(look: Look) -> Iterator[Finding]:
    """Each result row has its package as it was published: every byte, nothing besides, and the files that the rows list.

    The package is looked at as `actum verify` does at the level of bytes, so that both find the same and say the same.
    """
    for row in list(look.each("SELECT attempt, run, path, digest FROM result ORDER BY run")):
        subject = f"run {row['run']}, {row['path']}"
        remedy = f"`actum verify {row['run']}` records what holds now; put the package back from a backup of results/."
        for problem in _package_problems(look, row):
            yield look.finding(subject, problem, remedy)


def _package_problems(look: Look, row: Mapping[str, Any]) -> Iterator[str]:
    folder = look.ws.path / row["path"]
    if folder.is_symlink():
        yield "A link stands in the place of the package."
        return
    view = look.reader.result(row["run"])
    expected = Expected(manifest_sha256=row["digest"], derived_sha256=view.derived_digests if view is not None else ())
    try:
        report = verify_bytes(folder, expected)
    except StorageFailed as error:
        yield f"{error.what} {error.why}"
        return
    look.examined += report.files
    yield from (finding.message for finding in report.findings)
    if report.ok:
        yield from _differing_rows(look, row["attempt"], folder)


def _differing_rows(look: Look, attempt: int, folder: Path) -> Iterator[str]:
    """What the window lists of a sound package is what its manifest lists."""
    sealed = {entry["name"]: entry for entry in manifest.read_manifest(folder)[0]["files"]}
    found = look.each("SELECT name, role, size, sha256 FROM result_file WHERE attempt = ?", attempt)
    rows = {row["name"]: row for row in found}
    yield from (f"“{name}” is in the manifest and not in the database." for name in sorted(sealed.keys() - rows.keys()))
    yield from (f"“{name}” is in the database and not in the manifest." for name in sorted(rows.keys() - sealed.keys()))
    for name in sorted(sealed.keys() & rows.keys()):
        if any(member in sealed[name] and sealed[name][member] != rows[name][member] for member in ("role", "size", "sha256")):
            yield f"“{name}” is another file in the database than in the manifest."


def orphans(look: Look) -> Iterator[Finding]:
    """Every folder in results/ belongs to a result row, or to an attempt that is publishing right now."""
    for folder in _second_level(look.ws.results):
        look.examined += 1
        relative = folder.relative_to(look.ws.path).as_posix()
        known = look.reader.connection.execute("SELECT 1 FROM result WHERE path = ?", (relative,)).fetchone()
        if known is None and not _publishing(look, folder):
            yield look.finding(
                relative,
                "No result row refers to this package.",
                "It may be imported as a result, or moved away; Actum leaves it where it is.",
            )
    incoming = look.ws.results / ".incoming"
    if incoming.is_dir() and any(incoming.iterdir()) and not _any_publishing(look):
        yield look.finding("results/.incoming", "An unfinished copy was left behind.", "Run `actum reconcile`, or remove it.")


def exports(look: Look) -> Iterator[Finding]:
    """Exported files are where they were written and have their digest; moving them is the user's good right."""
    for row in list(look.each("SELECT run, path, sha256, size_bytes FROM export ORDER BY seq")):
        problem = _file_problem(Path(row["path"]), row["sha256"], row["size_bytes"])
        if problem:
            what = f"The exported file {problem}."
            yield look.finding(f"run {row['run']}, {row['path']}", what, _EXPORT_AGAIN, note=True)


def _file_problem(path: Path, sha256: str, size: int) -> str:
    try:
        found = digests.of_file(path)
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    if found.size != size:
        return f"has {found.size:,} bytes, not {size:,}"
    return "" if found.sha256 == sha256 else "is not the file that was recorded"


def _second_level(folder: Path) -> Iterator[Path]:
    """results/<run>/<n>; dot names are not looked at."""
    if not folder.is_dir():
        return
    for first in sorted(folder.iterdir()):
        if first.is_dir() and not first.name.startswith("."):
            yield from (second for second in sorted(first.iterdir()) if not second.name.startswith("."))


def _publishing(look: Look, folder: Path) -> bool:
    row = look.reader.connection.execute(
        "SELECT 1 FROM attempt WHERE CAST(run AS TEXT) = ? AND CAST(n AS TEXT) = ? AND phase = ?",
        (folder.parent.name, folder.name, Phase.PUBLISHING.value),
    ).fetchone()
    return row is not None


def _any_publishing(look: Look) -> bool:
    query = "SELECT 1 FROM attempt WHERE phase = ? LIMIT 1"
    return look.reader.connection.execute(query, (Phase.PUBLISHING.value,)).fetchone() is not None


CHECKS = (
    ("packages", "Every result is on disk as it was published", packages),
    ("orphans", "Every package has its result", orphans),
    ("exports", "Exported files are as they were written", exports),
)
