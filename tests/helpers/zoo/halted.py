"""Halts itself with SIGSTOP; when it is woken by a stop, it says goodbye."""

import os
import signal
import sys
import time


def goodbye(number: int, frame: object) -> None:
    os.write(1, b"goodbye\n")
    os._exit(0)


signal.signal(signal.SIGTERM, goodbye)
open(os.path.join(sys.argv[1], "ready"), "w").close()
os.kill(os.getpid(), signal.SIGSTOP)
time.sleep(600)
