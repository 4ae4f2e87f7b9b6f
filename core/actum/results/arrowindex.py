"""Where the batches of an Arrow file stand and how many rows each has, read from its own index without unpacking one (R11).

A file ends with a footer that names the place of each batch; a stream is passed over message by message. Of each only the
head is read, a FlatBuffers table: what a batch holds stays untouched. Layouts are those of Arrow's format, metadata V4 and V5.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

_MAGIC = b"ARROW1"
_CONTINUATION = b"\xff\xff\xff\xff"
_BLOCK_BYTES = 24  # of a place in the footer: offset, length of the head, 4 bytes of nothing, length of the body
_BATCH = 3  # of MessageHeader: schema 1, dictionary batch 2, record batch 3
_FOOTER_BATCHES, _MESSAGE_KIND, _MESSAGE_HEADER, _MESSAGE_BODY, _BATCH_ROWS, _BATCH_PACKED = 3, 1, 2, 3, 0, 3

Bytes = memoryview | bytes


class NoIndex(ValueError):
    """The bytes are no index of batches; says why."""


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch: its rows, and whether its values are packed."""

    rows: int
    packed: bool


def batches(content: Bytes) -> list[Batch]:
    """All batches, in their order. Raises NoIndex."""
    try:
        found = _of_file(content) if bytes(content[:6]) == _MAGIC else _of_stream(content)
        return list(found)
    except (struct.error, IndexError, OverflowError) as error:
        raise NoIndex(f"its index points outside of it: {error}") from error


def _of_file(content: Bytes) -> Iterator[Batch]:
    end = len(content)
    if end < 22 or bytes(content[end - 6 :]) != _MAGIC:
        raise NoIndex("it does not end as an Arrow file ends")
    size = _number(content, "<i", end - 10)
    start = end - 10 - size
    if size <= 0 or start < 8:
        raise NoIndex("the length of its footer is none")
    footer = content[start : end - 10]
    place = _field(footer, _root(footer), _FOOTER_BATCHES)
    if place is None:
        return
    vector = place + _number(footer, "<I", place)
    for number in range(_number(footer, "<I", vector)):
        at = vector + 4 + number * _BLOCK_BYTES
        offset, head = struct.unpack_from("<qi", footer, at)
        if offset < 0 or head <= 0 or offset + head > end:
            raise NoIndex("it names a batch that is not in it")
        found = _batch(_head(content, offset, head)[0])
        if found is None:
            raise NoIndex("it names a batch that is none")
        yield found


def _of_stream(content: Bytes) -> Iterator[Batch]:
    offset, end = 0, len(content)
    while offset + 8 <= end:
        size = _number(content, "<i", offset + 4)
        if size == 0:
            return
        if bytes(content[offset : offset + 4]) != _CONTINUATION or size < 0 or offset + 8 + size > end:
            raise NoIndex("a message of it has no head")
        head, body = _head(content, offset, 8 + size)
        found = _batch(head)
        if found is not None:
            yield found
        offset += 8 + size + body
        if body < 0:
            raise NoIndex("a message of it has a length below zero")


def _head(content: Bytes, offset: int, size: int) -> tuple[Bytes, int]:
    """The FlatBuffers table of the message at `offset`, and how long its body is."""
    prefix = 8 if bytes(content[offset : offset + 4]) == _CONTINUATION else 4  # files of old had no continuation mark
    head = content[offset + prefix : offset + size]
    place = _field(head, _root(head), _MESSAGE_BODY)
    return head, 0 if place is None else _number(head, "<q", place)


def _batch(head: Bytes) -> Batch | None:
    """The record batch that a message announces; None where it is another message."""
    root = _root(head)
    kind = _field(head, root, _MESSAGE_KIND)
    header = _field(head, root, _MESSAGE_HEADER)
    if kind is None or header is None or head[kind] != _BATCH:
        return None
    table = header + _number(head, "<I", header)
    rows = _field(head, table, _BATCH_ROWS)
    count = 0 if rows is None else _number(head, "<q", rows)
    if count < 0:
        raise NoIndex("a batch of it has fewer rows than none")
    return Batch(count, _field(head, table, _BATCH_PACKED) is not None)


def _root(table: Bytes) -> int:
    return _number(table, "<I", 0)


def _field(content: Bytes, table: int, field: int) -> int | None:
    """Where a field of a FlatBuffers table stands; None where it is left out."""
    described = table - _number(content, "<i", table)
    if described < 0:
        raise NoIndex("its index points before its beginning")
    if 4 + 2 * field >= _number(content, "<H", described):
        return None
    offset = _number(content, "<H", described + 4 + 2 * field)
    return table + offset if offset else None


def _number(content: Bytes, layout: str, at: int) -> int:
    if at < 0:
        raise NoIndex("its index points before its beginning")
    found: int = struct.unpack_from(layout, content, at)[0]
    return found
