"""What is wrong with the raw values of a form: field by field, and across fields. Pure; no Qt.

The one authority is `actum.contracts.parameters.parse`, asked for one field when that is left and for all of them on Run;
rules between fields are looked at only when each field is right by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from actum.contracts.document import Contract
from actum.contracts.parameters import Parameter, parse
from actum.contracts.rules import Rule
from actum.errors import InvalidParameters

from actum_desktop.forms import sentences


@dataclass(frozen=True, slots=True)
class _Part:
    """Some parameters of a contract and the rules between them."""

    parameters: tuple[Parameter, ...]
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class Across:
    """A sentence about several fields at once; `fields` may be empty (the parameters are too large together)."""

    sentence: str
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wrong:
    """`fields`: name → sentence, in the order of the form. `across`: what holds between fields and does not."""

    fields: Mapping[str, str] = field(default_factory=dict)
    across: tuple[Across, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.fields or self.across)


def field_problem(parameter: Parameter, raw: Mapping[str, Any], base: Path) -> str:
    """The sentence for one field, or "" when it is right."""
    own = {name: value for name, value in raw.items() if name == parameter.name}
    found = _parse(_Part((parameter,)), own, base)
    return sentences.local(found.get(parameter.name, ""))


def problems(contract: Contract, raw: Mapping[str, Any], base: Path) -> Wrong:
    """All that is wrong."""
    found = _parse(contract, raw, base)
    by_itself = {p.name: said for p in contract.parameters if (said := field_problem(p, raw, base))}
    if by_itself or not found:
        return Wrong(by_itself)
    return Wrong({}, tuple(_across(contract, raw, base, name, said) for name, said in found.items()))


def _across(contract: Contract, raw: Mapping[str, Any], base: Path, name: str, said: str) -> Across:
    """The rule that ends in `name` and does not hold, found again for the fields it names."""
    for rule in contract.rules:
        if rule.fields[-1] == name and _parse(_Part(contract.parameters, (rule,)), raw, base).get(name) == said:
            return Across(said if rule.message else sentences.local(said), rule.fields)
    return Across(sentences.local(said), (name,) if name else ())


def _parse(contract: Contract | _Part, raw: Mapping[str, Any], base: Path) -> Mapping[str, str]:
    try:
        parse(contract, raw, base)
    except InvalidParameters as error:
        return error.fields
    return {}
