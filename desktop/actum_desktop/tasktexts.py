"""What the tasks that come with Actum say of themselves, in the language of the window.

Theory. A contract is data and stays in English wherever it is kept, compared or copied; only what is shown of it is said
in another language, sentence by sentence. The texts of a user's own task are never translated, whatever they say: only
a contract whose work is the recipe of its own name has its sentences looked up here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from actum_desktop.i18n import N_, NP_, _, language, pgettext, shaped

if TYPE_CHECKING:
    from actum.contracts.document import Contract

SENTENCES = frozenset(
    {
        # return-and-risk
        NP_("task", "Return and risk"),
        NP_(
            "task",
            "Returns and risk of price series, per symbol and for one symbol in particular.\n\n"
            "The file is a CSV with the columns symbol, date and price. An empty file gives empty tables and unavailable "
            "metrics. A missing price (empty or NA) is kept as missing, and so is every return that would need it. A price "
            "that is no number or not above zero, two prices of one symbol on one day, or a symbol that the file does not "
            "have, end the run with a sentence that names the line.",
        ),
        NP_("task", "Prices"),
        NP_("task", "CSV with the columns symbol, date (2000-01-31 or Jan 31 2000) and price."),
        NP_("task", "Symbol"),
        NP_("task", "The symbol the metrics are about. Left out: every symbol has its row in the summary."),
        NP_("task", "Window"),
        NP_("task", "observations"),
        NP_("task", "How many returns the rolling volatility looks back over."),
        NP_("task", "From"),
        NP_("task", "The first day that counts."),
        NP_("task", "To"),
        NP_("task", "The last day that counts."),
        NP_("task", "Periods per year"),
        NP_("task", "12 for monthly prices, 252 for trading days."),
        NP_("task", "The last day is before the first."),
        NP_("task", "Observations"),
        NP_("task", "returns"),
        NP_("task", "Simple returns in the period."),
        NP_("task", "Total return"),
        NP_("task", "Last price over first, less 1. Unavailable with fewer than 1 of them: insufficient_observations."),
        NP_("task", "Mean return"),
        NP_("task", "Mean of the simple returns. Unavailable with fewer than 1 of them: insufficient_observations."),
        NP_("task", "Volatility"),
        NP_(
            "task",
            "Standard deviation (n − 1) of the simple returns. "
            "Unavailable with fewer than 2 of them: insufficient_observations.",
        ),
        NP_("task", "Annualised volatility"),
        NP_(
            "task",
            "Volatility × √(periods per year); assumes returns without serial correlation. "
            "Unavailable with fewer than 2 of them: insufficient_observations.",
        ),
        NP_("task", "Maximum drawdown"),
        NP_(
            "task",
            "The deepest fall below an earlier peak, as a part of the peak. "
            "Unavailable with fewer than 1 of them: insufficient_observations.",
        ),
        NP_("task", "Return per risk"),
        NP_(
            "task",
            "Mean return over volatility × √(periods per year): a Sharpe ratio with a riskless rate of 0. "
            "Not applicable where the volatility is 0: zero_volatility. "
            "Unavailable with fewer than 2 of them: insufficient_observations.",
        ),
        # profile-table
        NP_("task", "Profile a table"),
        NP_(
            "task",
            "What is in a table: the type of each column, how much of it is missing and written how, its extremes, mean, "
            "spread and quantiles, its most frequent values and its histogram. All figures are exact and of all rows.\n\n"
            "The file is a CSV (UTF-8), a Parquet, or JSON lines; compressed files are refused. Types of a CSV and of JSON "
            "lines are told from all values: numbers with leading zeros and whole numbers beyond 64 bits stay text, since "
            "they are identifiers, and the remark says so. A record with too few or too many fields ends the run with a "
            "sentence that names its line.\n\n"
            "Nothing is missing in silence: the table “missing” counts, by column, every text that was taken for a missing "
            "value, and every text that looks like one and was taken as a value, such as NULL or -.\n\n"
            "Quantiles of numbers lie between the two nearest values (linear), those of dates and times are values that "
            "occur; the standard deviation divides by n − 1. A bin holds from ≤ value < to, the last one also its end.",
        ),
        NP_("task", "Table"),
        NP_("task", "A CSV, Parquet or JSON-lines file."),
        NP_("task", "Texts that mean missing"),
        NP_("task", "Exact texts, such as NA. What is not named here is a value."),
        NP_("task", "An empty text means"),
        NP_("task", "“missing”, or a “text” without letters. A field of a CSV with nothing in it is an empty text."),
        NP_("task", "Fields are divided by"),
        NP_("task", "Of a CSV. “auto” looks at the first lines."),
        NP_("task", "The first line names the columns"),
        NP_("task", "Of a CSV."),
        NP_("task", "Most frequent values"),
        NP_("task", "values"),
        NP_("task", "How many of each column are listed."),
        NP_("task", "Rows"),
        NP_("task", "rows"),
        NP_("task", "Records of the file, without its header."),
        NP_("task", "Columns"),
        NP_("task", "columns"),
        NP_("task", "Columns of the file."),
        NP_("task", "Cells"),
        NP_("task", "cells"),
        NP_("task", "Rows × columns."),
        NP_("task", "Missing cells"),
        NP_("task", "Cells without a value, by the meaning declared."),
        NP_("task", "Missing"),
        NP_("task", "Missing cells ÷ cells. Unavailable without cells: no_cells."),
        NP_("task", "Columns with gaps"),
        NP_("task", "Columns with at least one missing cell."),
        NP_("task", "Cells that look missing"),
        NP_(
            "task",
            "Cells that look like a missing value, such as NULL, and were taken as values, since nobody declared them missing.",
        ),
        # demonstrations
        NP_("task", "Twenty seconds of work"),
        NP_("task", "A job with three stages and steady progress; it publishes when each of its steps was done."),
        NP_("task", "Length"),
        NP_("task", "seconds"),
        NP_("task", "Steps"),
        NP_("task", "steps"),
        NP_("task", "Steps done."),
        NP_("task", "Stalls on purpose"),
        NP_("task", "Makes three of ten steps and then none, until it is stopped: what a stall looks like, and a stop."),
        NP_("task", "Fails on purpose"),
        NP_("task", "Makes three of ten steps and then raises an error: what a failure looks like, and where its log is."),
    }
)
CHOICES = frozenset(
    {
        NP_("choice", "missing"),
        NP_("choice", "text"),
        NP_("choice", "auto"),
        NP_("choice", "comma"),
        NP_("choice", "semicolon"),
        NP_("choice", "tab"),
        NP_("choice", "pipe"),
    }
)
# What a built-in task notes about a result, with its places.
_NOTES = (
    N_("Returns are ratios of decimal prices, computed with {digits} digits and converted to the nearest float64."),
    N_("The file was read as {format}."),
    N_("Fields are divided by a {word}, as the first lines show."),
    N_("One column."),
    N_("Column names that stand more than once are told apart by a number: {names}."),
    N_("Columns without a name, called after their position: {n}."),
    N_("As declared for this run, these texts mean missing: {texts}; an empty text means missing."),
    N_("As declared for this run, these texts mean missing: {texts}; an empty text is a value."),
    N_("As declared for this run, no text means missing; an empty text means missing."),
    N_("As declared for this run, no text means missing; an empty text is a value."),
    N_("Declared as missing, and nowhere in the table: {texts}."),
    N_(
        "“{text}” was taken as a value in {columns}. If it means missing there, add it to the texts that mean missing and "
        "run again."
    ),
    N_("The remark of these columns says why they have their type: {columns}."),
    N_("Infinities and NaN were counted apart (not_finite), and no other figure includes them."),
)
_SAID = frozenset({"title", "description", "help", "unit", "message", "meaning"})  # the keys whose text people read
_PARTS = ("parameters", "rules", "metrics")


def built_in(contract: Mapping[str, Any]) -> bool:
    """Whether this contract document is of a task that comes with Actum."""
    return contract.get("work") == {"kind": "recipe", "name": contract.get("name")}


def texts(contract: Mapping[str, Any]) -> Iterator[str]:
    """Every sentence of a contract document that people read."""
    for part in (contract, *(each for name in _PARTS for each in contract.get(name) or ())):
        yield from (str(value) for key, value in part.items() if key in _SAID and value)


def shown(contract: Mapping[str, Any]) -> Mapping[str, Any]:
    """The contract document as it is shown; the same one in English, and for a user's own task."""
    if language() == "en" or not built_in(contract):
        return contract
    parts = {name: [_said(part) for part in contract[name]] for name in _PARTS if contract.get(name)}
    return _said(contract) | parts


