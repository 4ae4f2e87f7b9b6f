"""Defects to be planted: each a one-line change of production code, with the rule that it breaks and who has to catch it.

`aim` sets parts of the scenario of every seed, so that what the defect is about comes up often; the world stays the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from actum.model.status import Phase


@dataclass(frozen=True, slots=True)
class Defect:
    """`module` under core/actum (or one of actum_desktop) without its ending; `old` stands in it exactly once, and `new` takes
    its place.

    `first` is a seed shortly before one that catches it, where the suite begins; the command begins at 0. With `contract` it
    is a defect of a real port, which the contract tests of that name have to catch. With `guard` it is one of a real process
    or of the real store, which that test has to catch (guards.py); `suite` = the suite plants it too, for that test soon fails.
    """

    name: str
    rule: str
    module: str
    old: str
    new: str
    aim: Mapping[str, Any] = field(default_factory=dict)
    contract: str = ""
    first: int = 0
    guard: str = ""
    suite: bool = False

    @property
    def source(self) -> Path:
        """The place of the module below the root of the repository."""
        part = Path("desktop") if self.module.startswith("actum_desktop/") else Path("core", "actum")
        return part / f"{self.module}.py"

    def changed(self, source: str) -> str:
        """The module's text with the one line changed."""
        count = source.count(self.old)
        assert count == 1, f"{self.name}: the line stands {count} times in {self.source}"
        return source.replace(self.old, self.new)


PUBLISHING, PENDING = {"aimed": Phase.PUBLISHING}, {"aimed": Phase.PUBLISH_PENDING}
CRASHES = {"favourites": ("kill app", "kill family"), "faults": 8}

# One for each amendment of PROTOCOL.md that is code which runs in this world.
AMENDMENTS = (
    Defect(
        "START_FAILED without revoking the claim",
        "P01",
        "supervise/opening",
        '        return m.begin("revoke", RevokeClaim(m.row))\n    waited_us',
        "        return launch_lost(m, now)\n    waited_us",
        {"favourites": ("leap", "freeze host"), "faults": 8},
    ),
    Defect(
        "a host is told to go on while its attempt is STOPPING",
        "P04",
        "supervise/listening",
        "    if m.row.pair.status is not Status.RUNNING:\n",
        "    if m.row.pair.status is Status.FAILED:\n",
        {"stops": 4, "favourites": ("break channel", "take over"), "faults": 8},
        first=12,
    ),
    Defect(
        "a stop before the outcome is recorded turns into the outcome",
        "P05",
        "model/status",
        "        _E.STOP_ASKED,\n        _S.STOPPING,\n        _P.CLEANING_UP,\n    ),",
        "        _E.STOP_ASKED,\n        _S.RUNNING,\n        _P.CLEANING_UP,\n    ),",
        {"stops": 4, "aimed": Phase.SEALING},
        first=7,
    ),
    Defect(
        "the rename before PUBLISHING is on record",
        "P07",
        "supervise/finishing",
        '    return m.persist(now, AttemptEvent.VERIFIED, content, alerts=m.no_alert(now, "helper"), then=_may_rename(m))',
        "    return [*m.persist(now, AttemptEvent.VERIFIED, content), Publish(m.row, dict(verified.recorded))]",
    ),
    Defect(
        "an outcome that cannot be read is taken for none",
        "P08",
        "supervise/looking",
        "    decision = decide(m.row.pair, m.row.released, seen)",
        "    decision = decide(m.row.pair, m.row.released, "
        "replace(seen, outcome=OutcomeSeen.NONE if seen.outcome is OutcomeSeen.UNKNOWN else seen.outcome))",
        {"favourites": ("restart without disk", "unmount"), "faults": 8, "aimed": None, "spool_only": True},
        first=40,
    ),
    Defect(
        "a failure is recorded without its retry",
        "P09",
        "supervise/machine",
        "columns=columns, retry_at_us=due)",
        "columns=columns, retry_at_us=None)",
        {"retries": 2, "safe": True},
    ),
    Defect(
        "a stop between two attempts is only answered",
        "P10",
        "supervise/supervisor",
        "            return self._stop_between(self.retrying[event.run], [event.command], now)",
        '            return [Reply(event.command, {"run": event.run, "answer": "accepted"})]',
        {"retries": 2, "safe": True, "stops": 4, "spawn_errors": 0.6},
    ),
    Defect(
        "published before anything is renamed or on the disk",
        "P11",
        "supervise/finishing",
        '    return m.begin("publish", Publish(m.row, _recorded(m)))',
        '    return m.establish(now, FactName.PUBLISHED, {"method": "renamed"})',
    ),
    Defect(
        "the host of a released attempt is greeted",
        "P13",
        "supervise/listening",
        '        return [Send(m.attempt, "dismiss", {"why": "the attempt is released"})]\n    m.seen.channel',
        '        return [Send(m.attempt, "hello-ack", {"epoch": m.epoch})]\n    m.seen.channel',
        {"favourites": ("forge hello", "forge hello"), "faults": 8, "aimed": Phase.VERIFYING},
    ),
    Defect(
        "a deadline is judged without reading the outcome",
        "P19",
        "supervise/supervisor",
        "                effects += m.look_now(now)\n            elif",
        "                m.seen.silent_deadline = overdue\n            elif",
        {"deadline_s": 20.0, "favourites": ("leap", "stall app"), "faults": 8, "aimed": None, "spool_only": False},
        first=460,
    ),
    Defect(
        "an end for want of a supervisor is recorded as something else",
        "P20",
        "supervise/computing",
        '    elif outcome["kind"] == "stopped" and cause == "supervisor_lost":',
        '    elif outcome["kind"] == "stopped" and cause == "supervisor":',
        {"stop_after_s": 10.0, "absence": 0.2, "favourites": ("kill app", "kill app"), "faults": 8, "spool_only": False},
        first=41,
    ),
    Defect(
        "a newer epoch is told of, and this instance goes on",
        "P23",
        "supervise/supervisor",
        "        if isinstance(event.answer, Refused) and event.answer.kind is RefusalKind.EPOCH:",
        "        if isinstance(event.answer, Refused) and event.answer.kind is RefusalKind.KEY:",
        {"favourites": ("second app", "second app"), "faults": 8},
    ),
)

