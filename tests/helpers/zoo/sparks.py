"""Children that live for an instant: `DEN PER-SECOND SECONDS`, half of them orphaned, from a process that outlives the root."""

import os
import sys
import time

rate, seconds = float(sys.argv[2]), float(sys.argv[3])
if os.fork() != 0:
    os._exit(0)
end, lit = time.monotonic() + seconds, 0
while time.monotonic() < end:
    child = os.fork()
    if child == 0:
        if lit % 2 and os.fork() == 0:
            time.sleep(0.002)  # its parent ends first, so it is the host's to wait for
        os._exit(0)
    os.waitpid(child, 0)
    lit += 1
    time.sleep(1 / rate)
os.write(1, b"%d sparks\n" % lit)
os._exit(0)
