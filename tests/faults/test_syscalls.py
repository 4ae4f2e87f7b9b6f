"""R18 from the kernel's own account: what is durable when, and that a fault point stands on both sides of every such call."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum.faults import CATALOGUE
from actum.model.facts import FACTS

from tests.faults import roles
from tests.faults.scenarios import DATA, Stage
from tests.faults.syscalls import MOVES, SIGNALS, SYNCS, Call, Order, gaps, parse, record
from tests.helpers.waiting import wait_until

pytestmark = pytest.mark.skipif(
    shutil.which("strace") is None, reason="strace is not installed; packaging/test installs it where it may (Debian: strace)"
)

# Calls that have no fault point of their own on one side, and why a kill there leaves nothing new.
WITHOUT_POINT = {
    "/staging/files/": "a move inside staging; without a manifest the attempt fails, whatever was moved",
    "/staging/tables/": "the same, seen from the target",
    "/log/": "the work's log is linked into staging before there is a manifest",
    "/actum.db": "SQLite's own checkpoint while it closes",
}


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stage, list[Call]]]:
    folder = tmp_path_factory.mktemp("traced")
    stage = Stage(folder)
    assert stage.define_task().returncode == 0
    data = folder / "data.csv"
    data.write_text(f"heading\n{DATA}")
    calls = record(stage, folder, "run", "work", "--key", "traced", "--set", "wanted=succeed", "--set", f"data={data}")
    yield stage, calls
    stage.end()


def test_the_durability_order_of_a_success(traced: tuple[Stage, list[Call]]) -> None:
    """R18, §5: file → rename → folder → commit, for input, manifest, outcome and publication, each before the next."""
    stage, calls = traced
    durable(stage.ws.path, calls)


def test_every_published_file_was_durable_before_the_manifest_had_its_name(traced: tuple[Stage, list[Call]]) -> None:
    """§5.8: what a manifest lists, and the folders it stands in, are on the disk before the manifest is."""
    stage, calls = traced
    files_before_manifest(stage.ws.path, calls)


def test_a_point_stands_on_both_sides_of_every_call(traced: tuple[Stage, list[Call]]) -> None:
    """§5: the catalogue is complete for fsync, rename, link, commit and signal, as one real run shows."""
    stage, calls = traced
    open_sides = [(side, call) for side, call in gaps(calls, str(stage.ws.path)) if not excused(call)]
    assert not open_sides, "Pass a fault point there, or say in WITHOUT_POINT why not:\n" + "\n".join(
        f"no point {side} {call}" for side, call in open_sides
    )


def test_a_point_stands_on_both_sides_of_every_start(traced: tuple[Stage, list[Call]]) -> None:
    """R18: host and work are started once, after one point of their spawn; the other is passed without waiting for the work."""
    _, calls = traced
    for program, point in (("host_main.py", "controller.spawn"), ("work.py", "host.spawn")):
        starts = [call for call in calls if call.name == "execve" and any(path.endswith(program) for path in call.paths[1:])]
        assert len(starts) == 1, starts
        order = Order(calls)
        before = order.place("passage", f"{point}.before")
        assert before < starts[0].place
        assert order.place("passage", f"{point}.after", after=before)


def test_whatever_is_started_is_known_and_a_helper_does_nothing_before_its_point(traced: tuple[Stage, list[Call]]) -> None:
    """R18: a helper's start is durable nowhere, so a kill at it leaves nothing; what it does comes after `helper.verb.before`.

    Each kind of start that is not host, work or helper is asked what it touches: nothing in the workspace.
    """
    stage, calls = traced
    starts = {call.thread: call for call in calls if call.name == "execve"}
    ours = ("host_main.py", "work.py", "actum.helpers", "-c")
    others = {thread for thread, call in starts.items() if not any(path.endswith(ours) for path in call.paths[1:])}
    assert {Path(starts[thread].paths[0]).name for thread in others} <= {"git"}, "an unknown program is started"
    touching = [call for call in calls if call.thread in others and call.name in (*SYNCS, *MOVES, *SIGNALS)]
    assert not touching, touching
    helpers = {thread for thread, call in starts.items() if "actum.helpers" in call.paths}
    assert len(helpers) >= 2
    for helper in helpers:
        steps = [call for call in calls if call.thread == helper and call.name in (*SYNCS, *MOVES, "passage")]
        first = next((call for call in steps if call.name == "passage" or call.paths[0].startswith(str(stage.ws.path))), None)
        assert first is None or first.paths == ("helper.verb.before",), first


def test_a_thread_that_passes_no_point_is_no_excuse(traced: tuple[Stage, list[Call]]) -> None:
    """The check itself can fail: a call of a thread of its own has no point on either side."""
    stage, calls = traced
    lonely = Call(1, "rename", (f"{stage.ws.path}/a", f"{stage.ws.path}/b"), calls[-1].place + 1)
    assert {side for side, call in gaps([*calls, lonely], str(stage.ws.path)) if call is lonely} == {"before", "after"}


def test_nothing_but_own_helpers_is_signalled_by_a_run_that_succeeds(traced: tuple[Stage, list[Call]]) -> None:
    """R07: work that ended by itself is not signalled; idle helpers are, by the process that started them."""
    stage, calls = traced
    helpers = {str(call.thread) for call in calls if call.name == "execve" and "actum.helpers" in call.paths}
    signalled = [call for call in calls if call.name in SIGNALS]
    assert [call for call in signalled if call.paths[0].split(",")[0] not in helpers] == []
    assert roles.find(stage.ws.path) == {}


@pytest.fixture(scope="module")
def stopped(traced: tuple[Stage, list[Call]]) -> list[Call]:
    """A run that a person stops, on the same workspace."""
    stage, _ = traced

    def stop() -> None:
        wait_until(lambda: stage.said("stopped"), 60, "the start of the work")
        stage.run("stop", str(stage.number("stopped")))

    asking = threading.Thread(target=stop)
    asking.start()
    data = stage.folder / "data.csv"
    words = ("run", "work", "--key", "stopped", "--set", "wanted=stop", "--set", f"data={data}")
    try:
        return record(stage, stage.folder, *words, name="stop-", code=6)
    finally:
        asking.join()


def test_a_point_stands_on_both_sides_of_every_signal_and_of_all_else_that_a_stop_does(
    traced: tuple[Stage, list[Call]], stopped: list[Call]
) -> None:
    """§5, R08: the stop is a durable file before anything is signalled; each signal stands between its two points."""
    stage, _ = traced
    open_sides = [(side, call) for side, call in gaps(stopped, str(stage.ws.path)) if not excused(call)]
    assert not open_sides, "\n".join(f"no point {side} {call}" for side, call in open_sides)
    sent = [call for call in stopped if call.name == "pidfd_send_signal"]
    assert sent, "the work was not signalled"
    asked = f"{stage.ws.attempts}/2/1/spool/stop"
    order = Order(stopped)
    assert order.chain(("move", asked), ("sync", f"{stage.ws.attempts}/2/1/spool")) < sent[0].place
    assert order.place("passage", "processes.signal.before") < sent[0].place
    assert order.place("passage", "processes.signal.after", after=sent[0].place)


def test_the_points_that_were_passed_are_catalogued_and_commits_stand_between_theirs(
    traced: tuple[Stage, list[Call]], stopped: list[Call]
) -> None:
    """§5, R18: one fsync of the write-ahead log lies between the two points of each commit, in the kernel's own account."""
    stage, calls = traced
    passed = {call.paths[0] for call in (*calls, *stopped) if call.name == "passage"}
    assert passed <= set(CATALOGUE)
    wal = f"{stage.ws.path}/actum.db-wal"
    commits = [call for call in calls if call.name in SYNCS and call.paths == (wal,)]
    passages = [call for call in calls if call.name == "passage"]
    begun = [call.place for call in passages if call.paths[0] == "store.commit.before"]
    ended = [call.place for call in passages if call.paths[0] == "store.commit.after"]
    spans = list(zip(begun, ended, strict=True))
    inside = [[call for call in commits if before < call.place < after] for before, after in spans]
    assert all(len(each) <= 1 for each in inside), "two commits between the points of one"
    assert sum(map(len, inside)) >= len(FACTS) / 2  # a commit that changed nothing writes nothing; some facts share one
    outside = [call for call in commits if call.place > begun[0] and not any(a < call.place < b for a, b in spans)]
    assert len(outside) <= 2, f"committed without a point: {outside}"  # closing: the end of the epoch, and the checkpoint


