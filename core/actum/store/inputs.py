"""The inputs of a run: as they were admitted, then as they were frozen (R17)."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import bindparam, delete

from actum.model.run import InputRow
from actum.store.jsontext import to_text_or_none
from actum.store.schema import input_
from actum.store.sql import MINE, Insertion, Statement
from actum.store.writing import Session

_insert = Insertion(input_, ("run", "name", "position", "path", "policy", "sha256", "size", "store", "stat"))
_drop = Statement(delete(input_).where(input_.c.run == bindparam("v_run"), MINE))


def add(session: Session, number: int, inputs: Iterable[InputRow]) -> None:
    """In their order."""
    for position, row in enumerate(inputs):
        _insert.run(
            session.connection,
            session.mine,
            run=number,
            name=row.name,
            position=position,
            path=row.path,
            policy=row.policy,
            sha256=row.sha256,
            size=row.size,
            store=row.store,
            stat=to_text_or_none(row.stat),
        )


def freeze(session: Session, number: int, inputs: Iterable[InputRow]) -> None:
    """Replace the admitted inputs of a run by the frozen ones."""
    _drop.run(session.connection, mine=session.mine, v_run=number)
    add(session, number, inputs)
