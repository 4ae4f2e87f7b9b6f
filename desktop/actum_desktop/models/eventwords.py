"""The kinds of the journal's events in words; one that is not known is shown as it was recorded, without its underscores."""

from __future__ import annotations

from actum_desktop.i18n import NP_, pgettext

KINDS = frozenset(
    {
        NP_("event", "can tell"),
        NP_("event", "cannot tell"),
        NP_("event", "adopted by"),
        NP_("event", "adoption asked"),
        NP_("event", "adopts"),
        NP_("event", "attested"),
        NP_("event", "clock set"),
        NP_("event", "contact lost"),
        NP_("event", "contact resumed"),
        NP_("event", "derived rebuilt"),
        NP_("event", "disk low"),
        NP_("event", "failed"),
        NP_("event", "folder moved"),
        NP_("event", "helper crashed"),
        NP_("event", "inputs pinned"),
        NP_("event", "late host"),
        NP_("event", "late message"),
        NP_("event", "log waits"),
        NP_("event", "message malformed"),
        NP_("event", "message too long"),
        NP_("event", "message unknown"),
        NP_("event", "message unreadable"),
        NP_("event", "messages cut"),
        NP_("event", "messages replaced"),
        NP_("event", "notices dropped"),
        NP_("event", "outcome foreign"),
        NP_("event", "outcome waits"),
        NP_("event", "package differs"),
        NP_("event", "protocol violation"),
        NP_("event", "publish pending"),
        NP_("event", "records skipped"),
        NP_("event", "records wait"),
        NP_("event", "recovery ended"),
        NP_("event", "remains gone"),
        NP_("event", "retry"),
        NP_("event", "sealed late"),
        NP_("event", "signalled"),
        NP_("event", "slept"),
        NP_("event", "slot granted"),
        NP_("event", "spool restored"),
        NP_("event", "status changed"),
        NP_("event", "step waits"),
        NP_("event", "stop requested"),
        NP_("event", "stop stage"),
        NP_("event", "tree left"),
        NP_("event", "verified again"),
        NP_("event", "workspace copied"),
    }
)


def words(kind: object) -> str:
    said = str(kind or "").replace("_", " ")
    return pgettext("event", said) if said in KINDS else said
