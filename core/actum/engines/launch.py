"""From a contract and its values to what a host is told: the command, and the folder of one attempt (§5, FORMATS).

Theory. `plan` answers the whole of launch.json but for the names of this attempt, and touches nothing but the SDK's cache.
`write_attempt_folder` then makes the folder, once and exclusively, before the spawn and before STARTING is committed:
`alive` must exist before any host (a missing one is "cannot tell"), and a folder that is missing after a power cut would be
"cannot tell" for ever, so the directories are made durable, innermost first. The files in them are read by a host of this
boot only and need no fsync. No value passes through a shell, and no secret into any of these files but `secret` itself.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from actum import faults
from actum.contracts import commandline, durations
from actum.contracts.document import Contract, FunctionWork, ProgramWork
from actum.contracts.parameters import Typed
from actum.contracts.request import CODE_INPUT
from actum.engines import sdkfolder
from actum.engines.environment import host_environment, login_environment
from actum.errors import ActumError, StorageFailed
from actum.model.run import InputRow
from actum.recipes import registry

__all__ = [
    "LaunchPlan",
    "discard_unlaunched_folder",
    "host_command",
    "host_environment",
    "launch_document",
    "login_environment",
    "plan",
    "write_attempt_folder",
]

SUBFOLDERS = ("staging", "staging/files", "spool", "log")


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """What one attempt runs and within which bounds. `parameters` and `inputs` are the work's two JSON files."""

    kind: str
    command: tuple[str, ...]
    cwd: str
    variables: Mapping[str, str]
    profile: str
    policies: Mapping[str, Any]  # the launch file's members from "required" to "limits"
    contract: Mapping[str, Any]
    values: Mapping[str, Any]
    parameters: Mapping[str, Any]
    inputs: Mapping[str, Any]
    input_list: tuple[Mapping[str, Any], ...]


def plan(contract: Contract, typed: Typed, inputs: Sequence[InputRow], *, attempt_folder: Path, sdk_cache: Path) -> LaunchPlan:
    """The plan of one attempt in `attempt_folder` (not made yet); `sdk_cache` is where foreign interpreters find the SDK.

    Raises ActumError(start_error) for a recipe that does not exist, StorageFailed when the cache cannot be written.
    """
    output = attempt_folder / "staging" / "files"
    by_name = {row.name: row for row in inputs}
    paths = {name: row.store or row.path for name, row in by_name.items()}
    values = work_values(typed, paths)
    kind, command, cwd = _command(contract, values, output, sdk_cache)
    return LaunchPlan(
        kind=kind,
        command=tuple(command),
        cwd=cwd or os.fspath(output),
        variables=dict(contract.environment.variables),
        profile=contract.environment.profile,
        policies=_policies(contract),
        contract=contract.to_json(),
        values=typed.to_json(),
        parameters=values,
        inputs={
            name: {
                "path": paths[name],
                "original": row.path,
                "sha256": row.sha256,
                "size": row.size,
                "policy": row.policy,
            }
            for name, row in by_name.items()
            if name != CODE_INPUT
        },
        input_list=tuple(
            {
                "name": row.name,
                "path": row.path,
                "policy": row.policy,
                "sha256": row.sha256,
                "size": row.size,
                "store": row.store,
            }
            for row in inputs
        ),
    )


def work_values(typed: Typed, paths: Mapping[str, str]) -> dict[str, Any]:
    """Parameters as the work gets them: canonical JSON, and for inputs the path to read (the frozen copy or the file)."""
    values = typed.to_json()
    for name, path, _ in typed.files():
        where, bracket, position = name.partition("[")
        if bracket:
            values[where][int(position[:-1])] = paths.get(name, path)
        else:
            values[where] = paths.get(name, path)
    return values


def _command(contract: Contract, values: Mapping[str, Any], output: Path, sdk_cache: Path) -> tuple[str, list[str], str | None]:
    match contract.work:
        case ProgramWork(program=program, arguments=arguments, cwd=cwd):
            texts = {name: _argument(value) for name, value in values.items()}
            texts[commandline.OUTPUT] = os.fspath(output)
            return "program", [program, *commandline.fill(arguments, texts)], cwd
        case FunctionWork(file=file, function=function, interpreter=interpreter, cwd=cwd):
            runner = sdkfolder.runner(sdkfolder.sdk_folder(sdk_cache))
            return "function", [interpreter, "-u", runner, f"{file}:{function}"], cwd
        case work:
            recipe = registry.find(work.name)
            if recipe is None:
                raise ActumError("start_error", f"There is no built-in task “{work.name}”.")
            runner = sdkfolder.runner(sdkfolder.own_folder())
            return "function", [sys.executable, *recipe.isolation, "-u", runner, f"{recipe.file}:{recipe.function}"], None


