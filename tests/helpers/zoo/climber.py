"""Names places outside of its output folder in its messages: `DEN file|table|absolute`."""

import json
import os
import sys

message = {
    "file": {"file": "../../secret"},
    "table": {"table": "t", "path": "../../parameters.json"},
    "absolute": {"table": "../../t", "path": "/etc/passwd"},
}[sys.argv[2]]
with open(os.environ["ACTUM_MESSAGES"], "a") as messages:
    messages.write(json.dumps(message) + "\n")
