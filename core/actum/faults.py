"""Named fault points on both sides of every fsync, rename, link, commit, spawn, signal and ack (§5).

`ACTUM_FAULT=<point>[#n]:<action>[,<point>…]` arms them; `#n` means the n-th passage (default 1). Actions: `kill-app`,
`kill-host`, `kill-work`, `kill-all` (SIGKILL to those roles), `error=ENOSPC` (any errno name; raises OSError),
`error=SQLITE_FULL` (any SQLite code; raises OperationalError), `delay=ms`, `until=<file>` (it goes on when the file is
there). The part `trace=<file>` has every passage
appended to that file, a line each: point, pid, then what was done there, if anything was. Each role tells `roles` how to
find itself; a role nobody told of is not there to be killed. Unarmed, a passage costs one look at a dictionary.
`python -m actum.faults` lists the catalogue.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import time
from collections.abc import Callable

# name → where it stands. Every call of `point` names one of these; a test compares the two.
CATALOGUE: dict[str, str] = {}

# "app" | "host" | "work" → kills every process of that role; a true answer says that there was one
roles: dict[str, Callable[[], object]] = {}

_LOOK_S = 0.01  # who waits for a file looks this often
_armed: dict[str, tuple[int, str]] = {}
_trace: list[str] = []
_passed: dict[str, int] = {}


def catalogue(**points: str) -> None:
    """Declare fault points; `__` in a name stands for a dot."""
    for name, place in points.items():
        CATALOGUE[name.replace("__", ".")] = place


def arm(text: str) -> None:
    """Read the value of ACTUM_FAULT. Raises ValueError on a word it does not know."""
    _armed.clear()
    _passed.clear()
    _trace.clear()
    for part in filter(None, text.split(",")):
        if part.startswith("trace="):
            _trace.append(part[6:])
            continue
        point_text, separator, action = part.partition(":")
        name, _, nth = point_text.partition("#")
        known = action in ("kill-app", "kill-host", "kill-work", "kill-all") or action.startswith(
            ("error=", "delay=", "until=")
        )
        if not separator or not known:
            raise ValueError(f"ACTUM_FAULT has {part!r}; it is written <point>[#n]:<action>")
        _armed[name] = (int(nth or 1), action)


def point(name: str) -> None:
    """Pass the fault point `name`; does what ACTUM_FAULT says of it, usually nothing."""
    if not _armed and not _trace:
        return
    _note(name)
    if name not in _armed:
        return
    _passed[name] = _passed.get(name, 0) + 1
    nth, action = _armed[name]
    if _passed[name] == nth:
        _note(name, action)
        _act(name, action)


def _act(name: str, action: str) -> None:
    if action.startswith("delay="):
        time.sleep(int(action[6:]) / 1000)
        return
    if action.startswith("until="):
        while not os.path.exists(action[6:]):
            time.sleep(_LOOK_S)
        return
    if action.startswith("error="):
        raise _error(name, action[6:])
    wanted = ("work", "host", "app") if action == "kill-all" else (action.removeprefix("kill-"),)
    for role in sorted(wanted, key=lambda role: roles.get(role) is _end_myself):  # oneself last
        if roles.get(role) is _end_myself:
            _note(name, f"killed {role}")
        if role in roles and roles[role]():
            _note(name, f"killed {role}")


def _error(name: str, code: str) -> Exception:
    if not code.startswith("SQLITE_"):
        number = getattr(errno, code)
        return OSError(number, f"{os.strerror(number)} (fault point {name})")
    import sqlite3

    error = sqlite3.OperationalError(f"{code} (fault point {name})")
    error.sqlite_errorcode, error.sqlite_errorname = getattr(sqlite3, code), code
    return error


def _note(name: str, *done: str) -> None:
    """One line of the trace, one write: many processes append to the file, and a host closes what it has not opened."""
    for path in _trace:
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.write(file, " ".join((name, str(os.getpid()), *done)).encode() + b"\n")
        os.close(file)


def i_am(role: str) -> None:
    """This process is the app or the host: its own death is at hand."""
    roles[role] = _end_myself


def _end_myself() -> bool:
    signal.raise_signal(signal.SIGKILL)
    return True


catalogue(
    evidence__look="the controller, before one attempt is looked at",
    controller__helper__before="the controller, before a call is written to a helper",
    controller__helper__after="the controller, a helper has answered, nothing done with it yet",
    controller__spawn__before="the controller, STARTING committed, before the host is spawned",
    controller__spawn__after="the controller, the host was spawned, the fact launched not yet committed",
    controller__handover__before="the controller, has answered its successor, before it lets go of anything",
    controller__handover__after="the controller, has let go of the lock, its successor not yet in",
    controller__send__before="the controller, before a frame is written to a channel",
    controller__send__after="the controller, a frame was written to a channel",
    fact__admitted__after="the controller, admitted is committed, nothing follows from it yet",
    fact__inputs_frozen__after="the controller, inputs_frozen is committed, nothing follows from it yet",
    fact__launched__after="the controller, launched is committed, nothing follows from it yet",
    fact__contact_made__after="the controller, contact_made is committed, the hello not yet answered",
    fact__computation_ended__after="the controller, computation_ended is committed, nothing follows from it yet",
    fact__sealed__after="the controller, sealed is committed, the host not yet acknowledged",
    fact__host_exited__after="the controller, host_exited is committed, nothing follows from it yet",
    fact__tree_gone__after="the controller, tree_gone is committed, nothing follows from it yet",
    fact__released__after="the controller, released is committed, nothing follows from it yet",
    fact__bytes_verified__after="the controller, bytes_verified is committed, nothing follows from it yet",
    fact__content_verified__after="the controller, content_verified is committed, nothing follows from it yet",
    fact__published__after="the controller, published is committed, nothing follows from it yet",
    fact__reference_committed__after="the controller, the success is committed, nobody told yet",
    fact__succeeded__after="the controller, the success is committed, nobody told yet",
    store__commit__before="the store writer, before COMMIT",
    store__commit__after="the store writer, after COMMIT and before any answer",
    store__create__before="the store, creating the database, before its COMMIT",
    store__create__after="the store, the database created",
    store__backup__rename__before="a backup of the database, complete, before it has its name",
    store__backup__rename__after="a backup of the database, named",
    store__copy__before="the acceptance of a copied workspace, before its COMMIT",
    store__copy__after="the acceptance of a copied workspace, committed, the generation file not yet written",
    store__restored__before="the acceptance of a restored database, before its COMMIT",
    store__restored__after="the acceptance of a restored database, committed, the generation file not yet written",
    store__epoch__before="the store writer, before the new epoch is committed",
    store__epoch__after="the store writer, the new epoch committed, the generation file not yet written",
    generation__fsync__before="the generation file, written, before its fsync",
    generation__fsync__after="the generation file, renamed, the folder fsync'ed",
    generation__rename__before="the generation file, written and fsync'ed, before its rename",
    generation__rename__after="the generation file, renamed, before the folder's fsync",
    endpoint__rename__before="the endpoint file, before its rename",
    endpoint__rename__after="the endpoint file, after its rename",
    lock__acquire__after="the workspace lock was just taken",
    lock__release__before="the workspace lock is about to be released",
    spool__claim__link__before="spool, before spool/claim is linked into being",
    spool__claim__link__after="spool, after spool/claim was linked",
    spool__outcome__fsync__before="spool, before the outcome's text is fsync'ed",
    spool__outcome__fsync__after="spool, after the outcome's text was fsync'ed",
    spool__outcome__link__before="spool, before spool/outcome.json is linked into being",
    spool__outcome__link__after="spool, after spool/outcome.json was linked, before its folder is fsync'ed",
    spool__folder__fsync__after="spool, after the spool folder was fsync'ed",
    spool__restored__rename__before="the host, a spool that was deleted is made anew beside, before it has its name",
    spool__restored__rename__after="the host, the new spool is in place",
    spool__foreign__rename__before="the host, an outcome that is not its own stands there, before it is set aside",
    spool__foreign__rename__after="the host, a foreign outcome was set aside, its own not yet written",
    spool__state__rename__before="spool, before spool/state.json is replaced",
    spool__state__rename__after="spool, after spool/state.json was replaced",
    spool__tree__rename__before="spool, before spool/tree.json is replaced",
    spool__tree__rename__after="spool, after spool/tree.json was replaced",
    spool__stop__fsync__before="spool, before a stop is written beside and fsync'ed",
    spool__stop__rename__before="spool, a stop is written and fsync'ed, before spool/stop is replaced",
    spool__stop__rename__after="spool, after spool/stop was replaced",
    spool__stop__fsync__after="spool, spool/stop was replaced and its folder fsync'ed",
    processes__signal__before="one process is proven to be the one meant, before it is signalled",
    processes__signal__after="one process was signalled",
    host__spawn__before="the host, claim made, before the work is spawned",
    host__spawn__after="the host, the work was spawned",
    host__ended__before="the host, computation ended and tree confirmed gone, before it says so",
    host__ended__after="the host, has said that the computation ended",
    host__seal__before="the host, before staging is sealed",
    host__seal__after="the host, staging is sealed, before the outcome is written",
    host__hello__before="the host, before a hello is sent",
    host__hello__after="the host, after a hello was sent",
    host__terminal__before="the host, outcome on disk, before the terminal frame is sent",
    host__terminal__after="the host, after a terminal frame was sent",
    host__ack__after="the host, its outcome was acknowledged, before it exits",
)

catalogue(
    launch__folder__before="the driver, before the attempt's folder is made",
    launch__fsync__before="the driver, the attempt's folder written, before its directories are made durable",
    launch__fsync__after="the driver, the attempt's folder durable, before STARTING is committed",
)

catalogue(
    seal__manifest__fsync__before="the host, manifest.json written, not yet durable",
    seal__manifest__fsync__after="the host, manifest.json durable under its temporary name",
    seal__manifest__rename__before="the host, before manifest.json gets its name",
    seal__manifest__rename__after="the host, manifest.json in place, its folder not yet durable",
    seal__result__fsync__before="the host, result.json written, not yet durable",
    seal__result__fsync__after="the host, result.json durable under its temporary name",
    seal__result__rename__before="the host, before result.json gets its name",
    seal__result__rename__after="the host, result.json in place",
    seal__file__fsync__before="the host, before one file of the package is made durable",
    seal__file__fsync__after="the host, one file of the package is durable",
    seal__folders__fsync__before="the host, all files durable, no folder yet",
    seal__folders__fsync__after="the host, all files and folders durable, no manifest yet",
    derive__file__fsync__before="the deriving helper, before one derived file is made durable",
    derive__file__fsync__after="the deriving helper, one derived file is durable",
    derive__manifest__fsync__before="the deriving helper, derived.json written, not yet durable",
    derive__manifest__fsync__after="the deriving helper, derived.json durable under its temporary name",
    derive__manifest__rename__before="the deriving helper, before derived.json gets its name",
    derive__manifest__rename__after="the deriving helper, derived.json in place",
    freeze__copy__fsync__before="the freezing helper, an input is copied, not yet durable",
    freeze__copy__fsync__after="the freezing helper, the bytes of a frozen input are durable",
    freeze__folders__fsync__after="the freezing helper, a frozen input is durable, not yet named",
    freeze__rename__before="the supervisor, before a finished copy gets its name in the input store",
    freeze__rename__after="the supervisor, a frozen input is in the store, its digest not yet committed",
    publish__derived__rename__before="the supervisor, before the derived tables get their name in staging",
    publish__derived__rename__after="the supervisor, derived tables in place, not yet durable",
    publish__target__fsync__before="the supervisor, results/<run> made, not yet durable",
    publish__target__fsync__after="the supervisor, results/<run> durable",
    publish__readonly__before="the supervisor, before the package's files are made read-only",
    publish__readonly__after="the supervisor, the package's files are read-only",
    publish__rename__before="the supervisor, before the package is renamed into results",
    publish__rename__after="the supervisor, the package is in results, not yet durable",
    publish__durable__fsync__before="the supervisor, published folders read-only, not yet durable",
    publish__durable__fsync__after="the supervisor, the publication is durable, not yet committed",
    publish__quarantine__rename__before="the supervisor, before a package is moved to quarantine",
    publish__quarantine__rename__after="the supervisor, a package is in quarantine",
    verify__chunk__noted="the verifying helper, a chunk is found equal and noted",
    rebuild__rename__before="the supervisor, the damaged derived tables are in quarantine, the new ones not yet in place",
    rebuild__rename__after="the supervisor, the new derived tables are in place, not yet durable",
    pack__fsync__before="whoever packs, the pack is written under a temporary name",
    pack__fsync__after="whoever packs, the pack is durable, not yet in place",
    pack__rename__before="whoever packs, before the pack gets its name",
    pack__rename__after="whoever packs, the pack is in place",
    export__file__fsync__before="the exporting helper, the export is written under a temporary name",
    export__file__fsync__after="the exporting helper, the export is durable, not yet compared",
    export__rename__before="the exporting helper, the export is compared, not yet in place",
    export__rename__after="the exporting helper, the export is in place, its sidecar still hidden",
    export__sidecar__fsync__before="the exporting helper, the sidecar is written in its hidden folder, not yet durable",
    export__sidecar__fsync__after="the exporting helper, the sidecar is durable, the export not yet in place",
    export__sidecar__rename__before="the exporting helper, before the sidecar gets its name",
    export__sidecar__rename__after="the exporting helper, the sidecar is in place",
    helper__verb__before="a helper, before it does a verb",
    helper__verb__after="a helper, a verb is done and not yet answered",
)

arm(os.environ.get("ACTUM_FAULT", ""))

if __name__ == "__main__":
    for _name in sorted(CATALOGUE):
        sys.stdout.write(f"{_name:42} {CATALOGUE[_name]}\n")
