"""What this workspace itself shows of its use: runs, ends from outside that were survived, checks of results; bounded looks.

It is no test: nobody chose the cases. Events, checks and failures are counted among the newest OBSERVED_ROWS_MAX, so that
the answer comes at once in a workspace of any size; `whole` says whether that was all of them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from actum.limits import OBSERVED_ROWS_MAX
from actum.store.queries import Reader

SQLITE = f"SQLite {sqlite3.sqlite_version}"

_NEWEST = "SELECT kind, count(*) FROM (SELECT kind FROM journal ORDER BY seq DESC LIMIT ?) GROUP BY kind"
_CHECKS = "SELECT state, count(*) FROM (SELECT state FROM result_check ORDER BY seq DESC LIMIT ?) GROUP BY state"
_LOST = "SELECT code, count(*) FROM (SELECT failure_code AS code FROM attempt ORDER BY seq DESC LIMIT ?) GROUP BY code"
_INSTANCES = (
    "SELECT count(*), coalesce(sum(closed_at_us IS NULL AND epoch < (SELECT max(epoch) FROM service_instance)), 0),"
    " min(opened_at_us) FROM service_instance"
)


@dataclass(frozen=True, slots=True)
class Observed:
    """`runs` by status; `unclean` = supervisors that were ended from outside; `resumed` = contacts with a living host that
    were taken up again; `checks` by result state. `since_us` None = nothing was ever supervised here."""

    runs: Mapping[str, int]
    since_us: int | None
    instances: int
    unclean: int
    resumed: int
    hosts_lost: int
    checks: Mapping[str, int]
    whole: bool


def observed(reader: Reader) -> Observed:
    """One consistent look. Raises WorkspaceUnusable where the database cannot be read."""
    with reader.snapshot():
        connection = reader.connection
        events = _counted(connection, _NEWEST)
        checks = _counted(connection, _CHECKS)
        failures = _counted(connection, _LOST)
        instances, unclean, since_us = connection.execute(_INSTANCES).fetchone()
        return Observed(
            runs=reader.counts(),
            since_us=since_us,
            instances=instances,
            unclean=unclean,
            resumed=events.get("contact_resumed", 0),
            hosts_lost=failures.get("host_lost", 0),
            checks=checks,
            whole=max(sum(each.values()) for each in (events, checks, failures)) < OBSERVED_ROWS_MAX,
        )


def _counted(connection: sqlite3.Connection, query: str) -> dict[str, int]:
    return {str(word): int(number) for word, number in connection.execute(query, (OBSERVED_ROWS_MAX,))}
