"""Parquet of the Data profile, rule `parquet.data.v1`: the bytes of the package's own Parquet, copied.

It was verified against its authority before publication; the copy is read back and has the digest of the original.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import IO

from actum.errors import CheckFailed
from actum.results import digests

RULE = "parquet.data.v1"


def write(file: IO[bytes], source: Path) -> None:
    with open(source, "rb") as original:
        shutil.copyfileobj(original, file, 1 << 20)


def compare(path: Path, sha256: str) -> None:
    """Raises CheckFailed when the copy, read back, is not the original."""
    if digests.of_file(path).sha256 != sha256:
        raise CheckFailed("export_differs", "The exported Parquet, read back, is not the one of the package.")
