"""Verification's first step: every input is looked at again, and only what was found out about it counts (R17)."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from actum.errors import ActumError, StorageFailed, memory_ran_out
from actum.helpers import rehash
from actum.helpers.digest import unreadable
from actum.limits import HELPER_TRIES_MAX
from actum.model.facts import FactName
from actum.model.run import AttemptRow, InputRow
from actum.results import inputs
from actum.supervise import events
from actum.supervise.finishing import NO_VERDICT
from actum.workspace import Workspace
from actum_desktop.controller import steps
from actum_desktop.controller.flows import Flow
from actum_desktop.controller.helpers import HelperAnswer

from tests.helpers.supervised import Bench
from tests.helpers.workspaces import CONTRACT


def row() -> AttemptRow:
    bench = Bench()
    bench.admit()
    bench.to_cleaning_up()
    pinned = InputRow("data", "/data.csv", "pin", "aa", 1)
    return replace(bench.row(), inputs=(pinned,))


def verified(answer: HelperAnswer, folder: Path) -> events.Verified | None:
    """What the step says after this answer to its first question; None = it goes on to the package."""
    flow = steps.verify(Workspace(folder), row(), "uuid", published=False)
    assert next(flow).verb == "rehash"
    try:
        assert flow.send(answer).verb == "verify"
    except StopIteration as stop:
        said: events.Verified = stop.value
        return said
    return None


def test_r17_an_input_that_is_what_it_was_lets_verification_go_on(tmp_path: Path) -> None:
    assert verified(HelperAnswer(ok={"sha256": "aa"}), tmp_path) is None


def test_r17_another_content_is_a_changed_input(tmp_path: Path) -> None:
    said = verified(HelperAnswer(ok={"sha256": "bb"}), tmp_path)
    assert said is not None
    assert said.code == "input_changed"


def test_r17_a_helper_that_ended_has_found_out_nothing(tmp_path: Path) -> None:
    """A pinned input is never taken as unchanged because nobody could look."""
    said = verified(HelperAnswer(crashed=True), tmp_path)
    assert said is not None
    assert said.crashed


def test_r18_what_was_verified_is_not_asked_about_its_inputs_again(tmp_path: Path) -> None:
    """After a crash in PUBLISHING only the package counts: a script edited meanwhile loses no finished work."""
    publishing = replace(row(), facts={**row().facts, FactName.CONTENT_VERIFIED: {}})
    flow = steps.verify(Workspace(tmp_path), publishing, "uuid", published=True)
    assert next(flow).verb == "verify"


@pytest.mark.parametrize(("number", "code"), [(errno.ENOSPC, "disk_full"), (errno.EIO, "io_error")])
def test_r18_a_disk_that_does_not_serve_is_no_changed_input(tmp_path: Path, number: int, code: str) -> None:
    """The code is one that waits and tries again; hours of sealed work are not failed for it."""
    said = verified(HelperAnswer(error=StorageFailed("reading", OSError(number, os.strerror(number)))), tmp_path)
    assert said is not None
    assert said.code == code


def test_an_input_that_is_gone_is_told_from_a_disk_that_does_not_serve(tmp_path: Path) -> None:
    with pytest.raises(ActumError) as gone:
        rehash.run({"path": str(tmp_path / "gone")}, lambda *_: None)
    assert gone.value.code == "input_unreadable"
    said = verified(HelperAnswer(error=gone.value), tmp_path)
    assert said is not None
    assert said.code == "input_changed"


def test_a_read_that_fails_says_nothing_about_the_file() -> None:
    with pytest.raises(StorageFailed) as failed:
        rehash.run({"path": "/proc/self/mem"}, lambda *_: None)  # its first page cannot be read: EIO
    assert failed.value.code == "io_error"


@pytest.mark.parametrize("crashes", [HELPER_TRIES_MAX - 1, HELPER_TRIES_MAX])
def test_r11_a_helper_that_crashes_while_it_freezes_is_asked_as_often_as_the_bound_says(tmp_path: Path, crashes: int) -> None:
    """FORMATS: a crash is no rejection. A killed helper fails no run; one that dies of each try is said to."""
    flow = steps.freeze(Workspace(tmp_path), replace(row(), contract=CONTRACT), 1, 1)
    assert next(flow).verb == "rehash"
    for _ in range(crashes - 1):
        assert flow.send(HelperAnswer(crashed=True)).verb == "rehash"
    if crashes < HELPER_TRIES_MAX:
        assert flow.send(HelperAnswer(crashed=True)).verb == "rehash"
        assert flow.send(HelperAnswer(ok={"sha256": "aa"})).verb == "codeidentity"
        flow.close()
        return
    with pytest.raises(StopIteration) as stop:
        flow.send(HelperAnswer(crashed=True))
    assert stop.value.value.crashed
    assert stop.value.value.message


def test_r17_code_that_nobody_could_identify_is_not_launched(tmp_path: Path) -> None:
    flow = steps.freeze(Workspace(tmp_path), replace(row(), contract=CONTRACT, inputs=()), 1, 1)
    assert next(flow).verb == "codeidentity"
    for _ in range(HELPER_TRIES_MAX - 1):
        flow.send(HelperAnswer(crashed=True))
    with pytest.raises(StopIteration) as stop:
        flow.send(HelperAnswer(crashed=True))
    assert stop.value.value.crashed


def test_r17_a_kept_copy_that_was_made_anew_meanwhile_is_not_what_the_work_was_given(tmp_path: Path) -> None:
    """Right again is not unchanged: a later run mends the store, and not what an earlier one has read."""
    kept = tmp_path / "content"
    kept.write_text("as it was frozen")
    frozen = inputs.stat_of(kept)
    given = InputRow("data", "/data.csv", "copy", "aa", 1, str(kept), frozen)
    one = replace(row(), inputs=(given,))
    answer = HelperAnswer(ok={"sha256": "aa"})
    kept.chmod(0o400)  # another time of change, the same file
    flow = steps.verify(Workspace(tmp_path), one, "uuid", published=False)
    assert next(flow).verb == "rehash"
    assert flow.send(answer).verb == "verify"
    flow.close()
    other = replace(one, inputs=(replace(given, stat=(frozen[0] + 1, *frozen[1:])),))
    flow = steps.verify(Workspace(tmp_path), other, "uuid", published=False)
    assert next(flow).verb == "rehash"
    with pytest.raises(StopIteration) as stop:
        flow.send(answer)
    assert stop.value.value.code == "input_changed"


NOTHING_FOUND = [
    ActumError("bug", "The helper failed in “verify”.", "MemoryError"),
    ActumError("out_of_memory", "There was too little memory."),
    ActumError("bad_request", "The request cannot be understood."),
    ActumError("a code of tomorrow", "Nobody knows it."),
]


def returned(flow: Flow[Any], *answers: HelperAnswer) -> Any:
    """What the step says after these answers."""
    next(flow)
    for answer in answers[:-1]:
        flow.send(answer)
    with pytest.raises(StopIteration) as stop:
        flow.send(answers[-1])
    return stop.value.value


@pytest.mark.parametrize("error", NOTHING_FOUND)
def test_r01_a_helper_that_failed_of_itself_rejects_nothing(tmp_path: Path, error: ActumError) -> None:
    """Neither the package nor an input: it counts as a crash, by whatever step it was met, and its words are kept."""
    answer, one = HelperAnswer(error=error), row()
    seen = HelperAnswer(ok={"sha256": "aa"})
    told: list[Any] = [
        returned(steps.derive(Workspace(tmp_path), one, 1, 1), answer),
        returned(steps.verify(Workspace(tmp_path), one, "uuid", published=False), answer),
        returned(steps.verify(Workspace(tmp_path), one, "uuid", published=False), seen, answer),
    ]
    for each in told:
        assert each.crashed
        assert each.error == str(error)
    frozen = returned(steps.freeze(Workspace(tmp_path), one, 1, 1), answer)
    assert frozen.crashed
    assert frozen.message == str(error)


@pytest.mark.parametrize("code", ["busy", "disk_full", "io_error"])
def test_r18_what_nobody_could_look_at_waits(tmp_path: Path, code: str) -> None:
    answer, one = HelperAnswer(error=ActumError(code, "Not now.")), row()
    for each in (
        returned(steps.derive(Workspace(tmp_path), one, 1, 1), answer),
        returned(steps.verify(Workspace(tmp_path), one, "uuid", published=False), answer),
        returned(steps.verify(Workspace(tmp_path), one, "uuid", published=False), HelperAnswer(ok={"sha256": "aa"}), answer),
        returned(steps.freeze(Workspace(tmp_path), one, 1, 1), answer),
    ):
        assert each.code == code
        assert not each.crashed
        assert code in NO_VERDICT


@pytest.mark.parametrize("code", ["contract_invalid", "result_rejected"])
def test_r01_a_named_fault_of_the_package_rejects_it(tmp_path: Path, code: str) -> None:
    told = returned(steps.derive(Workspace(tmp_path), row(), 1, 1), HelperAnswer(error=ActumError(code, "A row too many.")))
    assert (told.code, told.error, told.crashed) == ("result_rejected", "A row too many.", False)


@pytest.mark.parametrize(("number", "code"), [(errno.ENOENT, "input_changed"), (errno.EACCES, "io_error")])
def test_r17_an_input_that_may_not_be_read_was_not_seen_to_differ(tmp_path: Path, number: int, code: str) -> None:
    """Whoever took the right away can give it back: the work waits."""
    error = unreadable(Path("/data.csv"), OSError(number, os.strerror(number)))
    said = verified(HelperAnswer(error=error), tmp_path)
    assert said is not None
    assert (said.code, said.crashed) == (code, False)


def test_memory_that_ran_out_is_seen_through_the_words_of_a_library() -> None:
    def failed(cause: BaseException) -> Exception:
        try:
            try:
                raise cause
            except BaseException as error:
                raise ActumError("contract_invalid", "The Parquet is damaged.") from error
        except ActumError as error:
            return error

    assert memory_ran_out(failed(pa.ArrowMemoryError("malloc of size 64 failed")))
    assert memory_ran_out(failed(StorageFailed("reading", OSError(errno.ENOMEM, "no memory"))))
    assert not memory_ran_out(failed(pa.ArrowInvalid("magic bytes")))
    assert not memory_ran_out(None)
