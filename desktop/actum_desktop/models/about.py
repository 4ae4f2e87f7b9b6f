"""What is known of the program itself, as rows: versions, evidence by kind with its age and limits, observed use, by hand.

Nothing claims more than it shows: a kind that did not run says so, and evidence of another commit is called that.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from actum import tried
from actum.errors import ActumError
from actum.store.observed import SQLITE, Observed, observed
from actum.store.queries import Reader
from actum.tried import ByHand, Entry, Kind, NotThere, Tried
from actum.workspace import Workspace

from actum_desktop import measures
from actum_desktop.i18n import N_, _, ngettext, resources
from actum_desktop.models.details import Detail, Pair, Section

_KINDS = {
    Kind.UNIT: N_("Units"),
    Kind.PROPERTY: N_("Properties"),
    Kind.HOUSE: N_("Rules of the code"),
    Kind.PROCESS: N_("Integration: programs"),
    Kind.WINDOW: N_("Integration: window"),
    Kind.SIMULATION: N_("Simulation"),
    Kind.FAULTS: N_("Fault injection"),
    Kind.UPGRADE: N_("Upgrades"),
    Kind.PACKAGING: N_("Packages"),
    Kind.STRESS: N_("Stress"),
    Kind.SOAK: N_("Soak"),
    Kind.FUZZ: N_("Fuzzing"),
}
_WORDS = {
    "passed": N_("passed"),
    "failed": N_("failed"),
    "skipped": N_("skipped"),
    "errors": N_("errors"),
    "examples": N_("examples"),
    "executions": N_("executions"),
    "findings": N_("findings"),
    "targets": N_("targets"),
    "seeds": N_("seeds"),
    "cases": N_("cases"),
    "struck": N_("struck"),
    "nobody there": N_("with nobody there"),
    "not reached": N_("not reached"),
    "animals": N_("hostile programs"),
    "stalls": N_("stalls"),
    "runs": N_("runs"),
    "race rounds": N_("rounds"),
    "commands that read": N_("commands that read"),
}
_STATES = {
    "readable": N_("readable"),
    "unchecked": N_("unchecked"),
    "damaged": N_("damaged"),
    "missing": N_("missing"),
    "replaced": N_("replaced"),
    "forbidden": N_("forbidden"),
    "foreign": N_("foreign"),
}


@dataclass(frozen=True, slots=True)
class Known:
    """Everything the page shows. `own_commit` None = not run from its repository; `use` None = no workspace yet."""

    version: str
    evidence: Tried | NotThere
    packaged: bool
    own_commit: str | None
    use: Observed | None
    by_hand: Sequence[ByHand]
    not_yet: Sequence[str] = ()


def look(ws: Workspace, version: str) -> Known:
    """Read what there is: a packaged program's evidence lies beside its resources, a repository's in build/."""
    beside, root = resources() / "evidence.json", tried.checkout()
    packaged = root is None or not (root / "build" / "evidence.json").is_file()
    found = tried.read(beside if root is None or packaged else root / "build" / "evidence.json")
    try:
        with Reader(ws) as reader:
            use = observed(reader)
    except ActumError:
        use = None
    commit = tried.commit_of(root) if root is not None else None
    listed = resources() / "by_hand.json"
    return Known(version, found, packaged, commit, use, tried.by_hand(listed), tried.not_yet(listed))


def rows(known: Known, now_us: int | None = None) -> list[Detail]:
    """The page, from top to bottom."""
    return [
        *_versions(known.version),
        *_evidence(known, now_us),
        *_use(known.use, now_us),
        *_by_hand(known.by_hand, known.not_yet),
    ]


def _versions(version: str) -> Iterator[Detail]:
    from PySide6 import __version__ as pyside

    yield Section("Actum")
    yield Pair(_("Version"), version)
    yield Pair(_("License"), "Apache-2.0")
    parts = f"Python {platform.python_version()}, PySide6 {pyside}, {SQLITE}"
    yield Pair(_("Runs on"), f"{parts}; {platform.system()} {platform.release()} ({platform.machine()})")
    yield Pair(_("Fonts and icons"), "Inter, JetBrains Mono (OFL 1.1); Phosphor (MIT)")


def _evidence(known: Known, now_us: int | None) -> Iterator[Detail]:
    yield Section(_("How this program was tried"), _limits_note(known))
    found = known.evidence
    if isinstance(found, NotThere):
        why = (
            _("No evidence is here.")
            if found.why == "absent"
            else _("The evidence cannot be read: {why}.").format(why=found.detail)
        )
        yield Pair("", f"{why} {_('It is written by the tests, and goes along with a package.')}")
        return
    yield Pair(_("What it shows"), _("What ran, and how it ended. It does not show that nothing else is wrong."))
    for kind in Kind:
        for number, entry in enumerate(found.entries.get(kind, ())):
            yield from _entry(entry, _(_KINDS[kind]) if number == 0 else "", known.own_commit, now_us)
    if missing := [_(_KINDS[kind]) for kind in found.missing]:
        yield Pair(_("Did not run"), measures.listed(missing), token="text2")
    yield Pair(_("Tried on"), _machine(dict(found.environment)), token="text2")


def _limits_note(known: Known) -> str:
    if isinstance(known.evidence, NotThere) or known.own_commit is None:
        return ""
    own = {entry.commit for parts in known.evidence.entries.values() for entry in parts} <= {known.own_commit}
    return (
        _("of this commit")
        if own
        else _("partly of another commit than this one, {commit}").format(commit=known.own_commit[:7])
    )


def _entry(entry: Entry, label: str, own_commit: str | None, now_us: int | None) -> Iterator[Detail]:
    counts = ", ".join(
        f"{measures.count(number)} {_(_WORDS[word]) if word in _WORDS else word}" for word, number in entry.counts
    )
    told = [counts] if entry.complete else [counts, _("in part")]
    told += [measures.when(entry.at_us, now_us), _("{age} ago").format(age=measures.age(entry.at_us, now_us))]
    if entry.commit and entry.commit != own_commit:
        told.append(_("commit {commit}").format(commit=entry.commit[:7]))
    if entry.dirty is not False:
        told.append(_("with changes not committed") if entry.dirty else _("whether committed is not known"))
    yield Pair(label, " · ".join(told), token="bad" if entry.failed else "text")
    if entry.note:
        yield Pair("", entry.note, token="text2")
    for why, number in entry.skips:
        yield Pair("", _("{count} skipped: {why}").format(count=number, why=why), token="text2")


def _machine(environment: Mapping[str, str]) -> str:
    cores = environment.get("cores", "")
    known = [environment.get(name, "") for name in ("system", "python", "packages")]
    known[0] += f" ({environment['machine']})" if environment.get("machine") else ""
    known.insert(1, ngettext("{n} core", "{n} cores", int(cores)).format(n=cores) if cores.isdigit() else "")
    return ", ".join(each for each in known if each)


def _use(use: Observed | None, now_us: int | None) -> Iterator[Detail]:
    yield Section(_("Observed in this workspace"), "" if use is None or use.whole else _("newest events and checks"))
    if use is None or use.since_us is None:
        yield Pair("", _("Nothing yet: no run was ever supervised here."))
        return
    yield Pair(_("What it shows"), _("Use as it came. Nobody chose the cases, so it proves little by itself."))
    total = sum(use.runs.values())
    good, since = measures.count(use.runs.get("SUCCEEDED", 0)), measures.day(use.since_us, now_us)
    runs = _("{n} in all, {good} succeeded; since {day}").format(n=measures.count(total), good=good, day=since)
    yield Pair(_("Runs"), runs)
    survived = _("{unclean} of {instances} supervisors were ended from outside; {resumed} times a living host was found again")
    yield Pair(
        _("Kills survived"),
        survived.format(unclean=use.unclean, instances=use.instances, resumed=measures.count(use.resumed)),
    )
    yield Pair(_("Hosts lost"), measures.count(use.hosts_lost))
    yield Pair(_("Checks of results"), _checks(use.checks))


def _checks(checks: Mapping[str, int]) -> str:
    parts = [f"{measures.count(number)} {_(_STATES[state])}" for state, number in sorted(checks.items()) if state in _STATES]
    return ", ".join(parts) or _("none yet")


def _by_hand(done: Sequence[ByHand], not_yet: Sequence[str]) -> Iterator[Detail]:
    yield Section(_("Done by hand"), _("as recorded, newest first"))
    if not done:
        yield Pair("", _("Nothing is recorded."))
    for each in done:
        yield Pair(each.day, f"{each.what}. {each.where}.")
        yield Pair("", each.found, token="text2")
    if not_yet:
        yield Pair(_("Not yet"), "; ".join(not_yet), token="text2")
