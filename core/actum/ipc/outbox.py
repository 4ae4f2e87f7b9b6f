"""The host's outbox: what waits to be sent, bounded whatever the channel does (PROTOCOL §7, R11, R12).

Theory. Progress and heartbeats are news: only the newest waits, one slot each. Stages and notices wait in a bounded
queue; at the bound the oldest notice is dropped and counted, and where there is none, the oldest stage (the spool has
it). `ended` has a slot. The terminal message has one too: it goes first and closes the rest, and it is handed out again
each time `again()` is called, until its digest is acknowledged. The spool holds the truth of all of these, so nothing
that is dropped here is lost.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from actum import limits
from actum.ipc.messages import TERMINAL_TYPES

Message = tuple[str, Mapping[str, Any]]


class Outbox:
    """Attributes: dropped (how many notices and stages gave way), acknowledged (the terminal message arrived)."""

    def __init__(self) -> None:
        self._queue: deque[Message] = deque()
        self._slots: dict[str, Mapping[str, Any]] = {}  # ended, progress, heartbeat
        self._terminal: Message | None = None
        self._terminal_due = False
        self.dropped = 0
        self.acknowledged = False

    def put(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Let a message wait. After a terminal one nothing else is taken in."""
        if self._terminal is not None:
            return
        if kind in TERMINAL_TYPES:
            self._terminal, self._terminal_due = (kind, fields), True
            self._queue.clear()
            self._slots.clear()
        elif kind in ("progress", "heartbeat", "ended"):
            self._slots[kind] = fields
        else:
            if len(self._queue) >= limits.OUTBOX_MESSAGES_MAX:
                self._make_room()
            self._queue.append((kind, fields))

    def take(self) -> Message | None:
        """The next message to send, or None."""
        if self._terminal is not None:
            due, self._terminal_due = self._terminal_due, False
            return self._terminal if due else None
        if self._queue:
            return self._queue.popleft()
        for kind in ("progress", "ended", "heartbeat"):
            if kind in self._slots:
                return kind, self._slots.pop(kind)
        return None

    def again(self) -> None:
        """The channel is a new one, or the answer is overdue: hand the terminal message out once more."""
        self._terminal_due = self._terminal is not None and not self.acknowledged

    def acknowledge(self, digest: str) -> bool:
        """Whether `digest` is that of the terminal message, which then needs no sending any more."""
        if self._terminal is None or self._terminal[1]["digest"] != digest:
            return False
        self.acknowledged, self._terminal_due = True, False
        return True

    def __len__(self) -> int:
        return len(self._queue) + len(self._slots) + self._terminal_due

    def _make_room(self) -> None:
        self.dropped += 1
        for index, (kind, _) in enumerate(self._queue):
            if kind == "notice":
                del self._queue[index]
                return
        self._queue.popleft()
