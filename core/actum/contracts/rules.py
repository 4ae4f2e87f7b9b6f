"""Rules that hold between parameters: each a name, the fields it looks at, and a sentence when it does not hold."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from actum.contracts.reading import Fields


def _not_after(values: Sequence[Any]) -> bool:
    return all(a <= b for a, b in _given_pairs(values))


def _before(values: Sequence[Any]) -> bool:
    return all(a < b for a, b in _given_pairs(values))


def _given_pairs(values: Sequence[Any]) -> list[tuple[Any, Any]]:
    given = [value for value in values if value is not None]
    return list(itertools.pairwise(given))


# name → (does it hold, what is said when it does not; {fields} is filled with the fields' titles)
CHECKS: dict[str, tuple[Callable[[Sequence[Any]], bool], str]] = {
    "not_after": (_not_after, "{fields}: each may not be after the next."),
    "before": (_before, "{fields}: each is before the next."),
    "at_least_one": (lambda values: any(value is not None for value in values), "At least one is needed of {fields}."),
    "at_most_one": (lambda values: sum(value is not None for value in values) <= 1, "At most one fits of {fields}."),
    "together": (
        lambda values: len({value is None for value in values}) <= 1,
        "{fields} belong together: give all of them or none.",
    ),
}
ORDERING = frozenset({"not_after", "before"})


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a contract. `message` replaces the rule's own sentence if it is not empty."""

    rule: str
    fields: tuple[str, ...]
    message: str = ""

    def broken(self, values: Mapping[str, Any], titles: Mapping[str, str]) -> str | None:
        """The sentence to show, or None if the rule holds. Fields that have no value do not count as out of order."""
        holds, sentence = CHECKS[self.rule]
        if holds([values.get(name) for name in self.fields]):
            return None
        return self.message or sentence.format(fields=", ".join(f"“{titles[name]}”" for name in self.fields))

    def to_json(self) -> dict[str, Any]:
        return {"rule": self.rule, "fields": list(self.fields), "message": self.message}


def read_rule(document: Any, place: str, types: Mapping[str, str]) -> Rule:
    """One rule of a contract document; `types` maps its parameters to their types. Raises WrongUse."""
    fields = Fields(document, place)
    rule = Rule(fields.text("rule"), fields.texts("fields"), fields.text("message", ""))
    fields.done()
    if rule.rule not in CHECKS:
        raise fields.refuse("rule", f"“{rule.rule}” is not a rule; known: {', '.join(CHECKS)}.")
    strangers = [name for name in rule.fields if name not in types]
    if strangers or len(rule.fields) < 2:
        raise fields.refuse("fields", f"no such parameter: {', '.join(strangers)}." if strangers else "name two or more.")
    if rule.rule in ORDERING and len({types[name] for name in rule.fields}) > 1:
        raise fields.refuse("fields", "values of different types have no order.")
    return rule
