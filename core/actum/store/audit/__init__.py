"""`actum audit`: named checks of the workspace against itself; each says how much it examined and what to do (§10)."""

from __future__ import annotations

from actum.store.audit.report import AuditReport, CheckResult, Finding
from actum.store.audit.running import CHECKS, audit

__all__ = ["CHECKS", "AuditReport", "CheckResult", "Finding", "audit"]
