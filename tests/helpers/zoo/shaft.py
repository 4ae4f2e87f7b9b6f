"""Folders in folders until the path is longer than the system takes: `DEN DEPTH`."""

import os
import sys

os.chdir(os.environ["ACTUM_OUTPUT"])
for _ in range(int(sys.argv[2])):
    os.mkdir("d" * 100)
    os.chdir("d" * 100)
with open("bottom.txt", "w") as file:
    file.write("deep")
