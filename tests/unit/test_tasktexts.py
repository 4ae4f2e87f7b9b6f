"""What the built-in tasks say is known sentence by sentence and said in Chinese; a user's own texts are data."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from actum.contracts.document import load
from actum.recipes import return_and_risk, statistics_of_returns
from actum.recipes.registry import documents
from actum.recipes.tableprofile import report
from actum_desktop import i18n, tasktexts
from actum_desktop.models import celltext
from actum_desktop.models.tasks import task_item

REASONS = (
    return_and_risk.NO_PRICES,
    "price_missing",
    "previous_price_missing",
    "first_observation",
    "several_symbols",
    statistics_of_returns.INSUFFICIENT,
    statistics_of_returns.ZERO_VOLATILITY,
    report.NO_VALUES,
    report.NOT_NUMBERS,
    report.NO_ORDER,
    report.NONE_MISSING,
    report.NO_REMARK,
    report.NOT_FINITE,
    report.OVERFLOW,
    "no_cells",
    "not_reported",
    "no_reason_given",
)


@pytest.fixture
def chinese() -> Iterator[None]:
    i18n.use("zh_CN")
    yield
    i18n.use("en")


def _of(name: str) -> dict[str, object]:
    return next(dict(load(document).to_json()) for document in documents() if document["name"] == name)


def test_every_sentence_of_the_built_in_contracts_is_listed_and_no_other() -> None:
    said = {text for document in documents() for text in tasktexts.texts(load(document).to_json())}
    assert said == tasktexts.SENTENCES
    offered = {c for document in documents() for p in document.get("parameters", ()) for c in p.get("choices", ())}
    assert offered == tasktexts.CHOICES


@pytest.mark.usefixtures("chinese")
def test_a_built_in_task_is_shown_in_chinese_and_means_the_same() -> None:
    for document in documents():
        contract = load(document).to_json()
        shown = tasktexts.shown(contract)
        assert not set(tasktexts.texts(shown)) & tasktexts.SENTENCES
        assert load(shown).name == load(document).name
        kept = [{k: v for k, v in p.items() if k not in ("title", "help", "unit")} for p in contract.get("parameters", ())]
        assert [{k: v for k, v in p.items() if k not in ("title", "help", "unit")} for p in shown.get("parameters", ())] == kept
        assert set(tasktexts.choices(load(document))) == {
            c for p in document.get("parameters", ()) for c in p.get("choices", ())
        }


@pytest.mark.usefixtures("chinese")
def test_the_texts_of_an_own_task_are_never_translated() -> None:
    own = {**_of("return-and-risk"), "work": {"kind": "program", "program": "/bin/true", "arguments": [], "cwd": None}}
    assert tasktexts.shown(own) is own
    assert tasktexts.title(own, "return-and-risk") == "Return and risk"
    assert tasktexts.metric(own, {"name": "volatility", "title": "Volatility"})["title"] == "Volatility"
    renamed = {**_of("return-and-risk"), "name": "mine", "title": "Window"}
    assert task_item(renamed, "mine", "1", built_in=False).title == "Window"


def test_in_english_the_contract_itself_is_shown() -> None:
    contract = _of("profile-table")
    assert tasktexts.shown(contract) is contract
    assert tasktexts.choices(load(contract))["comma"] == "comma"


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize("word", REASONS)
def test_every_reason_a_built_in_task_gives_has_chinese_words(word: str) -> None:
    """R15: a missing value says why, in words."""
    assert not celltext.reason(word).isascii()


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize(
    "said",
    [
        "Returns are ratios of decimal prices, computed with 34 digits and converted to the nearest float64.",
        "The file was read as CSV.",
        "Fields are divided by a semicolon, as the first lines show.",
        "As declared for this run, these texts mean missing: NA, NULL; an empty text means missing.",
        "As declared for this run, no text means missing; an empty text is a value.",
        "“NULL” was taken as a value in price. If it means missing there, add it to the texts that mean missing and run again.",
        "Infinities and NaN were counted apart (not_finite), and no other figure includes them.",
    ],
)
def test_what_a_built_in_task_notes_has_its_chinese(said: str) -> None:
    contract = _of("profile-table")
    told = tasktexts.note(contract, said)
    assert told.endswith("。")
    assert "semicolon" not in told
    own = {**contract, "work": {"kind": "program", "program": "/bin/true", "arguments": [], "cwd": None}}
    assert tasktexts.note(own, said) == said
