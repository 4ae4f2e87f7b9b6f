"""Reads the contract of a user's function in a child process: user code is never imported here (§15).

The child imports the file with the interpreter that will run it, prints the contract document and ends. It has a time
limit, its answer has a bound in bytes, and what it or the file prints besides is shown only if it fails.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actum import limits
from actum.contracts.document import load
from actum.engines import sdkfolder
from actum.errors import ActumError, WrongUse

EXIT_NO_CONTRACT = 2


def extract(file: Path, function: str, interpreter: str, *, timeout_s: float = limits.EXTRACT_S_MAX) -> dict[str, Any]:
    """The whole contract document of `function` in `file`, checked. Raises WrongUse when there is none."""
    with tempfile.TemporaryDirectory(prefix="actum-extract-") as folder:
        runner = Path(sdkfolder.sdk_folder(Path(folder)), "actum", "sdk", "extract.py")
        command = [interpreter, os.fspath(runner), f"{file}:{function}"]
        answer, errors, code = _run(command, file, timeout_s)
    if code == EXIT_NO_CONTRACT:
        raise _refused(file, function, _last_lines(errors), "Mend the function's signature or its name.")
    if code != 0:
        raise _refused(file, function, _last_lines(errors), "Mend the file, or name the interpreter that has what it imports.")
    try:
        document = json.loads(answer)
    except ValueError:
        raise _refused(file, function, "The child gave no contract.", "Name a Python interpreter, 3.9 or newer.") from None
    return load(_with_interpreter(document, interpreter)).to_json()


def _with_interpreter(document: Mapping[str, Any], interpreter: str) -> dict[str, Any]:
    """The interpreter as it was named: a link into a virtual environment is not the same as its target."""
    return {**document, "work": {**document["work"], "interpreter": interpreter}}


def _run(command: list[str], file: Path, timeout_s: float) -> tuple[bytes, bytes, int]:
    """Standard output, standard error and exit code; both outputs go to files, so that a flood fills no memory."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ACTUM_")}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=environment,
                cwd=file.parent,
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            why = f"It did not answer within {timeout_s:g} s."
            raise WrongUse("extract_timeout", f"{file} cannot be read.", why, "Importing a file starts no long work.") from None
        except OSError as error:
            remedy = "Name a Python interpreter, 3.9 or newer."
            raise WrongUse("interpreter_unusable", f"{command[0]} cannot be started.", f"{error.strerror}.", remedy) from error
        out.seek(0)
        err.seek(max(0, err.seek(0, os.SEEK_END) - limits.ERROR_TEXT_CHARS_MAX))
        return out.read(limits.EXTRACT_OUTPUT_BYTES_MAX), err.read(), done.returncode


def _last_lines(errors: bytes) -> str:
    lines = errors.decode("utf-8", "replace").strip().splitlines()[-limits.EXTRACT_SHOWN_LINES_MAX :]
    return "\n".join(lines) or "It said nothing."


def _refused(file: Path, function: str, why: str, remedy: str) -> ActumError:
    return WrongUse("no_contract", f"{file} gives no contract for “{function}”.", why, remedy)
