"""A function's signature as a contract's parameters, and a run's parameters as the function's arguments.

A parameter without an annotation is text. `Optional[…]` (or a default of None) may be left out. What a signature cannot say
stands in `Annotated[…, Param(…)]`. A first parameter called `ctx`, or annotated Context, gets the Context.
"""

from __future__ import annotations

import enum
import inspect
import re
import typing
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from actum.sdk.context import Context
from actum.sdk.decorator import Param
from actum.sdk.inputs import InputFile, InputFolder

SIMPLE: Dict[Any, str] = {
    str: "text",
    int: "integer",
    float: "float",
    Decimal: "decimal",
    bool: "boolean",
    datetime: "datetime",
    date: "date",
    timedelta: "duration",
    InputFile: "file",
    InputFolder: "folder",
    inspect.Parameter.empty: "text",
}
_EMPTY = inspect.Parameter.empty
_UNITS_US = {"d": 86_400_000_000, "h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000, "us": 1}


class SignatureRefused(TypeError):
    """A signature that has no contract; the message is a sentence."""


def parameters_of(function: Callable[..., Any]) -> List[Dict[str, Any]]:
    """The contract's parameters for `function`, in order. Raises SignatureRefused."""
    return [_declared(parameter, hint) for parameter, hint in _asked(function)]


def arguments_for(
    function: Callable[..., Any], context: Any, values: Mapping[str, Any], inputs: Mapping[str, Any]
) -> Tuple[List[Any], Dict[str, Any]]:
    """Positional and keyword arguments from ACTUM_PARAMETERS (`values`) and ACTUM_INPUTS (`inputs`)."""
    first = [context] if _takes_context(function) else []
    keywords: Dict[str, Any] = {}
    for parameter, hint in _asked(function):
        if parameter.name not in values:
            if parameter.default is _EMPTY:
                raise SignatureRefused(f"The run has no value for “{parameter.name}”.")
            continue
        value = values[parameter.name]
        keywords[parameter.name] = None if value is None else _argument(parameter.name, _core(hint)[0], value, inputs)
    return first, keywords


def _asked(function: Callable[..., Any]) -> List[Tuple[inspect.Parameter, Any]]:
    """The parameters a run gives, with their annotations resolved."""
    parameters = list(inspect.signature(function).parameters.values())
    if _takes_context(function):
        parameters = parameters[1:]
    hints = _hints(function)
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise SignatureRefused(f"“{parameter}” cannot be asked for by name; a task's parameters have names.")
    return [(parameter, hints.get(parameter.name, _EMPTY)) for parameter in parameters]


def _takes_context(function: Callable[..., Any]) -> bool:
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters:
        return False
    first = parameters[0]
    return first.name == "ctx" or first.annotation is Context or str(first.annotation).split(".")[-1] == "Context"


def _hints(function: Callable[..., Any]) -> Dict[str, Any]:
    """Annotations as objects; `X | None` written as text is understood on interpreters that cannot evaluate it."""
    try:
        return typing.get_type_hints(function, include_extras=True)
    except TypeError:
        names = {**vars(typing), **getattr(function, "__globals__", {})}
        resolved: Dict[str, Any] = {}
        for name, hint in getattr(function, "__annotations__", {}).items():
            text = re.sub(r"^\s*None\s*\|(.*)$|^(.*)\|\s*None\s*$", r"Optional[\1\2]", hint) if isinstance(hint, str) else hint
            resolved[name] = eval(text, names) if isinstance(text, str) else text  # the author's own annotation
        return resolved
    except NameError as error:
        raise SignatureRefused(f"An annotation cannot be resolved: {error}.") from None


def _core(hint: Any) -> Tuple[Any, bool, Param]:
    """The annotation without Annotated and Optional; whether it was optional; what Param said."""
    said, optional = Param(), False
    while True:
        if hasattr(hint, "__metadata__"):
            said = next((item for item in hint.__metadata__ if isinstance(item, Param)), said)
            hint = hint.__origin__
            continue
        members = typing.get_args(hint)
        if type(None) in members and len(members) == 2:
            hint, optional = next(member for member in members if member is not type(None)), True
            continue
        return hint, optional, said


def _declared(parameter: inspect.Parameter, hint: Any) -> Dict[str, Any]:
    core, optional, said = _core(hint)
    document: Dict[str, Any] = {"name": parameter.name, **_type_document(parameter.name, core)}
    for name, value in vars(said).items():
        if value is not None:
            document[name] = list(value) if name == "choices" else plain(value)
    if parameter.default is None or optional:
        document["optional"] = True
    if parameter.default is _EMPTY:
        document["required"] = True
    elif parameter.default is not None:
        document["default"] = plain(parameter.default)
    return document


def _type_document(name: str, core: Any) -> Dict[str, Any]:
    if core in (Path, "Path"):
        raise SignatureRefused(f"“{name}” is a path; annotate it InputFile or InputFolder, so that its content is frozen.")
    if isinstance(core, typing.Hashable) and core in SIMPLE:
        return {"type": SIMPLE[core]}
    if isinstance(core, type) and issubclass(core, enum.Enum):
        return {"type": "choice", "choices": [str(member.value) for member in core]}
    origin, members = typing.get_origin(core), typing.get_args(core)
    if origin is typing.Literal and all(isinstance(member, str) for member in members):
        return {"type": "choice", "choices": list(members)}
    if origin in (list, tuple) and members:
        item = _core(members[0])[0]
        return {"type": "files"} if item is InputFile else {"type": "list", "items": _type_document(name, item)}
    raise SignatureRefused(f"“{name}: {getattr(core, '__name__', core)}” has no parameter type.")


def _argument(name: str, core: Any, value: Any, inputs: Mapping[str, Any]) -> Any:
    if core is InputFile or core is InputFolder:
        return core(value, inputs.get(name))
    if isinstance(core, type) and issubclass(core, enum.Enum):
        return next(member for member in core if str(member.value) == value)
    members = typing.get_args(core)
    if typing.get_origin(core) in (list, tuple) and members:
        item = _core(members[0])[0]
        found = [_argument(f"{name}[{i}]", item, member, inputs) for i, member in enumerate(value)]
        return tuple(found) if typing.get_origin(core) is tuple else found
    reader = _READERS.get(core) if isinstance(core, typing.Hashable) else None
    return reader(value) if reader is not None else value


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)


def _duration(text: str) -> timedelta:
    parts = re.findall(r"([0-9]+)(ms|us|d|h|m|s)", text)
    return timedelta(microseconds=sum(int(number) * _UNITS_US[unit] for number, unit in parts))


_READERS: Dict[Any, Callable[[Any], Any]] = {
    Decimal: lambda value: Decimal(str(value)),
    float: float,
    date: date.fromisoformat,
    datetime: _moment,
    timedelta: _duration,
}


def plain(value: Any) -> Any:
    """A default or bound as contract JSON: exact text for what is not text, a whole number or a truth value."""
    if value is None or isinstance(value, (bool, str)) or type(value) is int:
        return value
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, timedelta):
        return f"{value // timedelta(microseconds=1)}us"
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return str(value)


def described(function: Callable[..., Any]) -> Optional[str]:
    """The function's docstring, unindented."""
    return inspect.getdoc(function)
