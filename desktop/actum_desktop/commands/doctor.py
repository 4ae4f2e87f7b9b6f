"""`actum doctor [--accept-copy | --accept-restored]`: what Actum finds on this machine and in this workspace.

It looks and changes nothing but with these two. `--accept-copy`: a workspace that was copied becomes one of its own, its
open attempts are closed, and no process is signalled. `--accept-restored`: a database restored from an older backup is gone
on with; the numbers of runs that it does not know are not used again.
"""

from __future__ import annotations

import argparse
import os
import platform
from typing import TYPE_CHECKING

from actum_desktop import measures
from actum_desktop.commands.context import Context
from actum_desktop.commands.output import Output, plain

if TYPE_CHECKING:
    from actum.store.doctor import Sign

EXIT_UNUSABLE = 8
_MARKS = {"ok": ("✓", "x", "ok"), "note": ("·", ".", "faint"), "warning": ("!", "!", "warn"), "bad": ("✗", "!", "bad")}


def arguments(parser: argparse.ArgumentParser) -> None:
    accepting = parser.add_mutually_exclusive_group()
    accepting.add_argument("--accept-copy", action="store_true", help="go on with a workspace that is a copy of another")
    accepting.add_argument("--accept-restored", action="store_true", help="go on with a database restored from an older backup")


def run(args: argparse.Namespace, context: Context) -> int:
    from actum.store.doctor import examine, is_well

    if args.accept_copy:
        accept_copy(context)
    if args.accept_restored:
        accept_restored(context)
    signs = [*examine(context.workspace), *surroundings(context)]
    for sign in signs:
        if context.out.json:
            context.out.document("doctor", sign.to_json())
        else:
            _print(context.out, sign)
    return 0 if is_well(signs) else EXIT_UNUSABLE


def accept_copy(context: Context) -> None:
    """Raises Busy, WorkspaceUnusable, NotFound."""
    from actum.store.copies import accept_copy as accept

    with context.reader():  # there is something to accept, and this program can read it
        pass
    accepted = accept(context.workspace)
    closed = measures.count(accepted.closed)
    context.out.note(
        f"Accepted: this folder is a workspace of its own now. Open attempts closed: {closed}; nothing was signalled."
    )


def accept_restored(context: Context) -> None:
    """Raises Busy, WorkspaceUnusable, NotFound."""
    from actum.store.restored import accept_restored as accept

    with context.reader():
        pass
    settled = accept(context.workspace)
    context.out.note("Accepted: runs start again. What this database holds open is looked at first, as after any crash.")
    if settled.unknown:
        few = ", ".join(str(number) for number in settled.unknown[:10]) + (", …" if len(settled.unknown) > 10 else "")
        context.out.note(
            f"Runs that it does not know, by their folders: {few}. They stay where they are; "
            f"the next run is {settled.highest + 1} or higher. `actum verify PATH` checks their packages."
        )


def surroundings(context: Context) -> list[Sign]:
    """What the desktop adds: a place for the window, and where detached supervisors write."""
    from actum.store.doctor import Health, Sign

    from actum_desktop.commands.detached import log_path

    signs = []
    if platform.system() == "Linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        signs.append(Sign("display", "Display", Health.NOTE, "none: the window cannot open, every command works"))
    signs.append(awake())
    log = log_path(context.workspace)
    if log.exists():
        signs.append(Sign("log", "Supervisor's log", Health.OK, str(log)))
    return signs


def awake() -> Sign:
    """What would keep the machine awake while work computes: tried for an instant."""
    from actum.helpers.awake import held
    from actum.store.doctor import Health, Sign

    with held() as (by, why):
        pass
    if by:
        return Sign("awake", "Keeping awake", Health.OK, f"possible, by {by}")
    remedy = "Long work may be interrupted by sleep; it goes on afterwards. Switch sleep off in the system's settings."
    return Sign("awake", "Keeping awake", Health.NOTE, f"this system gives no way: {why}", remedy)


def _print(out: Output, sign: Sign) -> None:
    mark, letters, tone = _MARKS[sign.health.value]
    out.say(f"{out.toned(out.mark(mark, letters), tone)} {sign.title:<17} {plain(sign.found)}")
    if sign.remedy:
        out.say(f"{'':20}{plain(sign.remedy)}")
