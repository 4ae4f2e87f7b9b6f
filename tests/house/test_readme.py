"""What README.md tells a newcomer to type is understood by the command line, and the files it names are there."""

from __future__ import annotations

import re
import shlex

import pytest
from actum_desktop.commands.parser import parse

from tests.house.sources import ROOT, text

README = text(ROOT / "README.md")


def told() -> list[str]:
    """Every line of a code block that calls the program."""
    blocks = re.findall(r"^```\n(.*?)^```", README, re.S | re.M)
    return [line for block in blocks for line in block.splitlines() if line.startswith("actum ")]


def test_the_readme_tells_what_to_type() -> None:
    verbs = {line.split()[1] for line in told()}
    assert {"demo", "task", "run", "reconcile", "show", "verify"} <= verbs


@pytest.mark.parametrize("line", told())
def test_what_the_readme_says_is_understood(line: str) -> None:
    call = parse(shlex.split(line)[1:])
    assert call.run is not None, f"README.md tells the reader to type “{line}”"


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`((?:packaging|core|\.ci)/[\w./]+)`", README))))
def test_what_the_readme_names_is_there(name: str) -> None:
    assert (ROOT / name).exists(), f"README.md names {name}"


@pytest.mark.parametrize(
    "promise",
    ["no sandbox", "does not prove the formula", "Log-out and reboot end work", "Windows and macOS"],
)
def test_the_readme_says_what_is_not_promised(promise: str) -> None:
    assert promise in README