@pytest.mark.parametrize(
    "lost",
    [
        "manifest.json.writing",
        "/spool>",
        "/results/1>",
        "/results>",
        "/content>",
        "actum.db-wal",
        "/attempts/1/1>",
        "/launch.json>",
        "/attempts/1>",
        "/attempts>",
        "/.claim",
    ],
)
def test_an_order_without_one_of_its_fsyncs_is_refused(traced: tuple[Stage, list[Call]], lost: str) -> None:
    """The check itself can fail: leave one fsync out of the real trace, and it says so."""
    stage, _ = traced
    lines = (stage.folder / "calls.txt").read_text(errors="replace").splitlines()
    kept = [line for line in lines if not ("sync(" in line and lost in line)]
    assert len(kept) < len(lines)
    with pytest.raises(AssertionError, match="no sync"):
        durable(stage.ws.path, list(parse(kept, str(stage.folder / "passed.txt"))))


def test_a_call_without_a_point_is_found(traced: tuple[Stage, list[Call]]) -> None:
    """The check itself can fail: without the passages of publishing, both sides of the rename into results are open."""
    stage, calls = traced
    kept = [call for call in calls if not (call.name == "passage" and call.paths[0].startswith("publish."))]
    found = {side for side, call in gaps(kept, str(stage.ws.path)) if call.paths[-1].endswith("/results/1/1")}
    assert found == {"before", "after"}


