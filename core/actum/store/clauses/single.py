"""What is asked of one run, task or table of the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import CompoundSelect, Select, and_, bindparam, func, literal, or_, select, union_all

from actum.limits import PAGE_ROWS_MAX
from actum.model.status import RunStatus
from actum.store import schema as s
from actum.store.sql import constant, newest_epoch

_both = ((False,), (True,))
SHAPES: dict[str, Sequence[tuple[int | bool | str, ...]]] = {
    "single.journal": _both,
    "single.alerts": [(open_only, of_run) for open_only in (False, True) for of_run in (False, True)],
    "single.task": _both,
}


def number() -> Select[Any]:
    return select(s.run.c.number).where(s.run.c.number == bindparam("v_number"))


def number_of_id() -> Select[Any]:
    return select(s.run.c.number).where(s.run.c.id == bindparam("v_id"))


def number_of_key() -> Select[Any]:
    return select(s.run.c.number).where(s.run.c.key == bindparam("v_key"))


def run() -> Select[Any]:
    version = s.task_version
    return (
        select(s.run, version.c.version, version.c.contract_digest, version.c.contract)
        .join(version, version.c.seq == s.run.c.task_version)
        .where(s.run.c.number == bindparam("v_number"))
    )


def adopted_from() -> Select[Any]:
    """The attempt that a run adopts."""
    return select(s.attempt.c.run, s.attempt.c.n, s.attempt.c.id).where(s.attempt.c.id == bindparam("v_attempt"))


def adopted_by() -> Select[Any]:
    """The newest run that took an attempt up: the one whose adoption stands, if any does (P16)."""
    asked = select(s.run.c.number, s.run.c.id, s.run.c.status, s.run.c.request_digest)
    return asked.where(s.run.c.adopted_attempt == bindparam("v_attempt")).order_by(s.run.c.number.desc()).limit(1)


def attempts() -> Select[Any]:
    return (
        select(s.attempt, s.service_instance.c.id.label("service_instance"))
        .join(s.service_instance, s.service_instance.c.epoch == s.attempt.c.epoch, isouter=True)
        .where(s.attempt.c.run == bindparam("v_run"))
        .order_by(s.attempt.c.n)
    )


def facts() -> Select[Any]:
    fact = s.fact
    return (
        select(
            s.attempt.c.id.label("attempt"),
            s.attempt.c.n,
            fact.c.fact,
            fact.c.at_us,
            fact.c.evidence,
            fact.c.epoch,
            s.service_instance.c.id.label("observer"),
        )
        .join(s.attempt, s.attempt.c.seq == fact.c.attempt)
        .join(s.service_instance, s.service_instance.c.epoch == fact.c.epoch, isouter=True)
        .where(s.attempt.c.run == bindparam("v_run"))
    )


def journal(of_run: bool) -> Select[Any]:
    row = s.journal
    whose = row.c.run == bindparam("v_run") if of_run else row.c.run.is_(None)
    return _journal_rows().where(whose, row.c.seq > bindparam("v_after")).order_by(row.c.seq).limit(bindparam("v_limit"))


def clock_set() -> Select[Any]:
    """How the wall clock was set while a run was under way."""
    row = s.journal
    return select(row.c.data).where(row.c.run == bindparam("v_run"), row.c.kind == "clock_set")


def journal_tail() -> Select[Any]:
    return _journal_rows().order_by(s.journal.c.seq.desc()).limit(bindparam("v_limit"))


def _journal_rows() -> Select[Any]:
    row = s.journal
    return select(row.c.seq, row.c.run, s.attempt.c.n, row.c.at_us, row.c.kind, row.c.data, row.c.epoch).join(
        s.attempt, s.attempt.c.seq == row.c.attempt, isouter=True
    )


def records() -> Select[Any]:
    n, seq = s.attempt.c.n, s.record.c.seq
    later = or_(n > bindparam("v_n"), and_(n == bindparam("v_n"), seq > bindparam("v_seq")))
    return (
        select(n, seq, s.record.c.at_us, s.record.c.kind, s.record.c.data)
        .join(s.attempt, s.attempt.c.seq == s.record.c.attempt)
        .where(s.attempt.c.run == bindparam("v_run"), later)
        .order_by(n, seq)
        .limit(bindparam("v_limit"))
    )


def alerts(open_only: bool, of_run: bool) -> Select[Any]:
    row = s.alert.c
    return (
        select(
            row.seq, row.key, row.code, row.severity, row.run, row.data, row.opened_at_us, row.raised_at_us, row.cleared_at_us
        )
        .where(
            *([constant("alert.cleared_at_us IS NULL")] if open_only else []),
            *([row.run == bindparam("v_run")] if of_run else []),
        )
        .order_by(row.seq.desc())
        .limit(PAGE_ROWS_MAX)
    )


def tasks() -> Select[Any]:
    """Every task in its newest version."""
    version = s.task_version.c
    newest = (
        select(func.max(version.seq))
        .join(s.task, and_(s.task.c.name == version.task, s.task.c.version == version.version))
        .group_by(version.task)
    )
    return _task_rows().where(version.seq.in_(newest)).order_by(s.task.c.name)


def task(newest: bool) -> Select[Any]:
    """One task, in its newest or in a named version."""
    version = s.task_version.c
    wanted = version.version == (s.task.c.version if newest else bindparam("v_version"))
    return _task_rows().where(s.task.c.name == bindparam("v_name"), wanted).order_by(version.seq.desc()).limit(1)


def _task_rows() -> Select[Any]:
    task, version = s.task.c, s.task_version.c
    return select(
        task.name,
        version.version,
        version.contract_digest,
        version.contract,
        task.built_in,
        task.disabled,
        version.created_at_us,
    ).join(s.task_version, version.task == task.name)


def result() -> Select[Any]:
    return (
        select(s.result, s.attempt.c.id.label("attempt_id"), s.attempt.c.n)
        .join(s.attempt, s.attempt.c.seq == s.result.c.attempt)
        .where(s.result.c.run == bindparam("v_run"))
    )


def files() -> Select[Any]:
    return select(s.result_file).where(s.result_file.c.attempt == bindparam("v_attempt")).order_by(s.result_file.c.name)


def check() -> Select[Any]:
    """The newest look at a result."""
    row = s.result_check.c
    return (
        select(row.state, row.reason, row.level, row.details, row.at_us)
        .where(row.run == bindparam("v_run"))
        .order_by(row.seq.desc())
        .limit(1)
    )


def derived_digests() -> Select[Any]:
    """The derived.json of each look that found every row of a result to mean what its authority means."""
    row = s.result_check.c
    found = func.json_extract(row.details, "$.derived_sha256").label("sha256")
    return select(found).distinct().where(row.run == bindparam("v_run"), row.level == "content", row.state == "readable")


def exports() -> Select[Any]:
    return (
        select(s.export, s.attempt.c.n)
        .join(s.attempt, s.attempt.c.seq == s.export.c.attempt)
        .where(s.export.c.run == bindparam("v_run"))
        .order_by(s.export.c.seq)
    )


def instances() -> Select[Any]:
    return select(s.service_instance).order_by(s.service_instance.c.epoch.desc()).limit(bindparam("v_limit"))


def counts() -> CompoundSelect[Any]:
    """SUCCEEDED is what is left: nearly all of 1,000,000 runs have succeeded, and counting all of a table reads far less
    than counting those of a status. One statement, so all counts are of the same moment."""
    others = [status.value for status in RunStatus if status is not RunStatus.SUCCEEDED]
    every, deleted = (
        select(func.count()).select_from(s.run).where(*conditions).scalar_subquery()
        for conditions in ([], [constant("run.deletion <> 'none'")])
    )
    return union_all(
        select(s.run.c.status, func.count())
        .where(constant("run.deletion = 'none'"), s.run.c.status.in_(others))
        .group_by(s.run.c.status),
        select(literal(RunStatus.SUCCEEDED.value), every - deleted),
    )


def settings() -> Select[Any]:
    return select(s.setting.c.name, s.setting.c.value)


def setting() -> Select[Any]:
    return select(s.setting.c.value).where(s.setting.c.name == bindparam("v_name"))


def epoch() -> Select[Any]:
    """The newest."""
    return select(newest_epoch)
