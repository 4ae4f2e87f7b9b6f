"""Checks of what a window or a waiting command would show now: under 100 % until the reference is committed (R10)."""

from __future__ import annotations

from actum.model.facts import FactName
from actum.model.run import AttemptRow
from actum.model.status import Phase
from actum.supervise.machine import Machine
from actum_desktop import measures
from actum_desktop.models.runcells import fraction_of

from tests.simulation.checks import Ledger, at

Said = str | None
MEASURES = {"freeze": Phase.FREEZING, "derive": Phase.VERIFYING, "verify": Phase.VERIFYING}  # what a helper measures, and when


@at("shown", "R10")
def nothing_shows_100_before_the_reference(ledger: Ledger, m: Machine, row: AttemptRow) -> Said:
    """The row as a reader has it, with what this instance knows laid over it; work may say long before that it is done.

    A run shows its current attempt: an instance that was deposed may still know of an earlier one.
    """
    if not row.current:
        return None
    live = {"progress": m.live.get("progress"), "step": m.live.get("step")}
    fraction = fraction_of({"status": row.run_status.value, "phase": row.pair.phase.value, **live})
    whole = fraction is not None and (fraction >= 1 or measures.percent(fraction) == "100 %")
    early = whole and FactName.REFERENCE_COMMITTED not in row.facts
    return f"{row.run}/{row.n} is {row.pair}, and shows 100 %" if early else None


@at("shown", "R10")
def a_phase_shows_its_own_measure(ledger: Ledger, m: Machine, row: AttemptRow) -> Said:
    """Freezing, verifying and publishing are phases with progress of their own: none shows what another one measured, nor
    what the work said of itself."""
    step, phase = m.live.get("step"), m.row.pair.phase
    if step is not None and MEASURES[step["verb"]] is not phase:
        return f"{row.run}/{row.n} is {m.row.pair}, and shows how far “{step['verb']}” has come"
    apart = phase in (Phase.FREEZING, Phase.VERIFYING, Phase.PUBLISHING)
    of_work = apart and step is None and fraction_of({"phase": phase.value, "progress": m.live.get("progress")}) is not None
    return f"{row.run}/{row.n} is {m.row.pair}, and shows how far the work has come" if of_work else None
