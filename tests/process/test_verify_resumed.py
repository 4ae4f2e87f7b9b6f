"""A verifying helper that is killed: the next one goes on at the chunk, within its memory (R11, R18)."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pyarrow as pa
from actum import limits

from tests.helpers import arrowtables
from tests.helpers.waiting import wait_until
from tests.process.test_helper_program import Helper


def test_r18_after_sigkill_the_verification_goes_on_behind_the_last_chunk(tmp_path: Path) -> None:
    rows = 3 * limits.CHUNK_ROWS + 1
    made = arrowtables.package(tmp_path, pa.table({"n": pa.array(range(rows), pa.int32())}))
    notes = tmp_path / "verification.jsonl"
    args = {"package": str(made.path), "expected": made.expected.to_json(), "resume": str(notes)}

    def noted() -> int:
        return notes.read_text().count('"chunk"') if notes.exists() else 0

    killed = Helper(ACTUM_FAULT="verify.chunk.noted#2:delay=600000")
    killed.send(json.dumps({"id": 1, "verb": "verify", "args": args}).encode())
    wait_until(lambda: noted() == 2, what="two chunks to be noted", timeout_s=60)
    killed.process.send_signal(signal.SIGKILL)
    killed.close()
    again = Helper()
    report = again.ok("verify", **args)
    peak = int(Path(f"/proc/{again.process.pid}/status").read_text().split("VmHWM:")[1].split()[0])
    again.close()
    assert (report["ok"], report["content"]["rows"], report["content"]["chunks"]) == (True, rows, 4)
    assert report["content"]["resumed"] == 2
    assert report["bytes"]["resumed"] == report["bytes"]["files"]
    assert not notes.exists()
    assert peak < 300 * 1024
