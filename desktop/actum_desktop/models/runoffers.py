"""What can be done with one run now, as rows for the palette. Pure; no Qt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from actum_desktop.i18n import _


class Offer(NamedTuple):
    """`name` is what the run's page is asked to do; `keys` its shortcut."""

    name: str
    title: str
    note: str
    icon: str
    keys: str


def offers(run: int, show: Mapping[str, Any], can: Mapping[str, bool]) -> list[Offer]:
    """In the order in which they are likely wanted. `can` says whether stop and insist are open."""
    title, note = str(show.get("task_title") or show.get("task") or ""), _("run {n}").format(n=run)
    found = []
    if can.get("stop"):
        found.append(Offer("stop", _("Stop {task}…").format(task=title), note, "square", "S"))
    if can.get("insist"):
        found.append(Offer("insist", _("Insist now: end what is left of {task}").format(task=title), note, "lightning", ""))
    adoption = show.get("adoption") or {}
    if adoption.get("offer") or (adoption.get("of") or {}).get("again"):
        found.append(Offer("adopt", _("Adopt what {task} sealed").format(task=title), note, "shield-check", ""))
    found.append(Offer("edit", _("Edit and rerun {task}").format(task=title), "", "pencil-simple", "Ctrl E"))
    found.append(Offer("rerun", _("Rerun {task} with the same values").format(task=title), "", "arrow-clockwise", "Ctrl R"))
    copied = _("Copy {task} as command").format(task=title)
    found.append(Offer("command", copied, "actum run …", "terminal-window", "Ctrl Shift C"))
    found.append(Offer("json", _("Copy {task} as JSON").format(task=title), "", "code", ""))
    if show.get("result"):
        found.append(Offer("result", _("Open the result of {task}").format(task=title), note, "table", ""))
    found.append(Offer("find", _("Find in the log of {task}").format(task=title), note, "magnifying-glass", "Ctrl F"))
    return found
