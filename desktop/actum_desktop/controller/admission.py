"""From a command `run` to a request the store can admit: contract, parameters, digests, key (§5.1, R05).

Nothing is written before the request is complete; what is wrong with it is an error in words, and nothing is half created.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actum import canonical, clock
from actum.contracts import document as contracts
from actum.contracts import parameters
from actum.contracts.request import CODE_INPUT, canonical_request
from actum.errors import ActumError, CannotTell, InvalidParameters, NotFound, WrongUse
from actum.limits import INPUTS_MAX, KEY_CHARS_MAX, LABELS_MAX
from actum.model.changes import Admit, JournalEntry
from actum.model.facts import Fact, FactName
from actum.model.identity import uuid7
from actum.model.run import InputRow, Trigger
from actum.store.queries import Reader
from actum.store.rows import TaskRow

from actum_desktop.controller.flows import Flow, HelperCall, patiently


def find_task(reader: Reader, body: Mapping[str, Any]) -> TaskRow:
    """The task in the version asked for. Raises NotFound, WrongUse (disabled)."""
    name, version = str(body.get("task") or ""), body.get("version")
    if version is not None and not isinstance(version, str):
        raise WrongUse("wrong_body", "The command is not complete.", "The version of a task is a text.")
    row = reader.task(name, version)
    if row.disabled:
        raise WrongUse("task_disabled", f"The task “{name}” is disabled.", remedy=f"Enable it: actum task enable {name}")
    return row


def admit(task: TaskRow, body: Mapping[str, Any], copy_bytes_max: int) -> Flow[Admit | ActumError]:
    """The request of one run, its inputs digested by a helper; or what is wrong with it."""
    try:
        contract = contracts.load(task.contract)
        typed = parameters.parse(contract, body.get("parameters") or {}, Path(body.get("base") or "/"))
        wanted = _inputs(contract, typed)
        key, labels = _key(body), _labels(body)
    except ActumError as error:
        return error
    found: list[Mapping[str, Any]] = []
    if wanted:
        answer = yield from patiently(HelperCall("admit", "digest", {"paths": [path for _, path, _ in wanted]}))
        if answer.crashed:
            why = "The helper ended unexpectedly." if answer.error is None else f"{answer.error.what} {answer.error.why}"
            return CannotTell("helper_crashed", "The inputs could not be read.", why, "Try again.")
        if answer.error is not None:
            return answer.error
        found = list((answer.ok or {})["files"])
    inputs = tuple(_input(want, file, copy_bytes_max) for want, file in zip(wanted, found, strict=True))
    request = canonical_request(task.name, task.version, typed, inputs)
    at_us = clock.utc_us()
    digest = canonical.digest(request)
    evidence = {"method": "one transaction", "key": key, "request_digest": digest, "trigger": body.get("trigger", "command")}
    pinned = [{"name": each.name, "size": each.size} for each in inputs if each.policy == "pin" and each.name != CODE_INPUT]
    journal = (JournalEntry("inputs_pinned", at_us, {"inputs": pinned}),) if pinned else ()
    return Admit(
        run_id=uuid7(at_us),
        attempt=uuid7(at_us),
        task=task.name,
        task_version=task.version,
        contract_digest=task.contract_digest,
        key=key,
        request_digest=digest,
        request=canonical.dumps(request),
        parameters=typed.to_json(),
        inputs=inputs,
        trigger=Trigger(body.get("trigger") or Trigger.COMMAND),
        labels=labels,
        at_us=at_us,
        fact=Fact(FactName.ADMITTED, at_us, evidence),
        journal=journal,
        rerun_of=body.get("rerun_of"),
    )


def _inputs(contract: contracts.Contract, typed: parameters.Typed) -> list[tuple[str, str, str]]:
    """(name, absolute path, declared policy) of every input, the user's program or file among them."""
    wanted = typed.files()
    code = contract.code_path()
    if code is not None:
        wanted.append((CODE_INPUT, code, "pin"))
    if len(wanted) > INPUTS_MAX:
        why = f"{len(wanted):,} files are given, and {INPUTS_MAX:,} are allowed."
        raise WrongUse("too_many_inputs", "The run has too many inputs.", why, "Give a folder instead.")
    for name, path, _ in wanted:
        if name == CODE_INPUT and not Path(path).exists():
            raise NotFound("program_missing", f"The program of this task is not there: {path}", remedy="Define the task again.")
    _refuse_mistaken(typed)
    return wanted


def _refuse_mistaken(typed: parameters.Typed) -> None:
    """A folder where a file is wanted, or a file where a folder is; what is not there is told by whoever reads it."""
    wrong: dict[str, str] = {}
    for parameter in typed.parameters:
        value = typed.values[parameter.name]
        if not parameter.is_input or value is None:
            continue
        for path in value if isinstance(value, tuple) else (value,):
            is_folder = os.path.isdir(path)
            if is_folder and parameter.type != "folder":
                wrong[parameter.name] = f"“{path}” is a folder, and a file is wanted."
            elif parameter.type == "folder" and not is_folder and os.path.exists(path):
                wrong[parameter.name] = f"“{path}” is a file, and a folder is wanted."
    if wrong:
        count = "One parameter does" if len(wrong) == 1 else f"{len(wrong)} parameters do"
        raise InvalidParameters(f"{count} not fit the task.", wrong, "Mend the values named and run again.")


def _input(want: tuple[str, str, str], file: Mapping[str, Any], copy_bytes_max: int) -> InputRow:
    """An input is copied, or pinned when its task says so or it is larger than the bound (R17)."""
    name, path, policy = want
    if policy == "auto":
        policy = "copy" if int(file["size"]) <= copy_bytes_max else "pin"
    return InputRow(name, path, policy, str(file["sha256"]), int(file["size"]), None, None)


def _key(body: Mapping[str, Any]) -> str:
    key = body.get("key") or secrets.token_hex(16)
    if not isinstance(key, str) or len(key) > KEY_CHARS_MAX or not key.isprintable():
        raise WrongUse("invalid_key", "The key cannot be used.", f"It is over {KEY_CHARS_MAX} characters or not printable.")
    return key


def _labels(body: Mapping[str, Any]) -> tuple[str, ...]:
    labels = body.get("labels") or []
    if not isinstance(labels, list) or not all(isinstance(each, str) and each for each in labels) or len(labels) > LABELS_MAX:
        raise WrongUse("invalid_labels", "The labels cannot be used.", f"Give at most {LABELS_MAX} texts.")
    return tuple(labels)
