"""What an instance still does while it leaves: it carries through what is on record, and begins nothing (P21, R01).

Theory. Only the instance that recorded a session may spawn its host, once. If it left between that commit and the spawn, the
next one would find a launch without a host and could only say that the run failed to start, though nothing was wrong with it.
So the leaver, which still holds the lock, lets the store write what was asked, hears the answers, performs the launches that
are on record and notes what came of them; a host whose hello has come gets its answer, since it ends itself when its channel
closes before that (P03). Only then is the store closed. No slot is granted and no session is recorded any more: a run that
waits, or whose inputs are being frozen, begins with the next supervisor.
"""

from __future__ import annotations

from actum.model.changes import MISPLACED, Answer, Change, NextAttempt, RefusalKind, Refused
from actum.model.status import AttemptEvent
from actum.supervise.effects import Effect, Launch, Persist, Send

_BEGINNINGS = (AttemptEvent.SLOT_GRANTED, AttemptEvent.INPUTS_FROZEN)


def retires(answer: Answer) -> str | None:
    """Why an instance that gets this answer may do nothing more, or None."""
    if not isinstance(answer, Refused):
        return None
    if answer.kind is RefusalKind.EPOCH:
        return "a newer service instance has opened its epoch"
    return MISPLACED.get(str(answer.details.get("code")))


def still_done(effect: Effect, *, store_closed: bool) -> bool:
    """Whether a leaver still does this: a launch on record, and what is to be recorded while the store is open."""
    if isinstance(effect, Persist):
        return not store_closed and not _begins(effect)
    return isinstance(effect, Launch | Send)


def _begins(effect: Persist) -> bool:
    request = effect.request
    if isinstance(request, Change):
        return request.arrow is not None and request.arrow.event in _BEGINNINGS
    return isinstance(request, NextAttempt)
