"""What is known of a chosen file or folder before it becomes an input: size, lines, digest, and whether it will be copied.

Everything here reads the disk and is called away from the GUI thread; each look is bounded, and what the bound cuts off
is not shown rather than guessed.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from actum import limits
from actum.ipc import regular

from actum_desktop import measures
from actum_desktop.i18n import _, ngettext

_CHUNK_BYTES = 1 << 20
_TEXT = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json")


@dataclass(frozen=True, slots=True)
class FileInfo:
    """`problem` is a sentence when the path cannot be an input; `files` counts a folder's or several files."""

    path: str
    size: int = 0
    files: int = 1
    lines: int | None = None
    sha256: str | None = None
    complete: bool = True
    problem: str = ""


def look(path: str, base: Path, *, folder: bool = False) -> FileInfo:
    """One path, relative ones from `base` on."""
    full = os.path.abspath(os.path.join(base, os.path.expanduser(path)))
    try:
        if os.path.isdir(full):
            return _folder(full) if folder else FileInfo(full, problem=_("This is a folder; a file is needed."))
        if not os.path.exists(full):
            return FileInfo(full, problem=_("There is nothing at this path."))
        if folder:
            return FileInfo(full, problem=_("This is a file; a folder is needed."))
        size = os.path.getsize(full)
        if not os.path.isfile(full) or size > limits.FORM_READ_BYTES_MAX:
            return FileInfo(full, size)
        return _read(full, size)
    except OSError as error:
        return FileInfo(full, problem=_("This cannot be read: {why}.").format(why=error.strerror or error))


def look_all(paths: Sequence[str], base: Path) -> FileInfo:
    """Several files as one: the sum of their sizes, or the first problem."""
    total = 0
    for path in paths:
        seen = look_size(path, base)
        if seen.problem:
            return FileInfo(seen.path, problem=_("{path}: {problem}").format(path=path, problem=seen.problem))
        total += seen.size
    return FileInfo("", total, len(paths))


def look_size(path: str, base: Path) -> FileInfo:
    """As `look` for a file, without reading it."""
    full = os.path.abspath(os.path.join(base, os.path.expanduser(path)))
    if os.path.isdir(full):
        return FileInfo(full, problem=_("This is a folder; a file is needed."))
    try:
        return FileInfo(full, os.path.getsize(full))
    except OSError:
        return FileInfo(full, problem=_("There is nothing at this path."))


def _read(path: str, size: int) -> FileInfo:
    digest, lines, last = hashlib.sha256(), 0, b"\n"
    with regular.reading(path, follow=True) as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            digest.update(chunk)
            lines += chunk.count(b"\n")
            last = chunk[-1:]
    is_text = path.lower().endswith(_TEXT)
    return FileInfo(path, size, 1, lines + (last != b"\n") if is_text else None, digest.hexdigest())


def _folder(path: str) -> FileInfo:
    files, size = 0, 0
    for place, _folders, names in os.walk(path):
        for name in names:
            files += 1
            if files > limits.FORM_FOLDER_FILES_MAX:
                return FileInfo(path, size, limits.FORM_FOLDER_FILES_MAX, complete=False)
            size += os.lstat(os.path.join(place, name)).st_size
    return FileInfo(path, size, files)


def will(policy: str, size: int, copy_bytes_max: int) -> str:
    """What happens to the input before launch (R17)."""
    if policy == "auto":
        policy = "copy" if size <= copy_bytes_max else "pin"
    return _("will be copied") if policy == "copy" else _("will be pinned, not copied")


def line(info: FileInfo, policy: str, copy_bytes_max: int) -> str:
    """`84 KB · 561 lines · sha256 9f2c…41ab · will be copied`."""
    parts = []
    if info.files != 1 or not info.complete:
        count = measures.count(info.files) if info.complete else _("more than {n}").format(n=measures.count(info.files))
        parts.append(ngettext("{n} file", "{n} files", info.files).format(n=count))
    parts.append(measures.size(info.size) if info.complete else _("at least {size}").format(size=measures.size(info.size)))
    if info.lines is not None:
        parts.append(ngettext("{n} line", "{n} lines", info.lines).format(n=measures.count(info.lines)))
    if info.sha256:
        parts.append(f"sha256 {measures.short(info.sha256)}")
    return " · ".join((*parts, will(policy, info.size, copy_bytes_max)))
