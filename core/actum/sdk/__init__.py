"""What a task author imports: `from actum.sdk import Context, InputFile, task`.

Standard library only, Python 3.9 or newer, plain files: it works in any interpreter, and a function written with it can be
called and tested without Actum (`Context.local()`). Names are imported when they are first used, so that whoever needs one
module of this package pays for that one alone.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from actum.sdk.cells import CellRefused, Column, reason
    from actum.sdk.context import Context
    from actum.sdk.decorator import Param, task
    from actum.sdk.failing import TaskFailed
    from actum.sdk.inputs import InputFile, InputFolder
    from actum.sdk.stopping import StopRequested

__all__ = [
    "CellRefused",
    "Column",
    "Context",
    "InputFile",
    "InputFolder",
    "Param",
    "StopRequested",
    "TaskFailed",
    "reason",
    "task",
]

_PLACES = {
    "CellRefused": "cells",
    "Column": "cells",
    "Context": "context",
    "InputFile": "inputs",
    "InputFolder": "inputs",
    "Param": "decorator",
    "StopRequested": "stopping",
    "TaskFailed": "failing",
    "reason": "cells",
    "task": "decorator",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"actum.sdk has no {name!r}")
    return getattr(importlib.import_module("actum.sdk." + _PLACES[name]), name)
