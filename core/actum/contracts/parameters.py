"""Parameters: what a task asks for, and how raw values become typed ones (R05, §15).

Theory. A `Parameter` is a declaration; `parse` takes raw values (text or JSON), fills defaults, types each, checks bounds,
choices and the rules between fields, and either answers a `Typed` or raises InvalidParameters with one sentence for each
field that is wrong: all of them, not the first. Nothing here touches a disk: a path is made absolute and no more.
`parse(contract, typed.to_json(), base)` gives the same `Typed` again, so the store keeps the canonical JSON alone.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from actum import canonical, limits
from actum.contracts import kinds, secrets
from actum.contracts.kinds import COMPOUND, KINDS, Unfit, kind_of
from actum.contracts.reading import Fields
from actum.contracts.rules import Rule
from actum.errors import InvalidParameters, WrongUse

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
POLICIES = ("auto", "copy", "pin")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One declared parameter. `default` is raw (text or JSON), None = none. `items` is a list's member, `fields` a record's."""

    name: str
    type: str
    title: str
    help: str = ""
    unit: str | None = None
    required: bool = True
    default: Any = None
    optional: bool = False
    minimum: Any = None
    maximum: Any = None
    choices: tuple[str, ...] = ()
    policy: str = "auto"
    file: str | None = None
    items: Parameter | None = None
    fields: tuple[Parameter, ...] = ()

    @property
    def is_input(self) -> bool:
        return self.type in KINDS and KINDS[self.type].is_path

    @property
    def known(self) -> bool:
        """Whether this program knows the type; if not, the text is handed on as it stands."""
        return self.type in KINDS or self.type in COMPOUND

    def read(self, raw: Any, base: Path) -> Any:
        """The typed value of `raw`, or None where that is allowed. Raises Unfit."""
        empty = isinstance(raw, str) and not raw.strip() and self.type != "text"
        if raw is None or (empty and self.optional):
            if not self.optional:
                raise Unfit("A value is needed here.")
            return None
        if self.type == "list":
            return self._read_list(raw, base)
        if self.type == "record":
            return self._read_record(raw, base)
        value = kind_of(self.type).read_json(raw, base)
        self._check(value, base)
        return value

    def to_json(self, value: Any) -> Any:
        """The canonical JSON of a typed value; no floats in it."""
        if value is None:
            return None
        if self.items is not None:
            return [self.items.to_json(item) for item in value]
        if self.type == "record":
            return {field.name: field.to_json(value[field.name]) for field in self.fields}
        return kind_of(self.type).to_json(value)

    def _check(self, value: Any, base: Path) -> None:
        kind = kind_of(self.type)
        for bound, sign, words in (
            (self.minimum, 1, "is below the least allowed value"),
            (self.maximum, -1, "is above the greatest allowed value"),
        ):
            limit = None if bound is None or not kind.ordered else kind.read_json(bound, base)
            if limit is not None and (value < limit if sign > 0 else value > limit):
                raise Unfit(f"{kinds.shown(str(kind.to_json(value)))} {words}, {kind.to_json(limit)}.")
        if self.choices and self.known and value not in self.choices:
            near = difflib.get_close_matches(value, self.choices, n=1)
            hint = f" Probably “{near[0]}” is meant." if near else ""
            raise Unfit(f"{kinds.shown(value)} is not one of {', '.join(self.choices)}.{hint}")
        for text in value if isinstance(value, tuple) else (value,):
            looks_like = secrets.value_looks_secret(text) if isinstance(text, str) else None
            if looks_like:
                raise Unfit(secrets.refusal_of_value(looks_like))

    def _read_list(self, raw: Any, base: Path) -> tuple[Any, ...]:
        assert self.items is not None
        if isinstance(raw, str):
            is_json = raw.lstrip().startswith("[")
            raw = kinds.json_of(raw) if is_json else [part.strip() for part in raw.split(",") if part.strip()]
        if not isinstance(raw, (list, tuple)):
            raise Unfit(f"{kinds.shown(raw)} is not a list.")
        values = []
        for position, item in enumerate(raw, start=1):
            try:
                values.append(self.items.read(item, base))
            except Unfit as error:
                raise Unfit(f"Item {position}: {error}") from None
        return tuple(values)

    def _read_record(self, raw: Any, base: Path) -> dict[str, Any]:
        raw = kinds.json_of(raw) if isinstance(raw, str) else raw
        if not isinstance(raw, Mapping):
            raise Unfit(f"{kinds.shown(raw)} is not a record. Write its fields as a JSON object.")
        values, wrong = _read_all(self.fields, raw, base)
        if wrong:
            name, why = next(iter(wrong.items()))
            raise Unfit(f"Field “{name}”: {why}")
        return values

    def declaration(self) -> dict[str, Any]:
        """The parameter as it stands in a contract document."""
        document: dict[str, Any] = {
            "name": self.name,
            "type": self.type,
            "title": self.title,
            "help": self.help,
            "unit": self.unit,
            "required": self.required,
            "default": self.default,
            "optional": self.optional,
            "minimum": self.minimum,
            "maximum": self.maximum,
            "choices": list(self.choices),
        }
        if self.is_input:
            document["policy"] = self.policy
        if self.file is not None:
            document["file"] = self.file
        if self.items is not None:
            document["items"] = self.items.declaration()
        if self.fields:
            document["fields"] = [field.declaration() for field in self.fields]
        return document


