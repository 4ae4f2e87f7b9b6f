"""Defects of telling whose a process is, whether its work had started, and whether anybody supervises (R05, R07, R08).

Each is planted in a copy of the program, where the test it names has to fail (guards.py).
"""

from __future__ import annotations

from tests.simulation.defects import Defect

CHANNEL, ENDING = "tests/process/test_host_channel.py", "tests/process/test_host_ending.py"
EVIDENCE, FAMILY = "tests/process/test_evidence.py", "tests/process/test_host_family.py"
STARTED = "tests/unit/test_started.py"

WHOSE = (
    Defect(
        "a claim that is missing proves that nothing was computed",
        "R05",
        "supervise/started",
        "    return unclaimed and not signs_of_work(m)",
        "    return unclaimed",
        guard=f"{STARTED}::test_r05_nor_where_the_work_left_traces",
    ),
    Defect(
        "a launch whose work left traces and no claim is lost",
        "R05",
        "supervise/looking",
        "    if decision.action is Action.LAUNCH_LOST and signs_of_work(m):",
        "    if decision.action is Action.LAUNCH_LOST and m.held:",
        guard=f"{STARTED}::test_r05_a_launch_without_a_claim_is_not_lost_where_its_work_left_traces",
    ),
    Defect(
        "traces of work are not looked for",
        "R05",
        "processes/evidence",
        "    if look.claim in (ClaimSeen.NONE, ClaimSeen.REVOKED):\n",
        "    if look.claim is ClaimSeen.UNKNOWN:\n",
        guard=f"{EVIDENCE}::test_r05_work_that_deleted_its_claim_is_told_by_its_traces",
    ),
    Defect(
        "a foreign cookie excuses a process of the tree",
        "R07",
        "host/family",
        "            if self._alive not in files and True in files.values():",
        "            if self._alive not in files:",
        guard=f"{ENDING}::test_r07_a_foreign_cookie_alone_excuses_nobody",
        suite=True,
    ),
    Defect(
        "a foreign cookie excuses a process of a dead host's tree",
        "R07",
        "processes/tree",
        "            if pid in self.recorded or (locked and self.alive not in locked):",
        "            if pid in self.recorded or told:",
        guard=f"{ENDING}::test_r07_nor_where_the_host_is_dead",
    ),
    Defect(
        "what a nested host that was killed leaves is taken for the outer tree's",
        "R07",
        "host/family",
        "            apart = above or self.nested.get(life) or self._apart(life, fields, known)",
        "            apart = above or self._apart(life, fields, set())",
        guard=f"{ENDING}::test_r07_the_orphans_of_a_nested_host_that_was_killed_are_still_told_apart",
    ),
    Defect(
        "a nested host is ended before it could take its lock",
        "R07",
        "host/family",
        "            if proc.becomes_host(pid, ticks):",
        "            if proc.becomes_host(pid, 0):",
        guard=f"{FAMILY}::test_r07_a_host_that_is_just_starting_is_waited_for_and_neither_signalled_nor_recorded",
    ),
    Defect(
        "an endpoint without a socket counts as a supervisor for ever",
        "R08",
        "host/supervision",
        "            self._held = self._held if held is None else held",
        "            self._held = self._held if held is None else True",
        guard=f"{CHANNEL}::test_r08_without_sockets_stop_after_counts_from_when_nobody_holds_the_lock",
    ),
)
