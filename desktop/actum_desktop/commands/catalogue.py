"""The tasks a command can name: those the workspace knows, and the built-in ones that it will know once something runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from actum.clock import rfc3339
from actum.errors import NotFound

from actum_desktop.commands.context import Context


@dataclass(frozen=True, slots=True)
class KnownTask:
    """One task in its newest version. `created_at_us` None = built in, and not yet recorded in this workspace."""

    contract: Mapping[str, Any]
    built_in: bool
    disabled: bool = False
    created_at_us: int | None = None

    @property
    def name(self) -> str:
        return str(self.contract["name"])

    @property
    def version(self) -> str:
        return str(self.contract.get("version", "1"))

    @property
    def title(self) -> str:
        return str(self.contract.get("title") or self.name)

    @property
    def kind(self) -> str:
        return "built in" if self.built_in else str(self.contract["work"]["kind"])

    def to_json(self) -> dict[str, Any]:
        return {
            "task": self.name,
            "version": self.version,
            "title": self.title,
            "description": str(self.contract.get("description") or ""),
            "kind": str(self.contract["work"]["kind"]),
            "built_in": self.built_in,
            "disabled": self.disabled,
            "created_at": None if self.created_at_us is None else rfc3339(self.created_at_us),
        }


def known_tasks(context: Context) -> list[KnownTask]:
    """Every task by name, the user's own before the built-in ones."""
    known = {task.name: task for task in _built_in()}
    if context.begun:
        with context.reader() as reader:
            for row in reader.tasks():
                known[row.name] = KnownTask(row.contract, row.built_in, row.disabled, row.created_at_us)
    return sorted(known.values(), key=lambda task: (task.built_in, task.name))


def contract_of(context: Context, name: str, version: str | None) -> Mapping[str, Any]:
    """The contract document of a task. Raises NotFound."""
    try:
        with context.reader() as reader:
            return reader.task(name, version).contract
    except NotFound:
        for task in _built_in():
            if task.name == name and version in (None, task.version):
                return task.contract
        if not context.begun:
            remedy = "`actum tasks` lists them, `actum task add` defines one."
            raise NotFound("no_such_task", f"There is no task “{name}”.", remedy=remedy) from None
        raise


def _built_in() -> list[KnownTask]:
    from actum.contracts.document import load
    from actum.recipes.registry import documents

    return [KnownTask(load(document).to_json(), built_in=True) for document in documents()]
