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


_AGAIN = {
    "STOPPED": N_("Run {n} had taken it up and was stopped."),
    "FAILED": N_("Run {n} had taken it up and was refused at verification."),
}


def adoption_offer(show: Mapping[str, Any]) -> tuple[str, str]:
    """(title, text) of the offer on a run's page: what it left, or what an adoption that ended without a result took up."""
    adoption = show.get("adoption") or {}
    of, offer = adoption.get("of") or {}, adoption.get("offer") or {}
    if of.get("again"):
        title = _("The package of run {n} can be taken up again").format(n=of["run"])
        return title, _("Adopting it makes a new run that begins at verification.")
    title = _LATE.get(str(show.get("status")), N_("It sealed a package and ended without a result"))
    means = _("Adopting it makes a new run that begins at verification.")
    after = offer.get("after") or {}
    tried = _(_AGAIN[str(after["status"])]).format(n=after["run"]) if after.get("status") in _AGAIN else ""
    return _(title), measures.joined(tried, _(_HOW[str(offer.get("sealed_by") or "outcome")]), means)


def relation(show: Mapping[str, Any]) -> str:
    """`adopts run 2`; empty for a run that adopts nothing."""
    of = (show.get("adoption") or {}).get("of") or {}
    return pgettext("run", "adopts run {n}").format(n=of["run"]) if of else ""
