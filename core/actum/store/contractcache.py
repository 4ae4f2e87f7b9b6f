"""Contracts, parsed once: a contract never changes, so it is kept by its digest, at most CONTRACTS_CACHED_MAX of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from actum.limits import CONTRACTS_CACHED_MAX

_contracts: dict[str, Mapping[str, Any]] = {}


def contract_of(digest: str, text: str) -> Mapping[str, Any]:
    """The parsed contract."""
    contract = _contracts.get(digest)
    if contract is None:
        contract = json.loads(text)
        while len(_contracts) >= CONTRACTS_CACHED_MAX:
            _contracts.pop(next(iter(_contracts)), None)
        _contracts[digest] = contract
    return contract
