"""What a task declares about its own running: deadlines, grace, retries, limits, a lost supervisor (R08, §12)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from actum import limits
from actum.contracts import durations
from actum.contracts.delivery import ExportOnSuccess, read_export_on_success
from actum.contracts.numbers import NumberRefused, exact_number, plain
from actum.contracts.reading import Fields
from actum.model.status import FailureCode

AFTER_EXIT = ("wait", "end")
LIMITS = ("memory_bytes", "log_bytes", "output_bytes")
RETRYABLE_BY_DEFAULT = (
    FailureCode.START_ERROR,
    FailureCode.START_DEADLINE,
    FailureCode.LAUNCH_LOST,
    FailureCode.WORK_FAILED,
    FailureCode.WORK_CRASHED,
    FailureCode.HOST_LOST,
)


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a failed attempt is followed by another, for which failures, after which waits."""

    maximum: int = 0
    codes: tuple[str, ...] = tuple(code.value for code in RETRYABLE_BY_DEFAULT)
    first_delay: timedelta = timedelta(seconds=10)
    factor: str = "2"
    longest_delay: timedelta = timedelta(minutes=10)

    def to_json(self) -> dict[str, Any]:
        return {
            "maximum": self.maximum,
            "codes": list(self.codes),
            "first_delay": durations.text_of(self.first_delay),
            "factor": self.factor,
            "longest_delay": durations.text_of(self.longest_delay),
        }


@dataclass(frozen=True, slots=True)
class Policies:
    """None = no such deadline, no stall warning. `supervisor_lost_after` None = the work goes on without one."""

    start_deadline: timedelta = timedelta(seconds=limits.START_DEADLINE_S_DEFAULT)
    stage_deadlines: Mapping[str, timedelta] = field(default_factory=dict)
    deadline: timedelta | None = None
    stall_after: timedelta | None = timedelta(seconds=limits.STALL_AFTER_S_DEFAULT)
    grace: timedelta = timedelta(seconds=limits.STOP_GRACE_S_DEFAULT)
    after_exit: str = "wait"
    accepted_exit_codes: tuple[int, ...] = (0,)
    retry: Retry = field(default_factory=Retry)
    safe_to_repeat: bool = False
    supervisor_lost_after: timedelta | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    resources: tuple[str, ...] = ()
    export_on_success: ExportOnSuccess | None = None

    def to_json(self) -> dict[str, Any]:
        lost = self.supervisor_lost_after
        # Left out where there is none, so that contracts from before there was such a policy keep their digest.
        exported = {} if self.export_on_success is None else {"export_on_success": self.export_on_success.to_json()}
        return exported | {
            "start_deadline": durations.text_of(self.start_deadline),
            "stage_deadlines": {name: durations.text_of(value) for name, value in sorted(self.stage_deadlines.items())},
            "deadline": _or_none(self.deadline),
            "stall_after": _or_none(self.stall_after),
            "grace": durations.text_of(self.grace),
            "after_exit": self.after_exit,
            "accepted_exit_codes": list(self.accepted_exit_codes),
            "retry": self.retry.to_json(),
            "safe_to_repeat": self.safe_to_repeat,
            "when_supervisor_is_lost": "continue" if lost is None else {"stop_after": durations.text_of(lost)},
            "limits": dict(sorted(self.limits.items())),
            "resources": list(self.resources),
        }


def _or_none(duration: timedelta | None) -> str | None:
    return None if duration is None else durations.text_of(duration)