@dataclass(frozen=True, slots=True)
class Typed:
    """Typed values of all parameters of a contract, defaults filled in. Attributes: parameters, values (name → value)."""

    parameters: tuple[Parameter, ...]
    values: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Canonical JSON values by name: what store and launch file keep."""
        return {parameter.name: parameter.to_json(self.values[parameter.name]) for parameter in self.parameters}

    def files(self) -> list[tuple[str, str, str]]:
        """Every input as (name, absolute path, policy); the members of a `files` parameter are `name[0]`, `name[1]`, …"""
        found = []
        for parameter in self.parameters:
            value = self.values[parameter.name]
            if not parameter.is_input or value is None:
                continue
            if isinstance(value, tuple):
                found += [(f"{parameter.name}[{i}]", path, parameter.policy) for i, path in enumerate(value)]
            else:
                found.append((parameter.name, value, parameter.policy))
        return found


class Declares(Protocol):
    """What has parameters and rules between them: a contract."""

    @property
    def parameters(self) -> tuple[Parameter, ...]: ...
    @property
    def rules(self) -> tuple[Rule, ...]: ...


def parse(contract: Declares, raw: Mapping[str, Any], base: Path) -> Typed:
    """Typed values for `raw` (name → text or JSON); relative paths start at `base`. Raises InvalidParameters."""
    values, wrong = _read_all(contract.parameters, raw, base)
    if not wrong:
        titles = {parameter.name: parameter.title for parameter in contract.parameters}
        broken = {rule.fields[-1]: said for rule in contract.rules if (said := rule.broken(values, titles))}
        wrong.update(broken)
    typed = Typed(contract.parameters, values)
    if not wrong and len(canonical.dumps(typed.to_json()).encode("utf-8", "surrogatepass")) > limits.PARAMETERS_BYTES_MAX:
        size_kib = limits.PARAMETERS_BYTES_MAX // 1024
        wrong[""] = f"The parameters are larger than {size_kib} KiB together. Use a file input for large values."
    if wrong:
        count = "One parameter does" if len(wrong) == 1 else f"{len(wrong)} parameters do"
        raise InvalidParameters(f"{count} not fit the task.", wrong, "Mend the values named and run again.")
    return typed


def _read_all(parameters: Sequence[Parameter], raw: Mapping[str, Any], base: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Values by name, and a sentence by name for each that does not fit."""
    values: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    for parameter in parameters:
        try:
            given = raw.get(parameter.name, parameter.default)
            if given is None and parameter.name not in raw and parameter.required:
                raise Unfit("A value is needed here.")
            values[parameter.name] = parameter.read(given, base)
        except Unfit as error:
            wrong[parameter.name] = str(error)
    known = [parameter.name for parameter in parameters]
    for name in sorted(set(raw) - set(known), key=str):
        near = difflib.get_close_matches(str(name), known, n=1)
        hint = f" Probably “{near[0]}” is meant." if near else ""
        secret = secrets.name_looks_secret(str(name)) and not near
        wrong[str(name)] = secrets.refusal_of_name(str(name)) if secret else f"The task has no such parameter.{hint}"
    return values, wrong


