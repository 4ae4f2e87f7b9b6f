"""Why a question to a table has no answer, in the language of the window."""

from __future__ import annotations

from actum.errors import ActumError

from actum_desktop import measures
from actum_desktop.i18n import N_, _

_WORDS = {
    "bad_value": N_("This value cannot be compared with the column."),
    "bad_filter": N_("This condition cannot be asked of the column."),
    "no_column": N_("The table has no such column."),
    "no_exact_view": N_("This table has numbers too long to be sorted or filtered exactly."),
    "query_failed": N_("The table could not be asked."),
    "helper_crashed": N_("The table could not be asked."),
    "disk_full": N_("The disk is full. Free some space, then try again."),
}


def refused(error: ActumError) -> str:
    """One or two sentences; what the program does not know is said as it came."""
    known = _WORDS.get(error.code)
    if known is None:
        return measures.joined(error.what, error.why, error.remedy)
    detail = error.why if error.code in ("query_failed", "helper_crashed") else ""
    if error.code == "bad_value" and error.remedy:
        detail = _("For example {value}.").format(value=error.remedy.removeprefix("For example ").removesuffix("."))
    return measures.joined(_(known), detail)