def _argument(value: Any) -> commandline.Value:
    """A canonical JSON value as one argument, or several."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return [item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in value]
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _policies(contract: Contract) -> dict[str, Any]:
    policies = contract.policies
    lost = policies.supervisor_lost_after
    stages = {name: durations.seconds(value) for name, value in policies.stage_deadlines.items()}
    return {
        "required": list(contract.required),
        "outputs": list(contract.outputs),
        "accepted_exit_codes": list(policies.accepted_exit_codes),
        "after_exit": policies.after_exit,
        "grace_s": durations.seconds(policies.grace),
        "deadlines": {
            "start_s": durations.seconds(policies.start_deadline),
            "stages": stages,
            "overall_s": _seconds(policies.deadline),
        },
        "stall_after_s": _seconds(policies.stall_after),
        "when_supervisor_is_lost": "continue" if lost is None else {"stop_after_s": durations.seconds(lost)},
        "limits": {name: policies.limits.get(name) for name in ("memory_bytes", "log_bytes", "output_bytes")},
    }


def _seconds(duration: timedelta | None) -> int | float | None:
    return None if duration is None else durations.seconds(duration)


def launch_document(
    planned: LaunchPlan,
    *,
    workspace: Path,
    workspace_id: str,
    run: int,
    attempt: str,
    n: int,
    session: str,
    cookie: str,
    task: str,
    task_version: str,
    key: str,
    request_digest: str,
    contract_digest: str,
    code: Mapping[str, Any],
    environment: Mapping[str, Any],
) -> dict[str, Any]:
    """launch.json of one attempt."""
    return {
        "v": 1,
        "workspace": os.fspath(workspace),
        "workspace_id": workspace_id,
        "run": run,
        "attempt": attempt,
        "n": n,
        "session": session,
        "cookie": cookie,
        "task": task,
        "task_version": task_version,
        "key": key,
        "request_digest": request_digest,
        "contract_digest": contract_digest,
        "kind": planned.kind,
        "command": list(planned.command),
        "cwd": planned.cwd,
        "variables": dict(planned.variables),
        **planned.policies,
        "contract": dict(planned.contract),
        "parameters": dict(planned.values),
        "inputs": [dict(item) for item in planned.input_list],
        "code": dict(code),
        "environment": dict(environment),
    }


def write_attempt_folder(
    folder: Path,
    launch: Mapping[str, Any],
    secret: str,
    parameters: Mapping[str, Any],
    inputs: Mapping[str, Any],
) -> None:
    """Make attempts/<run>/<n> with everything its host needs. Raises FileExistsError, StorageFailed.

    A folder that a killed predecessor left without a committed launch is removed first by `discard_unlaunched_folder`.
    """
    try:
        folder.parent.mkdir(mode=0o700, exist_ok=True)
        faults.point("launch.folder.before")
        folder.mkdir(mode=0o700)
        for name in SUBFOLDERS:
            (folder / name).mkdir(mode=0o700)
        _write(folder / "launch.json", json.dumps(launch))
        _write(folder / "secret", secret)
        _write(folder / "parameters.json", json.dumps(parameters))
        _write(folder / "inputs.json", json.dumps(inputs))
        for empty in ("messages.jsonl", "host.log", "spool/alive"):
            _write(folder / empty, "")
        faults.point("launch.fsync.before")
        for path in (folder / "launch.json", folder / "spool", folder, folder.parent, folder.parent.parent):
            _make_durable(path)
        faults.point("launch.fsync.after")
    except FileExistsError:
        raise
    except OSError as error:
        raise StorageFailed("making the attempt's folder", error, "Free some space on the workspace's disk.") from error


def discard_unlaunched_folder(folder: Path) -> bool:
    """Remove the folder of an attempt whose launch was never committed; False if there is none. Raises StorageFailed.

    A claim in it means that a host was started after all: then nothing is removed, and FileExistsError says so.
    """
    if (folder / "spool" / "claim").exists():
        raise FileExistsError(f"{folder} holds a claim")
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StorageFailed("removing the folder of an attempt that was not launched", error) from error
    return True


def _write(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


def _make_durable(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def host_command(attempt_folder: Path) -> list[str]:
    """The command that starts the host of an attempt: isolated, without site-packages, ready within milliseconds."""
    program = sdkfolder.PACKAGE / "host" / "host_main.py"
    return [sys.executable, "-I", "-S", os.fspath(program), os.fspath(attempt_folder)]
