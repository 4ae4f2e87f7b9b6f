"""The zoo of hostile work: of each animal the status, the code, the words, and that nothing of it is left (R06, R07, R13, R18).

All animals live under one headless supervisor, whose memory is watched. The full sizes (1 GiB in one line, 10,000,000
lines, 100,000 files, …) are run by `python -m tests.helpers.zoo --heavy`.
"""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from actum.ipc import spool
from actum.store.queries import Reader

from tests.helpers import leaks
from tests.helpers.animals import ANIMALS, APP_MIB_MAX, FAILS, Animal, findings
from tests.helpers.program import made
from tests.helpers.waiting import wait_until
from tests.helpers.zoo import __main__ as command
from tests.helpers.zookeeper import ZOO, Den, Keeper, pids_that_name


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keeper]:
    keeper = Keeper(tmp_path_factory.mktemp("zoo"))
    try:
        with leaks.supervised_by(keeper.pid):
            yield keeper
    finally:
        keeper.close()


def let(zoo: Keeper, animal: Animal) -> tuple[Den, dict[str, Any]]:
    """Release an animal, see that it ends as stated and that nothing of it is left; its den and its `show`."""
    den = zoo.release(animal.name, *animal.words, **animal.contract)
    if animal.stopped:
        den.ready()
        den.stop()
    shown = den.closed()
    assert findings(den, animal, shown) == [], den.words()
    return den, shown


@pytest.mark.parametrize("name", [name for name in ANIMALS if name not in ("gibberish", "stammered messages")])
def test_an_animal_ends_as_stated_and_leaves_nothing(zoo: Keeper, name: str) -> None:
    den, shown = let(zoo, ANIMALS[name])
    if name in MORE:
        MORE[name](den, shown)


def _halted(den: Den, shown: dict[str, Any]) -> None:
    """Woken, it heard the stop and could say goodbye."""
    assert den.log().tail(1)[0].text == "goodbye"


def _daemon_waited_for(den: Den, shown: dict[str, Any]) -> None:
    assert result_files(shown) == ["files/late.txt"]


def _daemon_ended(den: Den, shown: dict[str, Any]) -> None:
    """Ended before it could write; that it was there is on record."""
    assert result_files(shown) == []
    outcome = spool.read_outcome(den.folder)
    assert isinstance(outcome, dict)
    assert outcome["ended"]["descendants_left"] == 1


def _orphan(den: Den, shown: dict[str, Any]) -> None:
    assert [line.text for line in den.log().tail(5)] == [f"the orphan says {number}" for number in range(5)]


def _crash(den: Den, shown: dict[str, Any]) -> None:
    """The traceback of native code is kept in the log, and its end in the failure."""
    text = "".join(line.text + "\n" for line in den.log().tail(50))
    assert "Fatal Python error: Segmentation fault" in text
    assert "in reads_nowhere" in text
    assert any("in reads_nowhere" in line for line in shown["failure"]["details"]["stderr"])


def _lines(den: Den, shown: dict[str, Any]) -> None:
    assert den.log().count() == 10_000
    assert den.log().tail(1)[0].text == "line 9999"


def _long_line(den: Den, shown: dict[str, Any]) -> None:
    assert sum(path.stat().st_size for path in (den.folder / "log").glob("*.log")) == 32 << 20
    assert {len(line.raw) for line in den.log().tail(3)} == {65_536}


