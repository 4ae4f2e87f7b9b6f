"""The readable tables of a package: where the Parquet of each is, and reading it (R13: through the manifest only).

`locate` is strict: the derived Parquet, or an error. `readable` is for whoever browses: where that quicker copy is not there,
cannot be opened or is another table's, it names the authority itself, and why. What a copy holds is not looked at: a value
changed within it is found by a verification, or by its digest. `as_published` reads that first, for whoever hands values on.
A package can be closed again over a changed value, with digests that fit. Of a result of a workspace it is on record which
digests its manifest and its derived.json have (`Published`): whoever has that record gives it along, and other documents are
not believed. Nothing is on record of a package from elsewhere.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actum.errors import CheckFailed, NotFound
from actum.results import authority, digests
from actum.results import manifest as names

if TYPE_CHECKING:
    import pyarrow as pa


# What opening something that is no file of ours ends with: nothing, a link, a folder, a pipe, a socket.
_NOT_A_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EISDIR, errno.EINVAL, errno.ENXIO)


@dataclass(frozen=True, slots=True)
class StoredTable:
    """One table as a Parquet file of its package, and what the package says of that file."""

    name: str
    path: Path
    sha256: str
    rule: str

    def schema(self) -> pa.Schema:
        import pyarrow.parquet as pq

        return _readable(pq.read_schema, self.path)

    def rows(self) -> int:
        import pyarrow.parquet as pq

        return int(_readable(pq.read_metadata, self.path).num_rows)

    def is_derived_from(self, manifest_sha256: str) -> bool:
        """Whether the Parquet says that it is this table of that package, and not another's."""
        import pyarrow.parquet as pq

        said = _readable(pq.read_metadata, self.path).metadata or {}
        return (said.get(b"actum.table"), said.get(b"actum.manifest")) == (self.name.encode(), manifest_sha256.encode())

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All rows, at most BATCH_ROWS at once. Raises OSError, ActumError."""
        return authority.parquet_batches(self.path, self.name)


@dataclass(frozen=True, slots=True)
class Published:
    """What a workspace has on record of a result. `derived` = digests that derived.json may have; none = not on record."""

    manifest_sha256: str
    derived: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"manifest_sha256": self.manifest_sha256, "derived": list(self.derived)}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Published:
        """What `to_json` wrote."""
        return cls(str(document["manifest_sha256"]), tuple(str(each) for each in document["derived"]))


@dataclass(frozen=True, slots=True)
class Readable:
    """The file by which a table is browsed, and the digest it must have.

    `instead` = why it is the authority and not the quicker copy: None (it is the copy, or a Parquet handed over, which has
    none) | absent (the package has no copies) | missing | damaged | forbidden. `authority` = the authority's file and digest
    where a copy is derived from it.
    """

    path: Path
    sha256: str
    instead: str | None = None
    authority: tuple[Path, str] | None = None

    def to_json(self) -> dict[str, Any]:
        own = None if self.authority is None else [str(self.authority[0]), self.authority[1]]
        return {"path": str(self.path), "sha256": self.sha256, "instead": self.instead, "authority": own}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Readable:
        """What `to_json` wrote."""
        own = document["authority"]
        return cls(
            Path(document["path"]),
            document["sha256"],
            document["instead"],
            None if own is None else (Path(own[0]), own[1]),
        )

    def by_authority(self, why: str) -> Readable:
        """The same table by its authority; itself where there is no other way."""
        if self.instead is not None or self.authority is None:
            return self
        return Readable(*self.authority, why, self.authority)


def _readable(read: Callable[[Path], Any], path: Path) -> Any:
    """What a Parquet says of itself. Raises OSError, CheckFailed where it is none any more."""
    import pyarrow as pa

    try:
        return read(path)
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise _damaged(f"{path.name}: {str(error).splitlines()[0]}.") from error


def table_names(package: Path, published: Published | None = None) -> list[str]:
    """Raises OSError, CheckFailed."""
    return sorted(read_manifest(package, published)[0]["authority"])


def readable(package: Path, name: str, published: Published | None = None) -> Readable:
    """How a table can be browsed now. Raises NotFound, CheckFailed (the manifest cannot be believed), OSError."""
    manifest, digest = read_manifest(package, published)
    entry = next((entry for entry in manifest["files"] if entry.get("table") == name), None)
    if entry is None or entry["rule"] not in authority.DERIVED_RULES:
        found = locate(package, name)
        return Readable(found.path, found.sha256)
    own = _stored(package, name, entry["name"], entry["sha256"], entry["rule"])
    source = (own.path, own.sha256)
    if not (package / names.DERIVED).is_dir():
        return Readable(*source, "absent", source)
    try:
        copy = locate(package, name, published)
        if not stat.S_ISREG(os.lstat(copy.path).st_mode):  # a link, a folder, a pipe that would keep us waiting
            return Readable(*source, "damaged", source)
        if not copy.is_derived_from(digest):
            return Readable(*source, "damaged", source)
    except FileNotFoundError:
        return Readable(*source, "missing", source)
    except PermissionError:
        return Readable(*source, "forbidden", source)
    except (CheckFailed, KeyError, TypeError):
        return Readable(*source, "damaged", source)
    return Readable(copy.path, copy.sha256, None, source)


def as_published(package: Path, name: str, published: Published | None = None) -> Readable:
    """As `readable`, of a file whose bytes were just compared with their digest. Raises CheckFailed where there is none."""
    table = readable(package, name, published)
    if not _is_as_published(table):
        table = table.by_authority("damaged")
        if not _is_as_published(table):
            what = f"The table “{name}” is not as it was published."
            raise CheckFailed("result_damaged", what, remedy="Verify the run.")
    return table


def _is_as_published(table: Readable) -> bool:
    try:
        return digests.of_file(table.path).sha256 == table.sha256
    except OSError as error:
        if error.errno in _NOT_A_FILE:
            return False
        raise


def locate(package: Path, name: str, published: Published | None = None) -> StoredTable:
    """Raises NotFound, CheckFailed (the package is damaged), OSError."""
    manifest, digest = read_manifest(package, published)
    entry = next((entry for entry in manifest["files"] if entry.get("table") == name), None)
    if entry is None:
        known = ", ".join(sorted(manifest["authority"])) or "none"
        raise NotFound("no_table", f"The result has no table “{name}”.", f"Its tables: {known}.")
    if entry["rule"] not in authority.DERIVED_RULES:
        return _stored(package, name, entry["name"], entry["sha256"], entry["rule"])
    try:
        derived = read_derived(package, published)
    except names.NotAPackage as error:
        raise _damaged(f"{error}.") from error
    except (FileNotFoundError, NotADirectoryError) as error:
        raise _damaged("derived.json is missing.") from error
    copy = next((copy for copy in derived["files"] if copy.get("table") == name), None)
    if derived["manifest_sha256"] != digest or copy is None:
        raise _damaged(f"The derived tables do not belong to it, or lack “{name}”.")
    return _stored(package, name, f"{names.DERIVED}/{copy['name']}", copy["sha256"], entry["rule"])


def _stored(package: Path, name: str, place: object, sha256: str, rule: str) -> StoredTable:
    if not names.is_safe_name(place):
        raise _damaged(f"“{place}” is not a place in the package.")
    return StoredTable(name, package / str(place), sha256, rule)


def read_manifest(package: Path, published: Published | None) -> tuple[dict[str, Any], str]:
    """manifest.json and its sha256. Raises CheckFailed where it is none, or not the one on record; OSError."""
    try:
        manifest, digest = names.read_manifest(package)
    except names.NotAPackage as error:
        raise _damaged(f"{error}.") from error
    if published is not None and digest != published.manifest_sha256:
        raise _damaged("manifest.json is not the one that was published.")
    return manifest, digest


def read_derived(package: Path, published: Published | None) -> dict[str, Any]:
    """derived.json. Raises NotAPackage where it is none, or not the one on record; OSError."""
    derived, digest = names.read_derived(package)
    if published is not None and published.derived and digest not in published.derived:
        raise names.NotAPackage("derived.json is not the one that was published")
    return derived


def _damaged(why: str) -> CheckFailed:
    return CheckFailed("result_damaged", "The package cannot be read.", why, "Verify the run.")
