"""The samples that ship with the program, as commands: a built-in task on the file that ships with it. No Qt."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

from actum_desktop import i18n


def body(task: str, base: Path) -> dict[str, Any]:
    """The command that runs a sample."""
    parameters: dict[str, Any] = {}
    if task == "return-and-risk":
        parameters = {"prices": str(i18n.resources() / "samples" / "stocks.csv"), "symbol": "AAPL"}
    return {
        "verb": "run",
        "task": task,
        "version": None,
        "parameters": parameters,
        "base": str(base),
        "key": secrets.token_hex(16),
        "trigger": "manual",
        "labels": ["sample"],
        "rerun_of": None,
    }
