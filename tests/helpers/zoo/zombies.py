"""Makes children that end and are never waited for, and leaves with all of them."""

import os
import sys
import time

for _ in range(int(sys.argv[2])):
    if os.fork() == 0:
        os._exit(0)
open(os.path.join(sys.argv[1], "ready"), "w").close()
while not os.path.exists(os.path.join(sys.argv[1], "go")):
    time.sleep(0.01)
os._exit(0)
