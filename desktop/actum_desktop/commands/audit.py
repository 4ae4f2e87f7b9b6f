"""`actum audit`: the workspace against itself, rows and files; says how much it examined and what to do about findings."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from actum_desktop import measures
from actum_desktop.commands.context import Context, nothing_yet, wrong_use
from actum_desktop.commands.output import Output, plain

if TYPE_CHECKING:
    from actum.store.audit import AuditReport, CheckResult

EXIT_CHECK_FAILED = 5


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--check", dest="checks", action="append", metavar="NAME", help="only this check; may be repeated")


def run(args: argparse.Namespace, context: Context) -> int:
    from actum.store.audit import CHECKS, audit

    known = [name for name, _, _ in CHECKS]
    if strangers := sorted(set(args.checks or ()) - set(known)):
        raise wrong_use(
            f"There is no check “{strangers[0]}”.", "Choose one of them, or leave --check out.", f"{', '.join(known)}."
        )
    if not context.begun:
        raise nothing_yet(context.workspace)
    out = context.out

    def tell(done: int, total: int, title: str) -> None:
        out.progress(f"Check {done + 1} of {total}: {title}", news=False)

    report = audit(context.workspace, only=args.checks, progress=tell)
    if out.json:
        out.document("audit", report.to_json())
    else:
        _print(out, report)
    return 0 if report.ok else EXIT_CHECK_FAILED


def _print(out: Output, report: AuditReport) -> None:
    for check in report.checks:
        _print_check(out, check)
    wrong = sum(not finding.note for finding in report.findings) + sum(check.more for check in report.checks)
    found = f"{measures.count(wrong)} finding{'' if wrong == 1 else 's'}."
    verdict = out.toned("Nothing is wrong.", "ok") if report.ok else out.toned(found, "bad")
    out.say()
    out.say(f"{verdict} {len(report.checks)} checks examined {measures.count(report.examined)} rows and files.")


def _print_check(out: Output, check: CheckResult) -> None:
    mark = out.toned(out.mark("✓", "x"), "ok") if check.ok else out.toned(out.mark("✗", "!"), "bad")
    out.say(f"{mark} {plain(check.title)}  {out.toned(f'{measures.count(check.examined)} examined', 'faint')}")
    for finding in check.findings:
        out.say(f"    {plain(finding.subject)}: {plain(finding.what)}")
        if finding.remedy:
            out.say(f"      {plain(finding.remedy)}")
    if check.more:
        out.say(f"    and {measures.count(check.more)} more")