def _records(den: Den, shown: dict[str, Any]) -> None:
    """R12: not one is dropped."""
    sent = 3 * ((1 << 20) // len(json.dumps({"record": "drop", "data": {"text": "x" * 1_000}}) + "\n"))
    with open(spool.spool_path(den.folder, "records.jsonl"), "rb") as file:
        assert sum(1 for _ in file) == sent
    with Reader(den.keeper.ws) as reader:
        assert len(reader.records(den.run, after=(1, sent - 10))) == 10


def _eater_of_spool(den: Den, shown: dict[str, Any]) -> None:
    """What is on record is whole: the result, the record that was said before, and that the spool is a new one."""
    assert "files/whole.txt" in result_files(shown)
    assert "spool_restored" in den.journal()
    with Reader(den.keeper.ws) as reader:
        assert [row.data for row in reader.records(den.run)] == [{"of": "spool"}]


def _plumber(den: Den, shown: dict[str, Any]) -> None:
    """R18: nobody waited for whoever stands behind a FIFO; both records are kept, and that the spool was mended is said."""
    assert {"spool_restored"} <= set(den.journal())
    with Reader(den.keeper.ws) as reader:
        assert [row.data for row in reader.records(den.run)] == [{"of": "before"}, {"of": "after"}]
    for name in ("alive", "claim", "outcome.json", "records.jsonl", "state.json"):
        assert stat.S_ISREG((den.folder / "spool" / name).lstat().st_mode), name


def _forger(den: Den, shown: dict[str, Any]) -> None:
    assert "outcome_foreign" in den.journal()
    assert (den.folder / "spool" / "outcome.foreign").exists()


def _names(den: Den, shown: dict[str, Any]) -> None:
    """R19: they are published as they are, and a terminal is sent no control characters."""
    assert {"files/two\nlines", "files/sub\n/..x/\n", "files/-rf", "files/\x1b[31mred"} <= set(result_files(shown))
    told = den.keeper.actum("results", str(den.run))
    assert told.returncode == 0, told
    assert "\x1b[31m" not in told.stdout
    assert den.keeper.actum("verify", str(den.run)).returncode == 0


MORE = {
    "halted with SIGSTOP": _halted,
    "daemon, waited for": _daemon_waited_for,
    "daemon without environment, waited for": _daemon_waited_for,
    "daemon of a foreign cookie, waited for": _daemon_waited_for,
    "daemon of a foreign cookie, ended": _daemon_ended,
    "daemon, ended": _daemon_ended,
    "daemon without environment, ended": _daemon_ended,
    "orphan that holds the output": _orphan,
    "segmentation fault": _crash,
    "ten thousand lines and gone": _lines,
    "one line without an end": _long_line,
    "flood of records": _records,
    "deletes its spool": _eater_of_spool,
    "FIFOs in its spool": _plumber,
    "folders in its spool": _plumber,
    "links to a device in its spool": _plumber,
    "FIFOs in its spool, stopped": _plumber,
    "garbage for an outcome": _forger,
    "forged success": _forger,
    "names with line ends": _names,
}


def result_files(shown: dict[str, Any]) -> list[str]:
    """Names of the outputs in the result."""
    return sorted(file["name"] for file in shown["result"]["files"] if file["role"] in ("output", "table"))


def test_gibberish_is_kept_byte_for_byte(zoo: Keeper) -> None:
    den, _ = let(zoo, ANIMALS["gibberish"])
    raw = b"".join(path.read_bytes() for path in sorted((den.folder / "log").glob("*.log")))
    printed = b"\n\xe4\xb8\n\x1b[31mred\x1b[0m <b>bold</b> %s {0}\n", b"\xff\xfe", b"\xed\xa0\x80 no end"
    assert len(raw) == 5 * 256 + sum(map(len, printed))
    told = zoo.actum("logs", str(den.run))
    assert told.returncode == 0, told
    assert "<b>bold</b> %s {0}" in told.stdout


def test_stammered_messages_are_understood_as_far_as_they_make_sense(zoo: Keeper) -> None:
    den, shown = let(zoo, ANIMALS["stammered messages"])
    assert (shown["progress"]["done"], shown["progress"]["total"]) == (4, 4)
    assert {"message_unknown", "message_unreadable", "message_malformed", "message_too_long"} <= set(den.journal())
    with Reader(zoo.ws) as reader:
        assert reader.records(den.run) == []  # half a record is none


def test_zombies_are_not_counted_as_living_and_go_with_their_parent(zoo: Keeper) -> None:
    den = zoo.release("zombies", 200)
    den.ready()
    wait_until(lambda: len(den.members()) == 2, what="the animal and its host alone on record, whoever was just ending before")
    (den.den / "go").touch()
    assert den.closed()["status"] == "SUCCEEDED"
    assert den.strays() == []


def test_an_impostor_is_not_heard_and_ends_nobody_s_work(zoo: Keeper) -> None:
    """R03, §7: each channel is closed at its first frame; what was tried is on record; both attempts are as they were."""
    other = zoo.release("zombies", 0)
    other.ready()
    den = zoo.release("impostor", other.folder)
    shown = den.closed()
    assert shown["status"] == "SUCCEEDED", den.words()
    answers = [line.text for line in den.log().tail(20)]
    assert len(answers) == 7
    assert all(": closed" in answer for answer in answers)
    violations = [row for row in zoo.journal() if row["kind"] == "protocol_violation"]
    assert len(violations) >= 6
    assert all(row["closed"] for row in violations)
    assert "unknown_host" in zoo.alerts()
    assert other.shown()["status"] == "RUNNING"
    (other.den / "go").touch()
    assert other.closed()["status"] == "SUCCEEDED"


def test_a_ghost_that_writes_after_the_seal_spoils_its_own_result_and_is_named(zoo: Keeper) -> None:
    """Who holds the alive lock of another attempt is not ended; what it adds after the seal is found by verification."""
    den = zoo.release("ghost", "sealed")
    den.ready()
    with zoo.halted():  # so that the result is not verified before the ghost has written
        (den.den / "go").touch()
        wait_until((den.folder / "staging" / "files" / "late.txt").exists, 30, "the ghost to write")
    shown = den.closed()
    assert shown["failure"] is not None, den.words()
    assert (shown["status"], shown["failure"]["code"]) == ("FAILED", "result_rejected")
    assert "“files/late.txt” is in the package and not in its manifest" in den.words()
    assert [alert["code"] for alert in shown["alerts"]] == ["result_rejected"]
    wait_until(lambda: den.strays() == [], what="the ghost's own end")
    assert shown["result"] is None


def test_what_a_ghost_adds_to_a_published_result_is_named_by_audit_and_verify(zoo: Keeper) -> None:
    """R16: nobody can keep a process of the same user from it; the run stays done, and what holds of its result now is said."""
    den = zoo.release("ghost", "published")
    den.ready()
    (den.den / "go").touch()
    shown = den.closed()
    assert (shown["status"], result_files(shown)) == ("SUCCEEDED", ["files/honest.txt"])
    (den.den / "late").touch()
    wait_until(lambda: den.strays() == [], what="the ghost's own end")
    for words in (("audit",), ("verify", str(den.run))):
        told = zoo.actum(*words)
        assert (told.returncode, "files/late.txt" in told.stdout + told.stderr) == (5, True), told
    assert den.shown()["status"] == "SUCCEEDED"
    (Path(shown["result"]["path"]) / "files" / "late.txt").unlink()
    assert zoo.actum("verify", str(den.run)).returncode == 0


@pytest.mark.parametrize("animal", ["comet", "parricide"])
def test_the_tree_of_a_killed_host_is_found_and_ended(zoo: Keeper, animal: str) -> None:
    """R07, R08: whatever forks from instant to instant is not taken for gone before it is."""
    den = zoo.release(animal, "kill")
    den.ready()
    wait_until(lambda: len(den.members()) >= 2, what="the tree to be recorded")
    (den.den / "go").touch()
    if animal == "comet":
        os.kill(den.shown()["attempts"][0]["pid"], signal.SIGKILL)
    shown = den.closed()
    assert den.strays() == []
    assert (shown["status"], shown["failure"]["code"]) == ("FAILED", "host_lost")
    assert [alert["code"] for alert in shown["alerts"]] == ["host_lost"]
    assert {"tree_left", "signalled"} <= set(den.journal())


def test_r05_work_whose_claim_was_deleted_is_not_begun_again_when_its_host_is_killed(zoo: Keeper) -> None:
    """Nothing of it was declared safe to repeat; that it had started is told by what it left, and in words."""
    retry = {"maximum": 1, "codes": ["host_lost", "launch_lost"], "first_delay": "1s"}
    den = zoo.release("zombies", 0, policies={"retry": retry, "safe_to_repeat": False})
    den.ready()
    wait_until(lambda: len(den.members()) >= 2, what="the tree to be recorded")
    os.unlink(spool.spool_path(den.folder, "claim"))
    os.kill(den.shown()["attempts"][0]["pid"], signal.SIGKILL)
    shown = den.closed()
    assert (shown["status"], shown["failure"]["code"], len(shown["attempts"])) == ("FAILED", "host_lost", 1)
    assert "the work had started" in shown["failure"]["message"]
    assert den.strays() == []


def test_work_that_halts_its_own_host_can_be_stopped(zoo: Keeper) -> None:
    """P04: a host that does not obey is ended by identity, after its tree."""
    den = zoo.release("parricide", "halt")
    den.ready()
    wait_until(lambda: len(den.members()) >= 2, what="the tree to be recorded")
    (den.den / "go").touch()
    host = den.shown()["attempts"][0]["pid"]
    wait_until(
        lambda: Path(f"/proc/{host}/stat").read_text().rpartition(")")[2].split()[0] == "T", what="the host to be halted"
    )
    den.stop()
    assert den.closed()["status"] == "STOPPED"
    assert den.strays() == []


@pytest.mark.parametrize("place", ["same", "other"])
def test_work_that_runs_actum_itself_starts_a_tree_of_its_own(zoo: Keeper, place: str) -> None:
    """FORMATS, nested Actum: the inner run succeeds by itself, in this workspace or in another, and neither owns the other."""
    home = zoo.ws.path if place == "same" else zoo.folder / "another workspace"
    inner = f"inner-{place}"
    zoo.actum("--workspace", str(home), "task", "add", inner, "--program", "/bin/true")
    den = zoo.release("nested", home, inner)
    shown = den.closed(90)
    assert shown["status"] == "SUCCEEDED", [line.text for line in den.log().tail(9)]
    answer = json.loads((Path(shown["result"]["path"]) / "files" / "answer.json").read_text())
    assert (answer["task"], answer["status"]) == (inner, "SUCCEEDED")
    assert den.strays() == []


def test_a_device_is_refused(zoo: Keeper) -> None:
    den = zoo.release("litter", "device")
    shown = den.closed()
    if shown["failure"]["code"] == "work_failed":
        pytest.skip("this user may not make a device")
    assert (shown["failure"]["code"], "“null” is a device" in den.words()) == ("result_rejected", True)


CGROUP = Path("/sys/fs/cgroup/memory")


@pytest.fixture
def cramped() -> Iterator[Path]:
    """A control group that holds 320 MiB."""
    group = CGROUP / f"actum-zoo-{os.getpid()}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(320 << 20))
    except OSError as error:
        pytest.skip(f"no memory control group can be made here: {error}")
    yield group
    wait_until(lambda: not (group / "cgroup.procs").read_text(), 30, "the group to be empty")
    group.rmdir()


def test_work_that_the_system_ended_for_want_of_memory_is_named_so(tmp_path: Path, cramped: Path) -> None:
    """The kernel ends the largest process of the group, which is the work; host and supervisor live and tell it."""
    place = made(tmp_path)
    place.define("glutton", f'exec "{sys.executable}" "{ZOO / "glutton.py"}" "{tmp_path}" 16')
    into = ("sh", "-c", f'echo $$ > "{cramped}/cgroup.procs"; exec "$@"', "sh")
    told = place.actum("run", "glutton", prefix=into)
    assert told.code == 1, told
    shown = place.show()
    assert (shown["status"], shown["released"], shown["failure"]["code"]) == ("FAILED", True, "out_of_memory")
    assert shown["failure"]["message"] == "The system ended the work because memory ran out."
    assert shown["attempts"][0]["exit"]["signal"] == signal.SIGKILL
    wait_until(lambda: pids_that_name(tmp_path) == [], what="nothing of it to be left")


def test_the_command_of_the_full_sizes_judges_and_ends_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An animal that does not end as stated, says something else or takes more memory is a finding."""
    monkeypatch.setattr(command, "HEAVY", {"not as it is": Animal("idler", **FAILS, says="Never", host_mib_max=1)})
    assert command.main(["--heavy", "--only", "headless", "not as it is"]) == 1
    told, total = capsys.readouterr().out.splitlines()
    assert "it ended ('SUCCEEDED', None, (0, None)), stated is ('FAILED', None, (0, None))" in told
    assert "it does not say “Never”" in told
    assert "the host took " in told
    assert total == "1 animals, 0 stalls, 5 findings"


def test_the_workspace_of_the_zoo_is_sound(zoo: Keeper) -> None:
    """After all of them: the audit agrees, and the supervising process is still small and answers."""
    done = zoo.actum("audit")
    assert done.returncode == 0, done.stdout
    assert zoo.memory_mib() < APP_MIB_MAX
    assert zoo.command(verb="status")["slots_taken"] == 0
