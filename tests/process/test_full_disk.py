"""A disk that is full: what fails leaves nothing behind that keeps it full, and what is read goes on being read (R11, R12)."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.helpers.program import made


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
rm "$spool/records.jsonl"
mkdir "$spool/records.jsonl"
"""


def test_r12_a_folder_in_the_place_of_the_records_costs_no_record(tmp_path: Path) -> None:
    """The host holds the file that it writes, and puts it back: nothing the work can do to the name loses a record."""
    place = made(tmp_path)
    place.define("hides", HIDES)
    assert place.actum("run", "hides").code == 0
    assert place.show()["released"] is True
    connection = sqlite3.connect(f"file:{place.home / 'actum.db'}?mode=ro", uri=True)
    (kept,) = connection.execute("SELECT count(*) FROM record").fetchone()
    connection.close()
    assert kept == 1
