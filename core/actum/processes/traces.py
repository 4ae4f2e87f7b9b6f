"""What in an attempt's folder shows that its host has started the work, where the claim that says so is not there (R05).

Theory. The work can delete the claim, for it is a file of its user's. So a missing claim alone proves nothing of the work;
what the host makes only after it, and what only the work makes, speaks for itself: state.json, tree.json and the history, the
log's segments, messages, records, and files of the output. Each is a trace when it is there; one that cannot be looked at
counts as there, for nothing is concluded from "cannot tell" (R09).
"""

from __future__ import annotations

import os

from actum.ipc.spool import spool_path

_MADE = ("state.json", "tree.json", "history.jsonl")  # of the spool: made by a host that has claimed
_WRITTEN = ("spool/records.jsonl", "messages.jsonl")  # may be there and empty
_FILLED = ("log", "staging/files")  # folders that are made empty


def traces(folder: str | os.PathLike[str]) -> tuple[str, ...]:
    """The names of the traces of work in this attempt's folder, most telling first."""
    found = [name for name in _MADE if _is_there(spool_path(folder, name))]
    found += [name for name in _WRITTEN if _is_there(os.path.join(folder, name), empty=False)]
    return (*found, *(name for name in _FILLED if _holds_anything(os.path.join(folder, name))))


def _is_there(path: str, *, empty: bool = True) -> bool:
    try:
        return os.lstat(path).st_size > 0 or empty
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def _holds_anything(path: str) -> bool:
    try:
        with os.scandir(path) as entries:
            return any(True for _ in entries)
    except FileNotFoundError:
        return False
    except OSError:
        return True
