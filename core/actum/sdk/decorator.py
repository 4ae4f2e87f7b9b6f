"""Marks a function as a task and keeps what its author says of it; the function stays an ordinary function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, Optional, Sequence, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
MARK = "__actum_task__"


@dataclass(frozen=True)
class Param:
    """What a signature cannot say of a parameter: `window: Annotated[int, Param(minimum=2, unit="observations")]`."""

    title: Optional[str] = None
    help: Optional[str] = None
    unit: Optional[str] = None
    minimum: Any = None
    maximum: Any = None
    choices: Optional[Sequence[str]] = None
    policy: Optional[str] = None
    type: Optional[str] = None


def task(
    title: Optional[str] = None,
    version: str = "1",
    *,
    name: Optional[str] = None,
    timeout: Optional[str] = None,
    stage_timeouts: Optional[Dict[str, str]] = None,
    start_timeout: Optional[str] = None,
    stall_after: Optional[str] = None,
    grace: Optional[str] = None,
    after_exit: Optional[str] = None,
    retries: Optional[int] = None,
    safe_to_repeat: Optional[bool] = None,
    outputs: Optional[Sequence[str]] = None,
    required: Optional[Sequence[str]] = None,
    tables: Optional[Sequence[Dict[str, Any]]] = None,
    metrics: Optional[Sequence[Dict[str, Any]]] = None,
    rules: Optional[Sequence[Dict[str, Any]]] = None,
) -> Callable[[F], F]:
    """Declare a function as a task. Durations are written `2h`, `10m`, `90s`; tables, metrics and rules as in a contract."""
    retry = {"maximum": retries} if retries is not None else None
    policies = {
        "deadline": timeout,
        "stage_deadlines": stage_timeouts,
        "start_deadline": start_timeout,
        "stall_after": stall_after,
        "grace": grace,
        "after_exit": after_exit,
        "retry": retry,
        "safe_to_repeat": safe_to_repeat,
    }
    said = {
        "name": name,
        "title": title,
        "version": version,
        "outputs": _listed(outputs),
        "required": _listed(required),
        "tables": _listed(tables),
        "metrics": _listed(metrics),
        "rules": _listed(rules),
        "policies": {key: value for key, value in policies.items() if value is not None} or None,
    }

    def mark(function: F) -> F:
        setattr(function, MARK, {key: value for key, value in said.items() if value is not None})
        return function

    return mark


def _listed(items: Optional[Sequence[Any]]) -> Optional[Sequence[Any]]:
    return None if items is None else list(items)
