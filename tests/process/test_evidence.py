"""What one look finds, in the order of §6 (R07, R09)."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from actum import limits
from actum.ipc import spool
from actum.model.evidence import ClaimSeen, Evidence, HostSeen, OutcomeSeen, PackageSeen, TreeSeen
from actum.model.identity import ProcessIdentity
from actum.processes import evidence, identity, terminate, tree

from tests.helpers.hosts import Attempt, make_attempt
from tests.helpers.waiting import wait_until

SLEEPS = "import time; time.sleep(600)"


@pytest.fixture
def attempt(tmp_path: Path) -> Iterator[Attempt]:
    made = make_attempt(tmp_path, SLEEPS)
    yield made
    if made.folder.exists():
        made.end_all()


def look(attempt: Attempt, host: ProcessIdentity | None = None, **more: Any) -> Evidence:
    session, cookie = attempt.launch["session"], attempt.launch["cookie"]
    return evidence.gather(attempt_folder=attempt.folder, session=session, cookie=cookie, host_identity=host, **more)


def running(attempt: Attempt) -> ProcessIdentity:
    attempt.spawn()
    wait_until(lambda: attempt.state().get("phase") == "computing", what="the work")
    return attempt.identity()


def kill_host(attempt: Attempt) -> None:
    assert attempt.host is not None
    attempt.host.kill()
    attempt.host.wait()


def test_a_living_host_and_then_a_killed_one_with_its_work_left(attempt: Attempt) -> None:
    host = running(attempt)
    seen = look(attempt)
    assert (seen.host, seen.outcome, seen.claim) == (HostSeen.ALIVE, OutcomeSeen.NONE, ClaimSeen.HOST)
    assert (seen.host_method, seen.host_identity) == ("identity", host)
    assert host not in [member.identity for member in seen.members]
    kill_host(attempt)
    seen = look(attempt)
    assert (seen.host, seen.outcome, seen.tree) == (HostSeen.GONE, OutcomeSeen.NONE, TreeSeen.LEFT)
    assert seen.tree_method == "lock + scan"
    for member in seen.members:
        assert terminate.signal(member.identity, signal.SIGKILL) == "sent"
    wait_until(lambda: look(attempt).tree is TreeSeen.CLEAR, what="a clear tree")


def test_after_an_orderly_end_no_scan_is_needed(attempt: Attempt) -> None:
    host = running(attempt)
    spool.write_stop(attempt.folder, level="ask", cause="user", at_us=1)
    attempt.wait()
    seen = look(attempt, host, package=lambda: PackageSeen.NEITHER)
    assert (seen.host, seen.outcome, seen.tree) == (HostSeen.GONE, OutcomeSeen.STOPPED, TreeSeen.CLEAR)
    assert (seen.tree_method, seen.package) == ("subreaper", PackageSeen.NEITHER)
    assert seen.outcome_document["cause"] == "user"


def test_a_stop_by_a_deadline_is_told_apart(tmp_path: Path) -> None:
    attempt = make_attempt(tmp_path, SLEEPS, deadlines={"start_s": 9, "stages": {}, "overall_s": 0.1})
    attempt.spawn()
    attempt.wait()
    assert look(attempt).outcome is OutcomeSeen.DEADLINE


def test_before_a_host_was_spawned(attempt: Attempt) -> None:
    seen = look(attempt)
    assert (seen.host, seen.tree, seen.claim) == (HostSeen.GONE, TreeSeen.CLEAR, ClaimSeen.NONE)
    assert seen.host_method == "alive_lock"


def test_a_revoked_claim(attempt: Attempt) -> None:
    spool.create_claim(attempt.folder, {"v": 1, "by": "supervisor", "revoked": True, "epoch": 1, "at": 1})
    assert look(attempt).claim is ClaimSeen.REVOKED


def test_r05_work_that_deleted_its_claim_is_told_by_its_traces(attempt: Attempt) -> None:
    """The host's files, the log and the output show that it was started; before the claim there is nothing of the kind."""
    assert look(attempt).traces == ()
    running(attempt)
    wait_until((attempt.folder / "spool" / "tree.json").exists, what="the tree on record")
    kill_host(attempt)
    (attempt.folder / "messages.jsonl").write_text("{}\n")
    attempt.output("half.txt").touch()
    assert look(attempt).traces == (), "the claim itself tells"
    (attempt.folder / "spool" / "claim").unlink()
    seen = look(attempt)
    assert (seen.claim, seen.host) == (ClaimSeen.NONE, HostSeen.GONE)
    assert seen.traces == ("state.json", "tree.json", "history.jsonl", "messages.jsonl", "log", "staging/files")


