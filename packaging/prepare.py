"""Sets up `.venv` and the system libraries Actum needs, once; every later call only looks. Standard library only.

Theory. `.venv/complete.json` is written last and removed first: an environment without it is half made, however it came
about, and is made anew. It names what the environment was made from (lock file, project file, place, Python), so a
change of any of them is seen. One set-up at a time: the others wait on a lock held on this very file.

System libraries come from apt on Debian and Ubuntu when this is root; otherwise the exact command is printed. Whether
they suffice is decided by loading Qt, not by the list.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

QT_LIBRARIES = ("libglib2.0-0", "libegl1", "libgl1", "libxkbcommon0", "libfontconfig1", "libdbus-1-3")
WINDOW_LIBRARIES = ("libxcb-cursor0", "libxcb-icccm4", "libxcb-keysyms1", "libxkbcommon-x11-0", "libxcb-shape0")
TEST_PACKAGES = ("xvfb", "xauth", "xdotool", "fonts-wqy-microhei", "strace")

TAIL_LINES = 15


class SetupFailed(Exception):
    """The set-up cannot go on: what happened, why, and the command or action that mends it."""

    def __init__(self, what: str, why: str, remedy: str) -> None:
        super().__init__(what)
        self.what, self.why, self.remedy = what, why, remedy

    def __str__(self) -> str:
        why = self.why.replace("\n", "\n            ")
        remedy = self.remedy.replace("\n", "\n            ")
        return f"{self.what}\nWhy:        {why}\nWhat to do: {remedy}\n            then call this command again."


@dataclass(frozen=True)
class Machine:
    """What the set-up has to know of this machine, and its two ways to act: so that each can be tried without it."""

    is_root: bool
    has_apt: bool
    installed: Callable[[Sequence[str]], frozenset[str]]
    run: Callable[[Sequence[str]], int]
    say: Callable[[str], None]


# --- system packages -------------------------------------------------------------------------------------------------


def missing_packages(wanted: Sequence[str], installed: frozenset[str]) -> list[str]:
    """Those of `wanted` that are not installed, under their own name or the one of the 64-bit time transition."""
    return [name for name in wanted if name not in installed and f"{name}t64" not in installed]


def ensure_packages(machine: Machine, wanted: Sequence[str]) -> bool:
    """True when all of `wanted` are there now. Installs them as root; otherwise prints the exact command."""
    if not machine.has_apt:
        return True  # another distribution or system: loading Qt will tell
    missing = missing_packages(wanted, machine.installed(wanted))
    if not missing:
        return True
    install = ["apt-get", "install", "-y", "--no-install-recommends", *missing]
    if not machine.is_root:
        machine.say("Some system packages are missing, and installing them needs an administrator. The command is:")
        machine.say(f"    sudo {' '.join(install)}")
        return False
    machine.say(f"Installing system packages: {' '.join(missing)}")
    machine.run(["apt-get", "update", "-qq"])  # an unreachable mirror is seen by the next command
    if machine.run([install[0], "-qq", *install[1:]]) == 0:
        return True
    machine.say("The system packages could not be installed (apt-get's own message stands above). The commands are:")
    machine.say(f"    apt-get update && {' '.join(install)}")
    return False


def installed_packages(names: Sequence[str]) -> frozenset[str]:
    """The names dpkg calls installed among `names` and their t64 forms."""
    both = [form for name in names for form in (name, f"{name}t64")]
    shown = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *both],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    rows = (line.split() for line in shown.stdout.splitlines())
    return frozenset(row[0] for row in rows if row[1:] == ["installed"])


# --- the virtual environment -----------------------------------------------------------------------------------------


def fingerprint(root: Path) -> dict[str, str]:
    """What a complete environment is made from."""

    def digest(name: str) -> str:
        return hashlib.sha256((root / name).read_bytes()).hexdigest()

    return {
        "requirements.lock": digest("requirements.lock"),
        "pyproject.toml": digest("pyproject.toml"),
        "place": str(root),
        "python": "{}.{}".format(*sys.version_info[:2]),
    }


def stamp(root: Path) -> dict[str, str] | None:
    """What the environment was made from, or None when it is missing, half made or unreadable."""
    if not (root / ".venv" / "bin" / "python").exists():
        return None
    try:
        found = json.loads((root / ".venv" / "complete.json").read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def due(root: Path) -> str:
    """What has to be done to the environment: "nothing", "project" (install the project again) or "everything"."""
    found, wanted = stamp(root), fingerprint(root)
    if found == wanted:
        return "nothing"
    if found is None or {**found, "pyproject.toml": ""} != {**wanted, "pyproject.toml": ""}:
        return "everything"
    return "project"


def write_stamp(root: Path) -> None:
    """Declare the environment complete: temporary file, then one rename."""
    target = root / ".venv" / "complete.json"
    fresh = target.with_suffix(".new")
    fresh.write_text(json.dumps(fingerprint(root), indent=2) + "\n")
    fresh.replace(target)


def base_python() -> str:
    """The interpreter outside any virtual environment: one cannot be made anew from itself."""
    return getattr(sys, "_base_executable", None) or sys.executable


def make_environment(machine: Machine, root: Path) -> None:
    """`.venv` from nothing. Raises SetupFailed."""
    python = base_python()
    probe = subprocess.run([python, "-I", "-c", "import ensurepip, venv"], capture_output=True, check=False)
    if probe.returncode:
        package = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
        if not (machine.has_apt and ensure_packages(machine, [package])):
            raise SetupFailed(
                "The virtual environment cannot be made.",
                f"{python} comes without the modules venv and ensurepip.",
                f"install them (on Debian and Ubuntu: sudo apt-get install {package})",
            )
    shutil.rmtree(root / ".venv", ignore_errors=True)
    command = [python, "-I", "-m", "venv", str(root / ".venv")]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        reason = tail(made.stdout + made.stderr)
        raise SetupFailed("The virtual environment cannot be made.", reason, "mend what the reason names")


def pip(root: Path, doing: str, *arguments: str) -> None:
    """Runs the environment's pip with this environment's variables (proxies, indexes). Raises SetupFailed."""
    command = [str(root / ".venv" / "bin" / "python"), "-m", "pip", "install", "--no-input", "--progress-bar", "off"]
    shown = sys.stderr.isatty()
    lines: list[str] = []
    with subprocess.Popen(
        [*command, *arguments], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.rstrip())
            if shown:
                sys.stderr.write(f"\r\x1b[2K{line.strip()[:100]}")
                sys.stderr.flush()
    if shown:
        sys.stderr.write("\r\x1b[2K")
    if process.returncode:
        raise SetupFailed(
            f"{doing} failed.",
            tail("\n".join(lines)),
            "if the network is only reachable through a proxy, set HTTPS_PROXY (pip reads it)",
        )


def tail(text: str) -> str:
    """The last lines of a tool's output: its reason stands there."""
    return "\n".join(text.strip().splitlines()[-TAIL_LINES:]) or "no message was given"


