"""`actum doctor`: what Actum finds on this machine and in this workspace, as named facts.

Every look is guarded: a thing that cannot be found out is said to be unknown, and nothing is changed.
"""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from actum import lock
from actum.errors import ActumError, NotFound
from actum.generation import folder_identity, read_endpoint, read_generation
from actum.limits import SOCKET_PATH_BYTES_MAX
from actum.runtime import socket_path
from actum.workspace import Workspace, filesystem_type, folder_warnings

WAL_RESET_SQLITE = ((3, 7, 0), (3, 51, 2))  # reported: one connection commits while another checkpoints
_FREE_BYTES_LOW = 1 << 30


class Health(StrEnum):
    OK = "ok"
    NOTE = "note"  # worth knowing; nothing is wrong
    WARNING = "warning"
    BAD = "bad"  # Actum cannot work like this


@dataclass(frozen=True, slots=True)
class Sign:
    """One named fact: what was found, and what to do about it ("" = nothing)."""

    name: str
    title: str
    health: Health
    found: str
    remedy: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": "actum.doctor/1",
            "name": self.name,
            "title": self.title,
            "health": self.health.value,
            "found": self.found,
            "remedy": self.remedy,
        }


def examine(ws: Workspace) -> list[Sign]:
    """Every sign, machine first. Never raises for what it finds."""
    return [_guarded(name, title, look, ws) for name, title, look in SIGNS]


def is_well(signs: list[Sign]) -> bool:
    return all(sign.health is not Health.BAD for sign in signs)


Found = tuple[Health, str, str]


def _guarded(name: str, title: str, look: Callable[[Workspace], Found], ws: Workspace) -> Sign:
    try:
        health, found, remedy = look(ws)
    except ActumError as error:
        health, found, remedy = Health.BAD, f"{error.what} {error.why}".strip(), error.remedy
    except (OSError, sqlite3.Error) as error:
        health, found, remedy = Health.NOTE, f"cannot tell: {error}", ""
    return Sign(name, title, health, found, remedy)


def _python(_: Workspace) -> Found:
    return Health.OK, f"{platform.python_implementation()} {platform.python_version()}", ""


def _pyside(_: Workspace) -> Found:
    from importlib.metadata import PackageNotFoundError, version

    try:
        found = version("PySide6-Essentials")
    except PackageNotFoundError:
        return Health.NOTE, "not installed; the window cannot open", "Install PySide6-Essentials 6.11."
    text = f"PySide6 {found} on Python {platform.python_version()}"
    if found.startswith("6.12.") and sys.version_info < (3, 12):
        return Health.BAD, f"{text}: this pair aborts after a few hundred signals", "Install PySide6-Essentials 6.11."
    return Health.OK, text, ""


def _sqlite(_: Workspace) -> Found:
    text = f"SQLite {sqlite3.sqlite_version}"
    first, last = WAL_RESET_SQLITE
    if first <= sqlite3.sqlite_version_info <= last:
        why = (
            "versions 3.7.0 to 3.51.2 are reported to have a fault when one connection commits while another"
            " checkpoints. Actum has one writing connection, and it alone checkpoints"
        )
        return Health.NOTE, f"{text}: {why}", ""
    return Health.OK, text, ""


def _processes(_: Workspace) -> Found:
    if not sys.platform.startswith("linux"):
        return Health.WARNING, f"{sys.platform}: the port for it has not been run yet", ""
    if not hasattr(os, "pidfd_open"):
        return Health.BAD, "this Python has no pidfd_open", "Use a Python built on Linux 5.3 or newer."
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError as error:
        return (
            Health.BAD,
            f"pidfd_open is refused ({error.strerror}); no process could be ended safely",
            "Use Linux 5.3 or newer.",
        )
    return Health.OK, "processes are ended by identity (pidfd)", ""


def _cgroup(_: Workspace) -> Found:
    from actum.processes import cgroup

    home = cgroup.own()
    if home is not None and cgroup.is_delegated(home):
        return Health.OK, f"{home} is delegated; each attempt gets a group of its own in it", ""
    return Health.NOTE, "none is delegated; process trees are found by cookie and recorded members", ""


def _evidence(_: Workspace) -> Found:
    """How this program was tried: what the tests and the long runs wrote, if it is here."""
    from importlib.util import find_spec

    from actum import tried

    root, spec = tried.checkout(), find_spec("actum_resources")
    places = [root / "build" / "evidence.json"] if root else []
    places += [Path(place) / "evidence.json" for place in (spec.submodule_search_locations or () if spec else ())]
    found = next((read for place in places if isinstance(read := tried.read(place), tried.Tried)), None)
    if found is None:
        return Health.NOTE, "no evidence of its tests is here; packaging/test writes it", ""
    failed = sum(entry.failed for parts in found.entries.values() for entry in parts)
    text = f"{len(found.entries)} kinds of test ran, {failed} failures or findings; the About page shows them"
    missing = f"; did not run: {', '.join(found.missing)}" if found.missing else ""
    return (Health.WARNING if failed else Health.OK), text + missing, ""


