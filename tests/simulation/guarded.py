"""Defects of what the simulated world does not hold: the host's own loop, the real store, adoption, take-over, the command.

Each is planted in a copy of the program, where the real-process or store test it names has to fail (guards.py).
"""

from __future__ import annotations

from tests.simulation.defects import Defect

CHANNEL, ENDING = "tests/process/test_host_channel.py", "tests/process/test_host_ending.py"
ADOPTION, TAKE_OVER = "tests/unit/test_adoption_store.py", "tests/process/test_take_over.py"
OUTBOX = "tests/unit/test_outbox.py"
LIFE, AGAIN = "tests/process/test_controller_life.py", "tests/unit/test_take_again.py"
SUPERVISION, WRITER, RUNS = "tests/unit/test_supervision.py", "tests/unit/test_writer.py", "tests/unit/test_runs_sql.py"

# The amendments of PROTOCOL.md that are code, and not code of that world.
BESIDE = (
    Defect(
        "a host without a claim outlives its channel",
        "P03",
        "host/main",
        "        if self._channel.was_closed:\n",
        "        if self._channel.was_closed and self._deadlines.claimed is not None:\n",
        guard=f"{CHANNEL}::test_without_a_claim_it_ends_when_the_channel_closes",
    ),
    Defect(
        "a host without a claim outlives its start deadline",
        "P03",
        "host/deadlines",
        "now - self.begun >= self._launch.start_s",
        "now - self.begun >= self._launch.start_s + 3600",
        guard=f"{CHANNEL}::test_without_an_answer_it_ends_at_its_start_deadline",
    ),
    Defect(
        "a host that was never answered takes the claim",
        "P03",
        "host/main",
        "        elif self._channel.established or self._channel.spool_only:\n",
        "        elif now:\n",
        guard=f"{CHANNEL}::test_a_hello_answered_otherwise_ends_with_nothing_done",
        suite=True,
    ),
    Defect(
        "sealed while a descendant still writes",
        "P14",
        "host/main",
        "        elif self._work.status is not None and self._family.gone():",
        "        elif self._work.status is not None:",
        guard=f"{ENDING}::test_wait_lets_a_daemon_of_its_own_session_finish",
        suite=True,
    ),
    Defect(
        "a tree that was asked to end is taken for gone",
        "P14",
        "host/ending",
        "                done.add(life)\n        return False",
        "                done.add(life)\n        return True",
        guard=f"{ENDING}::test_a_grandchild_that_ignores_sigterm_is_ended_after_the_grace",
    ),
    Defect(
        "what the root leaves behind is not ended",
        "P14",
        "host/main",
        "        if self._cause is not None or self._failure is not None or self._end_at_exit():",
        "        if self._cause is not None or self._failure is not None:",
        guard=f"{ENDING}::test_end_ends_a_daemon_when_the_root_has_ended",
    ),
    Defect(
        "one attempt is adopted by two runs",
        "P16",
        "store/schema",
        '    Index("run_adopted_once", "adopted_attempt", unique=True, sqlite_where=text(_ADOPTION_STANDS)),',
        '    Index("run_adopted_once", "adopted_attempt", sqlite_where=text(_ADOPTION_STANDS)),',
        guard=f"{ADOPTION}::test_r05_adopting_twice_is_one_run",
        suite=True,
    ),
    Defect(
        "an attempt that is not released is adopted",
        "P16",
        "store/adoption",
        '    elif row["status"] not in ADOPTABLE or not row["released"]:',
        '    elif row["status"] not in ADOPTABLE:',
        guard=f"{ADOPTION}::test_p16_only_a_released_attempt_without_a_result_is_adopted",
    ),
    Defect(
        "the database lets any attempt be adopted",
        "P16",
        "store/ddl_sqlite",
        "        WHEN NEW.adopted_attempt IS NOT NULL AND NOT EXISTS (",
        "        WHEN NEW.adopted_attempt = '' AND NOT EXISTS (",
        guard=f"{ADOPTION}::test_r02_the_database_refuses_it_too",
    ),
    Defect(
        "the run whose package is being adopted is deleted",
        "P16",
        "store/ddl_sqlite",
        "        WHEN OLD.deletion = 'none' AND NEW.deletion <> 'none' AND EXISTS (",
        "        WHEN OLD.deletion = 'soft' AND NEW.deletion <> 'none' AND EXISTS (",
        guard=f"{ADOPTION}::test_r02_the_database_refuses_it_too",
    ),
    Defect(
        "the lock is let go while a commit is under way",
        "P21",
        "actum_desktop/controller/controller",
        "        self._performer.close()\n",
        "        self._performer.close(), self._lock.release()\n",
        guard=f"{LIFE}::test_p21_what_is_being_committed_is_on_record_before_the_lock_is_free",
        suite=True,
    ),
    Defect(
        "whoever gave way leaves at once",
        "P21",
        "actum_desktop/commands/supervise",
        "            lock = take_again(context, interrupts, gave_way) if gave_way else None",
        "            lock = take_again(context, interrupts, gave_way) if not gave_way else None",
        guard=f"{TAKE_OVER}::test_whoever_asked_died_at_once",
    ),
    Defect(
        "whoever gave way never takes the lock again",
        "P21",
        "actum_desktop/commands/supervise",
        "            if (lock := Lock.try_acquire(context.workspace)) is not None:",
        "            if came and (lock := Lock.try_acquire(context.workspace)) is not None:",
        guard=f"{AGAIN}::test_p21_it_takes_the_lock_again_when_nobody_came",
    ),
    Defect(
        "whoever gave way takes the lock back under a slow successor",
        "P21",
        "actum_desktop/commands/supervise",
        "            free_since = now\n",
        "            free_since = min(free_since, now)\n",
        guard=f"{AGAIN}::test_p21_the_time_counts_from_when_the_lock_is_free",
        suite=True,
    ),
    Defect(
        "whoever gave way watches on though its successor is in",
        "P21",
        "actum_desktop/commands/supervise",
        "            if came or now > end:",
        "            if now > end:",
        guard=f"{AGAIN}::test_p21_it_leaves_as_soon_as_its_successor_has_opened_its_epoch",
    ),
    Defect(
        "a command that gave way takes the lock at once",
        "P21",
        "actum_desktop/commands/supervision",
        "                self._lock_not_before_s = time.monotonic() + limits.TAKE_OVER_FREE_S",
        "                self._lock_not_before_s = time.monotonic()",
        guard=f"{LIFE}::test_r11_whoever_gave_way_waits_for_its_successor",
    ),
    Defect(
        "a command whose answer is lost gives up",
        "P22",
        "actum_desktop/commands/supervision",
        "                if not repeatable or not tries_left:",
        "                if repeatable or not tries_left:",
        guard=f"{SUPERVISION}::test_r05_a_lost_answer_is_asked_for_again_with_the_same_key",
    ),
    Defect(
        "a command tries socket and lock once",
        "P22",
        "actum_desktop/commands/supervision",
        "            if time.monotonic() > end:",
        "            if time.monotonic() < end:",
        guard=f"{SUPERVISION}::test_p22_while_somebody_holds_the_lock_the_socket_is_tried_again",
        suite=True,
    ),
    Defect(
        "a command that gets the lock does not supervise",
        "P22",
        "actum_desktop/commands/supervision",
        "                if lock is not None:\n                    return",
        "                if lock is not None and busy:\n                    return",
        guard="tests/process/test_admission.py::test_same_key_with_another_request_is_a_conflict_and_creates_nothing",
    ),
    Defect(
        "a command is answered before its commit",
        "P22",
        "actum_desktop/controller/commands",
        "        self._controller.persist(request, lambda answer: self._controller.reply(command, *_told(answer, told)))",
        "        self._controller.persist(request, lambda answer: None), self._controller.reply(command, {}, None)",
        guard=f"{LIFE}::test_p23_a_setting_that_meets_a_newer_epoch_retires_too",
    ),
    Defect(
        "the row of a run can be deleted",
        "P25",
        "store/ddl_sqlite",
        "        CREATE TRIGGER run_not_deleted BEFORE DELETE ON run\n",
        "        CREATE TRIGGER run_not_deleted BEFORE DELETE ON run WHEN OLD.number < 1\n",
        guard=f"{RUNS}::test_the_database_guards_history",
    ),
    Defect(
        "the key of a purged run is forgotten",
        "P25",
        "store/admission",
        'where(run.c.key == bindparam("v_key")))',
        'where(run.c.key == bindparam("v_key"), run.c.deletion != "purged"))',
        guard=f"{WRITER}::test_p25_the_key_of_a_purged_run_is_never_free_again",
        suite=True,
    ),
)

