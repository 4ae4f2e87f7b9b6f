"""A disk that is full: what fails leaves nothing behind that keeps it full, and what is read goes on being read (R11, R12)."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.helpers.program import made
from tests.helpers.waiting import wait_until


@pytest.mark.leaves("a helper that a fault has ended is started again by its supervisor, and ends with it")
@pytest.mark.parametrize("fault", ["freeze.copy.fsync.before:error=ENOSPC", "freeze.copy.fsync.after:error=EIO"])
def test_r17_a_freeze_that_fails_leaves_no_copy(tmp_path: Path, fault: str) -> None:
    """A half copy of a large input would keep the disk full, and the failure itself could not be recorded."""
    place = made(tmp_path)
    (place.data / "in.txt").write_text("content\n")
    place.define("copy", 'cat "$1" > "$ACTUM_OUTPUT/copy.txt"', "--param", "source:file", "--arg", "{source}")
    told = place.actum("run", "copy", "--set", "source=in.txt", fault=fault)
    assert (told.code, told.objects[-1]["status"]) == (1, "START_FAILED")
    assert not list((place.home / "inputs").iterdir())


HIDES = """
printf '{"record":"trade","data":{"n":1}}\\n' >> "$ACTUM_MESSAGES"
spool=$(dirname "$ACTUM_MESSAGES")/spool
while [ ! -s "$spool/records.jsonl" ]; do sleep 0.05; done
mv "$spool/records.jsonl" "$spool/kept"
mkdir "$spool/records.jsonl"
"""


def test_r12_records_that_cannot_be_read_are_waited_for(tmp_path: Path) -> None:
    """An error of the disk under records.jsonl is not the end of the records: the attempt is released when they are read."""
    place = made(tmp_path)
    place.define("hides", HIDES)
    run = place.start("run", "hides")
    try:
        wait_until(lambda: any(fact["fact"] == "tree_gone" for fact in place.show().get("facts", ())), what="tree_gone")
        assert place.show()["released"] is False
        spool = place.home / "attempts" / "1" / "1" / "spool"
        (spool / "records.jsonl").rmdir()
        (spool / "kept").rename(spool / "records.jsonl")
        run.communicate(timeout=60)
        assert place.show()["released"] is True
    finally:
        run.kill()
        run.communicate()
    connection = sqlite3.connect(f"file:{place.home / 'actum.db'}?mode=ro", uri=True)
    (kept,) = connection.execute("SELECT count(*) FROM record").fetchone()
    connection.close()
    assert kept == 1
