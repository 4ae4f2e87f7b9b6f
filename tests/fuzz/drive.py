"""One target under the coverage-guided fuzzer, as a process of its own: `python -m tests.fuzz.drive TARGET CORPUS -option…`."""

from __future__ import annotations

import random
import sys

import atheris  # type: ignore[import-not-found]  # installed beside, by packaging/fuzz.lock

with atheris.instrument_imports(include=["actum"]):
    from tests.fuzz import targets

from tests.fuzz.mutation import mutate


def change(data: bytes, size_max: int, seed: int) -> bytes:
    """Half of the inputs are changed as documents, half as bytes."""
    if random.Random(seed).random() < 0.5:
        return mutate(data, seed)[:size_max]
    return bytes(atheris.Mutate(data, size_max))


def main() -> None:
    name = sys.argv.pop(1)
    atheris.Setup(sys.argv, targets.TARGETS[name], custom_mutator=change)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
