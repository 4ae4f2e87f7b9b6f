"""The evidence lines under each row of the ledger, in words: what was seen, by which method, and what is waited for.

Evidence is data of other programs: every member is optional here, and what is not recognised is left to the evidence view,
which shows it raw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from actum.limits import PINNED_NAMED_MAX

from actum_desktop import failures, measures
from actum_desktop.i18n import N_, _, ngettext

Fact = Mapping[str, Any]
DOT = " · "

_TRIGGERS = {
    "manual": N_("by hand"),
    "rerun": N_("rerun"),
    "command": N_("command line"),
    "schedule": N_("schedule"),
    "backfill": N_("backfill"),
    "dependency": N_("after another run"),
    "adoption": N_("adopted"),
    "api": N_("API"),
}

_METHODS = {
    "hello": N_("it proved its session"),
    "claim": N_("its claim file was found"),
    "outcome": N_("its outcome file was found"),
    "work": N_("its work was found"),
    "subreaper": N_("every child was waited for"),
    "lock + scan": N_("lock free and two empty scans"),
    "scan": N_("two empty scans"),
    "boot": N_("the computer was restarted since"),
    "attested": N_("a person’s word"),
    "copied": N_("the workspace is a copy"),
    "frame": N_("host frame"),
    "outcome.json": N_("read from its outcome file"),
    "pidfd": N_("its exit was seen"),
    "none_launched": N_("nothing was launched"),
    "the spawn returned": N_("the spawn returned"),
    "sign of the session": N_("a sign of its session"),
    "work found": N_("its work was found"),
    "one transaction": N_("one transaction"),
    "retry": N_("a retry"),
    "frozen once per run": N_("frozen once per run"),
    "copied or pinned, digests equal to those admitted": N_("copied or pinned, digests equal to those admitted"),
    "host exited and tree gone on record": N_("host exited and tree gone are on record"),
    "derived tables read and compared with the authority": N_("tables read back and compared with their authority"),
    "sha256 of every listed file, nothing unlisted": N_("sha256 of every listed file, nothing unlisted"),
    "one rename without replace, then fsync of both folders": N_("one rename, nothing replaced, both folders durable"),
    "the thirteen facts before this one are on record": N_("the thirteen facts before this one are on record"),
}


def trigger(name: str | None) -> str:
    known = _TRIGGERS.get(str(name or "manual").lower())
    return _(known) if known else str(name)


def method(evidence: Mapping[str, Any]) -> str:
    name = str(evidence.get("method") or "")
    if name == "adopted":  # what was seen then; that it is taken over is said in a line of its own
        name = str(evidence.get("then") or "")
    return _(_METHODS[name]) if name in _METHODS else name.replace("_", " ")


def established(key: str, facts: list[Fact], show: Mapping[str, Any]) -> tuple[str, ...]:
    if not facts:
        return ()
    return tuple(line for line in (*_ESTABLISHED[key](facts, show), _adopted(facts)) if line)


def _adopted(facts: list[Fact]) -> str:
    """Where a fact comes from that a run took over with the package it adopts (R03)."""
    seen = next((fact["evidence"] for fact in facts if (fact.get("evidence") or {}).get("method") == "adopted"), None)
    if seen is None:
        return ""
    source = seen.get("from") or {}
    lead = _("taken over from run {run}, attempt {n}").format(run=source.get("run"), n=source.get("n"))
    if seen.get("then"):
        return lead
    return _join(lead, _("recorded by nobody at the time; it follows from the sealed package"))


def _of(facts: list[Fact], name: str) -> Mapping[str, Any]:
    return next((fact.get("evidence") or {} for fact in facts if fact.get("fact") == name), {})


def _join(*parts: str | None) -> str:
    return DOT.join(part for part in parts if part)


def _admitted(facts: list[Fact], show: Mapping[str, Any]) -> list[str]:
    seen = _of(facts, "admitted")
    source = seen.get("from")
    again = _("attempt {n}").format(n=seen.get("n", 2)) if source else None
    if isinstance(source, Mapping):
        again = _("adopts attempt {n} of run {run}").format(n=source.get("n"), run=source.get("run"))
    key = str(show.get("key") or "")
    return [
        _join(
            again or trigger(show.get("trigger")),
            _("key {key}").format(key=measures.short(key, 6, 4)) if key else None,
            _("committed"),
        )
    ]


def _frozen(facts: list[Fact], show: Mapping[str, Any]) -> list[str]:
    seen = _of(facts, "inputs_frozen")
    inputs = list(show.get("inputs") or [])
    if seen.get("from") and not isinstance(seen["from"], Mapping):
        return [_("carried over from attempt {n}").format(n=seen["from"])]
    number = seen.get("files", seen.get("count", len(inputs)))
    number = len(number) if isinstance(number, list | tuple) else int(number or 0)
    if not number:
        return [_("nothing to freeze")]
    total = seen.get("bytes", sum(int(item.get("size") or 0) for item in inputs))
    text = ngettext("{n} file, {size}", "{n} files, {size}", number).format(n=number, size=measures.size(total))
    digest = inputs[0].get("sha256") if len(inputs) == 1 else seen.get("digest")
    return [_join(text, f"sha256 {measures.short(digest)}" if digest else None), *_pinned(inputs)]


def _pinned(inputs: Sequence[Mapping[str, Any]]) -> list[str]:
    """What is not excluded for inputs that were too large to copy, or are pinned by their task (R17)."""
    names = [str(item.get("name")) for item in inputs if item.get("policy") == "pin" and item.get("name") != "@code"]
    if not names:
        return []
    text = _("pinned, not copied: {names}; a change and a change back is not excluded")
    return [text.format(names=", ".join(names[:PINNED_NAMED_MAX]) + (", …" if len(names) > PINNED_NAMED_MAX else ""))]


def _answered(facts: list[Fact], show: Mapping[str, Any]) -> list[str]:
    seen = _of(facts, "contact_made") or _of(facts, "launched")
    session = seen.get("session") or next(
        (item.get("session") for item in reversed(show.get("attempts") or []) if item.get("session")), None
    )
    word = method(seen)
    return [_join(_("session {id}").format(id=measures.short(session, 4, 2)) if session else None, word)]


def _completed(facts: list[Fact], show: Mapping[str, Any]) -> list[str]:
    seen = _of(facts, "computation_ended")
    ended = seen.get("ended") if isinstance(seen.get("ended"), Mapping) else seen
    return [_join(method(seen), exit_text(ended or {}), _contents(seen))]


def _contents(seen: Mapping[str, Any]) -> str | None:
    tables, metrics = seen.get("tables"), seen.get("metrics")
    parts = []
    if isinstance(tables, int):
        parts.append(ngettext("{n} table", "{n} tables", tables).format(n=tables))
    if isinstance(metrics, int):
        parts.append(ngettext("{n} metric", "{n} metrics", metrics).format(n=metrics))
    return measures.listed(parts) or None


def exit_text(ended: Mapping[str, Any]) -> str | None:
    if ended.get("signal"):
        return _("signal {n}").format(n=ended["signal"])
    code = ended.get("exit_code", ended.get("code"))
    return _("exit {n}").format(n=code) if isinstance(code, int) else None


def _sealed(facts: list[Fact], show: Mapping[str, Any]) -> list[str]:
    seen = _of(facts, "sealed")
    digest = seen.get("manifest_sha256") or seen.get("digest")
    number = seen.get("files")
    number = len(number) if isinstance(number, list | tuple) else number
    files = ngettext("manifest of {n} file", "manifest of {n} files", number).format(n=number) if number else _("manifest")
    return [_join(files, _("digest {digest}").format(digest=measures.short(digest)) if digest else None)]


def _host_exited(facts: list[Fact], show: Mapping[str, Any]) -> list[str]:
    seen = _of(facts, "host_exited")
    return [_join(exit_text(seen), method(seen))]


def _tree(facts: list[Fact], show: Mapping[str, Any]) -> list[str]:
    seen = _of(facts, "tree_gone")
    scans, members = seen.get("scans"), seen.get("seen")
    parts = [method(seen)]
    if isinstance(scans, int) and isinstance(members, int):
        parts.append(_("{seen} seen, 0 remain").format(seen=members))
    lines = [_join(*parts)]
    if isinstance(pids := seen.get("pids"), list) and pids:
        lines.append(_("left alone, of another Actum run: process {pids}").format(pids=", ".join(map(str, pids))))
    if any(fact.get("fact") == "released" for fact in facts):
        lines.append(_("slot and resources are free"))
    return lines


def _verified(facts: list[Fact], show: Mapping[str, Any]) -> list[str]:
    lines = []
    names = {str(fact.get("fact")) for fact in facts}
    if "bytes_verified" in names:
        seen = _of(facts, "bytes_verified")
        number = seen.get("files")
        number = len(number) if isinstance(number, list | tuple) else number
        lines.append(
            ngettext("bytes: {n} of {n} digest matches", "bytes: {n} of {n} digests match", number).format(n=number)
            if number
            else _("bytes: every digest matches")
        )
    if "content_verified" in names:
        seen = _of(facts, "content_verified")
        rows = seen.get("rows")
        sample = seen.get("sample")
        text = (
            ngettext("content: {n} row read, equal", "content: {n} rows read, all equal", rows).format(n=measures.count(rows))
            if isinstance(rows, int) and rows
            else _("content: read back, equal")
        )
        lines.append(_join(text, _("sample of {n}").format(n=measures.count(sample)) if sample else None))
    return lines


def _published(facts: list[Fact], show: Mapping[str, Any]) -> list[str]:
    seen = _of(facts, "published")
    path = seen.get("path") or (show.get("result") or {}).get("path")
    return [_join(_("renamed to {path}").format(path=path) if path else _("renamed into place"), _("durable"))]


def _recorded(facts: list[Fact], show: Mapping[str, Any]) -> list[str]:
    return [_("one transaction with the reference")] if len(facts) > 1 else []


_ESTABLISHED: dict[str, Callable[[list[Fact], Mapping[str, Any]], list[str]]] = {
    "admitted": _admitted,
    "inputs_frozen": _frozen,
    "host_answered": _answered,
    "work_completed": _completed,
    "sealed": _sealed,
    "host_exited": _host_exited,
    "tree_gone": _tree,
    "verified": _verified,
    "published": _published,
    "recorded": _recorded,
}


def waiting(key: str, show: Mapping[str, Any], state: Mapping[str, Any], now: int) -> tuple[str, ...]:
    """Why the row is waited for, in one or two sentences."""
    if state["status"] in ("STOPPING", "FAILED", "START_FAILED", "TIMEOUT"):
        return (_ending(key, show, state, now),)
    if key == "inputs_frozen":
        if state["phase"] == "QUEUED":
            return (_("Next when a slot is free."),)
        return (_("Reading and keeping the inputs as they are now."),)
    if key == "host_answered":
        return (_("The host was asked to start. The next fact is its first sign."),)
    if key == "work_completed":
        return (_computing(show),)
    texts = {
        "sealed": _("The host reads every file back and writes the manifest last."),
        "host_exited": _("The package is sealed; the host is leaving."),
        "tree_gone": _("Looking for what the work may have left running."),
        "verified": _("Bytes first, then content. The tree is already gone; the slot is free."),
        "published": _("The package moves to its final place."),
        "recorded": _("One transaction writes the reference and the last fact."),
    }
    if key == "published" and state["phase"] == "PUBLISH_PENDING":
        return (_("There is no room, or the folder refuses. It is tried again by itself."),)
    return (texts.get(key, ""),)


def _computing(show: Mapping[str, Any]) -> str:
    progress = show.get("progress") or {}
    stage, done, total = progress.get("stage"), progress.get("done"), progress.get("total")
    rest = _("Nothing can be sealed before it says it is done.")
    if stage and total:
        lead = _("The work is in stage “{stage}”, {done} of {total}.").format(
            stage=stage, done=measures.count(done), total=measures.count(total)
        )
    elif stage:
        lead = _("The work is in stage “{stage}”.").format(stage=stage)
    elif total:
        lead = _("The work is at {done} of {total}.").format(done=measures.count(done), total=measures.count(total))
    else:
        lead = _("The work is computing and has reported no progress yet.")
    return measures.joined(lead, rest)


def _ending(key: str, show: Mapping[str, Any], state: Mapping[str, Any], now: int) -> str:
    stop = show.get("stop") or {}
    stage = str(stop.get("stage") or "")
    left = stop.get("next_in_s")
    if key == "tree_gone":
        return _("The host is gone. Actum ends what it can prove to be left of the tree, and looks again.")
    if stage == "insisting":
        return _("The host is ending what is left of the work.")
    if stage in ("asked", "delivered") and left is not None:
        return _("The work was asked to stop and is closing its files. Actum insists in {time}.").format(
            time=measures.duration(float(left))
        )
    if state["status"] == "STOPPING":
        return _("The stop is recorded and on its way to the host.")
    return _("The work has ended; the host is cleaning up.")


def cannot_tell(state: Mapping[str, Any]) -> tuple[str, ...]:
    why = str(state["contact"].get("why") or "")
    return (why,) if why else (_("The system did not let Actum look."),)


def refused(state: Mapping[str, Any]) -> tuple[str, ...]:
    document = state["failure_document"]
    message = failures.failure_told(str(document.get("message") or "")) or failures.failure_sentence(document.get("code"))
    details = document.get("details") or {}
    kept = details.get("kept") or details.get("quarantine") if isinstance(details, Mapping) else None
    lines = [message]
    exit_words = exit_text(state["exit"])
    if exit_words and document.get("code") in ("work_failed", "work_crashed"):
        lines.append(exit_words)
    lines.append(_("kept in {path}").format(path=kept) if kept else _("its files are kept, not verified"))
    return tuple(lines)


def step_fraction(show: Mapping[str, Any], key: str) -> float | None:
    """How far the step being waited for has come, if it can measure itself; under 1, for it is waited for (R10)."""
    if key == "work_completed":
        progress = show.get("progress") or {}
    else:
        progress = show.get("step") or {}
    done, total = progress.get("done"), progress.get("total")
    if not isinstance(done, int | float) or not isinstance(total, int | float) or total <= 0:
        return None
    return max(0.0, min(0.99, done / total))
