"""Whether the machine is kept awake, in words for the status line. Plain data."""

from __future__ import annotations

from actum_desktop.controller.events import Awake
from actum_desktop.i18n import N_, _

# What wakepy calls a way → what people call it.
_NAMES = {
    "org.gnome.SessionManager": N_("the GNOME session"),
    "org.freedesktop.PowerManagement": N_("the desktop’s power management"),
    "caffeinate": N_("macOS (caffeinate)"),
    "SetThreadExecutionState": N_("Windows"),
}
_REASONS = {  # those of the helper; what a session says itself is shown as it says it
    "there is no session bus": N_("there is no session bus"),
    "no known way exists on this system": N_("no known way exists on this system"),
}


def truth(awake: Awake, *, under_way: bool) -> tuple[str, str, str] | None:
    """(icon, words, tone), or None while nothing is to be said: no work, or the user does not want it."""
    if awake.by:
        by = _(_NAMES[awake.by]) if awake.by in _NAMES else awake.by
        return ("coffee", _("Awake is held by {name}").format(name=by), "text2")
    if awake.why and awake.setting and under_way:
        why = _(_REASONS[awake.why]) if awake.why in _REASONS else awake.why
        return ("coffee", _("This system gives no way to keep awake: {why}").format(why=why), "warn")
    if under_way and not awake.setting:
        return ("coffee", _("It may sleep while work computes, as set"), "text2")
    return None
