"""The contract document: everything a task asks, promises and measures, as JSON and as frozen records (§15).

Theory. A document is what is stored, digested, shown and handed to the host. `load` reads it strictly (an unknown field is
refused and named) and fills what it leaves out; `Contract.to_json` writes it whole. `load(c.to_json()) == c`, and the digest
is taken of the whole form, so a document with defaults spelt out and one without have the same digest. It holds no float.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from actum import canonical, limits
from actum.contracts import commandline, numbers, secrets
from actum.contracts.parameters import Parameter, read_parameter
from actum.contracts.policies import Policies, read_policies
from actum.contracts.reading import Fields, refuse
from actum.contracts.rules import Rule, read_rule
from actum.contracts.tables import Table, TableRefused, schema_from_json
from actum.errors import WrongUse

SCHEMA = "actum.contract/1"
PROFILES = ("inherit", "clean", "login")
_TASK_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class ProgramWork:
    """Any program: `{NAME}` in its arguments is filled with parameters, without a shell. `cwd` None = the output folder."""

    program: str
    arguments: tuple[str, ...] = ()
    cwd: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {"kind": "program", "program": self.program, "arguments": list(self.arguments), "cwd": self.cwd}


@dataclass(frozen=True, slots=True)
class FunctionWork:
    """A Python function in a file, called by an interpreter of the user's (3.9 or newer)."""

    file: str
    function: str
    interpreter: str
    cwd: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": "function",
            "file": self.file,
            "function": self.function,
            "interpreter": self.interpreter,
            "cwd": self.cwd,
        }


@dataclass(frozen=True, slots=True)
class RecipeWork:
    """A task that comes with the program; `name` is its place in the registry of recipes."""

    name: str

    def to_json(self) -> dict[str, Any]:
        return {"kind": "recipe", "name": self.name}


Work = ProgramWork | FunctionWork | RecipeWork


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """A declared metric: `rule` names a numeric rule, `meaning` says what it measures and when it is missing."""

    name: str
    title: str = ""
    unit: str | None = None
    rule: str | None = None
    meaning: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "title": self.title, "unit": self.unit, "rule": self.rule, "meaning": self.meaning}


@dataclass(frozen=True, slots=True)
class Environment:
    """A named profile (inherit, clean, login) and the task's own variables over it."""

    profile: str = "inherit"
    variables: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {"profile": self.profile, "variables": dict(sorted(self.variables.items()))}


@dataclass(frozen=True, slots=True)
class Contract:
    """One task at one version."""

    name: str
    work: Work
    title: str = ""
    version: str = "1"
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    rules: tuple[Rule, ...] = ()
    outputs: tuple[str, ...] = ("*",)
    required: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    metrics: tuple[MetricSpec, ...] = ()
    policies: Policies = field(default_factory=Policies)
    environment: Environment = field(default_factory=Environment)

    def to_json(self) -> dict[str, Any]:
        """The whole document, nothing left out."""
        return {
            "schema": SCHEMA,
            "name": self.name,
            "title": self.title,
            "version": self.version,
            "description": self.description,
            "work": self.work.to_json(),
            "parameters": [parameter.declaration() for parameter in self.parameters],
            "rules": [rule.to_json() for rule in self.rules],
            "outputs": list(self.outputs),
            "required": list(self.required),
            "tables": [table.to_json() for table in self.tables],
            "metrics": [metric.to_json() for metric in self.metrics],
            "policies": self.policies.to_json(),
            "environment": self.environment.to_json(),
        }

    def code_path(self) -> str | None:
        """The user's program or file, which is an input too (R17); None for a recipe."""
        match self.work:
            case ProgramWork(program=path) | FunctionWork(file=path):
                return path
        return None


def digest(document: Mapping[str, Any]) -> str:
    """sha256 of the whole form of `document`. Raises WrongUse when it is not a contract."""
    return canonical.digest(load(document).to_json())


def load(document: Mapping[str, Any]) -> Contract:
    """The contract that `document` describes. Raises WrongUse with the place and the reason."""
    fields = Fields(document, "")
    if fields.raw("schema", SCHEMA) != SCHEMA:
        raise fields.refuse("schema", f"“{fields.raw('schema')}” is another format than {SCHEMA}.")
    parameters = _unique("parameters", fields.items("parameters", read_parameter))
    if len(parameters) > limits.CONTRACT_PARAMETERS_MAX:
        raise fields.refuse("parameters", f"a task has at most {limits.CONTRACT_PARAMETERS_MAX} parameters.")
    types = {parameter.name: parameter.type for parameter in parameters}
    name = check_task_name(fields.text("name"))
    contract = Contract(
        name=name,
        work=_read_work(fields.raw("work"), "work", types),
        title=fields.text("title", "") or name,
        version=_version(fields),
        description=fields.text("description", ""),
        parameters=parameters,
        rules=fields.items("rules", lambda item, place: read_rule(item, place, types)),
        outputs=fields.items("outputs", _read_pattern) or ("*",),
        required=fields.items("required", _read_pattern),
        tables=_unique("tables", fields.items("tables", _read_table)),
        metrics=_unique("metrics", fields.items("metrics", _read_metric)),
        policies=read_policies(fields.raw("policies") or {}),
        environment=_read_environment(fields.raw("environment") or {}),
    )
    fields.done()
    try:
        size = len(canonical.dumps(contract.to_json()).encode("utf-8", "surrogatepass"))
    except TypeError as error:
        raise refuse("the document", f"{error}.") from None
    if size > limits.CONTRACT_BYTES_MAX:
        raise refuse("the document", f"it has {size} bytes; at most {limits.CONTRACT_BYTES_MAX} are possible.")
    return contract


