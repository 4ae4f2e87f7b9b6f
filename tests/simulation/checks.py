"""The rules as checks: each a named function that sees one kind of moment, and that can be switched off.

A check answers with a complaint, or with nothing. A complaint raises `Violation`, which names the rule and the check. With
`Ledger.armed` False, or a check's name or rule in `Ledger.off`, nobody complains: so it is shown that it is the checks that
find a planted defect, not an accident of the world. The checks themselves stand in `rules`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.simulation.files import Folder, Machine

if TYPE_CHECKING:
    from tests.simulation.world import World

Holds = Callable[..., str | None]


class Violation(AssertionError):
    """A rule was broken; `check` is the name of the function that saw it."""

    def __init__(self, rule: str, what: str, check: str) -> None:
        super().__init__(f"{rule} ({check}): {what}")
        self.rule = rule
        self.check = check


@dataclass(frozen=True, slots=True)
class Check:
    """One check. `moment` is when it looks; `holds(ledger, …)` answers with a complaint or None."""

    name: str
    rule: str
    moment: str
    holds: Holds


CHECKS: dict[str, Check] = {}
_AT: dict[str, list[Check]] = defaultdict(list)


def at(moment: str, rule: str) -> Callable[[Holds], Holds]:
    """Registers a function as a check of `rule` at that moment."""

    def register(holds: Holds) -> Holds:
        check = Check(holds.__name__, rule, moment, holds)
        assert check.name not in CHECKS, f"two checks are called {check.name}"
        CHECKS[check.name] = check
        _AT[moment].append(check)
        return holds

    return register


@dataclass(slots=True)
class Ledger:
    """What everything is held against: the machine, the folders, and (in a world) the world as it truly is.

    `triples` counts (status, phase, event) reached, `rows` the rows of §6, `looked` how often each check looked.
    """

    machine: Machine
    folders: dict[str, Folder]
    armed: bool = True
    off: frozenset[str] = frozenset()
    world: World | None = None
    unsure: set[str] = field(default_factory=set)  # attempts of which an answer of the store was lost
    triples: dict[tuple[str, str, str], int] = field(default_factory=dict)
    rows: dict[int, int] = field(default_factory=dict)
    looked: dict[str, int] = field(default_factory=dict)

    def see(self, moment: str, *what: Any) -> None:
        """Let every check of this moment look. Raises Violation."""
        if not self.armed or self.world is None:
            return
        for check in _AT[moment]:
            if check.name in self.off or check.rule in self.off:
                continue
            self.looked[check.name] = self.looked.get(check.name, 0) + 1
            complaint = check.holds(self, *what)
            if complaint:
                raise Violation(check.rule, complaint, check.name)

    @property
    def truth(self) -> World:
        """The world as it is, which no part of it knows wholly."""
        assert self.world is not None, "only a world has checks"
        return self.world

    def work_of(self, attempt: str) -> bool:
        """Whether a process of the work's tree lives."""
        return self.machine.lives(attempt, "work", "daemon")
