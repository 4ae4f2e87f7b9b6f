"""Turns on its own host: `DEN kill|halt`, and lives on."""

import os
import signal
import sys
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
host = os.getppid()
open(os.path.join(sys.argv[1], "ready"), "w").close()
while not os.path.exists(os.path.join(sys.argv[1], "go")):
    time.sleep(0.01)
os.kill(host, signal.SIGKILL if sys.argv[2] == "kill" else signal.SIGSTOP)
time.sleep(600)
