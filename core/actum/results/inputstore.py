"""The supervisor's part of freezing: give a finished copy its name in the store, and clear away unfinished ones (§5.2)."""

from __future__ import annotations

import shutil
from pathlib import Path

from actum import faults
from actum.results import durable, inputs
from actum.results.publish import rename_noreplace


def settle(store: Path, temporary: Path, sha256: str) -> Path:
    """Rename `temporary` to `<store>/<sha256>`; another run may have put the same content there first. Raises StorageFailed."""
    target = store / sha256
    with durable.action("placing the frozen input"):
        faults.point("freeze.rename.before")
        try:
            rename_noreplace(temporary, target)
        except FileExistsError:
            shutil.rmtree(temporary, ignore_errors=True)
        faults.point("freeze.rename.after")
        durable.fsync_folder(store)
    return inputs.store_path(store, sha256)


def drop_unfinished(store: Path) -> int:
    """Remove copies that an earlier service instance did not finish; how many there were."""
    dropped = 0
    if store.is_dir():
        for entry in store.iterdir():
            if inputs.is_temporary(entry.name):
                shutil.rmtree(entry, ignore_errors=True)
                dropped += 1
    return dropped
