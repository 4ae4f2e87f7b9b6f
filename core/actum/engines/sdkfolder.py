"""A folder that holds the task authors' package alone, for interpreters that are not ours.

Our own site-packages must never reach a foreign interpreter, so `actum/__init__.py` and `actum/sdk` are copied into a cache
folder named after their digest. It is made beside its place and renamed into it, so that several processes may make it at
once and a half-made one is never used; a folder that is there is complete.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

import actum
from actum.errors import StorageFailed

PACKAGE = Path(actum.__file__).parent
_INIT = '"""Only the task authors\' package of Actum, for the interpreter of a task."""\n'


def own_folder() -> Path:
    """The folder that holds our own `actum`, for work that our own interpreter runs."""
    return PACKAGE.parent


def sdk_folder(cache: Path) -> Path:
    """The folder under `cache` to put on a foreign interpreter's path; made when missing. Raises StorageFailed."""
    sources = sorted((PACKAGE / "sdk").glob("*.py"))
    total = hashlib.sha256(_INIT.encode())
    for source in sources:
        content = source.read_bytes()
        total.update(f"{source.name} {len(content)}\n".encode() + content)
    folder = cache / f"sdk-{total.hexdigest()[:32]}"
    if folder.is_dir():
        return folder
    try:
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        _make(folder, sources)
    except OSError as error:
        raise StorageFailed("copying the task authors' package", error) from error
    return folder


def _make(folder: Path, sources: list[Path]) -> None:
    making = Path(tempfile.mkdtemp(prefix=".sdk-", dir=folder.parent))
    try:
        package = making / "actum" / "sdk"
        package.mkdir(parents=True)
        (making / "actum" / "__init__.py").write_text(_INIT, encoding="utf-8")
        for source in sources:
            shutil.copyfile(source, package / source.name)
        making.rename(folder)
    except OSError:
        shutil.rmtree(making, ignore_errors=True)
        if not folder.is_dir():  # else another process was first
            raise


def runner(folder: Path) -> str:
    """The program, inside a folder from above, that calls a function."""
    return os.fspath(folder / "actum" / "sdk" / "run_function.py")
