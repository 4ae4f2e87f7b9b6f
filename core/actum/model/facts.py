"""The fourteen facts of R01: a closed, ordered list; each is one row, written once per attempt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class FactName(StrEnum):
    ADMITTED = "admitted"
    INPUTS_FROZEN = "inputs_frozen"
    LAUNCHED = "launched"
    CONTACT_MADE = "contact_made"
    COMPUTATION_ENDED = "computation_ended"
    SEALED = "sealed"
    HOST_EXITED = "host_exited"
    TREE_GONE = "tree_gone"
    RELEASED = "released"
    BYTES_VERIFIED = "bytes_verified"
    CONTENT_VERIFIED = "content_verified"
    PUBLISHED = "published"
    REFERENCE_COMMITTED = "reference_committed"
    SUCCEEDED = "succeeded"


FACTS: tuple[FactName, ...] = tuple(FactName)
POSITION: dict[FactName, int] = {name: index for index, name in enumerate(FACTS)}


@dataclass(frozen=True, slots=True)
class Fact:
    """One established fact. `evidence` holds at least `method`; the store adds the observer (service instance, epoch)."""

    name: FactName
    at_us: int
    evidence: Mapping[str, Any] = field(default_factory=dict)


def is_prefix(names: list[FactName] | tuple[FactName, ...]) -> bool:
    """Whether `names`, in their order, are the first k of the fourteen."""
    return tuple(names) == FACTS[: len(names)]
