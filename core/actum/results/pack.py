"""A result as one file (`.actumpack`), for others: made, opened, and refused where it is not what it says (§8, R19).

It is a ZIP that stores its members as they are, because every system opens one, a member is found without reading the others,
and it grows beyond 4 GiB (zip64). The same package gives the same file: members in the order of their names, one date, one
mode; links as ZIP keeps them. While it is written every file is digested and held against the manifest, so that a damaged
package does not travel. It is written under a temporary name, made durable, and gets its name by a rename that replaces
nothing.

Opening one trusts nothing in it: names stay inside the folder, no name twice, no compression (a small file cannot unfold into
a large one), no encryption, links that lead out refused, at most PACKAGE_FILES_MAX files.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import struct
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from actum import canonical, faults, limits
from actum.errors import CheckFailed, Conflict, StorageFailed, WrongUse
from actum.results import digests, durable, walk
from actum.results import manifest as names
from actum.results.publish import rename_noreplace
from actum.results.tables import Published, read_manifest

SUFFIX = ".actumpack"
_DATE = (1980, 1, 1, 0, 0, 0)  # the first a ZIP knows
_FILE_MODE = (stat.S_IFREG | durable.READ_ONLY_FILE) << 16
_NO_ZIP = (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError, struct.error)
# What the system says of a member in the place of a folder, of names that are too long, and of an offset before the start.
_REFUSED_NAMES = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EINVAL)
_LINK_MODE = (stat.S_IFLNK | 0o777) << 16


def is_pack(path: Path) -> bool:
    """Whether a regular file that begins like a ZIP is there."""
    try:
        with open(digests.open_regular(path), "rb") as file:
            return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")
    except OSError:
        return False


def make(
    package: Path,
    path: Path,
    progress: digests.Progress = digests.no_progress,
    *,
    overwrite: bool = False,
    published: Published | None = None,
) -> dict[str, Any]:
    """Write `package` to the new file `path`: `{"path", "sha256", "size_bytes", "files", "manifest_sha256"}`.

    `published`: what is on record of the result; a package that is another is refused.
    Raises Conflict (file_exists), CheckFailed (result_damaged), WrongUse, StorageFailed.
    """
    if path.parent.exists() and not path.parent.is_dir():
        what = f"“{path.parent.name}”, where “{path.name}” should go, is no folder."
        raise WrongUse("no_folder", what, f"{path.parent}.", "Name another folder, or move what stands there.")
    if not path.parent.is_dir():
        raise WrongUse("no_folder", f"The folder of “{path.name}” does not exist.", f"{path.parent}.", "Make it first.")
    if os.path.lexists(path) and not overwrite:
        raise Conflict("file_exists", f"“{path.name}” exists.", f"{path}.", "Choose another name.")
    if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(package)):
        raise WrongUse("inside_package", "A published result is never written into.", f"{path}.", "Choose another folder.")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.packing")
    try:
        with durable.action("packing the result"):
            made = _write(package, temporary, progress, published)
            _into_place(temporary, path, overwrite)
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
    return {"path": str(path), **made}


def _write(package: Path, temporary: Path, progress: digests.Progress, published: Published | None) -> dict[str, Any]:
    try:
        manifest, manifest_sha256 = read_manifest(package, published)
        wanted = _listed(package, manifest, manifest_sha256, published)
    except names.NotAPackage as error:
        raise _damaged(f"{error}.") from error
    total = sum(entry.get("size", 0) for entry in wanted.values())
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        progress(done, total, "bytes")

    with open(temporary, "xb") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as pack:
            for name in sorted(wanted):
                _add(pack, package, name, wanted[name], advance)
        file.flush()
        faults.point("pack.fsync.before")
        os.fsync(file.fileno())
        faults.point("pack.fsync.after")
    digest = digests.of_file(temporary)
    return {
        "sha256": digest.sha256,
        "size_bytes": digest.size,
        "files": len(wanted),
        "manifest_sha256": manifest_sha256,
    }


def _listed(
    package: Path, manifest: Mapping[str, Any], manifest_sha256: str, published: Published | None
) -> dict[str, Mapping[str, Any]]:
    """Every file that belongs to the package, with what is known of it."""
    wanted: dict[str, Mapping[str, Any]] = {str(entry["name"]): entry for entry in manifest["files"]}
    wanted[names.MANIFEST] = {"sha256": manifest_sha256}
    try:
        derived, derived_sha256 = names.read_derived(package)
    except FileNotFoundError:
        return wanted  # not yet derived; its authority travels
    if published is not None and published.derived and derived_sha256 not in published.derived:
        raise _damaged(f"“{names.DERIVED_MANIFEST}” is not as it was published.")
    wanted[names.DERIVED_MANIFEST] = {"sha256": derived_sha256}
    wanted |= {f"{names.DERIVED}/{entry['name']}": entry for entry in derived["files"]}
    return wanted


def _add(pack: zipfile.ZipFile, package: Path, name: str, entry: Mapping[str, Any], advance: Callable[[int], None]) -> None:
    info = zipfile.ZipInfo(name, _DATE)
    info.create_system = 3  # Unix, whose links and modes these are
    if entry.get("role") == "link":
        info.external_attr = _LINK_MODE
        pack.writestr(info, os.fsencode(entry["target"]))
        return
    info.external_attr = _FILE_MODE
    try:
        source = open(digests.open_regular(package / name), "rb", buffering=0)  # noqa: SIM115 - closed below
    except FileNotFoundError as error:
        raise _damaged(f"“{name}” is missing.") from error
    with source:
        size = os.fstat(source.fileno()).st_size
        info.file_size = size
        whole = canonical.hasher(size)
        with pack.open(info, "w", force_zip64=size >= limits.ZIP64_BYTES) as out:
            while block := source.read(limits.HASH_BLOCK_BYTES):
                whole.update(block)
                out.write(block)
                advance(len(block))
    if whole.hexdigest() != entry["sha256"]:
        raise _damaged(f"“{name}” has other bytes than were sealed.")


def _into_place(temporary: Path, path: Path, overwrite: bool) -> None:
    faults.point("pack.rename.before")
    if overwrite:
        os.replace(temporary, path)
    else:
        try:
            rename_noreplace(temporary, path)
        except FileExistsError as error:
            raise Conflict("file_exists", f"“{path.name}” exists.", f"{path}.", "Choose another name.") from error
    durable.fsync_folder(path.parent)
    faults.point("pack.rename.after")


@contextlib.contextmanager
def unpacked(path: Path, folder: Path | None = None) -> Iterator[Path]:
    """The package in the pack at `path`, as a folder that is gone afterwards. Raises CheckFailed, StorageFailed."""
    with durable.action("unpacking the result"):
        place = Path(tempfile.mkdtemp(prefix="actum-", dir=folder))
        try:
            unpack(path, place / "package")
            yield place / "package"
        finally:
            shutil.rmtree(place, ignore_errors=True)


def unpack(path: Path, folder: Path) -> None:
    """Write the members of a pack into the new folder. Raises CheckFailed (bad_pack), OSError."""
    try:
        with zipfile.ZipFile(path) as pack:
            members = _members(pack)
            needed = sum(info.file_size for info in members)
            if needed > path.stat().st_size:  # members that lie in one another: a small file would unfold into a large one
                raise _bad(f"Its files would take {needed:,} bytes, more than it has.")
            free = shutil.disk_usage(folder.parent).free
            if needed > free:
                why = f"It needs {needed:,} bytes, and {free:,} are free in {folder.parent}."
                raise StorageFailed("unpacking the result", OSError(28, why))
            folder.mkdir(mode=durable.PRIVATE_FOLDER)
            for info in members:
                _extract(pack, info, folder)
    except OSError as error:
        if error.errno in _REFUSED_NAMES:
            raise _bad(f"A member cannot be written: {os.strerror(error.errno)}.") from error
        raise
    except _NO_ZIP as error:
        raise _bad(f"{error}.") from error


def _members(pack: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    members = pack.infolist()
    if len(members) > limits.PACKAGE_FILES_MAX + limits.PACKAGE_TABLES_MAX + 8:
        raise _bad(f"It holds {len(members):,} files.")
    seen: set[str] = set()
    for info in members:
        if not names.is_safe_name(info.filename) or "\\" in info.filename:
            raise _bad(f"The name of a member leads out of it: {info.filename[:80]!r}.")
        if info.filename in seen:
            raise _bad(f"“{info.filename[:80]}” is in it twice.")
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1 or info.file_size != info.compress_size:
            raise _bad(f"“{info.filename[:80]}” is compressed or encrypted; a pack stores its files as they are.")
        seen.add(info.filename)
    if names.MANIFEST not in seen:
        raise _bad("It holds no manifest.json.")
    return members


def _extract(pack: zipfile.ZipFile, info: zipfile.ZipInfo, folder: Path) -> None:
    target = folder / info.filename
    target.parent.mkdir(parents=True, exist_ok=True, mode=durable.PRIVATE_FOLDER)
    if not os.path.realpath(target.parent).startswith(os.path.realpath(folder)):
        raise _bad(f"“{info.filename[:80]}” lies behind a link.")
    if stat.S_ISLNK(info.external_attr >> 16):
        if info.file_size > limits.LINK_BYTES_MAX:
            raise _bad(f"The link “{info.filename[:80]}” is too long.")
        target.symlink_to(os.fsdecode(pack.read(info)))
        if not walk.is_contained(target, folder / names.FILES):
            target.unlink()
            raise _bad(f"The link “{info.filename[:80]}” leads out of it.")
        return
    with pack.open(info) as source, open(target, "xb") as file:
        shutil.copyfileobj(source, file, limits.HASH_BLOCK_BYTES)
    target.chmod(durable.READ_ONLY_FILE)


def _damaged(why: str) -> CheckFailed:
    return CheckFailed("result_damaged", "The result is not as it was published, and is not packed.", why, "Verify the run.")


def _bad(why: str) -> CheckFailed:
    return CheckFailed("bad_pack", "This is no pack of a result, or a damaged one.", why, "Ask its sender for another copy.")
