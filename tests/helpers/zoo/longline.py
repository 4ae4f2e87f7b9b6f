"""One line without an end: `DEN MIB`."""

import os
import sys

block = b"-" * (1 << 20)
for _ in range(int(sys.argv[2])):
    waiting = block
    while waiting:
        waiting = waiting[os.write(1, waiting) :]
