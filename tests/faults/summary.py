"""Says at the end of the suite how much of the fault matrix was run, and how much there is."""

from __future__ import annotations

from typing import Any

PROPERTY = "fault_cases"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = [report for kind in terminalreporter.stats.values() for report in kind if getattr(report, "when", "") == "call"]
    found = [value for report in reports for name, value in report.user_properties if name == PROPERTY]
    if found:
        everything, cover, _ = found[0]
        struck = sum(each[2] for each in found)
        terminalreporter.section("fault matrix")
        terminalreporter.write_line(f"{everything} cases in all (tests.faults --all); pairwise {cover}, struck {struck}")
