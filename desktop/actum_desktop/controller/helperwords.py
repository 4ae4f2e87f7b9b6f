"""What an error of a helper says about what the helper was asked to look at: one table (FORMATS; R17, R18).

Theory. A helper is asked about a package or an input, and fails for reasons of its own: it dies, meets a defect, has too
little memory, or cannot be asked at all since too much waits for it. None of that is a finding. So a code counts against the
package or the input only where this table says so, and a code that stands nowhere in it is taken for a defect.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from enum import Enum, auto

from actum.errors import ActumError
from actum.model.status import FailureCode

from actum_desktop.controller.helpers import HelperAnswer


class Says(Enum):
    PACKAGE_IS_WRONG = auto()
    INPUT_IS_WRONG = auto()  # it was seen to be another, or not to be readable
    CODE_IS_WRONG = auto()  # what the work is made of cannot be started
    DISK = auto()  # it did not serve: nothing was found out
    BUSY = auto()  # nobody was asked
    CRASH = auto()  # the helper failed: nothing was found out


TABLE: Mapping[str, Says] = {
    FailureCode.CONTRACT_INVALID: Says.PACKAGE_IS_WRONG,
    FailureCode.RESULT_REJECTED: Says.PACKAGE_IS_WRONG,
    FailureCode.INPUT_CHANGED: Says.INPUT_IS_WRONG,
    FailureCode.INPUT_UNREADABLE: Says.INPUT_IS_WRONG,
    FailureCode.START_ERROR: Says.CODE_IS_WRONG,
    FailureCode.DISK_FULL: Says.DISK,
    FailureCode.IO_ERROR: Says.DISK,
    "busy": Says.BUSY,
}
# What a failed open or read says of the thing at a path itself: gone, or something else in its place.
_NOT_THERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.EINVAL, errno.ENXIO})


def says(answer: HelperAnswer) -> Says | None:
    """What kind of failure this answer is; None where it is an answer."""
    if answer.crashed:
        return Says.CRASH
    if answer.error is None:
        return None
    return TABLE.get(answer.error.code, Says.CRASH)


def words(answer: HelperAnswer) -> str:
    """The failure in words."""
    return "The helper ended unexpectedly." if answer.error is None else str(answer.error)


def is_seen_to_differ(error: ActumError) -> bool:
    """Whether an input was seen to be gone, replaced or rewritten; else nobody knows what it holds now."""
    gone = error.code == FailureCode.INPUT_UNREADABLE and error.details.get("errno") in _NOT_THERE
    return gone or error.code == FailureCode.INPUT_CHANGED
