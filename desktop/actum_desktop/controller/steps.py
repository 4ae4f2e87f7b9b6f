"""The steps of an attempt that need helpers or the file system: freeze, derive, verify, publish, quarantine (§5, R17)."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from actum import clock
from actum.contracts import document as contracts
from actum.contracts.request import CODE_INPUT
from actum.errors import StorageFailed
from actum.limits import INPUTS_MAX
from actum.model.changes import ResultRow
from actum.model.evidence import PackageSeen
from actum.model.facts import FactName
from actum.model.run import AttemptRow, InputRow
from actum.model.status import FailureCode
from actum.recipes import registry
from actum.results import digests, inputs, inputstore, manifest, publish
from actum.results.report import Expected
from actum.supervise import events
from actum.workspace import Workspace

from actum_desktop.controller.flows import Flow, HelperCall, patiently
from actum_desktop.controller.helpers import HelperAnswer
from actum_desktop.controller.helperwords import Says, is_seen_to_differ, says, words

Step = TypeVar("Step", events.Derived, events.Verified)
STAGING = "staging"
VERIFICATION_NOTES = "verification.jsonl"  # what a verification that is interrupted goes on with


def staging_of(ws: Workspace, row: AttemptRow) -> Path:
    """Where the package lies before it is published: the attempt's own folder, or that of the attempt it adopts."""
    return ws.attempt_folder(*row.place) / STAGING


