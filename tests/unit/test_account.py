"""One run on paper: ten rows in two parts, and the double rule under closed accounts only (R01, R13, UI §4)."""

from __future__ import annotations

import io

import pytest
from actum_desktop.commands.account import print_account, print_unverified
from actum_desktop.commands.output import Output

from tests.helpers.showdocs import RESULT, show, states


def printed(document: dict[str, object]) -> str:
    out = io.StringIO()
    print_account(Output(as_json=False, out=out, err=io.StringIO()), document)
    return out.getvalue()


@pytest.mark.parametrize("state", states())
def test_the_double_rule_stands_under_what_is_closed_and_nowhere_else(state: str) -> None:
    """The ledger belongs to one attempt: between two attempts the failed one is closed, though the run is not."""
    document = states()[state]
    attempt = document["attempts"][-1]
    closed = attempt["status"] in ("SUCCEEDED", "FAILED", "START_FAILED", "STOPPED", "TIMEOUT") and attempt["released"]
    assert ("═" in printed(document)) is closed


@pytest.mark.parametrize("state", states())
def test_every_account_has_its_ten_rows_and_two_parts(state: str) -> None:
    lines = printed(states()[state]).splitlines()
    marks = [line for line in lines if line[12:].startswith(tuple(f"  {mark} " for mark in "✓◉·–✗?"))]
    assert len(marks) == 10
    assert [line.strip().split("  ")[0] for line in lines if line.strip().startswith(("Opened", "Completion"))] == [
        "Opened",
        "Completion",
    ]


def test_a_success_says_since_when_and_whether_it_is_readable_now() -> None:
    text = printed(show("SUCCEEDED", "CLOSED", 14, released=True, result=RESULT))
    assert "Completion  7 of 7 on record" in text
    assert text.splitlines()[-1].startswith("Readable now  Readable")


def test_r19_what_evidence_holds_cannot_steer_the_terminal() -> None:
    text = printed(show("RUNNING", "COMPUTING", 4, task="evil\x1b[2J\ntask"))
    assert "\x1b" not in text
    assert "evil\\x1b[2J\\x0atask" in text


def test_r13_files_of_an_unsuccessful_attempt_are_labelled() -> None:
    out = io.StringIO()
    files = {"label": "not a result, not verified", "folder": "/w/x", "files": [{"name": "a.csv", "size": 1200}], "more": 2}
    print_unverified(Output(as_json=False, out=out, err=io.StringIO()), files)
    assert out.getvalue().splitlines() == [
        "",
        "Files it left (not a result, not verified): /w/x",
        "  a.csv, 1.2 KB",
        "  and 2 more",
    ]