def test_r09_a_trace_that_cannot_be_looked_at_counts_as_one(attempt: Attempt) -> None:
    shutil.rmtree(attempt.folder / "log")
    assert look(attempt).traces == ()
    (attempt.folder / "log").symlink_to("log")  # a circle
    assert look(attempt).traces == ("log",)


def test_a_missing_folder_is_cannot_tell_in_everything(attempt: Attempt) -> None:
    shutil.rmtree(attempt.folder)
    seen = look(attempt)
    unknown = (HostSeen.UNKNOWN, OutcomeSeen.UNKNOWN, TreeSeen.UNKNOWN, ClaimSeen.UNKNOWN)
    assert (seen.host, seen.outcome, seen.tree, seen.claim) == unknown
    assert set(seen.why) == {"host", "outcome", "tree", "claim"}


def test_a_missing_alive_file_is_cannot_tell(attempt: Attempt) -> None:
    os.unlink(attempt.folder / "spool" / "alive")
    assert look(attempt).host is HostSeen.UNKNOWN


def test_an_outcome_that_cannot_be_read_or_is_of_another_session_is_unknown(attempt: Attempt) -> None:
    path = attempt.folder / "spool" / "outcome.json"
    path.write_text("{")
    assert look(attempt).outcome is OutcomeSeen.UNKNOWN
    path.unlink()
    from tests.unit.test_messages import OUTCOME

    spool.link_outcome(attempt.folder, dict(OUTCOME))
    assert look(attempt).outcome is OutcomeSeen.UNKNOWN


def test_another_machine_boot_and_namespace(attempt: Attempt) -> None:
    """Never gone; gone with a clear tree; the lock decides and the tree is unknown."""
    own = identity.own()
    seen = look(attempt, own._replace(machine="another"))
    assert (seen.host, seen.tree) == (HostSeen.UNKNOWN, TreeSeen.UNKNOWN)
    seen = look(attempt, own._replace(boot="another"))
    assert (seen.host, seen.tree, seen.tree_method) == (HostSeen.GONE, TreeSeen.CLEAR, "boot")
    elsewhere = own._replace(pid_namespace="pid:[1]")
    seen = look(attempt, elsewhere)
    assert (seen.host, seen.tree) == (HostSeen.GONE, TreeSeen.UNKNOWN)
    held = spool.hold_alive(attempt.folder, 0)
    assert held is not None
    assert look(attempt, elsewhere).host is HostSeen.ALIVE
    os.close(held)


def test_the_claims_word_goes_before_what_was_told(attempt: Attempt) -> None:
    host = running(attempt)
    assert look(attempt, host._replace(start_ticks=1)).host is HostSeen.ALIVE


def test_r07_a_claim_that_was_written_anew_ends_nobody(attempt: Attempt) -> None:
    """R06, R09: the work could write that file. Another boot in it proves nothing of a host whose lock is held."""
    host = running(attempt)
    path = attempt.folder / "spool" / "claim"
    claim = json.loads(path.read_text())
    claim["identity"]["boot"] = "another"
    path.unlink()
    path.write_text(json.dumps(claim))
    seen = look(attempt, host)
    assert (seen.host, seen.tree, seen.host_identity) == (HostSeen.ALIVE, TreeSeen.LEFT, host)
    seen = look(attempt)
    assert (seen.host, seen.tree) == (HostSeen.UNKNOWN, TreeSeen.UNKNOWN)
    assert "lock is held" in seen.why["host"]
    kill_host(attempt)
    seen = look(attempt, host)
    assert (seen.host, seen.tree) == (HostSeen.GONE, TreeSeen.LEFT)


