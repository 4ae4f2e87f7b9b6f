"""Leaves a process that holds what looks like another attempt's alive lock, waits for the seal, and writes into the result.

A cookie alone would not set it apart from its tree; with such a lock it is as good as a host of another workspace.
"""

import fcntl
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
    spool = os.path.join(sys.argv[1], "spool")
    os.mkdir(spool)
    lock = os.open(os.path.join(spool, "alive"), os.O_CREAT | os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.set_inheritable(lock, True)
    environment = {**os.environ, "ACTUM_COOKIE": "0" * 32}
    os.execve(sys.executable, [sys.executable, __file__, sys.argv[1], "ghost"], environment)
os._exit(0)