def read_policies(document: Any, place: str = "policies") -> Policies:
    """The policies of a contract document; what it leaves out has the defaults above. Raises WrongUse."""
    fields, default = Fields(document, place), Policies()
    stage_deadlines = {
        name: _duration_of(fields, "stage_deadlines", text) for name, text in fields.mapping("stage_deadlines").items()
    }
    stall = fields.raw("stall_after", _or_none(default.stall_after))
    policies = Policies(
        start_deadline=_duration(fields, "start_deadline", default.start_deadline),
        stage_deadlines=stage_deadlines,
        deadline=_duration(fields, "deadline", None) if fields.has("deadline") else None,
        stall_after=None if stall is None else _duration_of(fields, "stall_after", stall),
        grace=_duration(fields, "grace", default.grace),
        after_exit=fields.text("after_exit", default.after_exit),
        accepted_exit_codes=fields.items("accepted_exit_codes", lambda item, _: _exit_code(fields, item)) or (0,),
        retry=_read_retry(fields.raw("retry") or {}, fields.place_of("retry")),
        safe_to_repeat=fields.boolean("safe_to_repeat", False),
        supervisor_lost_after=_read_lost(fields),
        limits=_read_limits(fields),
        resources=fields.texts("resources"),
        export_on_success=_read_export(fields),
    )
    fields.done()
    if policies.after_exit not in AFTER_EXIT:
        raise fields.refuse("after_exit", f"“{policies.after_exit}” is neither wait nor end.")
    return policies


def _read_export(fields: Fields) -> ExportOnSuccess | None:
    given = fields.raw("export_on_success")
    return None if given is None else read_export_on_success(given, fields.place_of("export_on_success"))


def _read_retry(document: Any, place: str) -> Retry:
    fields, default = Fields(document, place), Retry()
    retry = Retry(
        maximum=fields.whole("maximum", 0),
        codes=fields.texts("codes") or default.codes,
        first_delay=_duration(fields, "first_delay", default.first_delay),
        factor=_factor(fields),
        longest_delay=_duration(fields, "longest_delay", default.longest_delay),
    )
    fields.done()
    known = {code.value for code in FailureCode}
    strangers = [code for code in retry.codes if code not in known]
    if strangers:
        raise fields.refuse("codes", f"“{strangers[0]}” is not a failure code.")
    if retry.maximum > limits.RETRIES_MAX:
        raise fields.refuse("maximum", f"at most {limits.RETRIES_MAX} retries are possible.")
    return retry


def _factor(fields: Fields) -> str:
    try:
        factor = exact_number(fields.raw("factor", "2"))
    except NumberRefused:
        factor = None
    if factor is None or not 1 <= factor <= limits.RETRY_FACTOR_MAX:
        raise fields.refuse("factor", f"a number from 1 to {limits.RETRY_FACTOR_MAX} is expected.")
    return plain(factor)


def _read_lost(fields: Fields) -> timedelta | None:
    value = fields.raw("when_supervisor_is_lost", "continue")
    if value == "continue":
        return None
    if isinstance(value, Mapping) and set(value) == {"stop_after"}:
        return _duration_of(fields, "when_supervisor_is_lost", value["stop_after"])
    raise fields.refuse("when_supervisor_is_lost", '“continue” or {"stop_after": "30m"} is expected.')


def _read_limits(fields: Fields) -> dict[str, int]:
    found = dict(fields.mapping("limits"))
    for name, value in found.items():
        if name not in LIMITS:
            raise fields.refuse("limits", f"“{name}” is not a limit; known: {', '.join(LIMITS)}.")
        if value is not None and (type(value) is not int or value <= 0):
            raise fields.refuse("limits", f"{name} is a whole number of bytes above 0.")
    return {name: value for name, value in found.items() if value is not None}


def _exit_code(fields: Fields, item: Any) -> int:
    if type(item) is not int or not 0 <= item <= 255:
        raise fields.refuse("accepted_exit_codes", "an exit code is a whole number from 0 to 255.")
    return item


def _duration(fields: Fields, name: str, default: timedelta | None) -> Any:
    value = fields.raw(name)
    return default if value is None else _duration_of(fields, name, value)


def _duration_of(fields: Fields, name: str, value: Any) -> timedelta:
    try:
        duration = durations.parse(value if isinstance(value, str) else "")
    except ValueError as error:
        raise fields.refuse(name, str(error)) from None
    if not duration:
        raise fields.refuse(name, "a duration above nothing is expected.")
    return duration
