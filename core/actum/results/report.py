"""What a verification is told and what it answers, as plain data.

`Expected` is the identity that the package must prove: it comes from the store, never from the package. A `Report` has two
levels, never confused: *bytes* (the listed bytes are there, and nothing else) and *content* (the derived tables mean what
their authorities mean). Each finding names the check that made it; the first difference names table, row, column, both values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from actum import limits

# The checks of each level, by the name a finding carries.
BYTES_CHECKS = ("manifest", "manifest_sha256", "identity", "contract", "listing", "digests", "derived")
CONTENT_CHECKS = ("content",)


@dataclass(frozen=True, slots=True)
class Expected:
    """Whose result this must be. A member that is None is not known here and is not checked (a package read elsewhere).

    `run` is the run's number, `required` the contract's output patterns; derived.json has one of the digests `derived_sha256`.
    """

    workspace: str | None = None
    run: int | None = None
    attempt: str | None = None
    session: str | None = None
    request_digest: str | None = None
    contract_digest: str | None = None
    manifest_sha256: str | None = None
    derived_sha256: tuple[str, ...] = ()
    required: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Expected:
        """Raises TypeError for a member it does not know."""
        lists = {name: tuple(document.get(name, ())) for name in ("required", "derived_sha256")}
        return cls(**{**document, **lists})

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"required": list(self.required), "derived_sha256": list(self.derived_sha256)}


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two readings of one table part. `row` counts from 1; None = the whole table; `column` None = the row's presence."""

    table: str
    row: int | None
    column: str | None
    expected: str
    found: str

    def __str__(self) -> str:
        place = f"table “{self.table}”"
        place += f", row {self.row:,}" if self.row is not None else ""
        place += f", column “{self.column}”" if self.column is not None else ""
        return f"{place}: expected {self.expected}, found {self.found}"


@dataclass(frozen=True, slots=True)
class Finding:
    check: str
    message: str
    difference: Difference | None = None

    def to_json(self) -> dict[str, Any]:
        difference = asdict(self.difference) if self.difference else None
        return {"check": self.check, "message": self.message, "difference": difference}


@dataclass(slots=True)
class Findings:
    """Collects what one level finds; beyond FINDINGS_MAX only the number grows."""

    kept: list[Finding] = field(default_factory=list)
    count: int = 0

    def add(self, check: str, message: str, difference: Difference | None = None) -> None:
        self.count += 1
        if len(self.kept) < limits.FINDINGS_MAX:
            self.kept.append(Finding(check, message, difference))


@dataclass(frozen=True, slots=True)
class LevelReport:
    """One level. `extent` says how much of the package it speaks of; counts say what was looked at.

    A look at some chunks digests no whole files: in place of *bytes* stands *presence*, every file there with its size.
    """

    level: str  # "bytes" | "presence" | "content"
    extent: str  # "whole" | "chunks i–j of n" | "sample of k of n chunks"
    ok: bool
    files: int
    size_bytes: int
    rows: int
    findings: tuple[Finding, ...]
    findings_total: int
    chunks: int = 0  # looked at
    resumed: int = 0  # files or chunks of these that an interrupted look had found by then
    chunk_numbers: tuple[int, ...] = ()  # of a partial look

    @property
    def first_difference(self) -> Difference | None:
        return next((finding.difference for finding in self.findings if finding.difference), None)

    def to_json(self) -> dict[str, Any]:
        first = self.first_difference
        return {
            "level": self.level,
            "extent": self.extent,
            "ok": self.ok,
            "files": self.files,
            "size_bytes": self.size_bytes,
            "rows": self.rows,
            "chunks": self.chunks,
            "resumed": self.resumed,
            "chunk_numbers": list(self.chunk_numbers),
            "findings": [finding.to_json() for finding in self.findings],
            "findings_total": self.findings_total,
            "first_difference": asdict(first) if first else None,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """Both levels, with the digests of the manifest and of derived.json as they were read (None: unreadable)."""

    bytes: LevelReport
    content: LevelReport
    manifest_sha256: str | None
    derived_sha256: str | None

    @property
    def ok(self) -> bool:
        return self.bytes.ok and self.content.ok

    @property
    def failed_checks(self) -> frozenset[str]:
        """The names of the checks that found something."""
        return frozenset(finding.check for level in (self.bytes, self.content) for finding in level.findings)

    @property
    def reason(self) -> str:
        """The first finding as a sentence; empty if there is none."""
        found = [*self.bytes.findings, *self.content.findings]
        return found[0].message if found else ""

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "reason": self.reason,
            "failed_checks": sorted(self.failed_checks),
            "manifest_sha256": self.manifest_sha256,
            "derived_sha256": self.derived_sha256,
            "bytes": self.bytes.to_json(),
            "content": self.content.to_json(),
        }


def level(name: str, findings: Findings, *, extent: str = "whole", **counted: Any) -> LevelReport:
    counts = {"files": 0, "size_bytes": 0, "rows": 0} | counted
    return LevelReport(
        level=name,
        extent=extent,
        ok=findings.count == 0,
        findings=tuple(findings.kept),
        findings_total=findings.count,
        **counts,
    )