def durable(ws: Path, calls: list[Call]) -> None:
    order = Order(calls)
    attempt, wal = f"{ws}/attempts/1/1", f"{ws}/actum.db-wal"
    stored = next(call.paths[-1] for call in calls if call.name == "renameat2" and "/inputs/" in call.paths[-1])
    copy = next(call.paths[0] for call in calls if call.name == "renameat2" and call.paths[-1] == stored)
    steps = (("sync", f"{copy}/content"), ("sync", copy), ("move", stored), ("sync", f"{ws}/inputs"), ("sync", wal))
    frozen = order.chain(*steps)
    launched = order.place("passage", "controller.spawn.before")
    assert frozen < launched, "the host was spawned before its inputs were on record"
    order.chain(
        ("sync", f"{attempt}/launch.json"),
        ("sync", f"{attempt}/spool"),
        ("sync", attempt),
        ("sync", f"{ws}/attempts/1"),
        ("sync", f"{ws}/attempts"),
        ("passage", "launch.fsync.after"),
        ("passage", "store.commit.before"),
        ("sync", wal),
        ("passage", "controller.spawn.before"),
    )
    claim = order.place("move", f"{attempt}/spool/claim")
    unnamed = next(call.paths[0] for call in calls if call.place == claim)
    assert order.place("sync", unnamed) < claim
    work = next(
        call.place for call in calls if call.name == "execve" and any(path.endswith("work.py") for path in call.paths[1:])
    )
    assert order.chain(("move", f"{attempt}/spool/claim"), ("sync", f"{attempt}/spool")) < work, "no sync before the work"
    order.chain(
        ("sync", f"{attempt}/staging/.manifest.json.writing"),
        ("move", f"{attempt}/staging/manifest.json"),
        ("sync", f"{attempt}/staging"),
        ("move", f"{attempt}/spool/outcome.json"),
        ("sync", f"{attempt}/spool"),
        ("passage", "host.terminal.before"),
        ("sync", wal),
        ("passage", "fact.sealed.after"),
    )
    outcome = order.place("move", f"{attempt}/spool/outcome.json")
    beside = next(call.paths[0] for call in calls if call.place == outcome)
    assert order.place("sync", beside) < outcome
    published = order.chain(
        ("sync", f"{ws}/results"),
        ("sync", f"{ws}/results/1"),
        ("move", f"{ws}/results/1/1"),
        ("sync", f"{ws}/results/1"),
        ("sync", attempt),
        ("sync", wal),
        ("passage", "fact.published.after"),
        ("sync", wal),
        ("passage", "fact.succeeded.after"),
    )
    assert order.place("passage", "fact.content_verified.after") < order.place("move", f"{ws}/results/1/1") < published


def files_before_manifest(ws: Path, calls: list[Call]) -> None:
    order = Order(calls)
    staging, package = f"{ws}/attempts/1/1/staging", ws / "results" / "1" / "1"
    named = order.place("move", f"{staging}/manifest.json")
    derived = order.place("move", f"{staging}/derived")
    making = next(call.paths[0] for call in calls if call.place == derived)
    for path in sorted(package.rglob("*")):
        inside = path.relative_to(package)
        if inside.parts[0] == "derived":
            name = "/.derived.json.writing" if inside.name == "derived.json" else "/" + "/".join(inside.parts[1:])
            assert order.place("sync", making + (name if len(inside.parts) > 1 else "")) < derived, inside
        elif str(inside) != "manifest.json":
            assert order.place("sync", f"{staging}/{inside}") < named, inside


def excused(call: Call) -> bool:
    return any(part in path for part in WITHOUT_POINT for path in call.paths) or call.name == "kill"
