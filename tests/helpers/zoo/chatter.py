"""Many lines in few writes, and gone the same instant: `DEN LINES`."""

import os
import sys

lines, per_write = int(sys.argv[2]), 10_000
for first in range(0, lines, per_write):
    waiting = b"".join(b"line %d\n" % number for number in range(first, min(lines, first + per_write)))
    while waiting:
        waiting = waiting[os.write(1, waiting) :]
os._exit(0)
