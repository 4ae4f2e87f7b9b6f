"""Verification of a sealed or published package against the identity it must have (§5.11, §8).

Gets a path and the expected identity, nothing else; trusts neither the work nor whoever derived. Level *bytes*:
`manifest_sha256` (the manifest is the one that was sealed), `identity` (this workspace, run, attempt, session, request),
`contract` (its digest, required outputs and tables), `listing` (all that is listed is there, and nothing else), `digests`
(size and sha256 of each), `derived` (derived.json names this manifest; its files as it lists them). Level *content*: the
rows of each authority, read again, against the Parquet as read (`compare`). Each check stands alone: none relies on another
having passed, so each of the five lies of FORMATS is caught by the check named for it even if all others are satisfied.

Neither level says that the source was trustworthy or the formula right. Without tables no table library is loaded.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from actum import canonical
from actum.errors import StorageFailed
from actum.results import digests, walk
from actum.results import manifest as names
from actum.results.report import Expected, Findings, LevelReport, Report, level

Advance = Callable[[int], None]


def verify(package: Path, expected: Expected, progress: digests.Progress = digests.no_progress) -> Report:
    """Verify `package` whole, at both levels. Progress counts bytes read.

    A file that is absent or cannot be understood is a finding. Raises StorageFailed where the disk does not answer (EIO,
    EACCES, …): that is no verdict.
    """
    try:
        return _verify(package, expected, progress)
    except OSError as error:
        raise StorageFailed("verifying the package", error) from error


def verify_bytes(package: Path, expected: Expected, progress: digests.Progress = digests.no_progress) -> LevelReport:
    """The level *bytes* alone. Raises StorageFailed as `verify` does."""
    findings = Findings()
    try:
        manifest, digest = _read(package, names.read_manifest, "manifest", findings)
        if manifest is None:
            return level("bytes", findings)
        derived, _ = _read(package, names.read_derived, "derived", findings)
        advance = _counter(progress, _size_bytes(manifest, derived))
        return _bytes(package, manifest, digest, derived, expected, findings, advance)
    except OSError as error:
        raise StorageFailed("verifying the package", error) from error


def _verify(package: Path, expected: Expected, progress: digests.Progress) -> Report:
    findings = Findings()
    manifest, digest = _read(package, names.read_manifest, "manifest", findings)
    if manifest is None:
        not_looked_at = Findings()
        not_looked_at.add("content", "Without a manifest nothing says which tables there are.")
        return Report(level("bytes", findings), level("content", not_looked_at), None, None)
    derived, derived_digest = _read(package, names.read_derived, "derived", findings)
    tables = [entry for entry in manifest["files"] if entry.get("role") == "table"]
    advance = _counter(progress, _size_bytes(manifest, derived) + sum(entry["size"] for entry in tables))
    bytes_level = _bytes(package, manifest, digest, derived, expected, findings, advance)
    content = Findings()
    rows = 0
    if tables or manifest["authority"]:
        from actum.results.compare import compare_tables

        rows = compare_tables(package, manifest, digest, derived, content, advance)
    return Report(
        bytes_level,
        level("content", content, files=len(tables), size_bytes=sum(entry["size"] for entry in tables), rows=rows),
        digest,
        derived_digest,
    )


def _bytes(
    package: Path,
    manifest: Mapping[str, Any],
    digest: str | None,
    derived: Mapping[str, Any] | None,
    expected: Expected,
    findings: Findings,
    advance: Advance,
) -> LevelReport:
    if expected.manifest_sha256 is not None and digest != expected.manifest_sha256:
        findings.add("manifest_sha256", "manifest.json is not the one that was sealed.")
    _check_identity(manifest, expected, findings)
    _check_contract(manifest, expected, findings)
    _check_listing(package, manifest, derived, findings)
    for entry in manifest["files"]:
        _check_file(package, entry["name"], entry, "digests", findings, advance)
    if derived is not None:
        if derived["manifest_sha256"] != digest:
            findings.add("derived", "derived.json was derived from another manifest.")
        for entry in derived["files"]:
            _check_file(package, f"{names.DERIVED}/{entry['name']}", entry, "derived", findings, advance)
    count = len(manifest["files"]) + len(derived["files"] if derived else ())
    return level("bytes", findings, files=count, size_bytes=_size_bytes(manifest, derived))


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
        if kind != "folder" and name not in listed:
            findings.add("listing", f"“{name}” is in the package and not in its manifest.")


def _check_file(package: Path, name: str, entry: Mapping[str, Any], check: str, findings: Findings, advance: Advance) -> None:
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
    digest = digests.of_file(path, advance)
    if digest.size != entry["size"]:
        findings.add(check, f"“{name}” has {digest.size:,} bytes, not {entry['size']:,}.")
    elif digest.sha256 != entry["sha256"]:
        findings.add(check, f"“{name}” has other bytes than were sealed.")


def _size_bytes(manifest: Mapping[str, Any], derived: Mapping[str, Any] | None) -> int:
    entries = [*manifest["files"], *(derived["files"] if derived else ())]
    return sum(entry.get("size", 0) for entry in entries)


def _counter(progress: digests.Progress, total: int) -> Advance:
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        progress(min(done, total), total, "bytes")

    return advance
