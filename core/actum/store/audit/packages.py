"""Checks of what was given away: result packages on disk, packages nobody refers to, exported files (R13, R16)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from actum.model.status import Phase
from actum.results import digests
from actum.store.audit.report import Finding, Look

_EXPORT_AGAIN = "Export it again if you need it; the result itself is kept."


def packages(look: Look) -> Iterator[Finding]:
    """Each result row has its package, with the recorded digest of manifest.json, of every listed file and link."""
    rows = list(look.each("SELECT attempt, run, path, digest FROM result ORDER BY run"))
    for row in rows:
        folder = look.ws.path / row["path"]
        subject = f"run {row['run']}, {row['path']}"
        remedy = f"`actum verify {row['run']}` records what holds now; put the package back from a backup of results/."
        if folder.is_symlink():
            yield look.finding(subject, "A link stands in the place of the package.", remedy)
            continue
        problem = _file_problem(folder / "manifest.json", row["digest"], None)
        if problem:
            yield look.finding(subject, f"manifest.json {problem}.", remedy)
            continue
        for file in look.each("SELECT name, role, size, sha256 FROM result_file WHERE attempt = ?", row["attempt"]):
            read = _of_link if file["role"] == "link" else digests.of_file
            problem = _file_problem(folder / file["name"], file["sha256"], file["size"], read)
            if problem:
                yield look.finding(subject, f"{file['name']} {problem}.", remedy)


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


def _file_problem(
    path: Path, sha256: str, size: int | None, read: Callable[[Path], digests.FileDigest] = digests.of_file
) -> str:
    try:
        found = read(path)
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    if size is not None and found.size != size:
        return f"has {found.size:,} bytes, not {size:,}"
    return "" if found.sha256 == sha256 else "is not the file that was recorded"


def _of_link(path: Path) -> digests.FileDigest:
    """What a link holds is its target; it is never followed."""
    target = os.readlink(os.fsencode(path))
    return digests.FileDigest(digests.of_bytes(target), len(target))


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
