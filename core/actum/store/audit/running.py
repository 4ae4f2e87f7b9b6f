"""Runs the checks one after another, each bounded, each timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

from actum.limits import AUDIT_FINDINGS_MAX
from actum.store.audit import adoptions, databases, factrows, files, packages, statuses
from actum.store.audit.report import AuditReport, CheckResult, Finding, Look
from actum.store.queries import Reader
from actum.workspace import Workspace

Check = tuple[str, str, Callable[[Look], Iterator[Finding]]]

CHECKS: tuple[Check, ...] = (
    *databases.CHECKS,
    *statuses.CHECKS,
    *factrows.CHECKS,
    *adoptions.CHECKS,
    *packages.CHECKS,
    *files.CHECKS,
)


def audit(
    ws: Workspace,
    *,
    only: Iterable[str] | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> AuditReport:
    """Every check (or those named in `only`) over rows and files; changes nothing.

    Digests of all results, inputs and exports are computed, so the time grows with their bytes. `progress` is told
    (checks done, checks, title). A supervisor may be at work meanwhile. Raises NotFound and WorkspaceUnusable.
    """
    wanted = set(only) if only is not None else None
    chosen = [check for check in CHECKS if wanted is None or check[0] in wanted]
    done: list[CheckResult] = []
    with Reader(ws) as reader:
        for index, (name, title, function) in enumerate(chosen):
            if progress is not None:
                progress(index, len(chosen), title)
            done.append(_run(Look(ws, reader, name), title, function))
    return AuditReport(tuple(done))


def _run(look: Look, title: str, function: Callable[[Look], Iterator[Finding]]) -> CheckResult:
    begun = time.monotonic()
    findings: list[Finding] = []
    more = 0
    for finding in function(look):
        if len(findings) < AUDIT_FINDINGS_MAX:
            findings.append(finding)
        else:
            more += 1
    return CheckResult(look.name, title, look.examined, tuple(findings), more, time.monotonic() - begun)