MORE = (
    Defect(
        "a hold is concluded and not said",
        "R09",
        "supervise/looking",
        "    m.held = held\n",
        "    m.held = None\n",
    ),
    Defect(
        "nobody is looked at again unless somebody asks",
        "R09",
        "supervise/supervisor",
        "            elif advancing.needs_look(m) and (reconcile or overdue or m.held):",
        "            elif advancing.needs_look(m) and (overdue or m.held):",
    ),
    Defect(
        "a reconciliation answers with one verdict alone",
        "R09",
        "supervise/supervisor",
        'sorted(each.verdicts, key=lambda v: (v["run"], v["n"]))})',
        'sorted(each.verdicts, key=lambda v: (v["run"], v["n"]))[:1]})',
    ),
    Defect(
        "a slot is free as soon as the status says so",
        "R06",
        "supervise/machine",
        "        return not self.row.released and self.row.pair.phase is not Phase.QUEUED",
        "        return not self.row.released and self.row.pair.phase is not Phase.QUEUED"
        " and self.row.pair.status not in RETRYABLE",
        {"slots": 1},
    ),
    Defect(
        "a frame of an old session is accepted",
        "R03",
        "ipc/session",
        '        if frame["session"] == expected.session and',
        "        if",
        {"favourites": ("garble", "garble"), "faults": 8},
    ),
    Defect(
        "a hello needs no secret",
        "R07",
        "ipc/session",
        '        if not hmac.compare_digest(given.encode(), expected.secret_sha256.encode("utf-8", "replace")):',
        "        if not given:",
        {"favourites": ("forge hello", "forge hello"), "faults": 8},
    ),
    Defect(
        "a frame is accepted again",
        "R03",
        "ipc/session",
        '        if frame["seq"] <= self._seq:',
        '        if frame["seq"] < 0:',
        {"favourites": ("garble", "garble"), "faults": 8},
        first=39,
    ),
    Defect(
        "a commit without its condition",
        "R02",
        "supervise/machine",
        "            expects=self.row.pair,",
        "            expects=None,",
    ),
    Defect(
        "“cannot tell” is treated as gone",
        "R09",
        "supervise/looking",
        "    decision = decide(m.row.pair, m.row.released, seen)",
        "    decision = decide(m.row.pair, m.row.released, "
        "seen if seen.host is HostSeen.ALIVE else replace(seen, host=HostSeen.GONE))",
        {"favourites": ("restart elsewhere", "restart without disk"), "faults": 8},
    ),
    Defect(
        "released before the tree is gone",
        "R07",
        "supervise/clearing",
        "    if m.seen.tree_gone is None and not m.has(FactName.TREE_GONE):",
        "    if m.seen.tree_gone is not None and not m.has(FactName.SUCCEEDED) and m.held:",
        CRASHES,
    ),
    Defect(
        "a launch before every leftover has its verdict",
        "R09",
        "supervise/supervisor",
        "        if self.retired is None and not self.unjudged:",
        "        if self.retired is None:",
        {"slots": 3, "runs": 6, "favourites": ("take over", "kill app"), "faults": 8},
        first=9,
    ),
    Defect(
        "a stop is answered before its commit",
        "R04",
        "supervise/supervisor",
        "        effects = self._answer_stops(m)\n        if not effects:",
        '        effects = [Reply(self._stops.pop(m.attempt)[0], {"run": m.row.run, "answer": "accepted"})]\n        if True:',
        {"stops": 4},
    ),
    Defect(
        "inputs are frozen anew for each attempt",
        "R17",
        "supervise/opening",
        "Freeze(m.row, again=m.has(FactName.INPUTS_FROZEN))",
        "Freeze(m.row, again=False)",
        {"retries": 2, "safe": True},
    ),
    Defect(
        "work that is not safe to repeat is repeated",
        "R05",
        "supervise/retry",
        "    if work_started and not policies.safe_to_repeat:",
        "    if work_started and policies.safe_to_repeat is None:",
        {"retries": 2, "safe": False},
    ),
    Defect(
        "a record is passed over",
        "R12",
        "supervise/advancing",
        'columns={"records_offset": event.offset}',
        'columns={"records_offset": event.offset + 1}',
    ),
    Defect(
        "an exclusive resource has two holders",
        "R06",
        "supervise/slots",
        "            elif m.policies.resources & self._taken:",
        "            elif m.policies.resources & set():",
        {"slots": 3, "runs": 6},
    ),
    Defect(
        "a host is ended as soon as its outcome is there",
        "R08",
        "supervise/clearing",
        "waited_us > HOST_EXIT_GRACE_S * US else []",
        "waited_us > US else []",
        {"favourites": ("freeze host", "freeze host"), "faults": 8},
    ),
    Defect(
        "a silent host times out without a deadline",
        "R08",
        "supervise/deadlines",
        "    if overall is not None and active > overall + m.policies.grace_s:",
        "    if active > HOST_SILENT_S:",
        {"favourites": ("freeze host", "leap"), "faults": 8, "deadline_s": None, "stage_s": None},
    ),
    Defect(
        "warnings outlive what they warned of",
        "R08",
        "supervise/machine",
        "        if event is not None and after(self.row.pair, event) in RELEASING:  # what these warned of is over",
        "        if event is not None and after(self.row.pair, event) is None:",
        {"favourites": ("unmount", "kill family"), "faults": 8, "rename_failures": 0.5},
    ),
    Defect(
        "a slot whose grant may be on record is given away",
        "R06",
        "supervise/slots",
        '    if answer.row is not None or not m.live.get("slot_unsure"):',
        "    if True:",
        {"slots": 1, "runs": 6, "lost_answers": 0.2},
    ),
    Defect(
        "a host is told to stop while its claim is being settled",
        "R08",
        "supervise/listening",
        "    if m.row.pair.status is Status.STARTING:",
        "    if m.row.pair.status is Status.STOPPED:",
        {"favourites": ("leap", "freeze host"), "faults": 8, "spool_only": False},
        first=325,
    ),
    Defect(
        "the wall clock alone says when a retry is due",
        "R18",
        "supervise/supervisor",
        "        wait_us = min(max(0, (row.retry_at_us or 0) - now.utc_us), longest_s * US)",
        "        wait_us = max(0, (row.retry_at_us or 0) - now.utc_us + 0 * longest_s)",
        {"retries": 2, "safe": True, "favourites": ("wall jump", "wall jump"), "faults": 8},
        first=110,
    ),
    Defect(
        "a phase begins with what another one measured",
        "R10",
        "supervise/machine",
        '        self.live.pop("step", None)\n',
        "",
    ),
    Defect(
        "a helper that goes on after a stop measures another phase",
        "R10",
        "supervise/advancing",
        "    if m.row.pair.phase in (Phase.FREEZING, Phase.VERIFYING):",
        "    if m.row.pair.phase:",
        {"stops": 4},
        first=70,
    ),
    Defect(
        "verification shows what the work said of itself",
        "R10",
        "actum_desktop/models/runcells",
        'show.get("step" if show.get("phase") in MEASURED_APART else "progress") or {}',
        'show.get("step") or show.get("progress") or {}',
    ),
    Defect(
        "work that says it is done shows 100 %",
        "R10",
        "actum_desktop/models/runcells",
        "min(0.99, done / total)",
        "min(1.0, done / total)",
    ),
    Defect(
        "time in which nobody listened counts as silence",
        "P19",
        "supervise/supervisor",
        "            deadlines.not_listened(m, missed_us)",
        "            deadlines.not_listened(m, 0 * missed_us)",
        {"favourites": ("leap", "leap"), "faults": 8, "deadline_s": 8.0, "stops": 0},
        first=177,
    ),
    Defect(
        "a rename is tried again while its last answer is unknown",
        "P07",
        "supervise/finishing",
        '    if published.failure == "rename":  # kept until its arrow is on record: no rename while nobody can tell (P07)',
        '    if published.failure == "rename" and not setattr(m.seen, "published", None):',
        {"lost_answers": 0.3, "rename_failures": 0.6},
        first=57,
    ),
    Defect(
        "a step that fails and is tried again is known to nobody",
        "R09",
        "supervise/waiting",
        "    wanted = {kind: m.failing[kind] for kind in ALERTED if kind in m.failing}",
        "    wanted = {kind: m.failing[kind] for kind in ALERTED if kind in m.live}",
        {"favourites": ("unmount", "spoil records"), "faults": 8, "aimed": None},
        first=5,
    ),
    Defect(
        "a claim that cannot be revoked is no hold",
        "R09",
        "supervise/waiting",
        '    if error is None or "attested" in m.live:',
        "    if error is None or m.live:",
        {"favourites": ("read only", "kill family"), "faults": 8, "stops": 4, "aimed": None},
        first=24,
    ),
    Defect(
        "an empty tree ends the hold of a claim",
        "R09",
        "supervise/clearing",
        "    m.held = waiting.revocation(m)",
        "    m.held = None",
        {"favourites": ("read only", "read only"), "faults": 8, "stops": 4, "aimed": None},
        first=8,
    ),
    Defect(
        "a package that cannot be moved aside is tried again in silence",
        "R09",
        "supervise/advancing",
        "        waiting.failed(m, now, waiting.QUARANTINE, event.error)\n",
        "",
        {"favourites": ("touch package", "read only"), "faults": 8, "aimed": Phase.PUBLISHING},
        first=250,
    ),
    Defect(
        "what is passed over is read again for ever",
        "R12",
        "supervise/advancing",
        "    if not event.records and event.skipped is None:",
        "    if not event.records:",
        {"favourites": ("spoil records", "spoil records"), "faults": 8, "aimed": None},
    ),
)

