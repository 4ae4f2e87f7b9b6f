"""The manifest as it is written, entry by entry: the very bytes of the whole document (R14, FORMATS "manifest.json")."""

from __future__ import annotations

from typing import Any

import pytest
from actum import canonical
from actum.results.listed import Listed


def entry(number: int) -> dict[str, Any]:
    name = f'files/é "{number}"\n\\'
    return {"name": name, "role": "table", "size": number, "sha256": "0" * 64, "chunks": ["a", "b"][:number], "form": {}}


@pytest.mark.parametrize("count", [0, 1, 3])
def test_the_parts_are_the_text_of_the_whole(count: int) -> None:
    """Nor do other members of that name, nor a text that looks like the place, deceive it."""
    document = {"a": {"files": []}, "files": [], "contract": {"files": [], "t": '\n  "files": []'}, "z": [{"files": []}]}
    listed = Listed()
    for number in range(count):
        listed.add(entry(number))
    whole = canonical.pretty({**document, "files": [entry(number) for number in range(count)]})
    assert b"".join(listed.inside(document)).decode() == whole
    assert (listed.count, listed.size_bytes) == (count, sum(range(count)))
