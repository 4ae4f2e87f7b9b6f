"""The questions of the read side, written in SQLAlchemy Core: a function each, some of them with a shape.

`SHAPES` are the arguments whose texts are kept in `compiled.json`; any other shape can be asked as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from sqlalchemy.sql.elements import ClauseElement

from actum.store.clauses import attempts, lists, single

Asked = tuple[int | bool | str, ...]

BUILDERS: dict[str, Callable[..., ClauseElement]] = {
    f"{module.__name__.rpartition('.')[2]}.{name}": builder
    for module in (attempts, lists, single)
    for name, builder in vars(module).items()
    if callable(builder) and getattr(builder, "__module__", None) == module.__name__ and not name.startswith("_")
}
SHAPES: Mapping[str, Sequence[Asked]] = {**lists.SHAPES, **single.SHAPES}


def clause(asked: Asked) -> ClauseElement:
    """The clause of a question: its name, then its arguments."""
    return BUILDERS[str(asked[0])](*asked[1:])


def every() -> Iterator[Asked]:
    """Every question whose text is kept."""
    for name in sorted(BUILDERS):
        for arguments in SHAPES.get(name, ((),)):
            yield (name, *arguments)
