"""Attempts with what deciding needs of their run: one, the current one, those of a run, those that are still open."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, select

from actum.store import schema as s
from actum.store.sql import constant

_OF_ATTEMPT = (
    "seq", "id", "n", "status", "phase", "released", "session", "cookie", "secret_sha256", "folder", "host_identity",
    "contact", "failure_code", "failure_message", "started_at_us", "created_at_us", "records_offset",
)  # fmt: skip
_OF_RUN = (
    "number", "current_attempt", "task", "key", "request_digest", "parameters", "admitted_epoch", "stop_requested_at_us",
    "retry_at_us", "deletion", "adopted_attempt",
)  # fmt: skip
_OF_VERSION = ("version", "contract_digest", "contract")


def one() -> Select[Any]:
    return _rows(s.attempt.c.id == bindparam("v_attempt"))


def current() -> Select[Any]:
    return _rows(and_(s.run.c.number == bindparam("v_run"), s.attempt.c.id == s.run.c.current_attempt))


def of_run() -> Select[Any]:
    return _rows(s.run.c.number == bindparam("v_run"))


def still_open() -> Select[Any]:
    """Every attempt that is not closed, and the newest of every run in RETRYING."""
    closed_of_retrying = (
        select(s.attempt.c.seq)
        .join(s.run, s.attempt.c.id == s.run.c.current_attempt)
        .where(constant("run.status = 'RETRYING'"), constant("attempt.phase = 'CLOSED'"))
    )
    return _rows(
        s.attempt.c.seq.in_(select(s.attempt.c.seq).where(constant("phase <> 'CLOSED'")).union_all(closed_of_retrying))
    )


def lately_closed() -> Select[Any]:
    """The newest closed attempts that were given a session: of what was never launched nothing can be left."""
    newest = select(s.attempt.c.seq).where(constant("phase = 'CLOSED'"), s.attempt.c.session.is_not(None))
    return _rows(s.attempt.c.seq.in_(newest.order_by(s.attempt.c.seq.desc()).limit(bindparam("v_limit"))))


def facts() -> Select[Any]:
    fact = s.fact.c
    return (
        select(fact.fact, fact.at_us, fact.evidence, fact.epoch, s.service_instance.c.id.label("observer"))
        .join(s.service_instance, s.service_instance.c.epoch == fact.epoch, isouter=True)
        .where(fact.attempt == bindparam("v_attempt"))
    )


def inputs() -> Select[Any]:
    return select(s.input_).where(s.input_.c.run == bindparam("v_run")).order_by(s.input_.c.position)


def _rows(condition: ColumnElement[bool]) -> Select[Any]:
    attempt, run, version = s.attempt.c, s.run.c, s.task_version.c
    return (
        select(
            *(attempt[name] for name in _OF_ATTEMPT),
            *(run[name] for name in _OF_RUN),
            run.id.label("run_id"),
            run.status.label("run_status"),
            *(version[name] for name in _OF_VERSION),
        )
        .select_from(s.attempt.join(s.run, run.number == attempt.run).join(s.task_version, version.seq == run.task_version))
        .where(condition)
        .order_by(run.number, attempt.n)
    )