# Of the store, the outbox and the signals: what the rules rest on below the supervisor.
BELOW = (
    Defect(
        "a status is written whatever the epoch",
        "R02",
        "store/runs",
        "scalar_subquery() == attempt.c.id,\n        MINE,\n",
        "scalar_subquery() == attempt.c.id,\n",
        guard=f"{WRITER}::test_p23_every_statement_carries_the_epoch",
    ),
    Defect(
        "a run's status is written whatever the epoch",
        "R02",
        "store/runs",
        '        run.c.current_attempt == bindparam("v_attempt_before"),\n        MINE,\n',
        '        run.c.current_attempt == bindparam("v_attempt_before"),\n',
        guard=f"{WRITER}::test_p23_every_statement_carries_the_epoch",
        suite=True,
    ),
    Defect(
        "rows are added whatever the epoch",
        "R02",
        "store/sql",
        'source = select(*given, bindparam("mine")).where(MINE)',
        'source = select(*given, bindparam("mine"))',
        guard=f"{WRITER}::test_p23_every_statement_carries_the_epoch",
    ),
    Defect(
        "an attempt that is not the current one moves",
        "R03",
        "store/runs",
        "        select(run.c.current_attempt).where(run.c.number == attempt.c.run).scalar_subquery() == attempt.c.id,\n",
        "",
        guard=f"{RUNS}::test_r03_an_attempt_that_is_not_current_moves_no_more",
    ),
    Defect(
        "requests are answered before their commit",
        "R04",
        "store/writer",
        "            self._answer(batch, self._write([request for request, _ in batch]))",
        "            self._answer(batch, [Persisted(Changes())] * len(batch)), self._write([request for request, _ in batch])",
        guard=f"{WRITER}::test_r04_disk_full_before_the_commit_writes_nothing",
    ),
    Defect(
        "the key alone says that a request is the same",
        "R05",
        "store/admission",
        '    if found["request_digest"] == request.request_digest:',
        '    if found["request_digest"]:',
        guard=f"{WRITER}::test_r05_one_key_is_one_run",
    ),
    Defect(
        "the next attempt begins before the release",
        "R06",
        "store/admission",
        "    if not row.released:\n",
        "    if row.released is None:\n",
        guard=f"{RUNS}::test_p09_no_next_attempt_before_the_release",
    ),
    Defect(
        "a fact that is seen otherwise is not told",
        "R01",
        "store/facts",
        '    if known is None or known["evidence"] == evidence:',
        '    if known is not None or known["evidence"] == evidence:',
        guard=f"{RUNS}::test_r01_a_fact_is_written_once_and_a_second_look_is_journalled",
    ),
    Defect(
        "the terminal message is sent once",
        "R12",
        "ipc/outbox",
        "        self._terminal_due = self._terminal is not None and not self.acknowledged",
        "        self._terminal_due = self._terminal is None",
        guard=f"{OUTBOX}::test_the_terminal_message_goes_first_closes_the_rest_and_comes_again_until_acknowledged",
    ),
    Defect(
        "an acknowledgement of anything ends the host",
        "R12",
        "ipc/outbox",
        '        if self._terminal is None or self._terminal[1]["digest"] != digest:',
        "        if self._terminal is None:",
        guard=f"{OUTBOX}::test_the_terminal_message_goes_first_closes_the_rest_and_comes_again_until_acknowledged",
    ),
    Defect(
        "whoever has the pid now is signalled",
        "R07",
        "processes/terminate",
        '    if state != "alive":',
        '    if state == "cannot_tell":',
        guard="tests/process/test_identity.py::test_a_pid_that_is_another_life_is_not_signalled",
        suite=True,
    ),
    Defect(
        "a helper without its parent goes on",
        "R18",
        "helpers/program",
        "    if os.getppid() != parent:",
        "    if os.getppid() < 0:",
        guard="tests/process/test_helper_program.py::test_it_leaves_at_once_if_its_parent_is_not_there",
    ),
    Defect(
        "a copy of an input that changed meanwhile is taken",
        "R17",
        "results/inputs",
        "        if stat_of(real) == before:",
        "        if before:",
        guard="tests/unit/test_inputs.py::test_r11_an_input_that_changes_during_each_of_the_tries_has_changed",
    ),
    Defect(
        "a helper freezes another content than was admitted",
        "R17",
        "results/inputs",
        "    if expected_sha256 is not None and digest.sha256 != expected_sha256:",
        "    if expected_sha256 is not None and not digest.sha256:",
        guard="tests/process/test_helper_program.py::test_r17_freeze_copies_durably_and_tells_a_change",
    ),
    Defect(
        "a file is verified by its size alone",
        "R01",
        "results/verify",
        '    elif noted[1] != entry["sha256"]:',
        "    elif not noted[1]:",
        guard="tests/unit/test_verify.py::test_tampered_bytes_are_named",
    ),
)

GUARDED = (*BESIDE, *BELOW)

# What the suite plants of these: what is soon caught, one for each amendment. The command plants them all.
IN_THE_SUITE = tuple(defect for defect in GUARDED if defect.suite)

# Amendments of which there is no code to plant a defect in.
ELSEWHERE = {
    "P15": "not built yet: no command deletes, so no run becomes soft or PURGING; the store only knows the words",
}