def test_r07_a_stranger_named_as_host_is_held_and_named_until_he_has_ended(attempt: Attempt) -> None:
    """R09: equal in every part of the identity, and another program: neither waited for as host nor ended, nor called gone."""
    stranger = subprocess.Popen(["sleep", "600"])
    try:
        host = running(attempt)
        kill_host(attempt)
        named = identity.of(stranger.pid)
        assert named is not None
        forge(attempt, named)
        seen = look(attempt, host)
        assert (seen.host, seen.host_method) == (HostSeen.UNKNOWN, "claim")
        assert f"names process {stranger.pid} as the host, and that is another program (sleep 600)" in seen.why["host"]
        assert named not in [member.identity for member in seen.members]
        forge(attempt, named._replace(start_ticks=named.start_ticks - 1))
        assert look(attempt, host).host is HostSeen.GONE, "an earlier life of that pid"
        forge(attempt, named)
    finally:
        stranger.kill()
        stranger.wait()
    assert look(attempt, host).host is HostSeen.GONE


def forge(attempt: Attempt, named: ProcessIdentity) -> None:
    path = attempt.folder / "spool" / "claim"
    claim = {**json.loads(path.read_text()), "identity": named.to_json()}
    path.unlink()
    path.write_text(json.dumps(claim))


def test_r07_a_process_older_than_the_host_is_no_descendant_whatever_is_recorded(attempt: Attempt) -> None:
    """tree.json is a file that the work can write; who was there before the host is not ended for standing in it."""
    older = subprocess.Popen(["sleep", "600"])
    try:
        named = identity.of(older.pid)
        assert named is not None
        host = running(attempt)
        host = host._replace(start_ticks=max(host.start_ticks, named.start_ticks + 1))  # both may begin within one tick
        path = attempt.folder / "spool" / "tree.json"
        kill_host(attempt)
        document = json.loads(path.read_text())
        document["members"] = [*document["members"], named.to_json() | {"command": "mine"}]
        path.write_text(json.dumps(document))
        seen = look(attempt, host)
        assert seen.tree is TreeSeen.LEFT
        assert named not in [member.identity for member in seen.members]
    finally:
        older.kill()
        older.wait()


def test_a_process_that_inherited_the_alive_lock_is_a_member(attempt: Attempt) -> None:
    descriptor = os.open(attempt.folder / "spool" / "alive", os.O_RDWR)
    heir = subprocess.Popen(["sleep", "600"], pass_fds=[descriptor], env={})
    os.close(descriptor)
    try:
        seen = look(attempt, identity.own()._replace(start_ticks=1))
        assert [(member.identity.pid, member.found_by) for member in seen.members] == [(heir.pid, "alive_lock")]
        assert (seen.host, seen.tree) == (HostSeen.GONE, TreeSeen.LEFT)
    finally:
        heir.kill()
        heir.wait()


def test_a_probe_is_no_member(attempt: Attempt) -> None:
    with open(attempt.folder / "spool" / "alive", "rb") as probe:
        other = subprocess.Popen(["sleep", "600"], pass_fds=[probe.fileno()], env={})
    try:
        assert look(attempt).tree is TreeSeen.CLEAR
    finally:
        other.kill()
        other.wait()


def test_a_cookie_finds_and_its_descendants_follow(attempt: Attempt) -> None:
    cookie = attempt.launch["cookie"]
    shell = subprocess.Popen(["sh", "-c", "env -i sleep 600 & wait"], env={"ACTUM_COOKIE": cookie, "PATH": os.environ["PATH"]})
    try:
        both = {"cookie", "descendant"}  # until `env` has replaced the shell's fork, that one has the cookie too
        wait_until(lambda: {member.found_by for member in look(attempt).members} == both, what="the shell and its child")
        excluded = identity.of(shell.pid)
        assert excluded is not None
        found = tree.scan(cookie=cookie, alive_path=None, exclude=[excluded]).members
        assert [member.found_by for member in found] == ["descendant"]
    finally:
        attempt.end_all()
        shell.wait()


