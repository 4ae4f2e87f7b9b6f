"""Reading what an attempt's host kept of progress and activity over time: spool/history.jsonl, bounded, best effort.

One JSON object a line, oldest first: at (UTC µs), done, total, stage (as the work last said; null = nothing), active_s,
progress_s (active seconds of the last progress), cpu_s (of the whole tree since the start), rss_bytes, peak_rss_bytes,
read_bytes, written_bytes. Written by host/history.py. A line that is half written or garbage is left out, never an error.
"""

from __future__ import annotations

import json
import os
from typing import Any

from actum.ipc import regular
from actum.limits import HISTORY_FILE_BYTES_MAX, HISTORY_STAGE_CHARS_MAX

NAME = "history.jsonl"
NUMBERS = ("done", "total", "active_s", "progress_s", "cpu_s", "rss_bytes", "peak_rss_bytes", "read_bytes", "written_bytes")

Document = dict[str, Any]


def line(at_us: int, sample: Document) -> bytes:
    """One line of the file."""
    members: Document = {"at": at_us, **{name: sample.get(name) for name in NUMBERS}}
    members["stage"] = str(sample.get("stage") or "")[:HISTORY_STAGE_CHARS_MAX]
    return json.dumps(members, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def read(folder: str | os.PathLike[str]) -> list[Document]:
    """The samples of the attempt in `folder`; [] where there are none. Raises OSError but for a missing file."""
    try:
        data = regular.content(os.path.join(os.fspath(folder), "spool", NAME), HISTORY_FILE_BYTES_MAX)
    except FileNotFoundError:
        return []
    found = []
    for each in data.split(b"\n"):
        try:
            document = json.loads(each) if each else None
        except (ValueError, RecursionError):
            continue
        if isinstance(document, dict) and type(document.get("at")) is int:
            found.append(_clean(document))
    return found


def _clean(document: Document) -> Document:
    """Every member of the type it should have, or None."""
    clean: Document = {"at": document["at"]}
    for name in NUMBERS:
        value = document.get(name)
        clean[name] = value if type(value) in (int, float) else None
    stage = document.get("stage")
    clean["stage"] = stage if isinstance(stage, str) else ""
    return clean
