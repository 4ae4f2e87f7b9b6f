"""Contracts from options and from files: user code is imported in a child, never here (§15, §16)."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from actum import limits
from actum.contracts.define import Definition, define
from actum.contracts.document import load
from actum.contracts.extract import extract
from actum.errors import NotFound, WrongUse

TASK = '''
from __future__ import annotations
import os, sys
from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Literal, Optional
from actum.sdk import Context, InputFile, Param, task

print("noise on standard output")
os.write(1, b"more noise")

@task(title="Return and risk", version="3", timeout="2h", stage_timeouts={"load": "10m"}, stall_after="5m", retries=1)
def my_task(
    ctx: Context,
    prices: InputFile,
    symbol: str,
    window: Annotated[int, Param(minimum=2, unit="observations", title="Window")] = 12,
    rate: Decimal = Decimal("0.05"),
    eps: float = 1e-6,
    wait: timedelta = timedelta(minutes=5),
    how: Literal["mean", "last"] = "mean",
    note: Optional[str] = None,
) -> None:
    """What it does.

    At length.
    """
'''


def write(folder: Path, text: str, name: str = "work.py") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_contract_is_read_from_a_function_s_signature_and_decorator(tmp_path: Path) -> None:
    contract = load(extract(write(tmp_path, TASK), "my_task", sys.executable))
    assert (contract.name, contract.title, contract.version) == ("my-task", "Return and risk", "3")
    assert contract.description == "What it does.\n\nAt length."
    found = {p.name: (p.type, p.required, p.default) for p in contract.parameters}
    assert found == {
        "prices": ("file", True, None),
        "symbol": ("text", True, None),
        "window": ("integer", False, 12),
        "rate": ("decimal", False, "0.05"),
        "eps": ("float", False, "1e-06"),
        "wait": ("duration", False, "300000000us"),
        "how": ("choice", False, "mean"),
        "note": ("text", False, None),
    }
    window = contract.parameters[2]
    assert (window.minimum, window.unit, window.title) == (2, "observations", "Window")
    assert contract.policies.to_json()["deadline"] == "2h"
    assert contract.policies.retry.maximum == 1
    assert not (tmp_path / "__pycache__").exists()


@pytest.mark.parametrize(
    ("text", "function", "words"),
    [
        ("import nothing_of_that_name", "f", "nothing_of_that_name"),
        ("def f(: pass", "f", "SyntaxError"),
        ("x = 1", "f", "has no function “f”"),
        ("def f(a: complex): pass", "f", "has no parameter type"),
        ("from pathlib import Path\ndef f(a: Path): pass", "f", "InputFile"),
        ("def f(password): pass", "f", "sounds like a secret"),
        ("raise SystemExit(0)\n", "f", "no contract"),
    ],
)
def test_a_file_without_a_contract_says_why(tmp_path: Path, text: str, function: str, words: str) -> None:
    with pytest.raises(WrongUse) as refused:
        extract(write(tmp_path, text), function, sys.executable)
    assert words in str(refused.value)


def test_a_file_that_hangs_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(WrongUse) as refused:
        extract(write(tmp_path, "import time; time.sleep(60)"), "f", sys.executable, timeout_s=0.5)
    assert refused.value.code == "extract_timeout"


def test_an_answer_above_the_bound_is_no_contract(tmp_path: Path) -> None:
    text = f"def f(): pass\nf.__doc__ = 'x' * {limits.EXTRACT_OUTPUT_BYTES_MAX}\n"
    with pytest.raises(WrongUse):
        extract(write(tmp_path, text), "f", sys.executable)


def test_of_a_long_error_the_last_lines_are_shown_at_the_bound_and_one_above(tmp_path: Path) -> None:
    lines = limits.EXTRACT_SHOWN_LINES_MAX
    for count, first in ((lines, "line 0"), (lines + 1, "line 1")):
        text = f"import os, sys\nfor n in range({count}): print('line', n, file=sys.stderr)\nsys.stderr.flush()\nos._exit(1)\n"
        with pytest.raises(WrongUse) as refused:
            extract(write(tmp_path, text), "f", sys.executable)
        assert refused.value.why.splitlines()[0] == first


def test_the_time_limit_is_the_one_of_limits_unless_told_otherwise() -> None:
    assert extract.__kwdefaults__ == {"timeout_s": limits.EXTRACT_S_MAX}


def test_an_interpreter_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongUse):
        extract(write(tmp_path, "def f(): pass"), "f", "/bin/true")
    with pytest.raises(WrongUse) as refused:
        extract(write(tmp_path, "def f(): pass"), "f", str(tmp_path / "none"))
    assert refused.value.code == "interpreter_unusable"


def test_a_program_from_options(tmp_path: Path) -> None:
    script = write(tmp_path, "#!/bin/sh\n", "report.sh")
    script.chmod(0o700)
    said = Definition(
        name="report", program="./report.sh", arguments=["{prices}", "-w{window}"], cwd=".", outputs=["*.csv"],
        required=["out.csv"], parameters=["prices:file", "window:integer=12", "how:choice[a,b]=a", "note:text?"],
        timeout="1h", stage_timeouts=["load=10m"], grace="3s", retries=2, title="Report", version="2",
    )  # fmt: skip
    contract = load(define(said, tmp_path))
    assert contract.work.to_json()["program"] == str(script)
    assert contract.work.to_json()["cwd"] == str(tmp_path)
    assert [(p.name, p.type, p.default, p.optional) for p in contract.parameters] == [
        ("prices", "file", None, False),
        ("window", "integer", "12", False),
        ("how", "choice", "a", False),
        ("note", "text", None, True),
    ]
    assert (contract.outputs, contract.required, contract.version) == (("*.csv",), ("out.csv",), "2")
    assert contract.policies.to_json()["stage_deadlines"] == {"load": "10m"}


def test_options_override_what_the_function_says(tmp_path: Path) -> None:
    write(tmp_path, TASK)
    said = Definition(
        name="other", function="work.py:my_task", interpreter=sys.executable, timeout="30m", title="Mine",
        parameters=["window:integer=24", "extra:text=x"],
    )  # fmt: skip
    contract = load(define(said, tmp_path))
    assert (contract.name, contract.title, contract.version) == ("other", "Mine", "3")
    assert contract.policies.to_json()["deadline"] == "30m"
    assert contract.policies.to_json()["stall_after"] == "5m"
    assert [p.name for p in contract.parameters][:3] == ["prices", "symbol", "window"]
    assert contract.parameters[2].default == "24"


def test_a_bare_program_is_looked_for_on_the_path(tmp_path: Path) -> None:
    document = define(Definition(name="t", program="env"), tmp_path)
    assert os.path.isabs(document["work"]["program"])


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, "wrong_use"),
        ({"program": "env", "function": "f.py:f"}, "wrong_use"),
        ({"program": "./none"}, "no_such_program"),
        ({"program": "plain.txt"}, "not_executable"),
        ({"program": "env", "interpreter": "python3"}, "wrong_use"),
        ({"program": "env", "cwd": "nowhere"}, "no_such_folder"),
        ({"program": "env", "parameters": ["x"]}, "wrong_use"),
        ({"program": "env", "parameters": ["x:integer[3]"]}, "wrong_use"),
        ({"program": "env", "parameters": ["password:text"]}, "secret_refused"),
        ({"program": "env", "stage_timeouts": ["load"]}, "wrong_use"),
        ({"program": "env", "retries": -1}, "wrong_use"),
        ({"program": "env", "timeout": "soon"}, "contract_invalid"),
        ({"program": "env", "arguments": ["{nope}"]}, "contract_invalid"),
        ({"function": "nope.py:f"}, "no_such_file"),
        ({"function": "plain.txt"}, "wrong_use"),
        ({"function": "plain.txt:f", "arguments": ["x"]}, "wrong_use"),
    ],
)
def test_wrong_options_are_named(tmp_path: Path, options: dict[str, Any], code: str) -> None:
    write(tmp_path, "text", "plain.txt")
    with pytest.raises((WrongUse, NotFound)) as refused:
        define(Definition(name="t", **options), tmp_path)
    assert refused.value.code == code