def read_parameter(document: Any, place: str) -> Parameter:
    """One parameter of a contract document. Raises WrongUse."""
    fields = Fields(document, place)
    name, type_name = fields.text("name"), fields.text("type")
    _check_name(fields, name)
    if type_name in kinds.REFUSED:
        raise fields.refuse("type", f"the type {type_name} cannot be used. {kinds.REFUSED[type_name]}", secrets.REMEDY)
    if not _NAME.fullmatch(type_name) or len(type_name) > limits.NAME_CHARS_MAX:
        known = ", ".join((*KINDS, *kinds.COMPOUND))
        raise fields.refuse("type", f"“{type_name[:60]}” cannot be a type; known: {known}.")
    optional, default = fields.boolean("optional", False), fields.raw("default")
    parameter = Parameter(
        name=name,
        type=type_name,
        title=fields.text("title", name),
        help=fields.text("help", ""),
        unit=fields.optional_text("unit"),
        required=fields.boolean("required", default is None and not optional),
        default=default,
        optional=optional,
        minimum=fields.raw("minimum"),
        maximum=fields.raw("maximum"),
        choices=fields.texts("choices"),
        policy=fields.text("policy", "auto"),
        file=fields.optional_text("file"),
        items=read_parameter({"name": "item", **fields.mapping("items")}, f"{place}.items") if type_name == "list" else None,
        fields=fields.items("fields", read_parameter) if type_name == "record" else (),
    )
    fields.done()
    _check_declaration(fields, parameter)
    return parameter


def _check_name(fields: Fields, name: str) -> None:
    if not _NAME.fullmatch(name) or len(name) > limits.NAME_CHARS_MAX:
        raise fields.refuse("name", f"{kinds.shown(name)} is not a name. Use letters, digits and _, a letter first.")
    if name.startswith("ACTUM_"):
        raise fields.refuse("name", "names that begin with ACTUM_ are Actum's own.")
    if secrets.name_looks_secret(name):
        raise WrongUse("secret_refused", f"The parameter “{name}” cannot be used.", secrets.refusal_of_name(name))


def _check_declaration(fields: Fields, parameter: Parameter) -> None:
    """Bounds, choices and default make sense for the type."""
    kind = kind_of(parameter.type)
    base = Path("/")
    if not parameter.known:
        _check_default(fields, parameter, base)
        return
    if (parameter.minimum is not None or parameter.maximum is not None) and not kind.ordered:
        raise fields.refuse("minimum", f"values of the type {parameter.type} have no order.")
    if (parameter.type == "choice") != bool(parameter.choices) and parameter.type != "text":
        raise fields.refuse("choices", "a choice has choices, and only a choice or a text has them.")
    if parameter.policy not in POLICIES:
        raise fields.refuse("policy", f"“{parameter.policy}” is not one of {', '.join(POLICIES)}.")
    if parameter.type == "list" and parameter.items is not None and parameter.items.is_input:
        raise fields.refuse("items", "a list of files has the type files.")
    if parameter.type == "record" and (not parameter.fields or any(field.is_input for field in parameter.fields)):
        raise fields.refuse("fields", "a record has fields, and files are parameters of their own.")
    if not parameter.required and parameter.default is None and not parameter.optional:
        raise fields.refuse("required", "a parameter that need not be given has a default or is optional.")
    for name, bound in (("minimum", parameter.minimum), ("maximum", parameter.maximum)):
        try:
            if bound is not None:
                canonical.dumps(bound)
                kind.read_json(bound, base)
        except (Unfit, TypeError) as error:
            raise fields.refuse(name, str(error)) from None
    _check_default(fields, parameter, base)


def _check_default(fields: Fields, parameter: Parameter, base: Path) -> None:
    try:
        canonical.dumps(parameter.default)
        if parameter.default is not None:
            parameter.read(parameter.default, base)
    except (Unfit, TypeError) as error:
        raise fields.refuse("default", str(error)) from None
