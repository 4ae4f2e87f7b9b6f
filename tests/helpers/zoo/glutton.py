"""Takes memory until something ends it: `DEN STEP-MIB`."""

import sys
import time

kept = []
while True:
    kept.append(bytearray(b"x") * (int(sys.argv[2]) << 20))
    time.sleep(0.01)
