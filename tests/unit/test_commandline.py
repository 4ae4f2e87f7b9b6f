"""R19: values become arguments without a shell."""

from __future__ import annotations

import pytest
from actum.contracts.commandline import Value, fill, names
from actum.errors import WrongUse

VALUES: dict[str, Value] = {"a": "x y; rm -rf $HOME\n'\"", "none": None, "many": ["p q", "r"], "b": "{a}"}


@pytest.mark.parametrize(
    ("arguments", "filled"),
    [
        (["{a}"], [VALUES["a"]]),
        (["--a={a}", "z"], [f"--a={VALUES['a']}", "z"]),
        (["{b}"], ["{a}"]),  # a value is data and is not filled again
        (["{{a}}", "}}{{"], ["{a}", "}{"]),
        (["--x={none}", "z"], ["z"]),
        (["--x", "{none}", "z"], ["z"]),
        (["z", "{none}"], ["z"]),
        (["--x", "pre{none}"], ["--x"]),
        (["{many}"], ["p q", "r"]),
        (["--m={many}"], ["--m=p q,r"]),
        ([], []),
    ],
)
def test_filling(arguments: list[str], filled: list[str]) -> None:
    assert fill(arguments, VALUES) == filled


def test_a_lone_brace_is_refused_and_names_are_found() -> None:
    assert names(["{a}{b}", "{{c}}"]) == {"a", "b"}
    for wrong in ("{", "}", "{a b}", "{}"):
        with pytest.raises(WrongUse):
            names([wrong])
