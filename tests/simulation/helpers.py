"""What helpers and the file-system steps do in the simulated world: freeze, derive, verify, publish, quarantine.

Each takes several steps of its own: it may be slow, a disk may fill or fail under it, a helper may crash, and a rename that
was done is not yet on the disk.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from actum.model.changes import ResultRow
from actum.model.evidence import PackageSeen
from actum.model.facts import FactName
from actum.model.run import InputRow
from actum.supervise import effects, events

from tests.simulation.files import Folder
from tests.simulation.gathering import package_seen

if TYPE_CHECKING:
    from tests.simulation.driver import App

METHOD = {"method": "simulated"}


@dataclass(slots=True)
class Helping:
    """One effect under way. `step` answers True when it is done and its event told."""

    app: App
    effect: Any
    renamed: bool = False

    @property
    def attempt(self) -> str:
        return str(self.effect.row.attempt)

    @property
    def folder(self) -> Folder:
        return self.app.world.folders[self.attempt]

    def step(self) -> bool:
        if self.app.world.slow():
            return False
        return _HELP[type(self.effect)](self)

    def _tell(self, event: events.Event) -> bool:
        self.app.tell("helper", event)
        return True

    def _freeze(self) -> bool:
        world = self.app.world
        again = self.effect.again
        code = world.freeze_fault(again=again)
        if code is not None:
            return self._tell(events.Frozen(self.attempt, code=code, message="an input is gone"))
        inputs = () if again else (InputRow("data", "/data", "pin", f"digest-{world.rng.getrandbits(16)}", 1),)
        columns = {"code": {"sha256": "code"}, "environment": {"version": "3"}}
        return self._tell(events.Frozen(self.attempt, inputs, evidence={"method": "pinned"}, columns=columns))

    def _derive(self) -> bool:
        world = self.app.world
        self.app.tell("helper", events.Step(self.attempt, "derive", 1, 2, "rows"))
        if world.helper_crashes():
            return self._tell(events.Derived(self.attempt, crashed=True))
        refused = world.disk_refuses()
        if refused is not None:
            return self._tell(events.Derived(self.attempt, error="the disk did not serve it", code=refused))
        error = "a table contradicts its schema" if world.rejected(self.effect.row, 7) else None
        return self._tell(events.Derived(self.attempt, METHOD, error=error))

    def _verify(self) -> bool:
        return self._tell(self._verdict())

    def _verdict(self) -> events.Verified:
        world, row, folder = self.app.world, self.effect.row, self.folder
        if world.helper_crashes():
            return events.Verified(row.attempt, crashed=True)
        refused = world.disk_refuses() if folder.readable else "io_error"
        if refused is not None:
            return events.Verified(row.attempt, error="the disk did not serve it", code=refused)
        package = folder.published if self.effect.published else folder.package
        if world.rejected(row, 5):
            return events.Verified(row.attempt, error="a pinned input was changed", code="input_changed")
        if package != row.facts[FactName.SEALED].get("manifest_sha256"):
            return events.Verified(row.attempt, error="the package is not the one that was sealed")
        result = ResultRow(f"results/{row.run}/{row.n}", str(package), None, (), (), (), 0, 0)
        return events.Verified(row.attempt, METHOD, METHOD, {"manifest_sha256": package}, result)

    def _publish(self) -> bool:
        """The durable steps around the one rename: each of the two is a step of its own."""
        folder, attempt = self.folder, self.attempt
        if self.renamed:
            if not folder.readable:
                return self._tell(events.Published(attempt, failure="unsure", message="the disk is not there"))
            folder.published_durable = True
            return self._tell(events.Published(attempt, {"method": "renamed, durable"}))
        where = package_seen(folder, self.effect.recorded["manifest_sha256"])
        may = folder.writable and not self.app.world.rename_fails()
        renamed = where is PackageSeen.STAGING and may and rename(folder)
        if not renamed and where is not PackageSeen.RESULTS:
            failure = {PackageSeen.STAGING: "rename", PackageSeen.UNKNOWN: "unsure"}.get(where, where.value)
            return self._tell(events.Published(attempt, failure=failure, message="it did not work"))
        self.renamed = True
        return False

    def _quarantine(self) -> bool:
        folder = self.folder
        if not folder.takes:
            return self._tell(events.Quarantined(self.attempt, error="the disk is not there"))
        folder.quarantined = folder.published or folder.package or folder.quarantined
        folder.published = folder.package = None
        return self._tell(events.Quarantined(self.attempt))


def rename(folder: Folder) -> bool:
    """The one rename, which replaces nothing; it is not on the disk yet. Whether it was done."""
    if folder.published is not None:
        return False
    folder.published, folder.package, folder.published_durable = folder.package, None, False
    return True


_HELP: dict[type, Callable[[Helping], bool]] = {
    effects.Freeze: Helping._freeze,
    effects.Derive: Helping._derive,
    effects.Verify: Helping._verify,
    effects.Publish: Helping._publish,
    effects.Quarantine: Helping._quarantine,
}