def test_a_host_that_has_not_taken_its_lock_yet_lives_and_is_no_work(attempt: Attempt) -> None:
    """R07, row 10: a launch is waited for while its host is on its way, and a host is never taken for a sign of work."""
    words = [sys.executable, "-c", "import time; time.sleep(600)", "core/host/host_main.py", str(attempt.folder)]
    starting = subprocess.Popen(words, env={"ACTUM_COOKIE": attempt.launch["cookie"]})
    try:
        seen = wait_until(lambda: (s := look(attempt)).host is HostSeen.ALIVE and s, what="the host in sight")
        assert (seen.host_method, seen.tree, seen.members, seen.claim) == ("cookie", TreeSeen.CLEAR, (), ClaimSeen.NONE)
        assert seen.host_identity == identity.of(starting.pid)
    finally:
        starting.kill()
        starting.wait()


@pytest.mark.parametrize("copied", [False, True], ids=["moved away", "a copy in its place"])
def test_r07_a_host_that_holds_its_lock_is_seen_wherever_its_folder_is_by_now(attempt: Attempt, copied: bool) -> None:
    """Nobody has heard of it yet: its cookie alone tells, and the alive file it holds is not the one that stands there now.

    A copy would show no host, no claim and no tree, and the launch be taken for lost; a folder that is gone could be attested.
    """
    lock = os.open(attempt.folder / "spool" / "alive", os.O_RDWR)
    words = [sys.executable, "-c", "import time; time.sleep(600)", "core/host/host_main.py", str(attempt.folder)]
    starting = subprocess.Popen(words, env={"ACTUM_COOKIE": attempt.launch["cookie"]}, pass_fds=[lock])
    os.close(lock)
    away = attempt.folder.rename(attempt.folder.with_name("away"))
    if copied:
        shutil.copytree(away, attempt.folder)
    try:
        seen = wait_until(lambda: (s := look(attempt)).host is HostSeen.ALIVE and s, what="the host in sight")
        assert (seen.host_method, seen.host_identity) == ("cookie", identity.of(starting.pid))
    finally:
        starting.kill()
        starting.wait()
        shutil.rmtree(attempt.folder, ignore_errors=True)
        away.rename(attempt.folder)


def test_a_thousand_attempts_are_seen_by_one_pass_in_two_seconds(tmp_path: Path) -> None:
    """§10 of PERFORMANCE: reconcile 1,000 leftovers ≤ 2 s; asserted loosely, for the shape and not the speed."""
    one = make_attempt(tmp_path, SLEEPS)
    questions = [evidence.Question(one.folder, one.launch["session"], one.launch["cookie"]) for _ in range(1000)]
    begun = time.monotonic()
    found = evidence.gather_many(questions)
    assert time.monotonic() - begun < 10
    assert {seen.tree for seen in found} == {TreeSeen.CLEAR}


@pytest.mark.parametrize(("restless", "complete"), [(limits.SCAN_ROUNDS_MAX - 1, True), (limits.SCAN_ROUNDS_MAX, False)])
def test_a_pass_in_which_processes_end_unread_is_made_on_until_it_settles(
    monkeypatch: pytest.MonkeyPatch, restless: int, complete: bool
) -> None:
    """R07, R11: what ended before it was read may have forked; while that goes on, the pass is no absence."""
    real, rounds = os.listdir, iter(range(1_000))

    def listdir(path: str) -> list[str]:
        if path != "/proc":
            return real(path)
        number = next(rounds)  # a pid beyond any that the kernel gives: listed, and never there to be read
        return [*real(path), str((1 << 30) + min(number, restless - 1))]

    monkeypatch.setattr(os, "listdir", listdir)
    assert tree.Snapshot.take().complete is complete