# At the real ports, where the simulated world has its own: caught by what both have to fulfil.
PORTS = (
    Defect(
        "a claim is taken although there is one",
        "P01",
        "ipc/spool",
        "        os.link(temporary, spool_path(folder, name))",
        "        os.rename(temporary, spool_path(folder, name)) or os.link(spool_path(folder, name), temporary)",
        contract="spool",
    ),
    Defect(
        "the folder of the publication is not brought to the disk",
        "P11",
        "results/publish",
        "        for folder in (target, target.parent, attempt_folder):",
        "        for folder in (target, attempt_folder):",
        contract="files",
    ),
    Defect(
        "the outcome is not brought to the disk",
        "P12",
        "ipc/spool",
        '    made = _make_once(folder, "outcome.json", document, "outcome")\n    _fsync_folder(folder)',
        '    made = _make_once(folder, "outcome.json", document, "outcome")',
        contract="spool",
    ),
    Defect(
        "a lock in another namespace says nothing",
        "P17",
        "processes/evidence",
        '    if look.lock == "held":',
        '    if look.lock == "held" and look.place == "same":',
        contract="evidence",
    ),
    Defect(
        "the recorded tree is not looked at",
        "P18",
        "processes/evidence",
        '        return [ProcessIdentity.from_json(member) for member in found["members"]], ""',
        '        return [], ""',
        contract="evidence",
    ),
    Defect(
        "a rename onto an empty folder replaces it",
        "P24",
        "results/publish",
        "_RENAME_NOREPLACE = 1  # linux/fs.h",
        "_RENAME_NOREPLACE = 0  # linux/fs.h",
        contract="files",
    ),
)

LIVED = (*AMENDMENTS, *MORE, *PORTS)
