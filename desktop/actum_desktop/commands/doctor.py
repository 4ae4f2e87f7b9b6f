"""`actum doctor [--accept-copy]`: what Actum finds on this machine and in this workspace, and what to do about it.

It looks and changes nothing, but with `--accept-copy`: then a workspace that was copied is accepted as a copy, its open
attempts are closed, and no process is signalled.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from actum.errors import ActumError, Busy

from actum_desktop import measures
from actum_desktop.commands.context import Context
from actum_desktop.commands.output import plain

EXIT_UNUSABLE = 8
_MARKS = {"ok": ("✓", "x", "ok"), "note": ("·", ".", "faint"), "warning": ("!", "!", "warn"), "bad": ("✗", "!", "bad")}
# Versions that are reported to be able to corrupt when one connection commits while another checkpoints.
_WAL_RESET_FAULT = ((3, 7, 0), (3, 51, 2))


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. `state`: ok, note, warning, bad."""

    check: str
    state: str
    text: str
    remedy: str = ""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--accept-copy", action="store_true", help="go on with a workspace that is a copy of another")


def run(args: argparse.Namespace, context: Context) -> int:
    if args.accept_copy:
        accept_copy(context)
    out, worst = context.out, 0
    for finding in findings(context):
        worst = EXIT_UNUSABLE if finding.state == "bad" else worst
        if out.json:
            document = {"check": finding.check, "state": finding.state, "text": finding.text, "remedy": finding.remedy}
            out.document("doctor", document)
            continue
        mark, letters, tone = _MARKS[finding.state]
        out.say(f"{out.toned(out.mark(mark, letters), tone)} {finding.check:<11} {plain(finding.text)}")
        if finding.remedy:
            out.say(f"{'':14}{plain(finding.remedy)}")
    return worst


def findings(context: Context) -> Iterator[Finding]:
    """Every check in turn; one that fails with a known error is a finding like any other."""
    for check in (_program, _qt, _sqlite, _folder, _space, _copied, _database, _supervisor, _runtime, _display):
        try:
            yield from check(context)
        except ActumError as error:
            yield Finding(check.__name__.strip("_"), "bad", " ".join(filter(None, (error.what, error.why))), error.remedy)


def accept_copy(context: Context) -> None:
    """Accept the copy, unless somebody supervises the workspace. Raises Busy, WorkspaceUnusable."""
    from actum.store.copies import accept
    from actum.workspace import Lock

    lock = Lock.try_acquire(context.workspace)
    if lock is None:
        raise Busy("supervised_already", "This workspace is in use.", "A supervisor holds its lock.", "Close it first.")
    with lock:
        closed = accept(context.workspace)
    context.out.note(f"Accepted as a copy. {measures.count(closed)} open attempts were closed; no process was signalled.")


def _program(context: Context) -> Iterator[Finding]:
    try:
        number = version("actum")
    except PackageNotFoundError:
        number = "not installed"
    yield Finding("program", "ok", f"Actum {number}, Python {platform.python_version()} ({sys.executable})")
    yield Finding("machine", "ok", f"{platform.system()} {platform.release()}, {os.cpu_count() or 1} cores")


def _qt(context: Context) -> Iterator[Finding]:
    from actum_desktop import qtguard

    qtguard.check()
    yield Finding("Qt", "ok", f"PySide6 {version('PySide6-Essentials')}")


def _sqlite(context: Context) -> Iterator[Finding]:
    text = f"SQLite {sqlite3.sqlite_version}"
    lowest, highest = _WAL_RESET_FAULT
    if lowest <= sqlite3.sqlite_version_info <= highest:
        text += " is of a range with a reported fault in its log; one writing connection only is used, which avoids it"
        yield Finding("SQLite", "note", text + ".")
    else:
        yield Finding("SQLite", "ok", text)


def _folder(context: Context) -> Iterator[Finding]:
    from actum.workspace import filesystem_type, folder_warnings

    ws = context.workspace
    if not ws.path.exists():
        yield Finding("workspace", "note", f"{ws.path} does not exist yet.", "`actum demo` begins one.")
        return
    writable = os.access(ws.path, os.W_OK | os.X_OK)
    state = "ok" if writable else "bad"
    remedy = "" if writable else "Make it writable, or choose another with --workspace."
    kind = filesystem_type(ws.path)
    text = f"{ws.path}{f', on {kind}' if kind else ''}{'' if writable else ': not writable'}"
    yield Finding("workspace", state, text, remedy)
    for warning in folder_warnings(ws):
        yield Finding("workspace", "warning", warning)


def _space(context: Context) -> Iterator[Finding]:
    from actum import settings

    place = context.workspace.path
    while not place.exists() and place != place.parent:
        place = place.parent
    free = shutil.disk_usage(place).free
    enough = free >= settings.KNOWN["free_bytes_min"].default
    remedy = "" if enough else "Make room: nothing is launched on a full disk."
    yield Finding("disk", "ok" if enough else "warning", f"{measures.size(free)} free", remedy)


def _copied(context: Context) -> Iterator[Finding]:
    """Silent unless the folder is a copy."""
    if context.begun:
        from actum.store.epochs import refuse_copy

        refuse_copy(context.workspace)
    yield from ()


def _database(context: Context) -> Iterator[Finding]:
    if not context.begun:
        return
    from actum.store.database import quick_check

    with context.reader() as reader:
        counts = reader.counts()
        checked = quick_check(reader.connection)
        immutable = reader.immutable
        epoch = reader.epoch()
    if checked.problems:
        yield Finding("database", "bad", f"damaged: {checked.problems[0]}", "Restore a backup from backups/.")
        return
    total = measures.count(sum(counts.values()))
    depth = "" if checked.whole else "; looked at in part, `actum audit` looks at all of it"
    yield Finding("database", "ok", f"{total} runs, epoch {epoch}{depth}")
    if immutable:
        yield Finding("database", "note", "It is on a read-only place and read as it is.")


def _supervisor(context: Context) -> Iterator[Finding]:
    from actum.lock import held_by_someone

    from actum_desktop.commands.connection import reach
    from actum_desktop.commands.detached import log_path

    client = reach(context.workspace)
    if client is not None:
        with client:
            yield Finding("supervisor", "ok", f"alive, process {client.supervisor.get('pid')}, epoch {client.epoch}")
    elif held_by_someone(context.workspace):
        yield Finding("supervisor", "warning", "Somebody holds the lock and does not answer.", "It may be starting or leaving.")
    else:
        yield Finding("supervisor", "note", "none; a command that needs one supervises by itself")
    if (log := log_path(context.workspace)).exists():
        yield Finding("supervisor", "note", f"detached ones write to {log}")


def _runtime(context: Context) -> Iterator[Finding]:
    from actum.workspace import runtime_directory

    yield Finding("sockets", "ok", str(runtime_directory()))


def _display(context: Context) -> Iterator[Finding]:
    if platform.system() == "Linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        yield Finding("display", "note", "none here: the window cannot open, every command works")
