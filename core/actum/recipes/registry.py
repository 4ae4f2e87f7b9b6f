"""The tasks that come with the program: name → the file and function that do the work, and their contract.

A recipe's contract is written down beside its function, in plain data, so that listing tasks imports nothing but data and
no child is needed to read it; a test holds it against the function's own signature.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actum.recipes import contracts, profile_contract

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Recipe:
    """One built-in task. `document` is its contract document; `file` and `function` are what the SDK's runner calls.

    A recipe that `needs_packages` gets the packages Actum is installed with (pyarrow, duckdb); the others start without them.
    """

    name: str
    file: Path
    function: str
    document: Mapping[str, Any]
    needs_packages: bool = False

    @property
    def isolation(self) -> tuple[str, ...]:
        """The options of our own interpreter: always isolated from the user's environment and folder."""
        return ("-I",) if self.needs_packages else ("-I", "-S")


def _recipe(document: Mapping[str, Any], file: str, function: str, *, needs_packages: bool = False) -> Recipe:
    return Recipe(document["name"], _FOLDER / file, function, document, needs_packages)


RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        _recipe(contracts.RETURN_AND_RISK, "return_and_risk.py", "return_and_risk"),
        _recipe(profile_contract.PROFILE_TABLE, "profile_table.py", "profile_table", needs_packages=True),
        _recipe(contracts.DEMO_STEPS, "demo.py", "steps"),
        _recipe(contracts.DEMO_STALL, "demo.py", "stall"),
        _recipe(contracts.DEMO_FAILS, "demo.py", "fails"),
    )
}


def find(name: str) -> Recipe | None:
    return RECIPES.get(name)


def documents() -> list[Mapping[str, Any]]:
    """The contract documents of all built-in tasks, to be defined in a new workspace."""
    return [recipe.document for recipe in RECIPES.values()]
