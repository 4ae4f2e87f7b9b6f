"""Reading a verb's arguments: each taken once, with its type, and nothing left over."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from actum.errors import WrongUse

if TYPE_CHECKING:
    from actum.results.tables import Published

T = TypeVar("T")


class Arguments:
    """The `args` of one request. A missing, surplus or mistyped member raises WrongUse(bad_request)."""

    def __init__(self, args: Mapping[str, Any], *known: str) -> None:
        surplus = sorted(args.keys() - set(known))
        if surplus:
            raise refused(f"It does not take “{surplus[0]}”; it takes {', '.join(known)}.")
        self._args = args

    def take(self, name: str, kind: type[T]) -> T:
        value = self._args.get(name)
        if type(value) is not kind:
            raise refused(f"“{name}” must be of the type {kind.__name__}.")
        return value

    def optional(self, name: str, kind: type[T]) -> T | None:
        return None if self._args.get(name) is None else self.take(name, kind)

    def published(self) -> Published | None:
        """What is on record of the result, as `published`; None for a package from elsewhere."""
        from actum.results.tables import Published

        document = self.optional("published", dict)
        if document is None:
            return None
        try:
            return Published.from_json(document)
        except (KeyError, TypeError) as error:
            raise refused("“published” must be what is on record of a result.") from error

    def path(self, name: str) -> Path:
        """An absolute path."""
        path = Path(self.take(name, str))
        if not path.is_absolute():
            raise refused(f"“{name}” must be an absolute path.")
        return path


def refused(why: str) -> WrongUse:
    return WrongUse("bad_request", "The arguments of the verb cannot be understood.", why)