def title(contract: Mapping[str, Any], name: str) -> str:
    """The title as it is shown, else the name."""
    given = str(contract.get("title") or name)
    return sentence(given) if built_in(contract) else given


def metric(contract: Mapping[str, Any], stated: Mapping[str, Any]) -> Mapping[str, Any]:
    """A metric of a result of this contract, as it is shown."""
    return _said(stated) if built_in(contract) else stated


def note(contract: Mapping[str, Any], text: str) -> str:
    """A note of a result of this contract, as it is shown."""
    found = shaped(_NOTES, text) if language() != "en" and built_in(contract) else None
    if found is None:
        return text
    template, places = found
    if "word" in places:
        places["word"] = pgettext("choice", places["word"])
    return _(template).format(**places)


def choices(contract: Contract) -> dict[str, str]:
    """Value → how it is shown, for the choices of a built-in task's parameters."""
    if not built_in({"name": contract.name, "work": contract.work.to_json()}):
        return {}
    found = (value for parameter in contract.parameters for value in parameter.choices)
    return {value: pgettext("choice", value) for value in found if value in CHOICES}


def sentence(text: str) -> str:
    """One of SENTENCES in the language of now; any other text as it is."""
    return pgettext("task", text) if text in SENTENCES else text


def _said(part: Mapping[str, Any]) -> dict[str, Any]:
    return {key: sentence(value) if key in _SAID and isinstance(value, str) else value for key, value in part.items()}
