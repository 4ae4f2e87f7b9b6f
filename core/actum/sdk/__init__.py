"""What a task author imports: `from actum.sdk import Context, InputFile, task`.

Standard library only, Python 3.9 or newer, plain files: it works in any interpreter, and a function written with it can be
called and tested without Actum (`Context.local()`).
"""

from __future__ import annotations

from actum.sdk.cells import CellRefused, Column
from actum.sdk.context import Context
from actum.sdk.decorator import Param, task
from actum.sdk.failing import TaskFailed
from actum.sdk.inputs import InputFile, InputFolder
from actum.sdk.stopping import StopRequested

__all__ = ["CellRefused", "Column", "Context", "InputFile", "InputFolder", "Param", "StopRequested", "TaskFailed", "task"]
