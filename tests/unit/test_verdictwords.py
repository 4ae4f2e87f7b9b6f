"""Every row of §6 has a leftover, evidence, a verdict and what was done in words, in both languages (R09)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from actum.model.evidence import ClaimSeen, Evidence, HostSeen, OutcomeSeen, PackageSeen, TreeSeen
from actum.model.status import PAIRS, RELEASING, Phase
from actum.results.check import REMEDIES
from actum.supervise.reconcile import ROWS, Action, decide
from actum_desktop import i18n, verdictwords
from actum_desktop.controller.events import Verdict
from actum_desktop.models.launchmodel import leftovers
from actum_desktop.verdictwords import VerdictWords

SEEN = tuple(product(HostSeen, OutcomeSeen, TreeSeen, ClaimSeen, PackageSeen))
WHY = "Permission denied reading 51877."


@pytest.fixture(params=["en", "zh_CN"])
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    i18n.use(request.param)
    yield request.param
    i18n.use("en")


def said_in(language: str, text: str) -> bool:
    return bool(text) and bool(re.search("[一-鿿]", text)) is (language == "zh_CN")


def verdicts() -> dict[tuple[int, str], dict[str, Any]]:
    """One verdict for each row and action of the table, as `looking` makes it, with the evidence that led to it."""
    found: dict[tuple[int, str], dict[str, Any]] = {}
    for pair in PAIRS:
        for released in {pair in RELEASING, pair.phase is Phase.CLOSED}:
            for host, outcome, tree, claim, package in SEEN:
                seen = Evidence(0, host, outcome, tree, claim, package)
                decision = decide(pair, released, seen)
                words = {"host": host, "outcome": outcome, "tree": tree, "claim": claim, "package": package}
                evidence = {name: value.value for name, value in words.items()}
                unseen = "unknown" in evidence.values() and decision.action is Action.HOLD
                found.setdefault(
                    (decision.number, decision.action.value),
                    {
                        "run": 7,
                        "attempt": "a",
                        "n": 1,
                        "row": decision.number,
                        "verdict": decision.action.value,
                        "action": decision.action.value,
                        "recorded": {"status": pair.status.value, "phase": pair.phase.value},
                        "evidence": {**evidence, "pids": [4], "why": {"tree": WHY} if unseen else {}},
                    },
                )
    return found


EVERY = verdicts()


def test_every_row_and_every_action_of_the_table_is_reached() -> None:
    assert {row for row, _ in EVERY} == {row.number for row in ROWS} == set(range(1, 23))
    assert set(EVERY) == {(row.number, row.action.value) for row in ROWS}


@pytest.mark.parametrize("which", sorted(EVERY), ids=[f"{row}-{action}" for row, action in sorted(EVERY)])
def test_r09_every_row_is_told_in_words(which: tuple[int, str], language: str) -> None:
    """The verdict, the evidence that decided it, what was done and what follows; nothing is left to a code."""
    words = verdictwords.verdict(EVERY[which])
    for text in (words.word, words.done, words.after):
        assert said_in(language, text), text
    assert words.evidence or which[0] == 1, "nothing is looked for before a launch"
    for line in words.evidence:
        assert said_in(language, line.replace(WHY, "")), line
    if which[1] == "hold":
        assert any(WHY in line for line in words.evidence), "a hold says what it waits for"
        assert words.icon == "question-fill"
    row = EVERY[which]
    [leftover] = leftovers([Verdict(**{key: row[key] for key in Verdict.__dataclass_fields__})], None)
    assert leftover.run == 7
    assert all(part in leftover.sentence for part in (words.word, words.done)), leftover.sentence


def test_rows_decided_by_the_package_speak_of_it_and_of_nothing_else() -> None:
    for row, action in EVERY:
        text = " ".join(verdictwords.verdict(EVERY[row, action]).evidence)
        assert ("package" in text.lower()) is (row in (3, 4, 5, 6, 7)), (row, action, text)
        assert ("host" in text.lower()) is (row not in (3, 4, 5, 6, 7)), (row, action, text)


def test_an_action_that_nobody_knows_is_shown_as_it_is() -> None:
    words = verdictwords.verdict({"row": 99, "verdict": "new", "action": "new"})
    assert words == VerdictWords("new", "info", "text2", (), "new", "")


@pytest.mark.parametrize("by", ["manifest", "outcome", "record"])
def test_an_offer_says_how_it_is_known_that_the_package_was_sealed(by: str, language: str) -> None:
    words = verdictwords.verdict({"row": 8, "action": "offer", "evidence": {"package": "staging", "sealed_by": by, "why": {}}})
    assert all(said_in(language, text) for text in (words.word, words.done, *words.evidence))


@pytest.mark.parametrize("state", sorted(set(REMEDIES) - {"readable"}))
def test_r16_each_state_of_a_result_is_told_with_its_reason(state: str, language: str) -> None:
    """Row 3: what is at its place now, and the reason as it was found; nothing is waited for that was seen."""
    for action in ("result_damaged", "result_unchecked"):
        words = verdictwords.verdict({"row": 3, "action": action, "evidence": {"package": state, "why": {"package": WHY}}})
        assert said_in(language, words.evidence[0])
        assert words.evidence[1:] == (WHY,)
