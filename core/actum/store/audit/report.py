"""What an audit gives: findings, each with its remedy, and what was examined."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from actum.store.queries import Reader
from actum.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be. `note` = worth saying, but nothing of Actum's is wrong."""

    check: str
    subject: str
    what: str
    remedy: str
    note: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "check": self.check,
            "subject": self.subject,
            "what": self.what,
            "remedy": self.remedy,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check done. `examined` counts rows or files; `more` the findings beyond AUDIT_FINDINGS_MAX."""

    name: str
    title: str
    examined: int
    findings: tuple[Finding, ...]
    more: int
    seconds: float

    @property
    def ok(self) -> bool:
        return self.more == 0 and all(finding.note for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "ok": self.ok,
            "examined": self.examined,
            "findings": [finding.to_json() for finding in self.findings],
            "more": self.more,
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class AuditReport:
    """Every check in order."""

    checks: tuple[CheckResult, ...]

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)

    @property
    def examined(self) -> int:
        return sum(check.examined for check in self.checks)

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(finding for check in self.checks for finding in check.findings)

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": "actum.audit/1",
            "ok": self.ok,
            "examined": self.examined,
            "checks": [check.to_json() for check in self.checks],
        }


class Look:
    """What a check looks with: the workspace, a reader, and a count of what was examined."""

    def __init__(self, ws: Workspace, reader: Reader, name: str) -> None:
        self.ws = ws
        self.reader = reader
        self.name = name
        self.examined = 0

    def each(self, sql: str, *values: Any) -> Iterator[Mapping[str, Any]]:
        """The rows of a query, each counted as examined."""
        cursor: sqlite3.Cursor = self.reader.connection.execute(sql, values)
        for row in cursor:
            self.examined += 1
            yield row

    def count(self, sql: str) -> None:
        """Count what a query that lists only faults has gone through."""
        self.examined += int(self.reader.connection.execute(sql).fetchone()[0])

    def finding(self, subject: str, what: str, remedy: str, *, note: bool = False) -> Finding:
        return Finding(self.name, subject, what, remedy, note)
