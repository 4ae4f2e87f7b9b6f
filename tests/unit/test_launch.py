"""From a contract to what a host is told, and the folder it is started in (§5, R19)."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from actum import faults
from actum.contracts.document import Contract, load
from actum.contracts.parameters import parse
from actum.engines import launch
from actum.engines.launch import LaunchPlan
from actum.errors import StorageFailed
from actum.model.run import InputRow
from actum.recipes import registry

from tests.helpers.contracts import contract_document


def program(*arguments: str, **more: Any) -> Contract:
    document = contract_document(
        {"name": "prices", "type": "file"},
        {"name": "window", "type": "integer", "default": 12},
        {"name": "rate", "type": "decimal", "optional": True},
        {"name": "dry", "type": "boolean", "default": False},
        **more,
    )
    document["work"] = {"kind": "program", "program": "/usr/bin/env", "arguments": list(arguments), "cwd": None}
    return load(document)


def planned(contract: Contract, tmp_path: Path, store: str | None = "/ws/inputs/aa/content", **raw: Any) -> LaunchPlan:
    typed = parse(contract, {"prices": "/far/p.csv", **raw} if contract.parameters else raw, Path("/"))
    inputs = [InputRow(name, path, "copy" if store else "pin", "aa", 7, store) for name, path, _ in typed.files()]
    return launch.plan(contract, typed, inputs, attempt_folder=tmp_path / "1" / "1", sdk_cache=tmp_path / "cache")


def document_of(plan: LaunchPlan, tmp_path: Path) -> dict[str, Any]:
    return launch.launch_document(
        plan, workspace=tmp_path, workspace_id="w", run=1, attempt="a", n=1, session="s", cookie="c", task="t",
        task_version="1", key="k", request_digest="r", contract_digest="d", code={}, environment={},
    )  # fmt: skip


def test_a_program_s_arguments_are_filled_and_inputs_are_the_frozen_copy(tmp_path: Path) -> None:
    plan = planned(program("{prices}", "--window", "{window}", "--rate", "{rate}", "{dry}", "{ACTUM_OUTPUT}/x"), tmp_path)
    output = str(tmp_path / "1" / "1" / "staging" / "files")
    assert plan.command == ("/usr/bin/env", "/ws/inputs/aa/content", "--window", "12", "false", f"{output}/x")
    assert (plan.kind, plan.cwd) == ("program", output)
    assert plan.parameters == {"prices": "/ws/inputs/aa/content", "window": 12, "rate": None, "dry": False}
    assert plan.inputs["prices"]["original"] == "/far/p.csv"
    assert plan.values["prices"] == "/far/p.csv"


def test_a_pinned_input_is_read_where_it_is(tmp_path: Path) -> None:
    plan = planned(program("{prices}"), tmp_path, store=None)
    assert plan.command[1] == "/far/p.csv"
    assert plan.inputs["prices"]["path"] == "/far/p.csv"


def test_several_files_keep_their_order(tmp_path: Path) -> None:
    contract = load(contract_document({"name": "many", "type": "files"}))
    typed = parse(contract, {"many": ["/a", "/b"]}, Path("/"))
    rows = [InputRow("many[1]", "/b", "copy", "bb", 1, "/s/b"), InputRow("many[0]", "/a", "pin", "aa", 1)]
    plan = launch.plan(contract, typed, rows, attempt_folder=tmp_path / "1", sdk_cache=tmp_path)
    assert plan.parameters["many"] == ["/a", "/s/b"]


def test_a_function_runs_in_its_own_interpreter_with_the_sdk_alone(tmp_path: Path) -> None:
    document = contract_document()
    document["work"] = {"kind": "function", "file": "/f.py", "function": "go", "interpreter": "/opt/py/bin/python"}
    command = planned(load(document), tmp_path).command
    assert command[:2] == ("/opt/py/bin/python", "-u")
    assert Path(command[2]).is_file()
    assert Path(command[2]).is_relative_to(tmp_path / "cache")
    assert command[3] == "/f.py:go"


@pytest.mark.parametrize(("name", "options"), [("demo-steps", ("-I", "-S", "-u")), ("profile-table", ("-I", "-u"))])
def test_a_recipe_runs_isolated_and_has_packages_only_where_it_needs_them(
    tmp_path: Path, name: str, options: tuple[str, ...]
) -> None:
    recipe = registry.RECIPES[name]
    typed = parse(load(recipe.document), {"table": "/far/t.csv"} if name == "profile-table" else {}, Path("/"))
    planned = launch.plan(load(recipe.document), typed, [], attempt_folder=tmp_path / "1", sdk_cache=tmp_path)
    assert planned.command[: len(options) + 1] == (sys.executable, *options)
    assert planned.command[-1] == f"{recipe.file}:{recipe.function}"


def test_the_launch_file_has_every_bound_in_seconds(tmp_path: Path) -> None:
    policies = {
        "deadline": "2h", "stage_deadlines": {"load": "1m30s"}, "stall_after": "500ms", "grace": "3s",
        "when_supervisor_is_lost": {"stop_after": "1h"}, "limits": {"memory_bytes": 5},
    }  # fmt: skip
    document = document_of(planned(program(policies=policies, required=["*.csv"]), tmp_path), tmp_path)
    assert document["deadlines"] == {"start_s": 60, "stages": {"load": 90}, "overall_s": 7200}
    assert (document["stall_after_s"], document["grace_s"]) == (0.5, 3)
    assert document["when_supervisor_is_lost"] == {"stop_after_s": 3600}
    assert document["limits"] == {"memory_bytes": 5, "log_bytes": None, "output_bytes": None}
    assert (document["required"], document["outputs"]) == (["*.csv"], ["*"])
    assert document["inputs"] == [
        {"name": "prices", "path": "/far/p.csv", "policy": "copy", "sha256": "aa", "size": 7, "store": "/ws/inputs/aa/content"}
    ]
    assert "secret" not in document


@pytest.fixture
def attempts(tmp_path: Path) -> Path:
    folder = tmp_path / "attempts"
    folder.mkdir()
    return folder


def write(folder: Path, plan: LaunchPlan) -> None:
    launch.write_attempt_folder(folder, document_of(plan, folder), "5" * 32, plan.parameters, plan.inputs)


def test_the_attempt_folder_is_complete_private_and_made_once(tmp_path: Path, attempts: Path) -> None:
    folder = attempts / "17" / "1"
    plan = planned(program(), tmp_path)
    write(folder, plan)
    found = {str(path.relative_to(folder)) for path in folder.rglob("*")}
    assert found == {
        "launch.json", "secret", "parameters.json", "inputs.json", "messages.jsonl", "host.log", "staging", "staging/files",
        "spool", "spool/alive", "log",
    }  # fmt: skip
    for path in (folder, *folder.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    assert json.loads((folder / "launch.json").read_bytes())["command"] == ["/usr/bin/env"]
    assert (folder / "secret").read_text() == "5" * 32
    assert "5" * 32 not in (folder / "launch.json").read_text()
    with pytest.raises(FileExistsError):
        write(folder, plan)


def test_the_folder_of_an_unlaunched_attempt_is_discarded_but_not_one_with_a_claim(tmp_path: Path, attempts: Path) -> None:
    folder = attempts / "17" / "1"
    assert not launch.discard_unlaunched_folder(folder)
    write(folder, planned(program(), tmp_path))
    assert launch.discard_unlaunched_folder(folder)
    write(folder, planned(program(), tmp_path))
    (folder / "spool" / "claim").write_text("{}")
    with pytest.raises(FileExistsError, match="claim"):
        launch.discard_unlaunched_folder(folder)


def test_a_full_disk_is_named(tmp_path: Path, attempts: Path, request: pytest.FixtureRequest) -> None:
    request.addfinalizer(lambda: faults.arm(""))
    faults.arm("launch.fsync.before:error=ENOSPC")
    with pytest.raises(StorageFailed) as failed:
        write(attempts / "1" / "1", planned(program(), tmp_path))
    assert failed.value.code == "disk_full"


def test_names_that_are_not_utf8_survive_the_launch_file(tmp_path: Path, attempts: Path) -> None:
    contract = load(contract_document({"name": "prices", "type": "file"}))
    typed = parse(contract, {"prices": "/far/\udcff.csv"}, Path("/"))
    rows = [InputRow("prices", "/far/\udcff.csv", "pin", "aa", 1)]
    plan = launch.plan(contract, typed, rows, attempt_folder=attempts / "1" / "1", sdk_cache=tmp_path)
    write(attempts / "1" / "1", plan)
    assert json.loads((attempts / "1" / "1" / "parameters.json").read_bytes())["prices"] == "/far/\udcff.csv"


def test_the_host_is_started_isolated() -> None:
    command = launch.host_command(Path("/ws/attempts/1/1"))
    assert command[:3] == [sys.executable, "-I", "-S"]
    assert command[3].endswith("actum/host/host_main.py")
    assert command[4] == "/ws/attempts/1/1"
