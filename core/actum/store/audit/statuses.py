"""Checks of statuses: pairs, recorded arrows, current attempts, the run's status, keys, release (R02, R03, R05, R06)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from actum import clock
from actum.limits import RECONCILE_EVERY_S
from actum.model.status import ARROWS, LEGAL, RELEASING, RETRYABLE, TERMINAL, AttemptEvent, Pair, Phase, RunStatus, Status
from actum.store.audit.report import Finding, Look

_BACKUP = "Something other than Actum wrote this row; compare it with a copy from backups/."
_EITHER = frozenset({Pair(Status.STOPPING, Phase.CLEANING_UP)})  # stopped while verifying: released already
_ATTEMPTS = "SELECT id, run, n, status, phase, released, finished_at_us FROM attempt ORDER BY run, n"


def legal_pairs(look: Look) -> Iterator[Finding]:
    """Every attempt stands in a pair of the table, and is released exactly where the table says so."""
    for row in look.each(_ATTEMPTS):
        pair = _pair(row)
        if pair is None:
            yield look.finding(_subject(row), f"{row['status']} / {row['phase']} is no pair of the status table.", _BACKUP)
        elif pair not in _EITHER and bool(row["released"]) is not _released(pair):
            word = "released" if row["released"] else "not released"
            yield look.finding(_subject(row), f"It is {word} in {pair}.", _BACKUP)


def recorded_arrows(look: Look) -> Iterator[Finding]:
    """The journal of each attempt is a chain of legal arrows that ends in its pair."""
    rows = look.each(
        "SELECT a.id, a.run, a.n, a.status, a.phase, j.data FROM attempt a"
        " LEFT JOIN journal j ON j.attempt = a.seq AND j.kind = 'status_changed' ORDER BY a.seq, j.seq"
    )
    here: Pair | None = None
    last: Mapping[str, Any] | None = None
    for row in rows:
        if last is None or row["id"] != last["id"]:
            yield from _chain_end(look, last, here)
            here = Pair(Status.CREATED, Phase.QUEUED)
        last = row
        if row["data"] is None or here is None:
            continue
        target = _step(here, json.loads(row["data"]))
        if target is None:
            yield look.finding(_subject(row), f"Its journal has an arrow that does not lead on from {here}.", _BACKUP)
        here = target
    yield from _chain_end(look, last, here)


def one_current(look: Look) -> Iterator[Finding]:
    """Every run has its newest attempt as the current one, and attempts numbered 1 to N."""
    rows = look.each(
        "SELECT r.number, r.current_attempt, count(a.seq) AS many, max(a.n) AS newest, min(a.n) AS first,"
        " (SELECT n FROM attempt c WHERE c.id = r.current_attempt AND c.run = r.number) AS current_n"
        " FROM run r LEFT JOIN attempt a ON a.run = r.number GROUP BY r.number"
    )
    for row in rows:
        subject = f"run {row['number']}"
        if row["current_n"] is None:
            yield look.finding(subject, "Its current attempt does not exist.", _BACKUP)
        elif row["current_n"] != row["newest"]:
            yield look.finding(subject, f"Attempt {row['current_n']} is current, but {row['newest']} exists.", _BACKUP)
        elif row["first"] != 1 or row["many"] != row["newest"]:
            yield look.finding(subject, f"Its {row['many']} attempts are not numbered 1 to {row['many']}.", _BACKUP)


def run_follows(look: Look) -> Iterator[Finding]:
    """A run has the status of its current attempt; RETRYING, or STOPPED while retrying, only after one that can be retried."""
    rows = look.each(
        "SELECT r.number, r.status, r.stop_requested_at_us, a.status AS attempt_status FROM run r"
        " JOIN attempt a ON a.id = r.current_attempt"
    )
    retryable = {status.value for status in RETRYABLE}
    for row in rows:
        same = row["status"] == row["attempt_status"]
        between = row["attempt_status"] in retryable and (
            row["status"] == RunStatus.RETRYING
            or (row["status"] == RunStatus.STOPPED and row["stop_requested_at_us"] is not None)
        )
        if not same and not between:
            yield look.finding(f"run {row['number']}", f"It is {row['status']}, its attempt {row['attempt_status']}.", _BACKUP)


def keys(look: Look) -> Iterator[Finding]:
    """No two runs have one key; numbers are not used twice."""
    look.count("SELECT count(*) FROM run")
    for row in look.reader.connection.execute(
        "SELECT key, count(*) AS many, min(number) AS first, max(number) AS last FROM run NOT INDEXED"
        " GROUP BY key HAVING count(*) > 1"
    ):
        yield look.finding(
            f"runs {row['first']} and {row['last']}",
            f"{row['many']} runs have the key “{row['key']}”.",
            "The same request may have been computed twice; keep the run you trust and delete the other.",
        )


def unreleased_alerts(look: Look) -> Iterator[Finding]:
    """Whatever ended long ago without being released has an open alert that says what is waited for (R09)."""
    patience_us = 2 * RECONCILE_EVERY_S * clock.US
    terminal = {status.value for status in TERMINAL}
    rows = look.each(
        "SELECT a.id, a.run, a.n, a.status, a.finished_at_us, EXISTS(SELECT 1 FROM alert WHERE alert.run = a.run"
        " AND cleared_at_us IS NULL) AS alerted FROM attempt a WHERE a.released = 0"
    )
    for row in rows:
        ended_us = row["finished_at_us"]
        if row["status"] not in terminal or row["alerted"] or ended_us is None:
            continue
        if clock.utc_us() - ended_us > patience_us:
            yield look.finding(
                _subject(row),
                "It ended, is not released, and no alert says what is waited for.",
                "Run `actum reconcile --wait`; it looks for what is left of the attempt.",
            )


def _step(here: Pair, data: Mapping[str, Any]) -> Pair | None:
    try:
        event = AttemptEvent(data["event"])
    except (KeyError, ValueError):
        return None
    target = ARROWS[here].get(event)
    return target if target is not None and list(data.get("from", ())) == list(here) else None


def _chain_end(look: Look, row: Mapping[str, Any] | None, here: Pair | None) -> Iterator[Finding]:
    if row is not None and here is not None and (row["status"], row["phase"]) != tuple(here):
        what = f"Its journal leads to {here}, but it is {row['status']} / {row['phase']}."
        yield look.finding(_subject(row), what, _BACKUP)


def _pair(row: Mapping[str, Any]) -> Pair | None:
    try:
        pair = Pair(Status(row["status"]), Phase(row["phase"]))
    except ValueError:
        return None
    return pair if pair.phase in LEGAL[pair.status] else None


def _released(pair: Pair) -> bool:
    after_release = {Phase.VERIFYING, Phase.PUBLISHING, Phase.PUBLISH_PENDING}
    return pair in RELEASING or pair.phase in after_release


def _subject(row: Mapping[str, Any]) -> str:
    return f"run {row['run']}, attempt {row['n']}"


CHECKS = (
    ("legal_pairs", "Every attempt is in a legal pair of status and phase", legal_pairs),
    ("recorded_arrows", "The journal explains every status", recorded_arrows),
    ("one_current", "Every run has exactly one current attempt", one_current),
    ("run_follows", "Every run has the status of its current attempt", run_follows),
    ("keys", "No two runs have one key", keys),
    ("unreleased_alerts", "What is held says why", unreleased_alerts),
)