def check_task_name(name: str) -> str:
    """`name`, if a task can be called so. Raises WrongUse."""
    if not _TASK_NAME.fullmatch(name) or len(name) > limits.NAME_CHARS_MAX:
        raise WrongUse(
            "task_name_invalid",
            f"“{name[:60]}” cannot be a task's name.",
            "A name has lower-case letters, digits, “-”, “_” and “.”, and begins with a letter or digit.",
            "For example nightly-report.",
        )
    return name


def _version(fields: Fields) -> str:
    version = fields.text("version", "1")
    if not version.strip() or len(version) > limits.NAME_CHARS_MAX:
        raise fields.refuse("version", f"a version has 1 to {limits.NAME_CHARS_MAX} characters.")
    return version


def _unique(place: str, items: tuple[Any, ...]) -> tuple[Any, ...]:
    seen: set[str] = set()
    for item in items:
        if item.name in seen:
            raise refuse(place, f"“{item.name}” stands there more than once.")
        seen.add(item.name)
    return items


def _read_work(document: Any, place: str, types: Mapping[str, str]) -> Work:
    fields = Fields(document, place)
    kind = fields.text("kind")
    work: Work
    if kind == "program":
        work = ProgramWork(fields.text("program"), fields.texts("arguments"), fields.optional_text("cwd"))
        unknown = commandline.names(work.arguments) - set(types) - {commandline.OUTPUT}
        if unknown:
            raise fields.refuse("arguments", f"{{{min(unknown)}}} names no parameter.", "Write {{ and }} for braces.")
        _absolute(fields, "program", work.program)
        _no_secret(fields, "arguments", work.arguments)
    elif kind == "function":
        interpreter = fields.text("interpreter")
        work = FunctionWork(fields.text("file"), fields.text("function"), interpreter, fields.optional_text("cwd"))
        _absolute(fields, "file", work.file)
        _absolute(fields, "interpreter", interpreter)
        if not work.function.isidentifier():
            raise fields.refuse("function", f"“{work.function}” is not a function's name.")
    elif kind == "recipe":
        work = RecipeWork(fields.text("name"))
    else:
        raise fields.refuse("kind", f"“{kind}” is not one of program, function, recipe.")
    fields.done()
    if isinstance(work, (ProgramWork, FunctionWork)) and work.cwd is not None:
        _absolute(fields, "cwd", work.cwd)
    return work


def _absolute(fields: Fields, name: str, path: str) -> None:
    if not PurePath(path).is_absolute():
        raise fields.refuse(name, f"“{path}” is not an absolute path.")


def _no_secret(fields: Fields, name: str, texts: tuple[str, ...]) -> None:
    for text in texts:
        if looks_like := secrets.value_looks_secret(text):
            raise fields.refuse(name, secrets.refusal_of_value(looks_like))


def _read_pattern(item: Any, place: str) -> str:
    """A pattern of files inside the output folder: relative, with no way out of it."""
    parts = PurePath(item).parts if isinstance(item, str) else ()
    if not parts or "\x00" in item or PurePath(item).is_absolute() or ".." in parts:
        raise refuse(place, f"“{item}” is not a pattern of files inside the output folder, such as *.csv.")
    return str(item)


def _read_table(document: Any, place: str) -> Table:
    fields = Fields(document, place)
    name = _name(fields)
    if not all(sign.isalnum() or sign in "_-." for sign in name):
        raise fields.refuse("name", f"“{name}” cannot be a table's name; letters, digits, “_”, “-” and “.” can.")
    try:
        table = Table(name, fields.boolean("required", False), schema_from_json(fields.raw("columns") or []))
    except TableRefused as error:
        raise fields.refuse("columns", str(error)) from None
    fields.done()
    return table


def _read_metric(document: Any, place: str) -> MetricSpec:
    fields = Fields(document, place)
    name = _name(fields)
    rule = fields.optional_text("rule")
    if rule is not None and rule not in numbers.RULES:
        raise fields.refuse("rule", f"“{rule}” is not a numeric rule; known: {', '.join(sorted(numbers.RULES))}.")
    spec = MetricSpec(name, fields.text("title", "") or name, fields.optional_text("unit"), rule, fields.text("meaning", ""))
    fields.done()
    return spec


def _name(fields: Fields) -> str:
    name = fields.text("name")
    if not 0 < len(name) <= limits.NAME_CHARS_MAX or "/" in name or name.startswith("."):
        raise fields.refuse("name", f"“{name[:60]}” cannot be a name.")
    return name


def _read_environment(document: Any) -> Environment:
    fields = Fields(document, "environment")
    environment = Environment(fields.text("profile", "inherit"), dict(fields.mapping("variables")))
    fields.done()
    if environment.profile not in PROFILES:
        raise fields.refuse("profile", f"“{environment.profile}” is not one of {', '.join(PROFILES)}.")
    for name, value in environment.variables.items():
        if not _VARIABLE.fullmatch(str(name)) or name.startswith("ACTUM_") or not isinstance(value, str):
            raise fields.refuse("variables", f"“{name}” cannot be set, or its value is not text.")
        if secrets.name_looks_secret(name) or secrets.value_looks_secret(value):
            raise WrongUse("secret_refused", f"The variable “{name}” cannot be used.", secrets.refusal_of_name(name))
    return environment
