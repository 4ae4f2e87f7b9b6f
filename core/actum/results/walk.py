"""What the work left in its output folder: files, contained links, and things no result may hold. Standard library only.

A pattern is matched against the path below the output folder; `*` crosses folders, so `*.csv` finds `sub/a.csv`. A link is
contained when the place it finally leads to is inside the output folder, however many links lie between.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from actum import limits
from actum.errors import ActumError
from actum.results import digests


class Outputs(NamedTuple):
    """Paths below the output folder, with `/`. `refused` maps a path to what is wrong with it."""

    files: tuple[str, ...]
    links: tuple[str, ...]
    refused: dict[str, str]


def scan(folder: Path) -> Outputs:
    """List the output folder. Raises OSError."""
    files: list[str] = []
    links: list[str] = []
    refused: dict[str, str] = {}
    for kind, name in _names(folder):
        path = folder / name
        if not is_text(name):
            refused[ascii(name)] = "a name that is not UTF-8"
        elif kind == "file" and (hollow := _hollow(path)):
            refused[name] = hollow
        elif kind == "file":
            files.append(name)
        elif kind == "link" and is_contained(path, folder):
            links.append(name)
        elif kind == "link":
            refused[name] = "a link that leads out of the output folder"
        elif kind == "special":
            refused[name] = _special_word(path)
    if len(files) + len(links) > limits.PACKAGE_FILES_MAX:
        raise ActumError(
            "result_rejected",
            f"The work left {len(files) + len(links):,} files.",
            f"A result holds at most {limits.PACKAGE_FILES_MAX:,}.",
            "Pack them into fewer files, or declare which of them are the output.",
        )
    return Outputs(tuple(files), tuple(links), refused)


def _names(folder: Path) -> list[tuple[str, str]]:
    """As `digests.names`; a folder that is gone, or a path that no call takes, is the work's doing and is said so."""
    try:
        return digests.names(folder)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            what, why = "The work left folders so deep that their path is too long.", "No program could open what is in them."
            raise ActumError("result_rejected", what, why, "Let the work write into fewer levels of folders.") from error
        attempt = folder.parent.parent  # where that is there, so is its disk
        if error.errno == errno.ENOENT and not os.path.lexists(folder) and attempt.is_dir():
            what, why = "The output folder is gone.", "The work, or something beside it, deleted it with all that was in it."
            raise ActumError("result_incomplete", what, why, "See the log; run it again when this is mended.") from error
        raise


def _hollow(path: Path) -> str:
    """What is wrong with a file that claims a great size and has next to nothing on the disk; "" for all others.

    Every byte of it would be digested, verified and exported, for hours. What is compressed by a file system stays far
    below OUTPUT_HOLLOW_FACTOR.
    """
    status = path.lstat()
    held = status.st_blocks * 512
    if status.st_size < limits.OUTPUT_HOLLOW_BYTES or held * limits.OUTPUT_HOLLOW_FACTOR > status.st_size:
        return ""
    return f"a sparse file of {status.st_size:,} bytes, of which {held:,} are on the disk"


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Whether a path below the output folder is meant by one of `patterns`."""
    return any(fnmatchcase(path, pattern) for pattern in patterns)


def missing(required: Sequence[str], paths: Iterable[str]) -> list[str]:
    """The required patterns that no path satisfies."""
    present = list(paths)
    return [pattern for pattern in required if not any(fnmatchcase(path, pattern) for path in present)]


def is_contained(link: Path, folder: Path) -> bool:
    """Whether the place that `link` finally leads to lies inside `folder`."""
    root = os.path.realpath(folder)
    end = os.path.realpath(link)
    return end == root or end.startswith(root + os.sep)


def is_inside(name: str) -> bool:
    """Whether a relative path that the work wrote down stays below the folder it is relative to."""
    parts = name.split("/")
    return bool(name) and not os.path.isabs(name) and not any(part in ("", ".", "..") for part in parts)


def is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _special_word(path: Path) -> str:
    mode = path.lstat().st_mode
    words = ((stat.S_ISFIFO, "a FIFO"), (stat.S_ISSOCK, "a socket"), (stat.S_ISBLK, "a device"), (stat.S_ISCHR, "a device"))
    return next((word for test, word in words if test(mode)), "neither a file nor a folder")
