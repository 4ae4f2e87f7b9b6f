"""The canonical request: two requests that mean the same work are the same bytes (R05).

It names the task and its version, every parameter after defaults and typing, and for each input its policy and digest. A
path is not in it: the same file under another name is the same request, another content under the same name is not.
Numbers are typed text, dates ISO 8601. Labels, key, trigger and the folder a command was given in are not part of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from actum.contracts.parameters import Parameter, Typed

SCHEMA = "actum.request/1"
CODE_INPUT = "@code"  # the user's program or file stands among the inputs under this name


class Frozen(Protocol):
    """An input as admission knows it: name, policy ("copy" or "pin") and digest."""

    @property
    def name(self) -> str: ...
    @property
    def policy(self) -> str: ...
    @property
    def sha256(self) -> str: ...


def canonical_request(task: str, version: str, typed: Typed, inputs: Iterable[Frozen]) -> dict[str, Any]:
    """The request as a document for `canonical.dumps` and `canonical.digest`. Raises ValueError if an input has no digest."""
    digests = {frozen.name: {"policy": frozen.policy, "sha256": frozen.sha256} for frozen in inputs}
    for name, _, _ in typed.files():
        if name not in digests:
            raise ValueError(f"the input {name} has no digest")
    stated = typed.to_json()
    return {
        "schema": SCHEMA,
        "task": task,
        "version": version,
        "parameters": {parameter.name: _stated(parameter, stated[parameter.name]) for parameter in typed.parameters},
        "inputs": digests,
    }


def _stated(parameter: Parameter, value: Any) -> dict[str, Any]:
    if value is None:
        return {"type": parameter.type, "value": None}
    if parameter.is_input:  # what is in the files stands under "inputs"; here only how many there are
        return {"type": parameter.type, "files": str(len(value) if isinstance(value, list) else 1)}
    return {"type": parameter.type, "value": _as_text(value)}


def _as_text(value: Any) -> Any:
    """Whole numbers as text; texts and truth values as they are; lists and records member by member."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return [_as_text(item) for item in value]
    if isinstance(value, dict):
        return {name: _as_text(item) for name, item in value.items()}
    return value
