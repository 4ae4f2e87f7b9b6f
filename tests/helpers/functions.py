"""Runs a function of a file through the SDK's runner, as a host would, without a host."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actum.engines import sdkfolder


@dataclass(frozen=True, slots=True)
class Ran:
    """What one call left behind. Attributes: code, output (folder), messages, log (standard error)."""

    code: int
    output: Path
    messages: list[dict[str, Any]]
    log: str

    def last(self, kind: str) -> dict[str, Any]:
        return [message for message in self.messages if kind in message][-1]

    def metrics(self) -> dict[str, dict[str, Any]]:
        said = [message for message in self.messages if "metric" in message or "unavailable" in message]
        return {message.get("metric") or message["unavailable"]: message for message in said}


def prepared(folder: Path, parameters: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, str]:
    """The environment of the work, its files made in `folder`."""
    (folder / "output").mkdir(parents=True)
    (folder / "parameters.json").write_text(json.dumps(parameters), encoding="utf-8")
    (folder / "inputs.json").write_text(json.dumps(inputs), encoding="utf-8")
    return {
        **os.environ,
        "ACTUM_PARAMETERS": str(folder / "parameters.json"),
        "ACTUM_INPUTS": str(folder / "inputs.json"),
        "ACTUM_MESSAGES": str(folder / "messages.jsonl"),
        "ACTUM_OUTPUT": str(folder / "output"),
    }


def command(spec: str, interpreter: Sequence[str] = (sys.executable, "-I", "-S")) -> list[str]:
    return [*interpreter, "-u", sdkfolder.runner(sdkfolder.own_folder()), spec]


def run_function(
    spec: str,
    folder: Path,
    parameters: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    argv: Sequence[str] | None = None,
    isolation: Sequence[str] = ("-I", "-S"),
) -> Ran:
    """Call `FILE.py:NAME` in a child of our own interpreter, or as `argv` says, and wait for it."""
    environment = prepared(folder, parameters or {}, inputs or {})
    done = subprocess.run(
        argv or command(spec, (sys.executable, *isolation)),
        env=environment,
        cwd=folder / "output",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return Ran(done.returncode, folder / "output", read_messages(folder), done.stderr)


def read_messages(folder: Path) -> list[dict[str, Any]]:
    path = folder / "messages.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
