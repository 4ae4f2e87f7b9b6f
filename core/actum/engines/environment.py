"""The environment a host and its work start with: a named profile, without anything of Actum's own (§7 of the protocol).

*inherit* is what Actum itself was started with; *clean* keeps only what a program needs to find its home and its language;
*login* is what the user's login shell says, asked once and kept while Actum lives. ACTUM_* is stripped from each, so that
work which calls `actum` starts a tree of its own; ACTUM_FAULT alone reaches the host, which does not pass it on.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping

from actum import limits
from actum.errors import ActumError

_KEPT = ("HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "XDG_RUNTIME_DIR")
_PATH_DEFAULT = "/usr/local/bin:/usr/bin:/bin"
_FAULT = "ACTUM_FAULT"
_MARK = b"\0ACTUM-ENVIRONMENT\0"  # what a login script prints itself stands before it
_captured: dict[str, dict[str, str]] = {}


def host_environment(profile: str, base_env: Mapping[str, str]) -> dict[str, str]:
    """The variables of a host for `profile`, given Actum's own. Raises ActumError(start_error) if the login shell fails."""
    if profile == "inherit":
        environment = dict(base_env)
    elif profile == "clean":
        kept = {name: value for name, value in base_env.items() if name in _KEPT or name.startswith("LC_")}
        environment = {"PATH": _PATH_DEFAULT, **kept}
    elif profile == "login":
        environment = dict(login_environment(base_env))
    else:
        raise ValueError(f"no such profile: {profile}")
    stripped = _unfrozen({name: value for name, value in environment.items() if not name.startswith("ACTUM_")})
    if _FAULT in base_env:
        stripped[_FAULT] = base_env[_FAULT]
    return stripped


def _unfrozen(environment: dict[str, str]) -> dict[str, str]:
    """Without the library path that a frozen program sets for itself; the user's own comes back."""
    original = environment.pop("LD_LIBRARY_PATH_ORIG", None)
    if original is not None:
        environment["LD_LIBRARY_PATH"] = original
    elif "_MEIPASS2" in environment or "_PYI_ARCHIVE_FILE" in environment:
        environment.pop("LD_LIBRARY_PATH", None)
    return {name: value for name, value in environment.items() if not name.startswith(("_MEIPASS", "_PYI_"))}


def login_environment(base_env: Mapping[str, str]) -> Mapping[str, str]:
    """What the user's login shell sets, asked once per shell. Raises ActumError(start_error)."""
    shell = base_env.get("SHELL") or "/bin/sh"
    if shell not in _captured:
        _captured[shell] = _ask(shell, host_environment("clean", base_env))
    return _captured[shell]


def _ask(shell: str, environment: Mapping[str, str]) -> dict[str, str]:
    command = [shell, "-l", "-c", r"printf '\0ACTUM-ENVIRONMENT\0'; exec env -0"]
    try:
        answer = subprocess.run(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=limits.LOGIN_SHELL_S_MAX,
            start_new_session=True,
            check=True,
        ).stdout
    except subprocess.TimeoutExpired:
        raise _failed(shell, f"It did not answer within {limits.LOGIN_SHELL_S_MAX} s.") from None
    except (OSError, subprocess.CalledProcessError) as error:
        raise _failed(shell, f"{error}.") from error
    _, mark, listed = answer.partition(_MARK)
    if not mark or len(listed) > limits.LOGIN_SHELL_OUTPUT_BYTES_MAX:
        raise _failed(shell, "It did not list its variables.")
    pairs = (os.fsdecode(entry).partition("=") for entry in listed.split(b"\0") if entry)
    return {name: value for name, _, value in pairs if name not in ("_", "SHLVL", "PWD", "OLDPWD")}


def _failed(shell: str, why: str) -> ActumError:
    return ActumError(
        "start_error",
        f"The environment of the login shell {shell} could not be read.",
        why,
        "Choose another profile for the task, inherit or clean.",
    )
