"""A flood of messages: `DEN MIB KIND`; KIND is progress, record, note or metric, of 1 KiB each, or big (notes of 900 KB)."""

import json
import os
import sys

mib, kind = int(sys.argv[2]), sys.argv[3]
text = "x" * (900_000 if kind == "big" else 1_000)
one = {
    "progress": {"progress": [1, 2], "message": text},
    "record": {"record": "drop", "data": {"text": text}},
    "note": {"note": text},
    "metric": {"metric": "m", "value": "1", "observations": 1, "reason": text},
    "big": {"note": text},
}[kind]
line = (json.dumps(one) + "\n").encode()
block = line * max(1, (1 << 20) // len(line))
with open(os.environ["ACTUM_MESSAGES"], "ab", buffering=0) as messages:
    for _ in range(mib):
        messages.write(block)
