"""The messages on a channel as data: which types there are, which way each goes, and the exact fields of each.

Theory. One table a direction: type → field → kind. A kind is a function that says whether a JSON value is of it; objects
whose members are known have tables of their own. `check` looks a document up: an unknown type, a missing field, an extra
field or a value of another kind is a violation, and nothing of the document is used. Integers are those a database can
hold (64 bits), numbers are finite, `bool` is no integer. Whether a message may come *now* is for session.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from actum.ipc.framing import Violation
from actum.model.identity import is_pid, is_start

VERSION = 1  # `v` of every frame
PROTOCOL = 1  # the newest protocol this program speaks; it reads every older one

FROM_HOST, FROM_SUPERVISOR = "host→supervisor", "supervisor→host"
FROM_CLIENT, FROM_SERVER = "client→server", "server→client"

Kind = Callable[[Any], bool]
Fields = Mapping[str, Kind]

# For kinds that (in part) are a matter of the type alone: the types of which every value is of the kind. Frames come by the
# hundred thousand, and looking here is cheaper than a call.
_BY_TYPE: dict[Kind, frozenset[type]] = {}

_INT_MIN, _INT_MAX = -(1 << 63), (1 << 63) - 1
_MOMENT_MAX = 253_402_300_799_999_999  # the last microsecond of the year 9999: beyond, no time can be shown


def text(value: Any) -> bool:
    return type(value) is str


def integer(value: Any) -> bool:
    return type(value) is int and _INT_MIN <= value <= _INT_MAX


def moment(value: Any) -> bool:
    """UTC microseconds."""
    return type(value) is int and 0 <= value <= _MOMENT_MAX


def number(value: Any) -> bool:
    return integer(value) or (type(value) is float and value - value == 0.0)


def boolean(value: Any) -> bool:
    return type(value) is bool


def document(value: Any) -> bool:
    return type(value) is dict


def plain(value: Any) -> bool:
    """An object that has a canonical text: no number in it has a fraction, and it is not nested beyond telling."""
    try:
        return type(value) is dict and _is_plain(value)
    except RecursionError:
        return False


def _is_plain(value: Any) -> bool:
    if type(value) is dict:
        return all(map(_is_plain, value.values()))
    return all(map(_is_plain, value)) if type(value) is list else type(value) is not float


_BY_TYPE |= {text: frozenset({str}), boolean: frozenset({bool}), document: frozenset({dict})}


def one_of(*words: str) -> Kind:
    return lambda value: type(value) is str and value in words


def maybe(kind: Kind) -> Kind:
    def found(value: Any) -> bool:
        return value is None or kind(value)

    _BY_TYPE[found] = _BY_TYPE.get(kind, frozenset()) | {type(None)}
    return found


def exactly(fields: Fields) -> Kind:
    """An object with these members and no others."""
    return lambda value: (
        type(value) is dict and value.keys() == fields.keys() and all(kind(value[name]) for name, kind in fields.items())
    )


def partly(fields: Fields) -> Kind:
    """An object whose members, where they are there and known, are of their kind; others are no matter."""
    return lambda value: type(value) is dict and all(name not in value or kind(value[name]) for name, kind in fields.items())


IDENTITY: Fields = {"machine": text, "boot": text, "pid_namespace": text, "pid": is_pid, "start_ticks": is_start}
ACTIVITY: Fields = {
    "cpu_s": number,
    "rss_bytes": integer,
    "peak_rss_bytes": integer,
    "read_bytes": integer,
    "written_bytes": integer,
}
ENDED: Fields = {"exit_code": maybe(integer), "signal": maybe(integer), "descendants_left": integer, "at": moment}
PHASES = ("starting", "computing", "ending", "sealing", "done")
LEVELS = ("ask", "insist", "dismiss")
CAUSES = ("user", "stage_deadline", "overall_deadline", "supervisor_lost", "dismissed", "signal")
DEADLINE_CAUSES = ("stage_deadline", "overall_deadline")

OUTCOME: Fields = {
    "v": integer,
    "run": integer,
    "attempt": text,
    "session": text,
    "kind": one_of("sealed", "failed", "stopped"),
    "code": maybe(text),
    "cause": maybe(one_of(*CAUSES)),
    "message": text,
    "details": plain,
    "ended": maybe(exactly(ENDED)),
    "tree": plain,
    "manifest_sha256": maybe(text),
    "at": moment,
}

# state.json and the lines of records.jsonl. A host of another release may say more, or less.
_PROGRESS: Fields = {
    "done": maybe(number),
    "total": maybe(number),
    "unit": maybe(text),
    "stage": maybe(text),
    "message": maybe(text),
    "at": moment,
}
STATE: Fields = {
    "session": text,
    "seq": integer,
    "at": moment,
    "monotonic_at": integer,
    "heartbeat_at": moment,
    "phase": one_of(*PHASES),
    "progress": maybe(partly(_PROGRESS)),
    "stage": maybe(exactly({"name": text, "total": maybe(number), "at": moment})),
    "ended": maybe(exactly(ENDED)),
    "activity": partly(ACTIVITY),
    "active_s": number,
    "processes": integer,
    "last_progress_active_s": number,
}
RECORD: Fields = {"seq": integer, "at": moment, "kind": text, "data": document}

_ENVELOPE: Fields = {
    "v": integer,
    "type": text,
    "run": integer,
    "attempt": text,
    "session": text,
    "channel": text,
    "seq": integer,
    "at": moment,
}
_CLIENT_ENVELOPE: Fields = {"v": integer, "type": text, "channel": text, "seq": integer, "at": moment}
_TERMINAL: Fields = {"outcome": exactly(OUTCOME), "digest": text}
TERMINAL_TYPES = ("sealed", "failed", "stopped")

_TYPES: dict[str, dict[str, Fields]] = {
    FROM_HOST: {
        "hello": {"secret": text, "protocol": integer, "identity": exactly(IDENTITY), "claimed": boolean},
        "stage": {"name": text, "total": maybe(number)},
        "progress": {
            "done": maybe(number),
            "total": maybe(number),
            "unit": maybe(text),
            "stage": maybe(text),
            "message": maybe(text),
        },
        "heartbeat": {
            "activity": exactly(ACTIVITY),
            "active_s": number,
            "processes": integer,
            "phase": one_of(*PHASES),
            "last_progress_active_s": number,
        },
        "notice": {"code": text, "text": text, "data": document},
        "ended": {"ended": exactly(ENDED)},
        **dict.fromkeys(TERMINAL_TYPES, _TERMINAL),
    },
    FROM_SUPERVISOR: {
        "hello-ack": {"epoch": integer},
        "stop": {"level": one_of("ask", "insist"), "cause": one_of(*CAUSES)},
        "dismiss": {"why": text},
        "ack": {"digest": text},
    },
    FROM_CLIENT: {"client-hello": {"body": exactly({"protocol": integer})}, "command": {"body": document}},
    FROM_SERVER: {
        "client-hello-ack": {"body": exactly({"instance": text, "epoch": integer})},
        "answer": {"body": document},
        "change": {"body": document},
    },
}

TABLES: dict[str, dict[str, Fields]] = {
    direction: {
        name: {**(_CLIENT_ENVELOPE if direction in (FROM_CLIENT, FROM_SERVER) else _ENVELOPE), **fields}
        for name, fields in types.items()
    }
    for direction, types in _TYPES.items()
}

# The same, field by field as `check` looks at them: name, the types that need no further look, and the look.
_ROWS = {
    direction: {
        name: tuple((field, _BY_TYPE.get(kind, frozenset()), kind) for field, kind in fields.items())
        for name, fields in types.items()
    }
    for direction, types in TABLES.items()
}


def check(message: dict[str, Any], direction: str) -> dict[str, Any]:
    """`message`, when it is exactly one of `direction`'s messages. Raises Violation, which names the field."""
    name = message.get("type")
    fields = TABLES[direction].get(name) if isinstance(name, str) else None
    if fields is None:
        raise Violation("unknown_type", f"The type {_short(name)} does not go {direction}.", type=_short(name))
    if message.keys() != fields.keys():
        _refuse_names(message, fields)
    for field, types, kind in _ROWS[direction][message["type"]]:
        value = message[field]
        if type(value) not in types and not kind(value):
            raise Violation("wrong_value", f"“{field}” of a {name} has another kind of value.", type=name, field=field)
    if message["v"] != VERSION:
        raise Violation("version", f"A {name} is of version {message['v']}; this program reads {VERSION}.", type=name)
    return message


def is_outcome(value: Any) -> bool:
    """Whether a document read from outcome.json is one."""
    return exactly(OUTCOME)(value)


def is_state(value: Any) -> bool:
    """Whether a document read from state.json is one: it names its session and seq, and what it says can be understood."""
    return type(value) is dict and "session" in value and "seq" in value and partly(STATE)(value)


def is_record(value: Any) -> bool:
    """Whether a line of records.jsonl is one."""
    return exactly(RECORD)(value)


def _refuse_names(message: Mapping[str, Any], fields: Fields) -> None:
    for field in fields:
        if field not in message:
            raise Violation("missing_field", f"A {message['type']} has no “{field}”.", field=field)
    extra = _short(next(name for name in message if name not in fields))
    raise Violation("extra_field", f"A {message['type']} has {extra}, which it must not have.", field=extra)


def _short(value: Any) -> str:
    """What a peer sent, short enough for a journal row."""
    shown = repr(value)
    return shown if len(shown) <= 80 else shown[:80] + "…"
