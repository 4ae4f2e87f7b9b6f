"""Running a command as somebody who is not root, since root may read and write anywhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

NOBODY = 65534


def as_normal_user(command: Sequence[str], place: Path) -> subprocess.CompletedProcess[str]:
    """Run `command` as a normal user who can reach `place`; skips the test where that is not possible."""
    prefix: list[str] = []
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("this test runs as root, who may do anything; it needs setpriv (util-linux) to be somebody else")
        let_normal_user_reach(place)
        prefix = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    return subprocess.run([*prefix, *command], capture_output=True, text=True, check=False)


def let_normal_user_reach(place: Path) -> None:
    """Open the way through the temporary folders above `place`."""
    temporary = Path(tempfile.gettempdir()).resolve()
    for folder in place.resolve().parents:
        if temporary in folder.parents:
            folder.chmod(folder.stat().st_mode | 0o011)


def give_to_normal_user(place: Path) -> None:
    """Make that user the owner of all of `place`, if we are root."""
    if os.geteuid() == 0:
        for path in (place, *place.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
