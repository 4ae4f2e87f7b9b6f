"""A condition on the rows of a table: a typed tree, and its form as JSON, which is stable and holds no SQL (R19).

| node           | JSON                                                     | columns it can be asked of                    |
|----------------|----------------------------------------------------------|-----------------------------------------------|
| Compare        | {"op": "=" != < <= > >=, "column", "value": text}        | numbers, text, dates, times; = and != booleans |
| Among          | {"op": "in", "column", "values": [text]}                 | as `=`                                        |
| Contains       | {"op": "contains", "column", "value"}, in any case       | text                                          |
| Begins         | {"op": "begins", "column", "value"}                      | text                                          |
| Holds          | {"op": "holds", "column"}                                | booleans                                      |
| Missing        | {"op": "missing", "column"}                              | all                                           |
| NotANumber     | {"op": "nan", "column"}                                  | floats                                        |
| Not            | {"op": "not", "of": node}                                |                                               |
| All, Any       | {"op": "and" | "or", "of": [nodes, two at least]}        |                                               |

Values are texts as typed; the column's type says what they mean, exactly. Where a value is missing, or is not a number, a
comparison is neither true nor false, and neither is its opposite; a row is kept only where the whole is true. So
`not (x > 5)` keeps no row without x: `x is null` asks for those.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from actum import limits
from actum.errors import WrongUse

COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class Compare:
    column: str
    operator: str
    value: str


@dataclass(frozen=True, slots=True)
class Among:
    column: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Contains:
    column: str
    value: str


@dataclass(frozen=True, slots=True)
class Begins:
    column: str
    value: str


@dataclass(frozen=True, slots=True)
class Holds:
    column: str


@dataclass(frozen=True, slots=True)
class Missing:
    column: str


@dataclass(frozen=True, slots=True)
class NotANumber:
    column: str


@dataclass(frozen=True, slots=True)
class Not:
    of: Condition


@dataclass(frozen=True, slots=True)
class All:
    of: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Any_:
    """At least one of them."""

    of: tuple[Condition, ...]


Leaf: TypeAlias = Compare | Among | Contains | Begins | Holds | Missing | NotANumber
Condition: TypeAlias = Leaf | Not | All | Any_

_OF_ONE: Mapping[str, type[Contains | Begins]] = {"contains": Contains, "begins": Begins}
_OF_NONE: Mapping[str, type[Holds | Missing | NotANumber]] = {"holds": Holds, "missing": Missing, "nan": NotANumber}
_JOINED: Mapping[str, type[All | Any_]] = {"and": All, "or": Any_}
_WORDS = {kind: word for words in (_OF_ONE, _OF_NONE, _JOINED) for word, kind in words.items()}


def to_json(condition: Condition) -> dict[str, Any]:
    """The node as JSON."""
    if isinstance(condition, Compare):
        return {"op": condition.operator, "column": condition.column, "value": condition.value}
    if isinstance(condition, Among):
        return {"op": "in", "column": condition.column, "values": list(condition.values)}
    if isinstance(condition, Not):
        return {"op": "not", "of": to_json(condition.of)}
    word = _WORDS[type(condition)]
    if isinstance(condition, All | Any_):
        return {"op": word, "of": [to_json(part) for part in condition.of]}
    if isinstance(condition, Contains | Begins):
        return {"op": word, "column": condition.column, "value": condition.value}
    return {"op": word, "column": condition.column}


def from_json(document: object) -> Condition:
    """The condition that `to_json` wrote. Raises WrongUse(bad_filter); FILTER_PARTS_MAX and FILTER_DEPTH_MAX hold."""
    made = _node(document, limits.FILTER_DEPTH_MAX)
    check_size(made)
    return made


def check_size(condition: Condition) -> None:
    """Raises WrongUse(bad_filter) beyond FILTER_PARTS_MAX (conditions and values) or FILTER_CHARS_MAX (of one value)."""
    parts = 0
    for node in nodes(condition):
        if not isinstance(node, Leaf):
            continue
        values = node.values if isinstance(node, Among) else (getattr(node, "value", ""),)
        parts += len(values)
        if any(len(value) > limits.FILTER_CHARS_MAX for value in values):
            raise _refused("A value of the filter is too long.", f"At most {limits.FILTER_CHARS_MAX:,} characters.")
    if parts > limits.FILTER_PARTS_MAX:
        raise _refused("The filter has too many parts.", f"At most {limits.FILTER_PARTS_MAX:,}.")


def nodes(condition: Condition) -> Iterator[Condition]:
    """The condition and all that it is made of."""
    yield condition
    if isinstance(condition, Not):
        yield from nodes(condition.of)
    elif isinstance(condition, All | Any_):
        for part in condition.of:
            yield from nodes(part)


def columns_of(condition: Condition | None) -> frozenset[str]:
    """The names of the columns it asks."""
    return frozenset(node.column for node in nodes(condition) if isinstance(node, Leaf)) if condition else frozenset()


def _node(document: object, depth: int) -> Condition:
    if depth <= 0:
        raise _refused("The filter is nested too deeply.", f"At most {limits.FILTER_DEPTH_MAX} levels.")
    if not isinstance(document, Mapping):
        raise _refused("A condition is an object with “op”.")
    word = str(document.get("op"))
    if word == "not":
        _only(document, "of")
        return Not(_node(document["of"], depth - 1))
    if word in _JOINED:
        _only(document, "of")
        parts = document["of"]
        if not isinstance(parts, list) or len(parts) < 2:
            raise _refused(f"“{word}” joins two conditions at least.")
        return _JOINED[word](tuple(_node(part, depth - 1) for part in parts))
    if word in COMPARISONS:
        _only(document, "column", "value")
        return Compare(_text(document, "column"), word, _text(document, "value"))
    if word in _OF_ONE:
        _only(document, "column", "value")
        return _OF_ONE[word](_text(document, "column"), _text(document, "value"))
    if word in _OF_NONE:
        _only(document, "column")
        return _OF_NONE[word](_text(document, "column"))
    if word == "in":
        _only(document, "column", "values")
        values = document["values"]
        if not isinstance(values, list) or not values or not all(isinstance(value, str) for value in values):
            raise _refused("“in” takes a list of texts.")
        return Among(_text(document, "column"), tuple(values))
    raise _refused(f"There is no condition “{word[:40]}”.")


def _only(document: Mapping[str, Any], *names: str) -> None:
    if set(document) != {"op", *names}:
        raise _refused(f"“{document['op']}” takes {', '.join(names)} and nothing else.")


def _text(document: Mapping[str, Any], name: str) -> str:
    value = document[name]
    if not isinstance(value, str):
        raise _refused(f"“{name}” is a text.")
    return value


def _refused(what: str, why: str = "") -> WrongUse:
    return WrongUse("bad_filter", what, why)
