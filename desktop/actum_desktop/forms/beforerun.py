"""What a run will read, write and need, said before it starts: rows of words from the contract and what is filled in. Pure."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from actum.contracts import durations
from actum.contracts.document import Contract, FunctionWork, ProgramWork
from actum.contracts.parameters import Parameter

from actum_desktop import measures
from actum_desktop.forms import fileinfo
from actum_desktop.forms.fileinfo import FileInfo
from actum_desktop.i18n import _, ngettext


@dataclass(frozen=True, slots=True)
class Row:
    """One line: what it is about, and what will be. `tip` is the whole of it where the line is a summary."""

    title: str
    text: str
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Needs:
    """What the rows are made of. `infos`: input name → what is known of the path, None = not looked at yet."""

    contract: Contract
    raw: Mapping[str, Any]
    infos: Mapping[str, FileInfo | None]
    copy_bytes_max: int
    variables: Sequence[str] = ()
    span: tuple[float, float, int] | None = None
    waiting: int = 0
    free_slots: int = 1


def rows(needs: Needs) -> list[Row]:
    contract = needs.contract
    found = [*_reads(needs), *_code(contract), _folder(contract), *_writes(contract)]
    if copied := _copied(needs):
        found.append(Row(_("Disk"), _("{size} of copies").format(size=measures.size(copied))))
    found += [*_deadlines(contract), *_time(needs), _environment(needs), _start(needs)]
    return found


def _inputs(contract: Contract) -> list[Parameter]:
    return [parameter for parameter in contract.parameters if parameter.is_input]


def _reads(needs: Needs) -> list[Row]:
    found = []
    for parameter in _inputs(needs.contract):
        raw, info = needs.raw.get(parameter.name), needs.infos.get(parameter.name)
        if not raw:
            text = _("nothing") if parameter.optional else _("not chosen yet")
        elif info is None:
            text = _("looking …")
        elif info.problem:
            text = info.problem
        else:
            count = (
                "" if info.files == 1 else ngettext("{n} file", "{n} files", info.files).format(n=measures.count(info.files))
            )
            will = fileinfo.will(parameter.policy, info.size, needs.copy_bytes_max)
            text = " · ".join(part for part in (count, measures.size(info.size), will) if part)
        tip = "\n".join(raw) if isinstance(raw, list) else str(raw or "")
        found.append(Row(_("Reads {name}").format(name=parameter.title), text, tip))
    return found


def _code(contract: Contract) -> list[Row]:
    match contract.work:
        case ProgramWork(program=path):
            return [Row(_("Program"), _("{name}, pinned").format(name=os.path.basename(path)), path)]
        case FunctionWork(file=path, interpreter=python):
            code = Row(_("Function"), _("{name}, pinned").format(name=os.path.basename(path)), path)
            return [code, Row(_("Interpreter"), measures_path(python), python)]
    return []


def measures_path(path: str) -> str:
    """A path with the home folder as ~."""
    home = os.path.expanduser("~")
    return f"~{path[len(home) :]}" if home != "/" and path.startswith(home + os.sep) else path


def _folder(contract: Contract) -> Row:
    cwd = getattr(contract.work, "cwd", None)
    return Row(_("Works in"), measures_path(cwd) if cwd else _("a fresh folder for its output"), cwd or "")


def _writes(contract: Contract) -> list[Row]:
    parts = []
    if contract.tables:
        parts.append(ngettext("{n} table", "{n} tables", len(contract.tables)).format(n=len(contract.tables)))
    if contract.metrics:
        parts.append(ngettext("{n} metric", "{n} metrics", len(contract.metrics)).format(n=len(contract.metrics)))
    if contract.outputs != ("*",) or not parts:
        parts.append(_("any files") if contract.outputs == ("*",) else ", ".join(contract.outputs))
    tip = ", ".join((*(table.name for table in contract.tables), *(metric.name for metric in contract.metrics)))
    found = [Row(_("Publishes"), measures.listed(parts), tip)]
    required = [*contract.required, *(table.name for table in contract.tables if table.required)]
    if required:
        found.append(Row(_("Must be there"), ", ".join(required), ", ".join(required)))
    return found


def _copied(needs: Needs) -> int:
    total = 0
    for parameter in _inputs(needs.contract):
        info = needs.infos.get(parameter.name)
        if info is None or info.problem:
            continue
        copy = parameter.policy == "copy" or (parameter.policy == "auto" and info.size <= needs.copy_bytes_max)
        total += info.size if copy else 0
    return total


def _deadlines(contract: Contract) -> list[Row]:
    policies = contract.policies
    parts = [_("start {time}").format(time=_time_of(policies.start_deadline))]
    parts += [f"{name} {_time_of(limit)}" for name, limit in sorted(policies.stage_deadlines.items())]
    overall = _("none overall") if policies.deadline is None else _("overall {time}").format(time=_time_of(policies.deadline))
    found = [Row(_("Deadlines"), measures.listed((overall, *parts)), measures.listed((overall, *parts)))]
    if policies.stall_after is not None:
        found.append(Row(_("Warns"), _("after {time} without progress").format(time=_time_of(policies.stall_after))))
    return found


def _time_of(limit: Any) -> str:
    return measures.duration(durations.seconds(limit))


def _time(needs: Needs) -> list[Row]:
    if needs.span is None:
        return []
    low, high, count = needs.span
    first, last = measures.duration(low), measures.duration(high)
    span = first if first == last else _("{low} to {high}").format(low=first, high=last)
    text = ngettext("{span}, from {n} run", "{span}, from {n} runs", count).format(span=span, n=count)
    return [
        Row(_("Time"), _("about {span}").format(span=text), _("The shortest and the longest of the last runs that succeeded."))
    ]


def _environment(needs: Needs) -> Row:
    profiles = {"inherit": _("as Actum's own"), "clean": _("clean"), "login": _("as the login shell's")}
    profile = profiles.get(needs.contract.environment.profile, needs.contract.environment.profile)
    own = sorted(needs.contract.environment.variables)
    names = sorted({*needs.variables, *own})
    text = profile
    if needs.variables:
        count = ngettext("{n} variable", "{n} variables", len(names)).format(n=len(names))
        text = _("{first}, {second}").format(first=profile, second=count)
    if own:
        text = _("{first}, {second}").format(first=text, second=_("sets {names}").format(names=", ".join(own)))
    return Row(_("Environment"), text, ", ".join(names))


def _start(needs: Needs) -> Row:
    if needs.waiting:
        text = ngettext("after {n} other run", "after {n} other runs", needs.waiting).format(n=needs.waiting)
    else:
        text = _("at once") if needs.free_slots > 0 else _("when a slot is free")
    return Row(_("Starts"), text)


def variable_names(profile: str) -> list[str]:
    """The names, never the values, of what the work's environment will hold. Asks the login shell for `login`: not in the
    GUI thread."""
    from actum.engines.environment import host_environment

    return sorted(host_environment(profile, os.environ))
