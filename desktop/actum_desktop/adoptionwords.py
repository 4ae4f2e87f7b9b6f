"""The offer to adopt a package that was sealed too late, in words (R03). Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum_desktop import measures
from actum_desktop.i18n import N_, _, pgettext

_LATE = {
    "STOPPED": N_("Its package was sealed although the run was stopped"),
    "TIMEOUT": N_("Its package was sealed although a limit had passed"),
}
_HOW = {
    "manifest": N_("Its host ended before it could say so: the digest is taken as it is found now."),
    "outcome": N_("Its host said so after the run was closed for another reason."),
    "record": N_("That is on record; the run was closed for another reason afterwards."),
}


def adoption_offer(show: Mapping[str, Any]) -> tuple[str, str]:
    """(title, text) of the offer on the page of a run."""
    offer = (show.get("adoption") or {}).get("offer") or {}
    title = _LATE.get(str(show.get("status")), N_("It sealed a package and ended without a result"))
    means = _("Adopting it makes a new run that begins at verification.")
    return _(title), measures.joined(_(_HOW[str(offer.get("sealed_by") or "outcome")]), means)


def relation(show: Mapping[str, Any]) -> str:
    """`adopts run 2`; empty for a run that adopts nothing."""
    of = (show.get("adoption") or {}).get("of") or {}
    return pgettext("run", "adopts run {n}").format(n=of["run"]) if of else ""
