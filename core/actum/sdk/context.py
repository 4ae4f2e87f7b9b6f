"""What a running function says to Actum, and what it is told: the Context.

Every statement becomes one line in the message file; tables and files go to the output folder. The same object works
without Actum: `Context.local()` keeps the messages in a list and writes into a temporary folder.
"""

from __future__ import annotations

import logging
import math
import sys
import tempfile
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, TypeVar, Union

from actum.sdk import refusals
from actum.sdk.cells import shown, whole
from actum.sdk.messages import ListSink, Message, Messages
from actum.sdk.stopping import StopFlag, StopRequested
from actum.sdk.tablewriter import write_table

T = TypeVar("T")
STATUSES = ("unavailable", "not_applicable", "failed", "not_computed")


class Context:
    """One run, seen from inside. Attributes: output (folder whose files are published), log (a logging.Logger)."""

    def __init__(self, sink: Callable[[Message], None], output: Path, stop: Optional[StopFlag] = None) -> None:
        self.output = output
        self.log = _logger()
        self._messages = Messages(sink)
        self._sink = sink
        self._stop = stop or StopFlag()
        self._stage: Optional[str] = None

    @classmethod
    def local(cls, output: Union[str, Path, None] = None) -> "Context":
        """A context without Actum, for tests and notebooks; what was said is in `messages`."""
        folder = Path(output) if output is not None else Path(tempfile.mkdtemp(prefix="actum-local-"))
        folder.mkdir(parents=True, exist_ok=True)
        return cls(ListSink(), folder)

    @property
    def messages(self) -> List[Message]:
        """What was said so far; only of a local context."""
        if not isinstance(self._sink, ListSink):
            raise AttributeError("only a local context keeps its messages")
        self._messages.flush()
        return self._sink.messages

    # -- where it is ---------------------------------------------------------------------------------------------------

    def stage(self, name: str, total: Optional[int] = None) -> None:
        """The work enters the stage `name`; `total` is how many steps it has, if that is known."""
        self._stage = name
        self._messages.send(_without_none({"stage": name, "total": total}))

    def progress(
        self, done: float, total: Optional[float] = None, unit: Optional[str] = None, message: Optional[str] = None
    ) -> None:
        """`done` of `total` steps are behind. May be called often: it is written at most ten times a second."""
        for number in (done, total):
            if number is not None and not 0 <= number < math.inf:
                raise ValueError(f"{shown(number)} is no count of steps")
        said = _without_none({"progress": [done, total], "unit": unit, "message": message})
        self._messages.progress(said, last=total is not None and done >= total)

    def track(
        self, items: Iterable[T], stage: Optional[str] = None, total: Optional[int] = None, unit: Optional[str] = None
    ) -> Iterator[T]:
        """The items one by one, with progress after each and a look at the stop flag before each."""
        if total is None and hasattr(items, "__len__"):
            total = len(items)  # type: ignore[arg-type]
        if stage is not None:
            self.stage(stage, total)
        for done, item in enumerate(items, start=1):
            self.check_stop()
            yield item
            self.progress(done, total, unit)
        self._messages.flush()

    # -- stopping ------------------------------------------------------------------------------------------------------

    @property
    def stopping(self) -> bool:
        """Whether somebody asked the run to stop."""
        return self._stop.raised

    def check_stop(self) -> None:
        """Raises StopRequested if somebody asked the run to stop."""
        if self._stop.raised:
            raise StopRequested("the run was asked to stop")

    def request_stop(self) -> None:
        """Ask this run to stop, as a stop from outside does; for tests of a function's own manners."""
        self._stop.raised = True

    # -- results -------------------------------------------------------------------------------------------------------

    def table(self, name: str, rows: Any, schema: Any = None) -> int:
        """Publish a table; the number of its rows.

        `rows`: mappings, sequences, an Arrow table, a record batch or several, a data frame. `schema`: Columns, mappings of
        their fields, (name, type) pairs, or an Arrow schema. Raises CellRefused for a value that does not fit.
        """
        _check_file_name(name)
        try:
            written = write_table(str(self.output / name), rows, schema)
        except FileExistsError:
            raise ValueError(f"The table “{name}” was written before; a table is written once.") from None
        said: Message = {"table": name, "path": Path(written.path).name, "rows": written.rows, "form": written.form}
        if written.columns:  # no rows and no schema: only the contract can say which columns there are
            said["schema"] = [column.to_json() for column in written.columns]
        self._messages.send(said)
        return written.rows

    def metric(
        self,
        name: str,
        value: Union[int, float, Decimal, str],
        unit: Optional[str] = None,
        rule: Optional[str] = None,
        observations: Optional[int] = None,
    ) -> None:
        """State a metric. `rule` names how it is rounded for showing (“ratio.v1”); the value itself is kept whole.

        Raises ValueError for NaN and infinities: `missing` says why there is no value; Refused for what is no number, or is
        too long a one.
        """
        text, conversion = _exact_text(name, value)
        said = {"metric": name, "value": text, "unit": unit, "rule": rule, "observations": observations}
        self._messages.send(_without_none({**said, "conversion": conversion}))

    def missing(
        self,
        name: str,
        status: str = "unavailable",
        reason: str = "no_reason_given",
        observations: Optional[int] = None,
        unit: Optional[str] = None,
        needed: Optional[int] = None,
    ) -> None:
        """State that a metric has no value, and why: a word such as insufficient_observations, of which `needed` it takes."""
        if status not in STATUSES:
            raise ValueError(f"“{status}” is not a status of a missing metric; known: {', '.join(STATUSES)}.")
        said = {"unavailable": name, "status": status, "reason": reason, "observations": observations, "unit": unit}
        self._messages.send(_without_none({**said, "needed": needed}))

    def record(self, kind: str, data: Dict[str, Any]) -> None:
        """Declare a business event, kept for ever with the run."""
        self._messages.send({"record": kind, "data": data})

    def file(self, path: Union[str, Path]) -> None:
        """Name a file in the output folder as a result. Raises ValueError if it is elsewhere or not there."""
        full = (self.output / path).resolve()
        folder = self.output.resolve()
        if folder not in full.parents or not full.is_file():
            raise ValueError(f"“{path}” is not a file in the output folder {folder}.")
        self._messages.send({"file": full.relative_to(folder).as_posix()})

    def checkpoint(self, data: Dict[str, Any]) -> None:
        """Leave a mark that a later attempt may read."""
        self._messages.send({"checkpoint": data})

    def note(self, text: str) -> None:
        """A sentence for whoever reads the result."""
        self._messages.send({"note": text})

    def done(self) -> None:
        """The function has returned; nothing follows. The runner says this."""
        self._messages.send({"done": True})