def _machine(_: Workspace) -> Found:
    from actum.processes import identity

    return Health.OK, f"machine {identity.machine_id()[:8]}…, boot {identity.boot_id()[:8]}…", ""


def _sockets(_: Workspace) -> Found:
    path = socket_path()
    return Health.OK, f"{path} ({len(os.fsencode(path))} of {SOCKET_PATH_BYTES_MAX} bytes)", ""


def _folder(ws: Workspace) -> Found:
    if not ws.path.exists():
        return Health.NOTE, f"{ws.path} does not exist yet", "Run a task; it is made then."
    warnings = folder_warnings(ws)
    text = f"{ws.path} ({filesystem_type(ws.path) or 'file system unknown'})"
    if warnings:
        return Health.WARNING, f"{text}: {' '.join(warnings)}", "Choose a local folder with --workspace."
    return Health.OK, text, ""


def _permissions(ws: Workspace) -> Found:
    if not ws.path.exists():
        return Health.NOTE, "nothing is there yet", ""
    if not os.access(ws.path, os.W_OK | os.X_OK):
        return Health.BAD, "the folder cannot be written", "Make it writable, or choose another with --workspace."
    mode = ws.path.stat().st_mode & 0o777
    if mode & 0o077:
        return Health.WARNING, f"others can enter it (mode {mode:04o})", f"chmod 700 {ws.path}"
    return Health.OK, "only you can enter it", ""


def _space(ws: Workspace) -> Found:
    place = ws.path
    while not place.exists():
        place = place.parent
    usage = shutil.disk_usage(place)
    text = f"{usage.free / 1e9:.1f} GB of {usage.total / 1e9:.1f} GB are free"
    if usage.free < _FREE_BYTES_LOW:
        return Health.WARNING, text, "Make room: results, inputs and logs need space."
    return Health.OK, text, ""


def _holder(ws: Workspace) -> Found:
    held = lock.held_by_someone(ws)
    if held is None:
        return Health.NOTE, "cannot tell whether a supervisor is at work", ""
    if not held:
        return Health.OK, "no supervisor is at work", ""
    endpoint = read_endpoint(ws) or {}
    return (
        Health.OK,
        f"a supervisor is at work (process {endpoint.get('pid', 'unknown')}, epoch {endpoint.get('epoch', '?')})",
        "",
    )


def _database(ws: Workspace) -> Found:
    from actum.store.queries import Reader

    try:
        with Reader(ws) as reader:
            runs = sum(reader.counts().values())
            open_attempts = len(reader.attempt_rows())
            text = f"{runs} runs, {open_attempts} open, epoch {reader.epoch()}, {ws.database.stat().st_size / 1e6:.1f} MB"
            if reader.immutable:
                return Health.WARNING, f"{text}; read as it stands, the place is read-only", ""
            recovery = reader.setting_rows().get("recovery")
    except NotFound:
        return Health.NOTE, "there is none yet", ""
    if recovery is not None:
        return (
            Health.WARNING,
            f"{text}; it was restored from an older backup, so nothing is launched",
            "Put the newer database back, or run `actum doctor --accept-restored` to go on with this one.",
        )
    return Health.OK, text, ""


def _origin(ws: Workspace) -> Found:
    recorded = read_generation(ws)
    if recorded is None and _has_runs(ws):
        return (
            Health.WARNING,
            "the file `generation` is gone or unreadable: a copy or an older backup would not be noticed",
            "The next start writes it anew. Put the original back if it was moved.",
        )
    if recorded is None:
        return Health.NOTE, "not recorded yet", ""
    if recorded.folder != folder_identity(ws.path):
        return (
            Health.BAD,
            "this folder is a copy of another workspace",
            "Run `actum doctor --accept-copy` to go on with the copy.",
        )
    return Health.OK, f"this folder, database {recorded.database_uuid[:8]}…", ""


def _has_runs(ws: Workspace) -> bool:
    from actum.store.queries import Reader

    try:
        with Reader(ws) as reader:
            return sum(reader.counts().values()) > 0
    except NotFound:
        return False


SIGNS: tuple[tuple[str, str, Callable[[Workspace], Found]], ...] = (
    ("python", "Python", _python),
    ("pyside", "Window library", _pyside),
    ("sqlite", "Database library", _sqlite),
    ("processes", "Ending processes", _processes),
    ("cgroup", "Control groups", _cgroup),
    ("evidence", "Tests", _evidence),
    ("machine", "Machine", _machine),
    ("sockets", "Socket", _sockets),
    ("folder", "Workspace", _folder),
    ("permissions", "Permissions", _permissions),
    ("space", "Free space", _space),
    ("holder", "Supervisor", _holder),
    ("database", "Database", _database),
    ("origin", "Origin", _origin),
)
