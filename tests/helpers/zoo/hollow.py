"""A file of a terabyte that holds nothing: `DEN BYTES [linger]`."""

import os
import sys
import time

with open(os.path.join(os.environ["ACTUM_OUTPUT"], "hollow.bin"), "wb") as file:
    file.truncate(int(sys.argv[2]))
if len(sys.argv) > 3:
    time.sleep(600)
