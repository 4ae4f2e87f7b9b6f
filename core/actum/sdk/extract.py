"""Prints the contract of one function as JSON: `python extract.py FILE.py:NAME`.

The file is imported here, in a child process, and never in the app. What it prints while it is imported goes to standard
error, so that standard output holds the document alone. Exit codes: 0 printed; 1 the file raised; 2 it has no such contract.
"""

from __future__ import annotations

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _HERE]
sys.path.insert(0, os.path.dirname(os.path.dirname(_HERE)))

import json  # noqa: E402 - the path had to be mended first
import traceback  # noqa: E402
from typing import Any, Dict, List  # noqa: E402

from actum.sdk.decorator import MARK  # noqa: E402
from actum.sdk.loading import NoSuchFunction, load, split  # noqa: E402
from actum.sdk.signature import SignatureRefused, described, parameters_of  # noqa: E402


def main(arguments: List[str]) -> int:
    """Print the contract of the function that `arguments` names; the exit code."""
    answer = os.dup(1)
    os.dup2(2, 1)
    try:
        document = contract_of(arguments[0])
    except (NoSuchFunction, SignatureRefused) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except Exception:
        traceback.print_exc()
        return 1
    with os.fdopen(answer, "w", encoding="utf-8") as out:
        json.dump(document, out, ensure_ascii=False, default=str)
    return 0


def contract_of(spec: str) -> Dict[str, Any]:
    """What the file says of its function; what it leaves out has the contract's defaults."""
    path, name = split(spec)
    function = load(spec)
    said = dict(getattr(function, MARK, {}))
    return {
        "schema": "actum.contract/1",
        "name": name.lower().strip("_").replace("_", "-"),
        "description": described(function) or "",
        **said,
        "work": {"kind": "function", "file": path, "function": name, "interpreter": sys.executable},
        "parameters": parameters_of(function),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