class FreezeFailed(Exception):
    """An input cannot be frozen, or nobody could look (`crashed`, or the code `busy`); carries the code and the words."""

    def __init__(self, code: str, message: str, name: str, *, crashed: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.name = name
        self.crashed = crashed


def freeze(ws: Workspace, row: AttemptRow, epoch: int, serial: int) -> Flow[events.Frozen]:
    """Every input as it was admitted: copied into the store or pinned, the program file among them (R17)."""
    frozen: list[InputRow] = []
    try:
        for number, given in enumerate(row.inputs):
            kept = yield from _freeze_one(ws, given, epoch, serial * INPUTS_MAX + number)
            frozen.append(kept)
        contract = contracts.load(row.contract)
        identity = yield from patiently(HelperCall("freeze", "codeidentity", _code_request(contract)))
        _identified(identity)
    except FreezeFailed as failed:
        details = {"input": failed.name} if failed.name else {}
        return events.Frozen(row.attempt, code=failed.code, message=str(failed), details=details, crashed=failed.crashed)
    columns: dict[str, Any] = dict(identity.ok or {})
    evidence = {
        "method": "copied or pinned, digests equal to those admitted",
        "inputs": [{"name": each.name, "policy": each.policy, "sha256": each.sha256, "size": each.size} for each in frozen],
    }
    return events.Frozen(row.attempt, tuple(frozen), evidence=evidence, columns=columns)


def _identified(answer: HelperAnswer) -> None:
    """Raises FreezeFailed where the code cannot be identified: what nobody knows is not launched (R17)."""
    seen = says(answer)
    if seen is None:
        return
    code: str = FailureCode.START_ERROR
    if seen is Says.CRASH:
        code = FailureCode.IO_ERROR
    elif answer.error is not None and seen is not Says.INPUT_IS_WRONG:
        code = answer.error.code
    raise FreezeFailed(code, words(answer), "", crashed=seen is Says.CRASH)


def _code_request(contract: contracts.Contract) -> dict[str, Any]:
    """What identifies the code: the user's program or file, or the recipe's, the interpreter, and the variables' names."""
    names = {name for name in os.environ if not name.startswith("ACTUM_")} | set(contract.environment.variables)
    return {**_code_paths(contract), "variables": sorted(names)}


def _code_paths(contract: contracts.Contract) -> dict[str, Any]:
    match contract.work:
        case contracts.FunctionWork(file=file, interpreter=interpreter):
            return {"path": file, "interpreter": interpreter}
        case contracts.RecipeWork(name=name):
            recipe = registry.find(name)
            return {"path": str(recipe.file) if recipe else sys.executable, "interpreter": sys.executable}
        case contracts.ProgramWork(program=program):
            return {"path": program, "interpreter": None}


def _freeze_one(ws: Workspace, given: InputRow, epoch: int, number: int) -> Flow[InputRow]:
    if given.policy == "pin":
        answer = yield from patiently(HelperCall("freeze", "rehash", {"path": given.path}))
        return replace(given, stat=_stat(_frozen_answer(answer, given)))
    found: Mapping[str, Any] | None = None
    content = inputs.store_path(ws.inputs, given.sha256)
    if content.exists():
        answer = yield from patiently(HelperCall("freeze", "rehash", {"path": str(content)}))
        if not _is_damaged(answer, given):
            found = _frozen_answer(answer, given)
        elif _stat(answer.ok or {}) == _stat_now(content):  # else another run has put a whole one there meanwhile
            _set_aside(ws, given, "The kept input is not what was frozen.")
    elif content.parent.exists():
        _set_aside(ws, given, "The folder of a kept input did not hold it.")
    if found is None:
        target = inputs.temporary_folder(ws.inputs, epoch, number)
        args = {"source": given.path, "target": str(target), "expected_sha256": given.sha256}
        # a helper that fails clears up after itself, one that crashes cannot
        clear_up = lambda: shutil.rmtree(target, ignore_errors=True)  # noqa: E731
        answer = yield from patiently(HelperCall("freeze", "freeze", args), clear_up)
        found = _frozen_answer(answer, given)
        try:
            inputstore.settle(ws.inputs, target, given.sha256)
        except StorageFailed as error:
            raise FreezeFailed(error.code, str(error), given.name) from error
    return replace(given, store=str(content), stat=_stat(found))


def _is_damaged(answer: HelperAnswer, given: InputRow) -> bool:
    """Whether the store's own copy was read whole and is not what its name says."""
    return answer.ok is not None and answer.ok["sha256"] != given.sha256


def _set_aside(ws: Workspace, given: InputRow, why: str) -> None:
    """A kept copy that is no longer what was frozen says nothing of the input: it makes room, and the input is copied anew."""
    folder = inputs.store_path(ws.inputs, given.sha256).parent
    try:
        publish.quarantine(ws, folder, f"input-{given.sha256[:16]}", why, clock.utc_us())
    except StorageFailed as error:
        raise FreezeFailed(error.code, str(error), given.name) from error


def _frozen_answer(answer: HelperAnswer, given: InputRow) -> Mapping[str, Any]:
    if answer.crashed or answer.error is not None:
        seen = says(answer)
        code = FailureCode.IO_ERROR if answer.error is None or seen is Says.CRASH else answer.error.code
        raise FreezeFailed(code, words(answer), given.name, crashed=seen is Says.CRASH)
    assert answer.ok is not None
    if answer.ok["sha256"] != given.sha256:
        what = "The program" if given.name == CODE_INPUT else f"The input “{given.name}”"
        told = f"{what} has changed since the run was admitted ({given.path}). Run it again to use it as it is now."
        raise FreezeFailed(FailureCode.INPUT_CHANGED, told, given.name)
    return answer.ok


def _stat(found: Mapping[str, Any]) -> tuple[int, int, int, int] | None:
    numbers = found.get("stat")
    return (numbers[0], numbers[1], numbers[2], numbers[3]) if numbers else None


def derive(ws: Workspace, row: AttemptRow, epoch: int, serial: int) -> Flow[events.Derived]:
    """Derive in a helper under a name of this epoch, then give it its name."""
    staging = staging_of(ws, row)
    if staging.is_symlink():
        told = f"The staging folder is a link to {os.readlink(staging)}; what lies there is outside of the workspace."
        return events.Derived(row.attempt, error=told, code=FailureCode.RESULT_REJECTED)
    out = staging / f".derive-{epoch}-{serial}"
    answer = yield HelperCall("derive", "derive", {"package": str(staging), "out": str(out)})
    if answer.error is not None and _is_gone(staging):
        told = "The sealed package is gone from its staging folder: it was removed from outside."
        return events.Derived(row.attempt, error=told, code=FailureCode.PACKAGE_LOST)
    if answer.ok is None:
        return _not_done(events.Derived, row, answer)
    try:
        publish.place_derived(staging, out)
    except StorageFailed as error:
        return events.Derived(row.attempt, error=str(error), code=error.code)
    return events.Derived(row.attempt, evidence=answer.ok or {})


def _not_done(step: type[Step], row: AttemptRow, answer: HelperAnswer) -> Step:
    """A step that a helper did not do: a rejection only where the package itself was found to be wrong."""
    seen = says(answer)
    if seen is Says.PACKAGE_IS_WRONG:
        return step(row.attempt, error=words(answer), code=FailureCode.RESULT_REJECTED)
    if answer.error is not None and seen in (Says.DISK, Says.BUSY):
        return step(row.attempt, error=words(answer), code=answer.error.code)
    return step(row.attempt, error=words(answer), crashed=True)


def _is_gone(staging: Path) -> bool:
    """Whether the manifest is provably not there: the attempt's folder could be listed, and so could staging if it exists."""
    try:
        return STAGING not in os.listdir(staging.parent) or manifest.MANIFEST not in os.listdir(staging)
    except OSError:
        return False


def verify(ws: Workspace, row: AttemptRow, database_uuid: str, published: bool) -> Flow[events.Verified]:
    """Pins first, then the package in a process that gets a path and the expected identity, nothing else (§8)."""
    if FactName.CONTENT_VERIFIED not in row.facts:  # on record, it stands: a file edited since then changes no result
        refused = yield from _inputs_again(row)
        if refused is not None:
            return refused
    package = ws.result_folder(row.run, row.n) if published else staging_of(ws, row)
    expected = expected_identity(row, database_uuid)
    resume = ws.attempt_folder(row.run, row.n) / VERIFICATION_NOTES
    args = {"package": str(package), "expected": expected.to_json(), "resume": str(resume)}
    answer = yield HelperCall("verify", "verify", args)
    if answer.ok is None:
        return _not_done(events.Verified, row, answer)
    report = answer.ok
    if not report["ok"]:
        return events.Verified(row.attempt, error=report["reason"], details={"report": report})
    recorded = {"manifest_sha256": report["manifest_sha256"], "derived_sha256": report["derived_sha256"]}
    return events.Verified(
        row.attempt,
        bytes={"method": "sha256 of every listed file, nothing unlisted", **_counted(report["bytes"])},
        content={"method": "derived tables read and compared with the authority", **_counted(report["content"])},
        recorded=recorded,
        result=result_row(ws, row, package, recorded),
    )


def expected_identity(row: AttemptRow, database_uuid: str) -> Expected:
    """What the package must prove, from the store alone. An adopted one was sealed for the old run, and must prove that."""
    sealed_for = row.adopts or row
    return Expected(
        workspace=database_uuid,
        run=sealed_for.run,
        attempt=sealed_for.attempt,
        session=sealed_for.session,
        request_digest=row.request_digest,
        contract_digest=row.contract_digest,
        manifest_sha256=row.facts[FactName.SEALED].get("manifest_sha256"),
        required=tuple(row.contract.get("required") or ()),
    )


def _inputs_again(row: AttemptRow) -> Flow[events.Verified | None]:
    """None if every input is what it was. Copies are trusted while their stat is the recorded one.

    A changed input is one that was seen to differ, or to be gone. A helper that ended or cannot be asked, a disk that does not
    serve, a right that is missing have found nothing out: the step is tried again (R17).
    """
    for given in row.inputs:
        path = given.store or given.path
        if given.store is not None and _unchanged(Path(path), given.stat):
            continue
        answer = yield HelperCall("freeze", "rehash", {"path": path})
        what = "The program" if given.name == CODE_INPUT else f"The input “{given.name}”"
        if answer.error is not None and not answer.crashed and is_seen_to_differ(answer.error):
            told = f"{what} cannot be read any more: {answer.error.why or answer.error.what}"
            return events.Verified(row.attempt, error=told, code=FailureCode.INPUT_CHANGED)
        if says(answer) is Says.INPUT_IS_WRONG:
            return events.Verified(row.attempt, error=words(answer), code=FailureCode.IO_ERROR)
        if answer.ok is None:
            return _not_done(events.Verified, row, answer)
        if _is_damaged(answer, given) or _was_replaced(given, row.n):
            told = f"{what} was changed while the run was computing ({path})."
            return events.Verified(row.attempt, error=told, code=FailureCode.INPUT_CHANGED)
    return None


def _unchanged(path: Path, recorded: inputs.Stat | None) -> bool:
    return recorded is not None and _stat_now(path) == recorded


def _was_replaced(given: InputRow, n: int) -> bool:
    """Whether the kept copy is another file than the one this attempt was given: a later run may have made it anew, which
    mends the store and not what this attempt has read. The stat on record is that of the first attempt."""
    now = _stat_now(Path(given.store)) if given.store is not None and n == 1 else None
    return now is not None and given.stat is not None and now[0] != given.stat[0]


def _stat_now(path: Path) -> inputs.Stat | None:
    try:
        return inputs.stat_of(path)
    except OSError:
        return None


def _counted(level: Mapping[str, Any]) -> dict[str, Any]:
    return {key: level[key] for key in ("extent", "files", "size_bytes", "rows") if key in level}


def result_row(ws: Workspace, row: AttemptRow, package: Path, recorded: Mapping[str, Any]) -> ResultRow:
    """The row that refers to the package at its target."""
    document, digest = manifest.read_manifest(package)
    result = manifest.read_result(package)
    files = tuple(_file_row(entry) for entry in document["files"])
    return ResultRow(
        path=ws.result_folder(row.run, row.n).relative_to(ws.path).as_posix(),
        digest=digest,
        derived_digest=recorded.get("derived_sha256"),
        files=files,
        metrics=tuple(result.get("metrics") or ()),
        tables=tuple(result.get("tables") or ()),
        rows_total=sum(int(entry.get("rows") or 0) for entry in document["files"]),
        size_bytes=sum(int(entry.get("size") or 0) for entry in document["files"]),
    )


def _file_row(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A file of the package as the store keeps it; what a link holds is its target."""
    if entry["role"] == "link":
        target = os.fsencode(entry["target"])
        return {"name": entry["name"], "role": "link", "size": len(target), "sha256": digests.of_bytes(target)}
    return {key: entry.get(key) for key in ("name", "role", "size", "sha256", "rows")}


def recorded_digests(row: AttemptRow) -> publish.Recorded:
    """The digests committed with PUBLISHING, or those of the sealed fact before that."""
    recorded = (row.facts.get(FactName.CONTENT_VERIFIED) or {}).get("recorded") or {}
    sealed = (row.facts.get(FactName.SEALED) or {}).get("manifest_sha256") or ""
    return publish.Recorded(recorded.get("manifest_sha256") or sealed, recorded.get("derived_sha256"))


def where(ws: Workspace, row: AttemptRow) -> PackageSeen:
    """Where the package of this attempt is, by its digests."""
    staging, target = staging_of(ws, row), ws.result_folder(row.run, row.n)
    return publish.where(ws, staging, target, recorded_digests(row))


def publish_now(ws: Workspace, row: AttemptRow) -> events.Published:
    """The durable steps and the one rename, in this process (§5.12–5.13)."""
    folder = ws.attempt_folder(*row.place)
    staging, target = folder / STAGING, ws.result_folder(row.run, row.n)
    try:
        place = where(ws, row)
        if place is PackageSeen.STAGING:
            publish.prepare_target(ws, row.run)
            publish.make_files_readonly(staging)
            publish.publish(staging, target)
            place = where(ws, row)  # what was moved, and not what was looked at before
        if place is PackageSeen.RESULTS:
            publish.make_durable(target, folder)
    except FileExistsError:
        return events.Published(row.attempt, failure="differs", message=f"Something else is at {target}.")
    except (OSError, StorageFailed) as error:
        words = str(error) if isinstance(error, StorageFailed) else f"The package could not be renamed: {error.strerror}."
        failure = "rename" if where(ws, row) is PackageSeen.STAGING else "unsure"
        return events.Published(row.attempt, failure=failure, message=words)
    if place is PackageSeen.UNKNOWN:
        return events.Published(row.attempt, failure="unsure", message="The folder of the results cannot be read.")
    if place is not PackageSeen.RESULTS:
        words = "The package is not the one that was verified." if place is PackageSeen.DIFFERS else "The package is gone."
        return events.Published(row.attempt, failure=place.value, message=words)
    evidence = {
        "method": "one rename without replace, then fsync of both folders",
        "path": target.relative_to(ws.path).as_posix(),
        "manifest_sha256": recorded_digests(row).manifest_sha256,
    }
    return events.Published(row.attempt, evidence=evidence)


def quarantine(ws: Workspace, row: AttemptRow) -> events.Quarantined:
    """Move what is at the target, or in staging, out of the way (row 6)."""
    target, staging = ws.result_folder(row.run, row.n), staging_of(ws, row)
    try:
        package = target if target.exists() else staging
        if not package.exists():
            return events.Quarantined(row.attempt)
        words = "The package is not the one that was verified."
        moved = publish.quarantine(ws, package, f"{row.run}-{row.n}", words, clock.utc_us())
    except (OSError, StorageFailed) as error:
        return events.Quarantined(row.attempt, error=str(error))
    return events.Quarantined(row.attempt, path=str(moved))
