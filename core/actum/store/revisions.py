"""Which schemas this program knows."""

from __future__ import annotations

REVISIONS = ("0001", "0002", "0003")  # every schema this program can read or migrate, oldest first; the last is current
