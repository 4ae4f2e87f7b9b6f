"""Well-behaved work: says progress and records, writes a table and a file, in as many steps as it is told."""

import json
import os
import sys
import time
from pathlib import Path

steps = int(sys.argv[2])
output = Path(os.environ["ACTUM_OUTPUT"])
with open(os.environ["ACTUM_MESSAGES"], "a", buffering=1) as said, open(output / "rows.csv", "w") as rows:
    rows.write("n,text\n")
    for step in range(1, steps + 1):
        said.write(json.dumps({"progress": [step, steps], "unit": "steps"}) + "\n")
        said.write(json.dumps({"record": "step", "data": {"n": step}}) + "\n")
        rows.write(f"{step},x\n")
        sys.stdout.write(f"step {step}\n")
        sys.stdout.flush()
        time.sleep(0.1)
