"""Verification of a sealed or published package against the identity it must have (§5.11, §8).

Gets a path and the expected identity, nothing else; trusts neither the work nor whoever derived. Level *bytes*:
`manifest_sha256` (the manifest is the one that was sealed), `identity` (this workspace, run, attempt, session, request),
`contract` (its digest, required outputs and tables), `listing` (all that is listed is there, and nothing else), `digests`
(size and sha256 of each), `derived` (derived.json names this manifest; beside it lie the files it lists, and no others).
Level *content*: the rows of each authority, read again, against the Parquet as read (`compare`). Each check stands alone:
none relies on another having passed, so each of the five lies of FORMATS is caught by the check named for it even if all
others are satisfied.

Content is checked whole, or in the chunks that an extent names (`chunks`); the report says which, in words that never say
more. Neither level says that the source was trustworthy or the formula right. Without tables no table library is loaded.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from actum import canonical, limits
from actum.errors import StorageFailed
from actum.results import digests, walk
from actum.results import manifest as names
from actum.results.chunks import WHOLE, Extent
from actum.results.report import Expected, Findings, LevelReport, Report, level
from actum.results.resume import Resume, state

Advance = Callable[[int], None]


def verify(
    package: Path,
    expected: Expected,
    progress: digests.Progress = digests.no_progress,
    *,
    extent: Extent = WHOLE,
    resume: Path | None = None,
) -> Report:
    """Verify `package`, at both levels. Progress counts bytes read.

    With an `extent` that is not whole, the files are looked at for presence and size, and the content of the chunks named.
    `resume` is a file for notes: what it holds of an interrupted verification is not done again. A file that is absent or
    cannot be understood is a finding. Raises StorageFailed where the disk does not answer (EIO, EACCES, …): that is no
    verdict; WrongUse for chunks that are not there.
    """
    notes = Resume(resume)
    try:
        report = _verify(package, expected, progress, extent, notes)
    except OSError as error:
        raise StorageFailed("verifying the package", error) from error
    finally:
        notes.close()
    notes.end()
    return report


def verify_bytes(package: Path, expected: Expected, progress: digests.Progress = digests.no_progress) -> LevelReport:
    """The level *bytes* alone. Raises StorageFailed as `verify` does."""
    findings = Findings()
    try:
        manifest, digest = _read(package, names.read_manifest, "manifest", findings)
        if manifest is None:
            return level("bytes", findings)
        derived, derived_digest = _read(package, names.read_derived, "derived", findings)
        documents = _Documents(package, manifest, digest, derived, derived_digest)
        return _bytes(documents, expected, findings, _counter(progress, _size_bytes(manifest, derived)), Resume(None))
    except OSError as error:
        raise StorageFailed("verifying the package", error) from error


def verify_authority(package: Path, expected: Expected, progress: digests.Progress = digests.no_progress) -> LevelReport:
    """The level *bytes* of all but the derived tables: whether these can be made again. Raises StorageFailed."""
    findings = Findings()
    try:
        manifest, digest = _read(package, names.read_manifest, "manifest", findings)
        if manifest is None:
            return level("authority", findings)
        if expected.manifest_sha256 is not None and digest != expected.manifest_sha256:
            findings.add("manifest_sha256", "manifest.json is not the one that was sealed.")
        _check_identity(manifest, expected, findings)
        advance = _counter(progress, _size_bytes(manifest, None))
        for entry in manifest["files"]:
            _check_file(package, entry["name"], entry, "digests", findings, advance, Resume(None))
        return level("authority", findings, files=len(manifest["files"]), size_bytes=_size_bytes(manifest, None))
    except OSError as error:
        raise StorageFailed("verifying the package", error) from error


class _Documents(NamedTuple):
    """A package and what it says of itself."""

    package: Path
    manifest: Mapping[str, Any]
    digest: str | None
    derived: Mapping[str, Any] | None
    derived_digest: str | None


def _verify(package: Path, expected: Expected, progress: digests.Progress, extent: Extent, notes: Resume) -> Report:
    findings = Findings()
    manifest, digest = _read(package, names.read_manifest, "manifest", findings)
    if manifest is None:
        not_looked_at = Findings()
        not_looked_at.add("content", "Without a manifest nothing says which tables there are.")
        return Report(level("bytes", findings), level("content", not_looked_at), None, None)
    derived, derived_digest = _read(package, names.read_derived, "derived", findings)
    documents = _Documents(package, manifest, digest, derived, derived_digest)
    tables = [entry for entry in manifest["files"] if entry.get("role") == "table"]
    read = sum(entry["size"] for entry in tables) + (_size_bytes(manifest, derived) if extent.whole else 0)
    advance = _counter(progress, read)
    notes.begin(digest, derived_digest)
    touched = _states(documents)
    first = (_bytes if extent.whole else _presence)(documents, expected, findings, advance, notes)
    second = _content(documents, advance, extent, notes)
    return Report(_untouched(first, findings, touched, _states(documents)), second, digest, derived_digest)


def _states(documents: _Documents) -> dict[str, list[int] | None]:
    """How each file of the package stands now; None for one that is not there."""
    listed = [names.MANIFEST, names.DERIVED_MANIFEST, *(name for name, _, _ in _files(documents))]
    return {name: _state(documents.package / name) for name in listed}


def _state(path: Path) -> list[int] | None:
    try:
        return state(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _untouched(report: LevelReport, findings: Findings, before: Mapping[str, Any], after: Mapping[str, Any]) -> LevelReport:
    """Bytes and content are read one after the other: of a file that changed between, neither speaks."""
    changed = [name for name in before if before[name] != after[name]]
    if not changed:
        return report
    for name in changed:
        findings.add("digests", f"“{name}” was changed while it was verified.")
    return replace(report, ok=False, findings=tuple(findings.kept), findings_total=findings.count)


def _content(documents: _Documents, advance: Advance, extent: Extent, notes: Resume) -> LevelReport:
    package, manifest, digest, derived, _ = documents
    findings = Findings()
    tables = [entry for entry in manifest["files"] if entry.get("role") == "table"]
    counted: dict[str, Any] = {"files": len(tables), "size_bytes": sum(entry["size"] for entry in tables)}
    if tables or manifest["authority"]:
        from actum.results.compare import compare_tables

        covered = compare_tables(package, manifest, digest, derived, findings, advance, extent, notes)
        counted |= {"rows": covered.rows, "chunks": covered.chunks, "resumed": covered.resumed, "extent": covered.extent}
        counted["chunk_numbers"] = tuple(covered.numbers)
        if not extent.whole:
            counted |= {"files": covered.tables, "size_bytes": 0}  # of the files no more than some chunks were read
    elif not extent.whole:
        extent.choose(())
        counted["extent"] = extent.words(0, 0)
    return level("content", findings, **counted)


def _identities(documents: _Documents, expected: Expected, findings: Findings) -> None:
    """What is compared without reading a file: whose package it is, under which contract, and what lies in it."""
    if expected.manifest_sha256 is not None and documents.digest != expected.manifest_sha256:
        findings.add("manifest_sha256", "manifest.json is not the one that was sealed.")
    if expected.derived_sha256 and documents.derived_digest not in (None, *expected.derived_sha256):
        findings.add("derived", "derived.json is not the one that was published.")
    _check_identity(documents.manifest, expected, findings)
    _check_contract(documents.manifest, expected, findings)
    _check_listing(documents.package, documents.manifest, documents.derived, findings)
    if documents.derived is not None and documents.derived["manifest_sha256"] != documents.digest:
        findings.add("derived", "derived.json was derived from another manifest.")


def _bytes(documents: _Documents, expected: Expected, findings: Findings, advance: Advance, notes: Resume) -> LevelReport:
    package, manifest, _, derived, _ = documents
    _identities(documents, expected, findings)
    files = _files(documents)
    large = [name for name, entry, _ in files if entry.get("size", 0) > limits.DIGESTED_TOGETHER_BYTES]
    if len(large) < 2:
        for name, entry, check in files:
            _check_file(package, name, entry, check, findings, advance, notes)
    else:  # digesting leaves the interpreter to others: two large files at a time
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(limits.DIGESTING_THREADS) as pool:
            for found in pool.map(lambda file: _file_findings(package, file, advance, notes), files):
                for finding in found.kept:
                    findings.add(finding.check, finding.message)
    size = _size_bytes(manifest, derived)
    return level("bytes", findings, files=len(files), size_bytes=size, resumed=notes.taken_over)


def _files(documents: _Documents) -> list[tuple[str, Mapping[str, Any], str]]:
    """Every listed file: its name in the package, its entry, and the check that it belongs to."""
    files = [(str(entry["name"]), entry, "digests") for entry in documents.manifest["files"]]
    derived = documents.derived["files"] if documents.derived is not None else ()
    return files + [(f"{names.DERIVED}/{entry['name']}", entry, "derived") for entry in derived]


def _file_findings(package: Path, file: tuple[str, Mapping[str, Any], str], advance: Advance, notes: Resume) -> Findings:
    findings = Findings()
    name, entry, check = file
    _check_file(package, name, entry, check, findings, advance, notes)
    return findings


def _presence(documents: _Documents, expected: Expected, findings: Findings, advance: Advance, notes: Resume) -> LevelReport:
    """Every listed file is there with its size; no byte of it is read."""
    _identities(documents, expected, findings)
    files = _files(documents)
    for name, entry, check in files:
        try:
            size = (documents.package / name).lstat().st_size
        except (FileNotFoundError, NotADirectoryError):
            findings.add("listing" if check == "digests" else check, f"“{name}” is missing.")
            continue
        if entry.get("size") is not None and size != entry["size"]:
            findings.add(check, f"“{name}” has {size:,} bytes, not {entry['size']:,}.")
    return level("presence", findings, files=len(files))


def _read(
    package: Path, read: Callable[[Path], tuple[dict[str, Any], str]], check: str, findings: Findings
) -> tuple[dict[str, Any] | None, str | None]:
    """A document that must be there and be understood, or a finding."""
    what = "manifest.json" if check == "manifest" else "derived.json"
    try:
        document, digest = read(package)
    except (FileNotFoundError, NotADirectoryError):
        findings.add(check, f"{what} is missing.")
    except names.NotAPackage as error:
        findings.add(check, f"{error}.")
    else:
        return document, digest
    return None, None


def _check_identity(manifest: Mapping[str, Any], expected: Expected, findings: Findings) -> None:
    for name in ("workspace", "run", "attempt", "session", "request_digest"):
        wanted = getattr(expected, name)
        if wanted is not None and manifest.get(name) != wanted:
            findings.add("identity", f"The package is of another {name.replace('_', ' ')}: {manifest.get(name)}, not {wanted}.")


def _check_contract(manifest: Mapping[str, Any], expected: Expected, findings: Findings) -> None:
    contract = manifest["contract"]
    digest = canonical.digest(contract)
    if expected.contract_digest is not None and not digest == manifest.get("contract_digest") == expected.contract_digest:
        findings.add("contract", "The package was made under another contract.")
    prefix = f"{names.FILES}/"
    written = [entry["name"].removeprefix(prefix) for entry in manifest["files"] if entry["name"].startswith(prefix)]
    written += [str(entry.get("source")) for entry in manifest["files"] if entry.get("role") == "table"]
    required = [*expected.required, *(pattern for pattern in contract.get("required", ()) if pattern not in expected.required)]
    for pattern in walk.missing(required, written):
        findings.add("contract", f"The required output “{pattern}” is not in the package.")
    for table in contract.get("tables", ()):
        if table.get("required") and table["name"] not in manifest["authority"]:
            findings.add("contract", f"The required table “{table['name']}” is not in the package.")


def _check_listing(package: Path, manifest: Mapping[str, Any], derived: Mapping[str, Any] | None, findings: Findings) -> None:
    listed = {entry["name"] for entry in manifest["files"]} | {names.MANIFEST, names.DERIVED_MANIFEST}
    listed |= {f"{names.DERIVED}/{entry['name']}" for entry in (derived["files"] if derived else ())}
    for kind, path in digests.entries(package):
        name = path.relative_to(package).as_posix()
        if kind == "folder" or name in listed:
            continue
        if not name.startswith(f"{names.DERIVED}/"):
            findings.add("listing", f"“{name}” is in the package and not in its manifest.")
        elif derived is not None:  # without derived.json nothing says what belongs there, and that is said already
            findings.add("derived", f"“{name}” is in the package and not in derived.json.")


def _check_file(
    package: Path,
    name: str,
    entry: Mapping[str, Any],
    check: str,
    findings: Findings,
    advance: Advance,
    notes: Resume,
) -> None:
    path = package / name
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        findings.add("listing" if check == "digests" else check, f"“{name}” is missing.")
        return
    if entry.get("role") == "link":
        if not stat.S_ISLNK(mode) or os.readlink(path) != entry["target"]:
            findings.add(check, f"“{name}” is not the link that was sealed.")
        elif not walk.is_contained(path, package / names.FILES):
            findings.add(check, f"“{name}” leads out of the package.")
        return
    if not stat.S_ISREG(mode):
        findings.add(check, f"“{name}” is not a regular file.")
        return
    noted = notes.digest(name, path)
    if noted is None:
        before = state(path)
        digest = digests.of_file(path, advance)
        noted = (digest.size, digest.sha256)
        if state(path) == before:
            notes.note_digest(name, before, *noted)
    if noted[0] != entry["size"]:
        findings.add(check, f"“{name}” has {noted[0]:,} bytes, not {entry['size']:,}.")
    elif noted[1] != entry["sha256"]:
        findings.add(check, f"“{name}” has other bytes than were sealed.")


def _size_bytes(manifest: Mapping[str, Any], derived: Mapping[str, Any] | None) -> int:
    entries = [*manifest["files"], *(derived["files"] if derived else ())]
    return sum(entry.get("size", 0) for entry in entries)


def _counter(progress: digests.Progress, total: int) -> Advance:
    done = 0
    one_at_a_time = threading.Lock()

    def advance(count: int) -> None:
        nonlocal done
        with one_at_a_time:
            done += count
            progress(min(done, total), total, "bytes")

    return advance
