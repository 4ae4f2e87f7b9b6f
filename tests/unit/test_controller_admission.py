"""From a command to a request that can be admitted: bounds, mistaken inputs, what a helper says (R05, R11, R17)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from actum import limits
from actum.contracts.request import CODE_INPUT
from actum.errors import ActumError, CannotTell, InvalidParameters, NotFound, WrongUse
from actum.model.changes import Admit
from actum.store.rows import TaskRow
from actum_desktop.controller import admission
from actum_desktop.controller.helpers import HelperAnswer

from tests.helpers.workspaces import CONTRACT


def task(*parameters: Mapping[str, Any], program: str = "/bin/true") -> TaskRow:
    work = {"kind": "program", "program": program, "arguments": [], "cwd": None}
    contract = {**CONTRACT, "parameters": list(parameters), "work": work}
    return TaskRow("sample", "1", "digest", contract, built_in=False, disabled=False, created_at_us=0)


def parameter(name: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "title": name, "required": True, **more}


def admitted(row: TaskRow, body: Mapping[str, Any], *, size: int = 3, copy_bytes_max: int = 1 << 20) -> Admit | ActumError:
    """What comes of the command, when a helper finds every input to be of this size."""
    flow = admission.admit(row, body, copy_bytes_max)
    try:
        call = next(flow)
        assert call.verb == "digest"
        files = [{"path": path, "sha256": "ab" * 32, "size": size} for path in call.args["paths"]]
        flow.send(HelperAnswer(ok={"files": files}))
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    raise AssertionError("one call is enough")


def refused(row: TaskRow, **body: Any) -> ActumError:
    answer = admitted(row, body)
    assert isinstance(answer, ActumError), answer
    return answer


def ok(row: TaskRow, **body: Any) -> Admit:
    answer = admitted(row, body)
    assert isinstance(answer, Admit), answer
    return answer


def test_r11_a_key_at_the_bound_is_taken_and_a_longer_one_refused() -> None:
    longest = "k" * limits.KEY_CHARS_MAX
    assert ok(task(), key=longest).key == longest
    error = refused(task(), key=longest + "k")
    assert (error.code, error.exit_code) == ("invalid_key", 2)
    assert refused(task(), key="two\nlines").code == "invalid_key"


def test_a_run_without_a_key_gets_one_of_its_own() -> None:
    assert ok(task()).key != ok(task()).key


def test_r11_as_many_labels_as_the_bound_are_taken_and_one_more_refused() -> None:
    labels = [f"label {number}" for number in range(limits.LABELS_MAX)]
    assert ok(task(), labels=labels).labels == tuple(labels)
    error = refused(task(), labels=[*labels, "one more"])
    assert (error.code, error.exit_code) == ("invalid_labels", 2)


def test_r11_as_many_inputs_as_the_bound_are_taken_and_one_more_refused() -> None:
    """The program is an input too (R17)."""
    row = task(parameter("sources", "files"))
    paths = [f"/absent/{number}" for number in range(limits.INPUTS_MAX - 1)]
    inputs = ok(row, parameters={"sources": paths}).inputs
    assert len(inputs) == limits.INPUTS_MAX
    assert inputs[-1].name == CODE_INPUT
    error = refused(row, parameters={"sources": [*paths, "/absent/one-more"]})
    assert (error.code, error.exit_code) == ("too_many_inputs", 2)
    assert "folder" in error.remedy


def test_a_folder_for_a_file_and_a_file_for_a_folder_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    row = task(parameter("one", "file"), parameter("some", "files"), parameter("place", "folder"))
    good = {"one": "file", "some": ["file", "file"], "place": "folder"}
    assert ok(row, parameters=good, base=str(tmp_path)).inputs[0].path == str(tmp_path / "file")
    for name, value in {"one": "folder", "some": ["file", "folder"], "place": "file"}.items():
        error = refused(row, parameters={**good, name: value}, base=str(tmp_path))
        assert isinstance(error, InvalidParameters)
        assert error.exit_code == 2
        assert list(error.fields) == [name]
    error = refused(row, parameters={"one": "folder", "some": ["file"], "place": "file"}, base=str(tmp_path))
    assert isinstance(error, InvalidParameters)
    assert list(error.fields) == ["one", "place"], "all of them, not the first"


def test_r17_an_input_at_the_bound_is_copied_and_a_larger_one_pinned_and_said() -> None:
    row = task(parameter("one", "file"), parameter("always", "file", policy="copy"), parameter("never", "file", policy="pin"))
    body = {"parameters": {"one": "/a", "always": "/b", "never": "/c"}}
    at, above = admitted(row, body, size=100, copy_bytes_max=100), admitted(row, body, size=101, copy_bytes_max=100)
    assert isinstance(at, Admit)
    assert isinstance(above, Admit)
    assert [each.policy for each in at.inputs] == ["copy", "copy", "pin", "pin"]
    assert [each.policy for each in above.inputs] == ["pin", "copy", "pin", "pin"]
    assert [entry["name"] for entry in above.journal[0].data["inputs"]] == ["one", "never"], "not the program"


def test_a_program_that_is_not_there_is_not_found() -> None:
    error = refused(task(program="/absent/program"))
    assert isinstance(error, NotFound)
    assert error.code == "program_missing"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [(HelperAnswer(crashed=True), CannotTell), (HelperAnswer(error=WrongUse("input_unreadable", "No.")), WrongUse)],
)
def test_what_the_helper_cannot_read_is_answered(answer: HelperAnswer, kind: type[ActumError]) -> None:
    """A helper that crashes is no answer: it is asked again, and only then is it said that nobody can tell."""
    flow = admission.admit(task(), {}, 1)
    first = next(flow)
    for _again in range(limits.HELPER_TRIES_MAX - 1 if answer.crashed else 0):
        assert flow.send(answer) == first
    with pytest.raises(StopIteration) as stop:
        flow.send(answer)
    assert isinstance(stop.value.value, kind)


def test_r05_the_same_request_however_it_is_written(tmp_path: Path) -> None:
    """A path relative or absolute, a default given or left out: one digest."""
    row = task(parameter("one", "file"), parameter("window", "integer", default=12, required=False))
    first = ok(row, parameters={"one": "./file"}, base=str(tmp_path))
    second = ok(row, parameters={"one": str(tmp_path / "file"), "window": "12"}, base="/")
    third = ok(row, parameters={"one": str(tmp_path / "file"), "window": "13"}, base="/")
    assert first.request_digest == second.request_digest != third.request_digest
