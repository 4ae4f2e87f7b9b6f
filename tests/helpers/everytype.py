"""A contract with one parameter of every type of DESIGN §15, and one of a type that no program knows."""

from __future__ import annotations

import sys
from typing import Any

TABLE = "date,close,volume\n2026-01-01,1.5,10\n2026-01-02,1.6,20\n"

PARAMETERS: list[dict[str, Any]] = [
    {"name": "prices", "type": "file", "title": "Prices", "help": "A CSV with a head."},
    {"name": "note", "type": "text", "title": "Note"},
    {"name": "empty", "type": "text", "title": "Remark", "default": "x", "help": "May be empty."},
    {"name": "count", "type": "integer", "title": "Rows", "unit": "rows", "minimum": 1, "default": 12},
    {"name": "small", "type": "float", "title": "Tolerance", "help": "Kept exactly as typed."},
    {"name": "rate", "type": "decimal", "title": "Risk-free rate", "unit": "per year", "minimum": "0", "maximum": "1"},
    {"name": "left", "type": "integer", "title": "Window", "optional": True, "unit": "days"},
    {"name": "strict", "type": "boolean", "title": "Strict"},
    {"name": "method", "type": "choice", "title": "Method", "choices": ["mean", "median", "no method at all"]},
    {"name": "start", "type": "date", "title": "From"},
    {"name": "end", "type": "date", "title": "To", "optional": True},
    {"name": "seen", "type": "datetime", "title": "Seen at"},
    {"name": "wait", "type": "duration", "title": "Wait", "default": "10m"},
    {"name": "money", "type": "money", "title": "Amount"},
    {"name": "label", "type": "text", "title": "Label", "optional": True},
    {"name": "columns", "type": "columns", "title": "Columns", "file": "prices"},
    {"name": "more", "type": "files", "title": "Further files", "policy": "pin"},
    {"name": "out", "type": "folder", "title": "Reference folder", "policy": "pin"},
    {"name": "words", "type": "list", "title": "Thresholds", "items": {"type": "integer"}},
    {
        "name": "range",
        "type": "record",
        "title": "Range",
        "fields": [
            {"name": "low", "type": "decimal", "title": "Low"},
            {"name": "high", "type": "decimal", "title": "High", "optional": True},
        ],
    },
]

# Writes what it was given, types and all, so that a run can be read back.
WORK = """
import json, os
given = json.load(open(os.environ["ACTUM_PARAMETERS"]))
with open(os.path.join(os.environ["ACTUM_OUTPUT"], "given.json"), "w") as file:
    json.dump(given, file)
"""

EVERY: dict[str, Any] = {
    "schema": "actum.contract/1",
    "name": "every-type",
    "title": "Every type",
    "version": "1",
    "description": "One parameter of every type, and one of a type that is not known.",
    "work": {"kind": "program", "program": sys.executable, "arguments": ["-c", WORK.replace("{", "{{").replace("}", "}}")]},
    "parameters": PARAMETERS,
    "rules": [{"rule": "not_after", "fields": ["start", "end"], "message": ""}],
    "required": ["given.json"],
}
