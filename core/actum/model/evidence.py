"""What one look at the world found of one attempt, in the words of §6."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from actum.model.identity import ProcessIdentity


class HostSeen(StrEnum):
    ALIVE = "alive"
    GONE = "gone"
    UNKNOWN = "unknown"


class OutcomeSeen(StrEnum):
    NONE = "none"
    SEALED = "sealed"
    FAILED = "failed"
    STOPPED = "stopped"  # for another cause than a deadline
    DEADLINE = "deadline"  # stopped by a deadline
    UNKNOWN = "unknown"  # unreadable


class TreeSeen(StrEnum):
    CLEAR = "clear"
    LEFT = "left"
    UNKNOWN = "unknown"


class ClaimSeen(StrEnum):
    NONE = "none"
    HOST = "host"
    REVOKED = "revoked"
    UNKNOWN = "unknown"


class PackageSeen(StrEnum):
    STAGING = "staging"
    RESULTS = "results"
    DIFFERS = "differs"
    NEITHER = "neither"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Member:
    """One living process of an attempt's tree and how it was recognised: cookie, recorded, descendant or alive_lock."""

    identity: ProcessIdentity
    command: str
    found_by: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """Gathered in this order: host, then outcome, then tree, claim, package. `why` holds a sentence for each thing unknown.

    `tree_method` says how TreeSeen was established: subreaper, lock + scan, boot; `boot` means another boot id on the same
    machine, which needs no second look. `claim` and `outcome_document` are the files as read. `traces` are looked for where
    there is no claim of the host: names of what only work that was started leaves in the attempt's folder.
    """

    at_us: int
    host: HostSeen
    outcome: OutcomeSeen
    tree: TreeSeen
    claim: ClaimSeen
    package: PackageSeen = PackageSeen.UNKNOWN
    tree_method: str = ""
    host_method: str = ""
    members: tuple[Member, ...] = ()
    host_identity: ProcessIdentity | None = None
    claim_document: Mapping[str, Any] = field(default_factory=dict)
    outcome_document: Mapping[str, Any] = field(default_factory=dict)
    why: Mapping[str, str] = field(default_factory=dict)
    traces: tuple[str, ...] = ()
