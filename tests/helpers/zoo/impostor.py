"""Speaks to the supervisor itself: as its own attempt, as another one, as nobody, and in no language at all: `DEN OTHER`.

OTHER is the folder of another attempt, whose session it knows and whose secret it does not.
"""

import contextlib
import json
import os
import socket
import struct
import sys
import time
from pathlib import Path

own = Path(os.environ["ACTUM_OUTPUT"]).parent.parent
workspace = own.parents[2]
path = json.loads((workspace / "endpoint").read_bytes())["socket"]
claim = json.loads((own / "spool" / "claim").read_bytes())


def frame(document: dict) -> bytes:
    data = json.dumps(document).encode()
    return struct.pack(">I", len(data)) + data


def envelope(of: Path, kind: str, **fields: object) -> dict:
    launch = json.loads((of / "launch.json").read_bytes())
    words = {name: launch[name] for name in ("run", "attempt", "session")}
    return {"v": 1, "type": kind, **words, "channel": "c" * 32, "seq": 1, "at": time.time_ns() // 1000, **fields}


def hello(of: Path, secret: str, **changes: object) -> bytes:
    words = {"secret": secret, "protocol": 1, "identity": claim["identity"], "claimed": True}
    return frame(envelope(of, "hello", **words) | changes)


def say(name: str, data: bytes) -> None:
    """Says it, and tells what came back before the other end closed."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as made, contextlib.suppress(ConnectionError):
        made.settimeout(15)
        made.connect(path)
        made.sendall(data)
        answer = b""
        while part := made.recv(65_536):
            answer += part
            if b"hello-ack" in answer:
                break
        sys.stdout.write(f"{name}: {'accepted' if b'hello-ack' in answer else 'closed'} {len(answer)}\n")


other = Path(sys.argv[2])
outcome = {"v": 1, "kind": "stopped", "cause": "user"}
say("own session, wrong secret", hello(own, "0" * 32))
say("other session, wrong secret", hello(other, "0" * 32))
say("other session, own secret", hello(other, (own / "secret").read_text()))
say("attempt nobody knows", hello(own, "0" * 32, attempt="nobody"))
say("no hello first", frame(envelope(other, "stopped", outcome=outcome, digest="0" * 64)))
say("too long", struct.pack(">I", 1 << 31) + b"x" * 100)
say("no json", struct.pack(">I", 5) + b"\xff\xff{{{")
(Path(os.environ["ACTUM_OUTPUT"]) / "tried.txt").write_text("tried")
