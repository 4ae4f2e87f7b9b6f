"""The list of files of a manifest, written entry by entry as text: small, however many there are. Standard library only.

The text is, byte for byte, what `canonical.pretty` makes of the whole document. A package may hold PACKAGE_FILES_MAX files:
as objects they and the pieces of their JSON would take the host ten times the memory of the text that is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from actum import canonical

_PLACE = '\n  "files": []'  # of the list at the top: what lies deeper is further in, and no text holds a line feed
_IN = "\n    "


class Listed:
    """Attributes: count; size_bytes of the files together."""

    def __init__(self) -> None:
        self.count = self.size_bytes = 0
        self._text = bytearray()

    def add(self, entry: Mapping[str, Any]) -> None:
        """The next entry, in the order of the manifest."""
        text = canonical.pretty(entry).rstrip("\n").replace("\n", _IN)
        self._text += (("," if self.count else "") + _IN + text).encode()
        self.count += 1
        self.size_bytes += int(entry.get("size", 0))

    def inside(self, document: Mapping[str, Any]) -> Sequence[bytes | bytearray]:
        """The text of `document`, whose `files` is empty, with these in that place; in parts."""
        before, place, after = canonical.pretty(document).partition(_PLACE)
        if not self.count:
            return [f"{before}{place}{after}".encode()]
        return [f"{before}{place[:-1]}".encode(), self._text, f"\n  ]{after}".encode()]
