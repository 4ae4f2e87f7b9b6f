"""Keeping the machine awake while work is under way, and the truth about it (§17, R08).

Whether the system may be asked, and whether it obeys, depends on the desktop; the answer is shown either way and nothing is
promised. A helper of its own holds, for as long as its call runs: giving the call up lets go, and a helper that dies says so,
so what is shown is never more than what holds. A refusal is asked again after a while: a session may come up later.
"""

from __future__ import annotations

from dataclasses import replace

from actum.clock import US, Now
from actum.limits import AWAKE_KEPT_S, AWAKE_LOOK_EVERY_S, AWAKE_RETRY_S
from actum.model.status import Contact, Phase, Status
from actum.settings import merged
from actum.supervise.machine import Machine

from actum_desktop.controller.events import Awake
from actum_desktop.controller.helpers import HelperAnswer
from actum_desktop.controller.instance import Instance

HELPER = "awake"


class KeepAwake:
    """Holds while any attempt of which something can be told is under way, and the setting allows it.

    A run of which nothing can be told, and one that waits for room to be published, keep no machine awake: that may take for
    ever. Attribute: truth (what holds now).
    """

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._told = Awake()
        self._setting = True
        self._call = 0  # the call that holds, or asks to; 0 = none
        self._look_at_us = self._until_us = self._again_at_us = 0
        self._now_us = 0

    @property
    def truth(self) -> Awake:
        return replace(self._told, setting=self._setting)

    def read_setting(self) -> None:
        """After the start, and after a setting was changed."""
        self._setting = bool(merged(self._instance.reader.setting_rows())["keep_awake"])
        self._look_at_us = 0

    def look(self, now: Now) -> None:
        """With every tick; looks once a second."""
        self._now_us = now.monotonic_us
        if now.monotonic_us < self._look_at_us:
            return
        self._look_at_us = now.monotonic_us + int(AWAKE_LOOK_EVERY_S * US)
        if any(map(_under_way, self._instance.supervisor.machines.values())):
            self._until_us = now.monotonic_us + int(AWAKE_KEPT_S * US)
        wanted = self._setting and now.monotonic_us < self._until_us
        if wanted and not self._call and now.monotonic_us >= self._again_at_us:
            self._call = self._instance.helpers[HELPER].call("awake", {}, self._on_answer, self._on_held)
        elif not wanted:
            self.close()

    def close(self) -> None:
        """Let go."""
        self._again_at_us = 0
        self._told = replace(self._told, why="")
        if self._call:
            self._instance.helpers[HELPER].cancel(self._call)

    def _on_held(self, _done: int, _total: int, by: str) -> None:
        self._told = Awake(by=by)

    def _on_answer(self, answer: HelperAnswer) -> None:
        """It holds no more: it was given up, or the system refused, or the helper died."""
        self._call = 0
        why = ""
        if answer.ok is not None:
            why = str(answer.ok["why"])
        elif answer.crashed or answer.error is None or answer.error.code != "cancelled":
            why = str(answer.error or "what held it ended unexpectedly")
        self._told = Awake(why=why)
        self._again_at_us = self._now_us + int(AWAKE_RETRY_S * US) if why else 0


def _under_way(m: Machine) -> bool:
    waits = m.row.pair.status is Status.CREATED or m.row.pair.phase in (Phase.PUBLISH_PENDING, Phase.CLOSED)
    return not waits and m.contact is not Contact.CANNOT_TELL
