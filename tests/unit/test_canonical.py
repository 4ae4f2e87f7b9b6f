"""Canonical JSON and digests: the same digest whichever sha256 computes it."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys

import pytest
from actum import canonical, limits

# In an interpreter without `hashlib`, as a host is one: digests of so many bytes, and whether OpenSSL was loaded for each.
SOURCE = """
import json, sys
sys.path.insert(0, sys.argv[1])
from actum import canonical
found = []
for size in json.loads(sys.argv[2]):
    found.append([canonical.sha256(b"x" * size), "_hashlib" in sys.modules])
print(json.dumps(found))
"""


def test_little_content_is_digested_without_openssl_and_alike() -> None:
    """HASH_SMALL_BYTES_MAX: up to it the interpreter's own sha256, above it hashlib's."""
    sizes = [0, 1, limits.HASH_SMALL_BYTES_MAX, limits.HASH_SMALL_BYTES_MAX + 1, 5]
    place = canonical.__file__.removesuffix("/actum/canonical.py")
    command = [sys.executable, "-I", "-S", "-c", SOURCE, place, json.dumps(sizes)]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert [digest for digest, _ in found] == [hashlib.sha256(b"x" * size).hexdigest() for size in sizes]
    assert [loaded for _, loaded in found] == [False, False, False, True, True]


def test_an_interpreter_without_a_sha256_of_its_own_takes_that_of_hashlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "_sha256", None)
    monkeypatch.delitem(sys.modules, "hashlib")
    assert canonical.sha256(b"x") == hashlib.sha256(b"x").hexdigest()


def test_equal_meaning_has_equal_digests_and_a_float_has_none() -> None:
    assert canonical.digest({"b": [1, None], "a": "é"}) == canonical.digest({"a": "é", "b": [1, None]})
    with pytest.raises(TypeError):
        canonical.digest({"a": 1.0})
