"""Verb `awake`: keep the machine awake until this call is given up.

`{}` → progress `[1, 1, "<what holds it>"]` while it is held, again and again; the answer comes only where nothing holds it:
`{"why"}`. It is let go when the call is cancelled, and when this process ends for whatever reason, since the session takes
an inhibitor back from whoever is gone. A process of its own for this: the session bus may let a caller wait, and the library
that asks it collects garbage, which would halt the window.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from actum.limits import AWAKE_TOLD_EVERY_S, AWAKE_WHY_CHARS_MAX
from actum.results import digests

NO_BUS = "there is no session bus"
NO_WAY = "no known way exists on this system"


def run(args: Mapping[str, Any], progress: digests.Progress) -> dict[str, Any]:
    with held() as (by, why):
        while by:
            progress(1, 1, by)
            time.sleep(AWAKE_TOLD_EVERY_S)
    return {"why": why}


@contextmanager
def held() -> Iterator[tuple[str, str]]:
    """Hold for as long as the block takes: (what holds it, ""), or ("", why nothing does)."""
    from wakepy import keep

    try:
        with keep.running(on_fail="pass") as mode:
            result = mode.result
            if result is not None and result.real_success and result.method is not None:
                yield str(result.method.name), ""
                return
            tried = [] if result is None else result.list_methods()
            why = words({each.method_name: first_line(each.failure_reason) for each in tried})
    except OSError as error:  # what the bus says is in the result; this is a socket that broke
        why = str(error.strerror or error)
    yield "", why[:AWAKE_WHY_CHARS_MAX]


def words(reasons: Mapping[str, str]) -> str:
    """Why nothing holds: one sentence where all ways fail for one reason, else each with its own."""
    tried = {name: why for name, why in reasons.items() if "not supported on" not in why}
    if not tried:
        return NO_WAY
    if all("DBUS_SESSION_BUS_ADDRESS" in why for why in tried.values()):
        return NO_BUS
    return "; ".join(f"{name}: {why}" for name, why in tried.items())


def first_line(reason: object) -> str:
    """A reason without the call that led to it."""
    text = (str(reason or "").strip() or "no reason was given").splitlines()[0]
    return text.partition(" failed with message: ")[2].strip("\")' ") or text
