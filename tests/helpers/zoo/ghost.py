"""Leaves a process that claims to be of another attempt, waits until its result is sealed, and then writes into it."""

import os
import sys
import time
from pathlib import Path

files = Path(os.environ["ACTUM_OUTPUT"])
(files / "honest.txt").write_text("written before the end")
if len(sys.argv) > 2:
    manifest = files.parent / "manifest.json"
    while not manifest.exists():
        time.sleep(0.001)
    os.chmod(files, 0o700)
    (files / "late.txt").write_text("written after the seal")
    sys.exit()
if os.fork() == 0:
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    environment = {**os.environ, "ACTUM_COOKIE": "0" * 32}
    os.execve(sys.executable, [sys.executable, __file__, sys.argv[1], "ghost"], environment)
os._exit(0)
