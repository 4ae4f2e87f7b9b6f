"""The words that people gave of attempts that are open still, read from the journal for a new service instance (§6, R18)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from actum.limits import PAGE_ROWS_MAX
from actum.model.run import AttemptRow
from actum.model.status import Contact, Phase
from actum.store.queries import Reader
from actum.supervise import attesting


def with_words(reader: Reader, rows: Iterable[AttemptRow]) -> tuple[AttemptRow, ...]:
    """The same rows; one that holds, or is being cleaned up, with the word that stands of it."""
    return tuple(replace(row, attested=attesting.on_record(_entries(reader, row))) if _may(row) else row for row in rows)


def _may(row: AttemptRow) -> bool:
    return not row.released and (row.contact is Contact.CANNOT_TELL or row.pair.phase is Phase.CLEANING_UP)


def _entries(reader: Reader, row: AttemptRow) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    """What the journal has of this attempt, oldest first, page by page."""
    after = 0
    while page := reader.journal(row.run, after):
        yield from ((entry.kind, entry.at_us, entry.data) for entry in page if entry.n == row.n)
        if len(page) < PAGE_ROWS_MAX:
            return
        after = page[-1].seq