def _exact_text(name: str, value: Any) -> "tuple[str, Optional[str]]":
    """A value's exact text, and "float64" if it came as a float."""
    if type(value).__name__ in ("bool", "bool_"):  # numpy's own too, without importing it
        raise ValueError(f"The metric “{name}” is a number, not {value}.")
    exact = value if isinstance(value, (str, Decimal)) else whole(value)
    if exact is not None and refusals.is_too_long(exact):
        raise refusals.too_long(f"The metric “{name}”", exact)
    if exact is not None:
        text, conversion = str(exact), None
    else:
        try:
            text, conversion = repr(float(value)), "float64"
        except (TypeError, ValueError):
            raise _no_number(name, value) from None
    try:
        finite = Decimal(text).is_finite()
    except InvalidOperation:
        raise _no_number(name, text) from None
    if not finite:
        raise ValueError(f"The metric “{name}” has no value ({text}); say so with missing(…) and the reason.")
    return text, conversion


def _no_number(name: str, value: Any) -> refusals.Refused:
    what = f"The metric “{name}” is {shown(value)}, which is no number."
    why = "A metric is an int, a float, a Decimal, or the text of one."
    return refusals.Refused("not_a_number", what, why, "Say with missing(…) why there is no value.")


def _without_none(message: Message) -> Message:
    return {name: value for name, value in message.items() if value is not None}


def _check_file_name(name: str) -> None:
    fits = 0 < len(name) <= 100 and not name.startswith(".") and all(sign.isalnum() or sign in "_-." for sign in name)
    if not fits:
        raise ValueError(f"“{name}” cannot be a table's name; letters, digits, “_”, “-” and “.” can.")


def _logger() -> logging.Logger:
    """Writes to the run's log (standard error), one line a record."""
    logger = logging.getLogger("actum.task")
    if not logger.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False
    return logger
