"""What a run of the matrix may claim: how many cases were struck, and of which code each verdict is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tests.evidence import Code
from tests.faults.matrix import Case
from tests.faults.record import Record

WORDS = {"struck": "struck", "nobody": "nobody there", "not reached": "not reached"}


class Account(NamedTuple):
    """`whole` = every case there is has a verdict, all of one clean commit. `code` = the one they are all of; of several
    there is no commit to name, and the note says how many are of which."""

    counts: Mapping[str, int]
    whole: bool
    note: str
    code: Code


def account(record: Record, cases: Sequence[Case], *, of: int, now: int) -> Account:
    """The account of `cases`, which all have a verdict: `of` so many there are at all, `now` so many judged just now."""
    verdicts = [record.verdicts[case] for case in cases]
    reached = Counter(verdict.reached for verdict in verdicts)
    told = {word: reached[name] for name, word in WORDS.items()}
    counts = {"cases": len(cases), **told, "findings": sum(bool(verdict.found) for verdict in verdicts)}
    codes = record.commits(cases)
    one = codes[0][0] if len(codes) == 1 else Code(None, any(code.dirty for code, _ in codes) or None)
    clean = one.commit is not None and one.dirty is False
    note = f"{len(cases):,} of {of:,} cases; {now:,} of them ran now, the others were on record; {in_words(codes)}"
    return Account(counts, len(cases) == of and clean, note, one)


def in_words(codes: Sequence[tuple[Code, int]]) -> str:
    """`12 verdicts of 0123456, 3 of 89abcde with changes, 1 of an unknown commit`."""
    told = [f"{number:,} of {_name(code)}" for code, number in codes]
    return "verdicts: " + (", ".join(told[:8]) + (f" and {len(told) - 8} other states" if len(told) > 8 else "") or "none")


def _name(code: Code) -> str:
    if code.commit is None:
        return "an unknown commit"
    return code.commit[:7] + (" with changes" if code.dirty else "" if code.dirty is False else ", changes unknown")
