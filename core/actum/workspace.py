"""The workspace on disk: one folder that holds everything Actum knows (§11).

`Workspace` only names places; it touches nothing. The lock, the generation file and the run-time directory have modules of
their own: `lock`, `generation`, `runtime`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from actum.errors import StorageFailed, WorkspaceUnusable

MOUNTS = Path("/proc/self/mountinfo")
NETWORK_TYPES = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "fuse.sshfs", "fuse.rclone", "glusterfs"}
)
SYNCED_WORDS = ("dropbox", "onedrive", "google drive", "googledrive", "icloud", "nextcloud", "owncloud", "坚果云")
PLACES = ("folder_network", "folder_synced", "folder_volumes")


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why the place of a workspace may not hold what is promised. `code` is one of PLACES; `about` = what it was told by."""

    code: str
    sentence: str
    about: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Workspace:
    """The places of one workspace, as absolute paths."""

    path: Path

    @property
    def database(self) -> Path:
        return self.path / "actum.db"

    @property
    def lock(self) -> Path:
        return self.path / "lock"

    @property
    def generation(self) -> Path:
        return self.path / "generation"

    @property
    def writing(self) -> Path:
        """Stands while a writing connection is open."""
        return self.path / "writing"

    @property
    def endpoint(self) -> Path:
        return self.path / "endpoint"

    @property
    def inputs(self) -> Path:
        return self.path / "inputs"

    @property
    def attempts(self) -> Path:
        return self.path / "attempts"

    @property
    def results(self) -> Path:
        return self.path / "results"

    @property
    def exports(self) -> Path:
        return self.path / "exports"

    @property
    def quarantine(self) -> Path:
        return self.path / "quarantine"

    @property
    def trash(self) -> Path:
        return self.path / "trash"

    @property
    def backups(self) -> Path:
        return self.path / "backups"

    def attempt_folder(self, run: int, n: int) -> Path:
        return self.attempts / str(run) / str(n)

    def result_folder(self, run: int, n: int) -> Path:
        return self.results / str(run) / str(n)

    def folders(self) -> tuple[Path, ...]:
        """Every folder of the workspace, the workspace first."""
        parts = (self.inputs, self.attempts, self.results, self.exports, self.quarantine, self.trash, self.backups)
        return (self.path, *parts)


def locate(text: str | None = None) -> Workspace:
    """The workspace meant by an argument, else by ACTUM_HOME, else the user's own. Creates nothing."""
    chosen = text or os.environ.get("ACTUM_HOME")
    if chosen:
        return Workspace(Path(chosen).expanduser().absolute())
    import platformdirs

    return Workspace(Path(platformdirs.user_data_dir("actum", appauthor=False)) / "workspace")


def create_folders(ws: Workspace) -> None:
    """Make what is missing, private to the user (0700). Raises WorkspaceUnusable when the place cannot be written."""
    try:
        ws.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in ws.folders()[1:]:
            folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise unusable("creating the workspace's folders", error, ws.path) from error


def unusable(action: str, error: OSError, path: Path) -> WorkspaceUnusable | StorageFailed:
    """The known failure behind an OSError met while opening a workspace."""
    import errno

    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return WorkspaceUnusable(
            "workspace_read_only",
            f"The workspace {path} cannot be written.",
            f"{error.strerror}{f': {error.filename}' if error.filename else ''}.",
            "Choose another folder with --workspace, or make this one writable.",
        )
    if error.errno in (errno.EEXIST, errno.ENOTDIR):
        return WorkspaceUnusable(
            "workspace_not_a_folder",
            f"{path} cannot be a workspace.",
            f"There is a file where a folder is needed: {error.filename}.",
            "Choose another folder with --workspace.",
        )
    return StorageFailed(action, error, "Make room or choose another folder with --workspace, then try again.")


def folder_warnings(ws: Workspace, mounts: Path = MOUNTS) -> list[str]:
    """Sentences about a place that is known to be unreliable for a database: network and synced folders, several volumes."""
    return [doubt.sentence for doubt in doubts(ws, mounts)]


def doubts(ws: Workspace, mounts: Path = MOUNTS) -> list[Doubt]:
    """What is doubtful about the place, in the order of PLACES."""
    found = []
    kind = filesystem_type(ws.path, mounts)
    if kind in NETWORK_TYPES:
        told = f"The workspace is on a network folder ({kind}). Locks and fsync may not hold there; use a local folder."
        found.append(Doubt(PLACES[0], told, {"file_system": kind}))
    lowered = str(ws.path).lower()
    synced = next((word for word in SYNCED_WORDS if word in lowered), None)
    if synced is not None:
        told = (
            f"The workspace seems to be in a synced folder ({synced}). A sync program can replace files under a running task."
        )
        found.append(Doubt(PLACES[1], told, {"sync_program": synced}))
    devices = {folder.stat().st_dev for folder in (ws.attempts, ws.results) if folder.exists()}
    if len(devices) > 1:
        told = "attempts/ and results/ are on different volumes; publishing copies instead of renaming."
        found.append(Doubt(PLACES[2], told, {}))
    return found


def filesystem_type(path: Path, mounts: Path = MOUNTS) -> str:
    """The type of the file system that holds `path` ("ext4"), or "" where it cannot be told."""
    try:
        text = mounts.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
    wanted = os.path.realpath(path)
    best, kind = "", ""
    for line in text.splitlines():
        left, _, right = line.partition(" - ")
        fields = left.split()
        if len(fields) < 5 or not right:
            continue
        place = fields[4].replace("\\040", " ")
        inside = wanted == place or wanted.startswith(place.rstrip("/") + "/")
        if inside and len(place) >= len(best):
            best, kind = place, right.split()[0]
    return kind
