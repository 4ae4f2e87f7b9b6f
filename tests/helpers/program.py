"""The program `actum` as tests run it: a workspace and a folder for inputs of its own, answers as JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ACTUM = [sys.executable, "-m", "actum_desktop.entry"]


@dataclass(frozen=True)
class Told:
    """What one command line said: exit code, the JSON objects on standard output, the text on standard error."""

    code: int
    objects: list[dict[str, Any]]
    notes: str

    @property
    def error(self) -> dict[str, Any]:
        return dict(self.objects[-1]["error"])

    @property
    def first_line(self) -> str:
        return str(self.error["what"])


@dataclass(frozen=True)
class Place:
    """A workspace, a folder for inputs, and the program run against them."""

    home: Path
    data: Path

    def actum(self, *words: str, fault: str = "", prefix: tuple[str, ...] = ()) -> Told:
        environment = {**os.environ, "ACTUM_HOME": str(self.home)} | ({"ACTUM_FAULT": fault} if fault else {})
        done = subprocess.run(
            [*prefix, *ACTUM, *words, "--json"],
            env=environment,
            cwd=self.data,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        return Told(done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr)

    def start(self, *words: str) -> subprocess.Popen[str]:
        """The program, not waited for; its text on pipes."""
        environment = {**os.environ, "ACTUM_HOME": str(self.home)}
        pipe = subprocess.PIPE
        return subprocess.Popen([*ACTUM, *words], env=environment, cwd=self.data, stdout=pipe, stderr=pipe, text=True)

    def supervisor(self) -> int | None:
        """The process that supervises, as the endpoint file says."""
        try:
            return int(json.loads((self.home / "endpoint").read_bytes())["pid"])
        except (OSError, ValueError):
            return None

    def show(self, run: int = 1) -> dict[str, Any]:
        told = self.actum("show", str(run))
        return told.objects[-1] if told.code == 0 else {}

    def runs(self) -> int:
        return len(self.actum("runs", "-n", "500").objects)

    def script(self, name: str, text: str) -> Path:
        path = self.data / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    def define(self, name: str, text: str, *options: str) -> None:
        told = self.actum("task", "add", name, "--program", str(self.script(f"{name}.sh", text)), *options)
        assert told.code == 0, told


def made(folder: Path) -> Place:
    place = Place(folder / "w", folder / "d")
    place.data.mkdir(parents=True)
    return place
