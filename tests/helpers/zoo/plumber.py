"""Puts something else in the place of every file by which its host and the supervisor know of each other:
`DEN fifo|folder|link [wait]`, after it has written a result and a record; then says another record and exits well."""

import contextlib
import json
import os
import sys
import time
from pathlib import Path

files = Path(os.environ["ACTUM_OUTPUT"])
spool = files.parent.parent / "spool"
NAMES = ("records.jsonl", "claim", "alive", "state.json", "tree.json", "history.jsonl", "stop", "outcome.json")


def says(of: str) -> None:
    with open(os.environ["ACTUM_MESSAGES"], "a") as messages:
        messages.write(json.dumps({"record": "pipe", "data": {"of": of}}) + "\n")


def lay(path: Path) -> None:
    if sys.argv[2] == "fifo":
        os.mkfifo(path)
    elif sys.argv[2] == "folder":
        path.mkdir()
        (path / "kept").touch()
    else:
        path.symlink_to("/dev/zero")


(files / "whole.txt").write_text("a whole result")
says("before")
while not (spool / "records.jsonl").exists():
    time.sleep(0.01)
for name in NAMES:
    laid = False
    while not laid:  # its host may write the file anew meanwhile
        (spool / name).unlink(missing_ok=True)
        with contextlib.suppress(FileExistsError):
            lay(spool / name)
            laid = True
says("after")
Path(sys.argv[1], "ready").touch()
if "wait" in sys.argv:
    time.sleep(600)
