"""The targets: each takes any bytes and raises where a promise breaks; nothing else may come out of the program's readers.

Promised for each: no exception but the documented ones, no memory beyond its bound, and nothing of another identity is ever
taken as one's own (R03, R07, R11). The same functions are driven by hypothesis in the suite and by coverage in long runs.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

from actum import clock, limits, settings, tried
from actum.contracts import document as contracts
from actum.errors import ActumError, WrongUse
from actum.host import launch
from actum.host.messages import Collected, MessageFile
from actum.ipc import messages, spool
from actum.ipc import records as recordsfile
from actum.ipc.framing import Decoder, FrameTooLong, Violation, encode
from actum.ipc.session import Accepted, Expected, Guard
from actum.model.evidence import ClaimSeen, OutcomeSeen
from actum.processes import evidence
from actum.processes.tree import Snapshot
from actum.results import browse, manifest, verify
from actum.results.package import open_result
from actum.results.report import Expected as ExpectedPackage
from actum.store import live
from actum.supervise import events

from tests.helpers.supervised import Bench, computing

SECRET = "5" * 32
SESSION = "5e" * 16
OWN = Expected(7, "attempt", SESSION, sha256(SECRET.encode()).hexdigest())
FOREIGN = "a frame of another attempt was accepted"
DIRECTIONS = tuple(messages.TABLES)
SPOOL_FILES = ("claim", "state.json", "tree.json", "stop", "outcome.json", "records.jsonl")


@cache
def folder() -> Path:
    """A folder of this process, in memory where there is such a place."""
    place = Path(tempfile.mkdtemp(prefix="actum-fuzz-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
    (place / "spool").mkdir()
    (place / "spool" / "alive").touch()
    (place / "secret").write_text(SECRET)
    return place


def clear() -> None:
    """Remove what the targets wrote."""
    if folder.cache_info().currsize:
        shutil.rmtree(folder(), ignore_errors=True)
        folder.cache_clear()


def frames(data: bytes) -> None:
    """Bytes on a channel, cut where the first byte says."""
    cut, data = (data[0] + 1 if data else 1), data[1:]
    decoder = Decoder()
    for start in range(0, len(data), cut):
        part = data[start : start + cut]
        while True:
            try:
                for document in decoder.feed(part):
                    assert type(document) is dict
                    with suppress(FrameTooLong):
                        encode(document)
                break
            except Violation:
                part = b""
        assert len(decoder._buffer) <= limits.FRAME_BYTES_MAX + limits.FRAME_HEADER_BYTES + cut


def frame_messages(data: bytes) -> None:
    """One document against each direction's table: what passes has exactly the fields of its type."""
    try:
        documents = Decoder().feed(len(data).to_bytes(limits.FRAME_HEADER_BYTES, "big") + data)
    except Violation:
        return
    for document, direction in product(documents, DIRECTIONS):
        with suppress(Violation):
            found = messages.check(document, direction)
            assert found["v"] == messages.VERSION
            assert found.keys() == messages.TABLES[direction][found["type"]].keys()
            encode(found)


def guard(data: bytes) -> None:
    """A whole channel: nothing is accepted but of one's own attempt, and nothing before its secret."""
    door = Guard(lambda hello: OWN if hello["session"] == SESSION else None)
    for seen in door.receive(data):
        if isinstance(seen, Accepted):
            assert door.proven
            assert SECRET.encode() in data, "proven without the secret"
            assert (seen.frame["run"], seen.frame["attempt"], seen.frame["session"]) == (OWN.run, OWN.attempt, OWN.session), (
                FOREIGN
            )
    assert door.violations <= limits.VIOLATIONS_PROVEN_MAX


def spool_files(data: bytes) -> None:
    """A file of the spool, by the first byte; every reader of it, and what the supervisor makes of it."""
    name, content = SPOOL_FILES[data[0] % len(SPOOL_FILES)] if data else "claim", data[1:]
    path = folder() / "spool" / name
    path.write_bytes(content)
    try:
        for read in (spool.read_claim, spool.read_outcome, spool.read_state, spool.read_tree, spool.read_stop):
            assert isinstance(read(folder()), dict | spool.Absent | spool.Unreadable)
        for skipping in (False, True):
            _records(len(content), skipping=skipping)
        _evidence()
        live.read(folder(), SESSION)
        _supervisor()
    finally:
        path.unlink()


def _records(size: int, *, skipping: bool) -> None:
    """What is read are records; once nobody writes, the reading comes to the end of any file (R12)."""
    offset, more = 0, True
    with suppress(OSError):
        while more:
            batch = recordsfile.read(folder(), offset, skipping=skipping)
            assert offset < batch.offset <= size or not batch.more
            offset, more = batch.offset, batch.more
            for each in batch.records:
                kinds = [type(each[name]) for name in ("seq", "at", "kind", "data")]
                assert kinds == [int, int, str, dict]
                json.dumps(each, ensure_ascii=False).encode()
        records_file = folder() / "spool" / "records.jsonl"
        assert offset == size or not skipping or not records_file.exists()
        return
    assert not skipping, "a line that is no record is waited for for ever"


def outcome(data: bytes) -> None:
    """outcome.json alone, so that all effort goes there."""
    path = folder() / "spool" / "outcome.json"
    path.write_bytes(data)
    try:
        _evidence()
        found = spool.read_outcome(folder())
        if isinstance(found, dict):
            spool.outcome_digest(found)
            _concluded(found)
    finally:
        path.unlink()


