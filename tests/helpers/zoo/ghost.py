"""Leaves a process that holds what looks like another attempt's alive lock, and writes into the result once that is sealed.

A cookie alone would not set it apart from its tree; with such a lock it is as good as a host of another workspace. `DEN
sealed|published`: it writes as soon as it sees the manifest, or when the den's `late` is there, which is as late as one likes:
it holds the folder open, whatever that is called by then. The work ends when the den's `go` is there.
"""

import fcntl
import os
import sys
import time
from pathlib import Path

den, when = Path(sys.argv[1]), sys.argv[2]
files = Path(os.environ["ACTUM_OUTPUT"])
if len(sys.argv) > 3:
    folder = os.open(files, os.O_RDONLY)
    (den / "ready").touch()
    sign = files.parent / "manifest.json" if when == "sealed" else den / "late"
    while not sign.exists():
        time.sleep(0.001)
    os.fchmod(folder, 0o700)
    os.write(os.open("late.txt", os.O_CREAT | os.O_WRONLY, dir_fd=folder), b"written after the seal")
    sys.exit()
(files / "honest.txt").write_text("written before the end")
if os.fork() == 0:
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    spool = den / "spool"
    spool.mkdir()
    lock = os.open(spool / "alive", os.O_CREAT | os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.set_inheritable(lock, True)
    environment = {**os.environ, "ACTUM_COOKIE": "0" * 32}
    os.execve(sys.executable, [sys.executable, __file__, str(den), when, "ghost"], environment)
while not (den / "go").exists():
    time.sleep(0.01)
os._exit(0)
