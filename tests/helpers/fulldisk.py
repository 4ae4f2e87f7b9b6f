"""A store on a disk that fills up, run in a mount namespace: `python -m tests.helpers.fulldisk FOLDER` prints JSON.

FOLDER is a small file system of its own. What was answered with a commit must be there when the disk was full in between.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from pathlib import Path
from typing import Any

from actum import clock
from actum.errors import ActumError
from actum.model.changes import JournalEntry, Note, Persisted, Refused
from actum.store.queries import Reader
from actum.workspace import Workspace

from tests.helpers import workspaces as w


def main(folder: Path) -> dict[str, Any]:
    ws = w.make(folder / "w")
    kept: list[str] = []
    refused: list[Refused] = []

    def note(writer: Any, word: str) -> None:
        entry = JournalEntry("noted", clock.utc_us(), {"word": word, "filler": "x" * 20_000})
        answer = writer.ask(Note((entry,)))
        if isinstance(answer, Persisted):
            kept.append(word)
        else:
            refused.append(answer)

    with w.writing(ws) as writer:
        digest = w.add_task(writer)
        admitted = w.admit(writer, digest).run
        note(writer, "before")
        fill(folder / "filler")
        for number in range(40):
            note(writer, f"full {number}")
        with Reader(ws) as reader:
            read_while_full = reader.counts()
        (folder / "filler").unlink()
        note(writer, "after")
    with Reader(ws) as reader:
        found = [row.data["word"] for row in reader.journal_tail(200) if row.kind == "noted"]
        runs = reader.counts()
    connection = sqlite3.connect(ws.database)
    whole = connection.execute("PRAGMA integrity_check").fetchone()[0]
    connection.close()
    return {
        **starts_on_a_full_disk(folder, ws),
        "admitted": admitted,
        "kept": kept,
        "found": sorted(found),
        "codes": sorted({str(each.details.get("code")) for each in refused}),
        "kinds": sorted({each.kind.value for each in refused}),
        "refused": len(refused),
        "read while full": read_while_full,
        "runs": runs,
        "integrity": whole,
    }


def starts_on_a_full_disk(folder: Path, ws: Workspace) -> dict[str, Any]:
    """A start with a few more pages free each time, until it succeeds; after each, one with room: was a log said to be lost?"""
    failed, lost = 0, []
    for pages in range(40):
        fill(folder / "filler", pages)
        try:
            with w.writing(ws):
                pass
        except ActumError:
            failed += 1
        (folder / "filler").unlink()
        with w.writing(ws) as writer:
            lost.append(writer.opened.log_lost)
    return {"failed starts": failed, "logs lost": sum(lost)}


def fill(path: Path, pages: int = 12) -> None:
    """Take all room but some pages."""
    with open(path, "wb") as file:
        try:
            while True:
                os.write(file.fileno(), b"\0" * 4096)
        except OSError:
            os.ftruncate(file.fileno(), max(0, file.tell() - (pages << 12)))


if __name__ == "__main__":
    said = main(Path(sys.argv[1]))
    sys.stdout.write(json.dumps({**said, "kept": sorted(said["kept"])}) + "\n")