def package(data: bytes) -> None:
    """manifest.json of a package, then all of verification and of reading: a finding, a refusal, or one's own."""
    place = folder() / "package"
    (place / "files").mkdir(parents=True, exist_ok=True)
    (place / "files" / "a.csv").write_bytes(b"a\n1\n")
    (place / "files" / "t.jsonl").write_bytes(b'{"a": 1}\n{"a": null}\n')
    (place / manifest.MANIFEST).write_bytes(data)
    (place / manifest.RESULT).write_bytes(b'{"schema":"actum.result/1","metrics":[],"tables":[],"notes":[]}')
    _opened(place)
    wanted = ExpectedPackage(workspace="w", run=7, attempt="attempt", session=SESSION, request_digest="r", contract_digest="c")
    with suppress(ActumError):
        report = verify.verify(place, wanted)
        if report.bytes.ok:
            document = json.loads(data)
            assert (document["run"], document["attempt"], document["session"]) == (7, "attempt", SESSION)
    with suppress(ActumError, manifest.NotAPackage):
        for entry in manifest.read_manifest(place)[0]["files"]:
            assert manifest.is_safe_name(entry["name"])


def result_document(data: bytes) -> None:
    """result.json of a package that is sound otherwise."""
    place = folder() / "result"
    place.mkdir(exist_ok=True)
    empty = {"schema": manifest.MANIFEST_SCHEMA, "files": [], "authority": {}, "contract": {}}
    (place / manifest.MANIFEST).write_text(json.dumps(empty))
    (place / manifest.RESULT).write_bytes(data)
    _opened(place)


def launch_file(data: bytes) -> None:
    """launch.json, as the host reads it: understood, or refused by one error."""
    (folder() / "launch.json").write_bytes(data)
    with suppress(launch.LaunchUnreadable):
        found = launch.read(str(folder()))
        assert found.command
        for seconds in (found.grace_s, found.start_s, *found.stages.values()):
            assert 0 <= seconds < float("inf")


def setting_values(data: bytes) -> None:
    """A setting and its value; and the rows of a store that somebody edited."""
    document = _json(data)
    for name, value in document.items() if type(document) is dict else ():
        with suppress(WrongUse):
            settings.check(name, value)
    if type(document) is dict:
        merged = settings.merged(document)
        assert all(not setting.problem(merged[name]) for name, setting in settings.KNOWN.items())


def work_messages(data: bytes) -> None:
    """What the work writes: sorted without an exception, kept within its bounds."""
    told: list[str] = []
    path = folder() / "messages.jsonl"
    path.write_bytes(data)
    file = MessageFile(str(path), lambda code, text, more: told.append(code))
    collected = Collected(str(folder()), lambda code, text, more: told.append(code))
    try:
        while lines := file.next_lines(final=True):
            list(collected.take(lines))
        collected.write_records()
        assert not collected.waits
    finally:
        collected.close()
        file.close()
    kept = collected.metrics, collected.tables, collected.files, collected.notes
    assert all(len(each) <= limits.COLLECTED_MESSAGES_MAX for each in kept)
    records = recordsfile.read(folder(), 0, max(1, 2 * len(data) + 4_096)).records
    (folder() / "spool" / "records.jsonl").unlink(missing_ok=True)
    assert [each["seq"] for each in records] == list(range(1, len(records) + 1))


def contract(data: bytes) -> None:
    """A contract document: understood and then stable, or refused in words."""
    document = _json(data)
    if type(document) is not dict:
        return
    with suppress(WrongUse):
        found = contracts.load(document)
        assert contracts.load(found.to_json()) == found


def evidence_file(data: bytes) -> None:
    """evidence.json, and the list by hand."""
    path = folder() / "evidence.json"
    path.write_bytes(data)
    tried.read(path)
    tried.by_hand(path)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "frames": frames,
    "messages": frame_messages,
    "guard": guard,
    "spool": spool_files,
    "outcome": outcome,
    "manifest": package,
    "result": result_document,
    "launch": launch_file,
    "settings": setting_values,
    "work": work_messages,
    "contract": contract,
    "evidence": evidence_file,
}


def _opened(place: Path) -> None:
    with suppress(ActumError, OSError, manifest.NotAPackage):
        found = open_result(place)
        assert all(str(value) for value in found.metrics.values())
        browse.metrics(place)
        assert found.files is not None
        browse.tables(place)


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _evidence() -> None:
    seen = evidence.gather(attempt_folder=folder(), session=SESSION, cookie=None, snapshot=Snapshot({}, True))
    if seen.outcome not in (OutcomeSeen.NONE, OutcomeSeen.UNKNOWN):
        assert seen.outcome_document["session"] == SESSION, "an outcome of another session was taken"
    if seen.claim is ClaimSeen.HOST:
        assert seen.claim_document["session"] == SESSION, "a claim of another session was taken"


def _concluded(found: dict[str, Any]) -> None:
    """The supervisor finds this outcome after its host has gone: one row decides, and what it writes can be written."""
    bench = computing()
    row = bench.row()
    if found["session"] != SESSION:
        return
    deadline = found["kind"] == "stopped" and found["cause"] in messages.DEADLINE_CAUSES
    seen = OutcomeSeen.DEADLINE if deadline else OutcomeSeen(found["kind"])
    bench.looked(outcome=seen, outcome_document={**found, "session": row.session}, claim=ClaimSeen.HOST)
    clock.rfc3339(found["at"])


@cache
def _bench() -> Bench:
    return computing()


def _supervisor() -> None:
    """A state that was read goes to the supervisor, which keeps what it understands."""
    bench = _bench()
    found = spool.read_state(folder())
    if isinstance(found, dict):
        session = bench.row().session
        found = {**found, "session": session} if found.get("session") == SESSION else found
        bench.machine().live.pop("state_seq", None)
        bench.tell(events.StateRead(bench.row().attempt, found, final=True))
        assert (bench.row().run, bench.row().session) == (1, session)