def check_qt(machine: Machine, root: Path) -> None:
    """Load Qt once. Raises SetupFailed with the loader's word when a system library is missing."""
    python = str(root / ".venv" / "bin" / "python")
    probe = subprocess.run(
        [python, "-I", "-c", "import PySide6.QtWidgets, PySide6.QtNetwork"], capture_output=True, text=True, check=False
    )
    if probe.returncode:
        command = f"sudo apt-get install -y --no-install-recommends {' '.join(QT_LIBRARIES)}"
        remedy = command if machine.has_apt else "install the package of your distribution that holds the named library"
        raise SetupFailed("Qt cannot be loaded.", tail(probe.stderr).splitlines()[-1], remedy)


def prepare(machine: Machine, root: Path, *, tests: bool) -> None:
    """Everything, or nothing when nothing is due. Raises SetupFailed."""
    packages = [*QT_LIBRARIES, *WINDOW_LIBRARIES, *(TEST_PACKAGES if tests else ())]
    ensure_packages(machine, packages)
    if due(root) == "nothing":
        return
    with (root / "packaging" / "prepare.py").open("rb") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        what = due(root)  # another set-up may have finished meanwhile
        if what == "nothing":
            return
        if what == "everything":
            machine.say("Setting up Actum in .venv, once: about 300 MB of packages, a minute or two.")
            make_environment(machine, root)
            pip(root, "Installing the locked packages", "--require-hashes", "-r", "requirements.lock")
        (root / ".venv" / "complete.json").unlink(missing_ok=True)
        pip(root, "Installing Actum into .venv", "--no-deps", "--no-build-isolation", "-e", ".")
        check_qt(machine, root)
        write_stamp(root)
        machine.say("Actum is set up.")


def this_machine() -> Machine:
    def run(command: Sequence[str]) -> int:
        variables = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        return subprocess.run(command, env=variables, stdout=sys.stderr, check=False).returncode

    def say(line: str) -> None:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()

    has_apt = bool(shutil.which("apt-get") and shutil.which("dpkg-query"))
    return Machine(os.geteuid() == 0, has_apt, installed_packages, run, say)


def main(arguments: Sequence[str]) -> int:
    try:
        prepare(this_machine(), ROOT, tests="--tests" in arguments)
    except SetupFailed as failure:
        sys.stderr.write(f"{failure}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\nThe set-up was interrupted. The next call begins it anew.\n")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
