"""Deletes what it runs on: `DEN output|spool|attempt|messages`, after it has written a result; then exits well."""

import contextlib
import json
import os
import shutil
import sys
from pathlib import Path

files = Path(os.environ["ACTUM_OUTPUT"])
attempt = files.parent.parent
(files / "whole.txt").write_text("a whole result")
with open(os.environ["ACTUM_MESSAGES"], "a") as messages:
    messages.write(json.dumps({"record": "meal", "data": {"of": sys.argv[2]}}) + "\n")
os.write(1, b"this was printed before the meal\n")
eaten = {"output": files, "spool": attempt / "spool", "attempt": attempt}.get(sys.argv[2])
if eaten is None:
    os.unlink(os.environ["ACTUM_MESSAGES"])
else:
    gone = False
    while not gone:  # its host may write into it meanwhile
        with contextlib.suppress(OSError):
            shutil.rmtree(eaten)
            gone = True
os.write(1, b"this was printed after the meal\n")
