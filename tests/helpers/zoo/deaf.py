"""Ignores SIGTERM, and so does its child."""

import os
import signal
import sys
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() != 0:
    open(os.path.join(sys.argv[1], "ready"), "w").close()
time.sleep(600)
