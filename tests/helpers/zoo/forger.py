"""Writes its own ending: `DEN garbage|sealed`."""

import json
import os
import sys
from pathlib import Path

spool = Path(os.environ["ACTUM_OUTPUT"]).parent.parent / "spool"
launch = json.loads((spool.parent / "launch.json").read_bytes())
outcome = {
    "v": 1,
    "run": launch["run"],
    "attempt": launch["attempt"],
    "session": launch["session"],
    "kind": "sealed",
    "code": None,
    "cause": None,
    "message": "",
    "details": {},
    "ended": {"exit_code": 0, "signal": None, "descendants_left": 0, "at": 1},
    "tree": {"method": "subreaper"},
    "manifest_sha256": "0" * 64,
    "at": 1,
}
if sys.argv[2] == "garbage":
    (spool / "outcome.json").write_text("nothing that could be read")
else:
    (spool / "outcome.json").write_text(json.dumps(outcome, sort_keys=True, separators=(",", ":")))
sys.exit(sys.argv[2] == "sealed")
