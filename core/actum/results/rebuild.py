"""Making the derived tables of a published result again, where its authority is as sealed (R14, R18).

    prepare     the package's folder can be written to; what stands in `derived/` goes to quarantine, with the reason
    place       what was derived anew gets its name, everything read-only and durable again

A crash between leaves a package without `derived/`: damaged, rebuildable, and the same steps are taken again. The authority
is never written to. Whoever calls verifies the whole package afterwards.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from actum import faults
from actum.results import digests, durable, publish
from actum.results import manifest as names
from actum.results.durable import action

if TYPE_CHECKING:
    from actum.workspace import Workspace


def replace_derived(ws: Workspace, package: Path, fresh: Path, label: str, reason: str, at_us: int) -> Path | None:
    """Put the folder `fresh` in the place of `derived/`. Returns where the old one is kept, if there was one.

    Raises StorageFailed.
    """
    target = package / names.DERIVED
    kept: Path | None = None
    with action("rebuilding the derived tables"):
        package.chmod(durable.PRIVATE_FOLDER)
        try:
            if target.exists():
                kept = publish.quarantine(ws, target, f"derived-{label}", reason, at_us)
            faults.point("rebuild.rename.before")
            publish.rename_noreplace(fresh, target)
            faults.point("rebuild.rename.after")
            for kind, path in digests.entries(target):
                if kind == "file":
                    durable.settle_file(path)
            durable.fsync_folder(target)
            target.chmod(durable.READ_ONLY_FOLDER)
            durable.fsync_folder(package)
        finally:
            package.chmod(durable.READ_ONLY_FOLDER)
    return kept


def discard(fresh: Path) -> None:
    """What was derived and is not wanted."""
    shutil.rmtree(fresh, ignore_errors=True)
