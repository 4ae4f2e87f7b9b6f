"""A process that is never the same for long: it forks and ends, again and again, and ignores SIGTERM."""

import os
import signal
import sys
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(os.path.join(sys.argv[1], "ready"), "w").close()
end = time.monotonic() + 120
while time.monotonic() < end:
    if os.fork() != 0:
        os._exit(0)
    time.sleep(0.005)
