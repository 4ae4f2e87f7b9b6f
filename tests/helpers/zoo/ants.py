"""Many small files: `DEN COUNT`."""

import os
import sys

os.chdir(os.environ["ACTUM_OUTPUT"])
for number in range(int(sys.argv[2])):
    if number % 1_000 == 0:
        os.mkdir(f"{number}")
    with open(f"{number - number % 1_000}/{number}.txt", "w") as file:
        file.write(f"{number}")
