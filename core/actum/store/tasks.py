"""Tasks, their versions, and settings: the definitions a workspace holds."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, bindparam, select, update
from sqlalchemy.dialects import sqlite

from actum.model.changes import AddTask, Changes, Persisted, RefusalKind, SetSetting
from actum.store.jsontext import to_text
from actum.store.schema import setting, task, task_version
from actum.store.sql import MINE, Insertion, Statement
from actum.store.writing import Refusal, Session

_insert_task = Insertion(task, ("name", "version", "built_in", "created_at_us"), once=True)
_insert_version = Insertion(task_version, ("task", "version", "contract_digest", "contract", "created_at_us"), once=True)
_versions = Statement(
    select(task_version.c.contract_digest).where(
        task_version.c.task == bindparam("v_task"), task_version.c.version == bindparam("v_version")
    )
)
_newest = Statement(
    update(task)
    .where(task.c.name == bindparam("v_name"), MINE)
    .values(version=bindparam("v_version"), built_in=bindparam("v_built_in"), epoch=bindparam("mine"))
)
_given: list[ColumnElement[Any]] = [bindparam("v_name"), bindparam("v_value"), bindparam("v_at_us"), bindparam("mine")]
_source = select(*_given).where(MINE)
_upsert = sqlite.insert(setting).from_select(["name", "value", "at_us", "epoch"], _source)
_set = Statement(
    _upsert.on_conflict_do_update(
        index_elements=["name"],
        set_={"value": _upsert.excluded.value, "at_us": _upsert.excluded.at_us, "epoch": _upsert.excluded.epoch},
    )
)


def add(session: Session, request: AddTask) -> Persisted:
    """Define a task or a new version. The same version with another contract is refused, but for a built-in task:
    there the program itself changed, both contracts stay, and the newest counts."""
    known = [row[0] for row in _versions.run(session.connection, v_task=request.task, v_version=request.version)]
    if request.contract_digest in known:
        return Persisted(Changes())
    if known and not request.built_in:
        raise Refusal(
            RefusalKind.TASK,
            f"Version {request.version} of the task “{request.task}” exists with another contract.",
            details={"contract_digest": known[-1], "other_contract_digest": request.contract_digest},
        )
    _insert_task.run(
        session.connection,
        session.mine,
        name=request.task,
        version=request.version,
        built_in=int(request.built_in),
        created_at_us=request.at_us,
    )
    _insert_version.run(
        session.connection,
        session.mine,
        task=request.task,
        version=request.version,
        contract_digest=request.contract_digest,
        contract=to_text(dict(request.contract)),
        created_at_us=request.at_us,
    )
    _newest.run(
        session.connection,
        mine=session.mine,
        v_name=request.task,
        v_version=request.version,
        v_built_in=int(request.built_in),
    )
    return Persisted(Changes(tasks=frozenset({request.task})), created=True)


def set_setting(session: Session, request: SetSetting) -> Persisted:
    _set.run(
        session.connection,
        mine=session.mine,
        v_name=request.name,
        v_value=to_text(request.value),
        v_at_us=request.at_us,
    )
    return Persisted(Changes(settings=True))
