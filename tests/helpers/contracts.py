"""Small contracts for tests of parameters, requests and launches."""

from __future__ import annotations

from typing import Any

from actum.contracts.document import Contract, load


def contract_document(*parameters: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A contract document of a program with the given parameters."""
    work: dict[str, Any] = {"kind": "program", "program": "/bin/true", "arguments": [], "cwd": None}
    return {"name": "sample", "work": work, "parameters": list(parameters), **more}


def contract(*parameters: dict[str, Any], **more: Any) -> Contract:
    return load(contract_document(*parameters, **more))
