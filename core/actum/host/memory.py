"""Whether the system ended a process for want of memory: the kernel's own counters, where this user may read them."""

from __future__ import annotations

import os


def oom_kills() -> int | None:
    """How many processes of this control group the kernel has ended so; None where it does not say."""
    for path, key in _counters():
        try:
            with open(path, encoding="ascii") as file:
                words = file.read().split()
        except (OSError, ValueError):
            continue
        if key in words[:-1]:
            return int(words[words.index(key) + 1])
    return None


def _counters() -> list[tuple[str, str]]:
    """(file, word before the number) of control groups version 2 and 1."""
    counters = []
    try:
        with open("/proc/self/cgroup", encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, ValueError):
        return []
    for line in lines:
        number, controllers, path = [*line.split(":", 2), "", ""][:3]
        below = path.lstrip("/")
        if number == "0" and not controllers:
            counters.append((os.path.join("/sys/fs/cgroup", below, "memory.events"), "oom_kill"))
        elif "memory" in controllers.split(","):
            counters.append((os.path.join("/sys/fs/cgroup/memory", below, "memory.oom_control"), "oom_kill"))
    return counters
