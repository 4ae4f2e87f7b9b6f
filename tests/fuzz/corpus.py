"""Seeds: real files of a real run, and real frames, under the identity that the targets take for their own."""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

from actum.ipc.framing import encode
from actum.workspace import Workspace

from tests.fuzz import targets
from tests.helpers.program import made
from tests.unit import test_messages, test_session

WORK = """
import json, os
print("working")
with open(os.environ["ACTUM_MESSAGES"], "a") as said:
    for each in (
        {"stage": "load", "total": 2}, {"progress": [1, 2], "unit": "rows", "message": "half"}, {"note": "a note"},
        {"metric": "sharpe", "value": "1.25", "rule": "ratio.v1", "observations": 3},
        {"unavailable": "sortino", "status": "unavailable", "reason": "insufficient_observations"},
        {"record": "trade", "data": {"side": "buy", "price": "1.5"}}, {"checkpoint": {"at": 1}},
        {"table": "t", "path": "t.jsonl", "rows": 2,
         "schema": [{"name": "a", "type": "integer", "nullable": True, "precision": None, "scale": None, "unit": None}]},
    ):
        said.write(json.dumps(each) + "\\n")
with open(os.path.join(os.environ["ACTUM_OUTPUT"], "t.jsonl"), "w") as table:
    table.write('{"a": 1}\\n{"a": null}\\n')
with open(os.path.join(os.environ["ACTUM_OUTPUT"], "a.csv"), "w") as file:
    file.write("a\\n1\\n")
"""


@cache
def of_a_run(folder: Path) -> dict[str, bytes]:
    """What one real run left behind, by name: each file of its spool, launch.json, messages.jsonl, manifest.json."""
    place = made(folder)
    (place.data / "work.py").write_text(WORK)
    place.define("seed", f'exec "{sys.executable}" "{place.data / "work.py"}"')
    told = place.actum("run", "seed")
    assert told.code == 0, told
    ws = Workspace(place.home)
    attempt = ws.attempt_folder(1, 1)
    found = {path.name: path for path in [*attempt.glob("*.json*"), *(attempt / "spool").iterdir()] if path.is_file()}
    for name in ("manifest.json", "result.json"):
        found[name] = ws.result_folder(1, 1) / name
    launch = json.loads(found["launch.json"].read_bytes())
    return {name: _own(path.read_bytes(), launch) for name, path in found.items()}


def seeds(name: str, run: dict[str, bytes]) -> list[bytes]:
    """Where a target begins: at least one input that it accepts whole."""
    if name in ("frames", "guard"):
        cut = b"\xff" if name == "frames" else b""
        channels = [_frames()[:count] for count in (1, 2, 9)]
        channels.append([*_frames()[:2], test_session.stage(3, session="ee" * 16)])  # another's frame among one's own
        return [cut + b"".join(map(encode, frames)) for frames in channels]
    if name == "messages":
        return [json.dumps(frame).encode() for frame in _frames()]
    if name == "spool":
        return [bytes([place]) + run[file] for place, file in enumerate(targets.SPOOL_FILES) if file in run] + [
            b"\x03" + json.dumps({"v": 1, "level": "ask", "cause": "user", "at": 1}).encode()
        ]
    if name == "settings":
        return [json.dumps({"slots": 2, "theme": "dark", "presets/a": [{"name": "p", "parameters": {"x": "1"}}]}).encode()]
    if name == "evidence":
        return [_evidence()]
    if name == "contract":
        return [json.dumps(json.loads(run["launch.json"])["contract"]).encode()]
    file = {
        "outcome": "outcome.json",
        "manifest": "manifest.json",
        "result": "result.json",
        "launch": "launch.json",
        "work": "messages.jsonl",
    }[name]
    return [run[file]]


def _frames() -> list[dict[str, Any]]:
    """A channel as it goes, then what goes on other channels."""
    own = {"session": targets.SESSION}
    opening = [test_session.hello(1, **own), test_session.stage(2, **own)]
    samples = [test_messages.message(direction, kind) for direction, kind in test_messages.EVERY if kind != "hello"]
    as_host = {"run": 7, "attempt": "attempt", **own}
    return opening + [{**each, "seq": 3 + at, **(as_host if "session" in each else {})} for at, each in enumerate(samples)]


def _own(data: bytes, launch: dict[str, Any]) -> bytes:
    """The same file as if it were of the attempt that the targets expect."""
    data = data.replace(launch["session"].encode(), targets.SESSION.encode())
    data = data.replace(f'"{launch["attempt"]}"'.encode(), b'"attempt"')
    return data.replace(b'"run":1,', b'"run":7,').replace(b'"run": 1,', b'"run": 7,')


def _evidence() -> bytes:
    entry = {"at": "2026-01-02T03:04:05.000000Z", "commit": "0" * 40, "dirty": False, "complete": True}
    more = {"counts": {"passed": 3, "failed": 0}, "skips": {"no device": 1}, "seconds": 4, "note": ""}
    by_hand = [{"day": "2026-01-02", "what": "x", "where": "y", "found": "z"}]
    kinds = {"unit": {"suite": entry | more}}
    return json.dumps(
        {"schema": "actum.evidence/1", "environment": {"python": "3"}, "kinds": kinds, "entries": by_hand}
    ).encode()
