"""Canonical JSON and digests: equal meaning, equal bytes.

A host digests a few kilobytes when its work has ended, and loading OpenSSL for that would take longer than all of its
sealing. So while `hashlib` is not loaded, little content is digested by the interpreter's own sha256 (as `random` of the
standard library does it): the same digest, at a tenth of the speed.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Protocol

from actum.limits import HASH_SMALL_BYTES_MAX


class Hasher(Protocol):
    """A sha256 under way."""

    def update(self, data: bytes | bytearray | memoryview, /) -> None: ...

    def hexdigest(self) -> str: ...


def dumps(value: Any) -> str:
    """UTF-8 JSON text, keys sorted, no spaces. Floats are refused: numbers are integers or typed text."""
    _refuse_floats(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(value: Any) -> str:
    """sha256 of the canonical JSON, in hex."""
    return sha256(dumps(value).encode("utf-8", "surrogatepass"))


def sha256(content: bytes) -> str:
    """sha256 of `content`, in hex."""
    whole = hasher(len(content))
    whole.update(content)
    return whole.hexdigest()


def hasher(size: int) -> Hasher:
    """A fresh sha256 for about `size` bytes; more are digested as well, if slowly."""
    if size <= HASH_SMALL_BYTES_MAX and "hashlib" not in sys.modules:
        try:
            from _sha256 import sha256 as small  # type: ignore[import-not-found]  # no interpreter promises it
        except ImportError:
            pass
        else:
            made: Hasher = small()
            return made
    import hashlib

    return hashlib.sha256()


def pretty(value: Any) -> str:
    """JSON for files that people open: sorted keys, two spaces."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, indent=2, allow_nan=False) + "\n"


def _refuse_floats(value: Any) -> None:
    if isinstance(value, float):
        raise TypeError("a float has no canonical text here; give it as text")
    if isinstance(value, dict):
        for member in value.values():
            _refuse_floats(member)
    elif isinstance(value, (list, tuple)):
        for member in value:
            _refuse_floats(member)
