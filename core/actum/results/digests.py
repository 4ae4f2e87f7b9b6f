"""Digests of files and folders: sha256 of the bytes, in one pass, in bounded memory. Standard library only.

The digest of a folder is the sha256 of its sorted tree: one line per entry, `kind NUL path NUL size-or-target NUL sha256`,
paths relative with `/`, sorted by their bytes. Names and bytes count; times, owners and modes do not.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, NamedTuple

from actum import canonical, limits
from actum.ipc import regular

Progress = Callable[[int, int, str], None]


def no_progress(done: int, total: int, unit: str) -> None:
    """Reports nothing."""


class FileDigest(NamedTuple):
    """`lines` counts lines, a last one without a line feed too; `chunks` are the digests of successive CHUNK_BYTES.

    Both are 0 and empty unless asked for; a file of at most CHUNK_BYTES has no chunks.
    """

    sha256: str
    size: int
    lines: int = 0
    chunks: tuple[str, ...] = ()


def of_file(path: Path, advance: Callable[[int], None] | None = None) -> FileDigest:
    """Digest of a regular file; a link is not followed. `advance` is told of each block's length. Raises OSError."""
    with open(open_regular(path), "rb", buffering=0) as file:
        return of_stream(file, advance)


def of_stream(file: IO[bytes], advance: Callable[[int], None] | None = None, *, detail: bool = False) -> FileDigest:
    """Digest of what is left of `file`; with `detail`, lines and chunks too."""
    size = lines = 0
    last = ord("\n")
    chunks: list[str] = []
    block = bytearray(limits.HASH_BLOCK_BYTES)
    view = memoryview(block)
    count = file.readinto(block)  # type: ignore[attr-defined]
    whole, chunk = canonical.hasher(count), canonical.hasher(count)
    while count:
        whole.update(view[:count])
        size += count
        if detail:
            lines += block.count(b"\n", 0, count)
            last = block[count - 1]
            chunk.update(view[:count])
            if size % limits.CHUNK_BYTES == 0:
                chunks.append(chunk.hexdigest())
                chunk = canonical.hasher(limits.CHUNK_BYTES)
        if advance is not None:
            advance(count)
        count = file.readinto(block)  # type: ignore[attr-defined]
    if detail and size % limits.CHUNK_BYTES:
        chunks.append(chunk.hexdigest())
    lines += last != ord("\n")
    return FileDigest(whole.hexdigest(), size, lines, tuple(chunks) if size > limits.CHUNK_BYTES else ())


def of_bytes(*content: bytes | bytearray) -> str:
    whole = canonical.hasher(sum(map(len, content)))
    for part in content:
        whole.update(part)
    return whole.hexdigest()


def of_folder(root: Path, advance: Callable[[int], None] | None = None) -> FileDigest:
    """Digest of the sorted tree below `root`; `size` is the sum of its files. Raises OSError."""
    lines: list[bytes] = []
    size = 0
    for kind, path in entries(root):
        name = os.fsencode(path.relative_to(root).as_posix())
        if kind == "file":
            digest = of_file(path, advance)
            size += digest.size
            lines.append(b"\0".join((b"file", name, str(digest.size).encode(), digest.sha256.encode())))
        elif kind == "link":
            lines.append(b"\0".join((b"link", name, os.fsencode(os.readlink(path)), b"")))
        else:
            lines.append(b"\0".join((kind.encode(), name, b"", b"")))
    return FileDigest(of_bytes(b"\n".join(lines)), size)


def entries(root: Path) -> list[tuple[str, Path]]:
    """Everything below `root` as (kind, path), sorted by path: file, link, folder or special. Links are not followed."""
    return [(kind, root / name) for kind, name in names(root)]


def names(root: Path) -> list[tuple[str, str]]:
    """As `entries`, with what follows `root` alone, with `/`: a tenth of the memory where a folder holds very many files."""
    found: list[tuple[str, str]] = []
    waiting = [""]
    while waiting:
        inside = waiting.pop()
        with os.scandir(root / inside) as listing:
            for entry in listing:
                name = f"{inside}{entry.name}"
                if entry.is_symlink():
                    found.append(("link", name))
                elif entry.is_dir(follow_symlinks=False):
                    found.append(("folder", name))
                    waiting.append(f"{name}/")
                else:
                    found.append(("file" if entry.is_file(follow_symlinks=False) else "special", name))
    found.sort(key=lambda item: os.fsencode(item[1]))
    return found


def open_regular(path: Path) -> int:
    """A descriptor of a regular file, never a wait (ipc/regular.py). Raises OSError."""
    return regular.descriptor(path)
