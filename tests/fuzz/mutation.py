"""Changing documents where it hurts: one value for another kind of value, a member gone, doubled, renamed, nested deep."""

from __future__ import annotations

import json
import random
from typing import Any

NASTY: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 10**12, 2**63 - 1, 2**63, -(2**63) - 1, 10**40, 0.5, 1e308, float("inf"), float("nan"),
    "", "x", "\0", "\ud800", "../x", "/", "a" * 5_000, "１２", "2h", "5e" * 16, [], [[]], [None], {}, {"": None}, {"v": {}},
)  # fmt: skip


def mutate(data: bytes, seed: int, *, changes_max: int = 4) -> bytes:
    """A document near the one in `data` (lines of JSON are changed line by line); bytes that hold none are cut or flipped."""
    rng = random.Random(seed)
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    try:
        document = json.loads(lines[at])
    except (ValueError, RecursionError):
        return _scrambled(data, rng)
    for _ in range(rng.randint(1, changes_max)):
        document = _changed(document, rng)
    if rng.random() < 0.05:
        for _ in range(rng.choice((10, 900, 3_000))):
            document = [document]
    try:
        text = json.dumps(document, ensure_ascii=rng.random() < 0.5)
        text = text.replace("Infinity", "1e999") if rng.random() < 0.5 else text
        lines[at] = text.encode("utf-8", "surrogatepass")
    except RecursionError:
        lines[at] = b"[" * 3_000
    return b"\n".join(lines)


def _changed(document: Any, rng: random.Random) -> Any:
    """`document` with one node changed, chosen by walking down at random."""
    if isinstance(document, dict) and document and rng.random() < 0.9:
        name = rng.choice(sorted(document))
        deed = rng.random()
        if deed < 0.1:
            return {key: value for key, value in document.items() if key != name}
        if deed < 0.2:
            return {**document, rng.choice(("x", "type", "size", name + "x", "")): rng.choice(NASTY)}
        return {**document, name: _changed(document[name], rng)}
    if isinstance(document, list) and document and rng.random() < 0.8:
        at = rng.randrange(len(document))
        if rng.random() < 0.2:
            return [*document, *document]
        return [*document[:at], _changed(document[at], rng), *document[at + 1 :]]
    return rng.choice(NASTY)


def _scrambled(data: bytes, rng: random.Random) -> bytes:
    if not data or rng.random() < 0.1:
        return bytes(rng.randrange(256) for _ in range(rng.randrange(40)))
    at = rng.randrange(len(data))
    return rng.choice((data[:at], data[at:], data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :], data * 2))
