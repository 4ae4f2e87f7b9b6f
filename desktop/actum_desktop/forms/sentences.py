"""What the contract says of a value that does not fit, in the language of the window.

The core says it in English; each of its sentences has a shape here and a translation in the catalogue. A sentence of an
author's own (a rule's message) stays as it was written.
"""

from __future__ import annotations

from actum_desktop.i18n import N_, _, chinese, shaped

_TEMPLATES = (
    N_("A value is needed here."),
    N_("“{value}” is not a whole number. Use digits only, for example 30."),
    N_("“{value}” is not a decimal number. Write it with a point, for example 0.05."),
    N_("“{value}” has more than {n} digits."),
    N_("“{value}” is not a number. Write it with a point, for example 0.5 or 1e-6."),
    N_("“{value}” is too large for a float."),
    N_("“{value}” is neither yes nor no. Write yes or no."),
    N_("“{value}” is not a date. Write year, month and day, for example 2026-03-31."),
    N_("“{value}” is not a time. Write it like 2026-03-31T09:41:00+02:00."),
    N_("“{value}” has no time zone. Add one, for example {example} or +02:00."),
    N_("“{value}” is not a duration. Write a number and a unit, for example 90s, 10m, 1h30m or 2d."),
    N_("“{value}” is finer than a microsecond. Use a longer duration, for example 250ms."),
    N_("A path is needed, for example ./prices.csv."),
    N_("“{value}” is not a list."),
    N_("“{value}” is not a record. Write its fields as a JSON object."),
    N_("“{value}” is not JSON: {why}."),
    N_("“{value}” is not text."),
    N_("“{value}” is below the least allowed value, {bound}."),
    N_("“{value}” is above the greatest allowed value, {bound}."),
    N_("“{value}” is not one of {choices}. Probably “{near}” is meant."),
    N_("“{value}” is not one of {choices}."),
    N_("The text holds characters that have no UTF-8."),
    N_("The text holds a NUL character."),
    N_("The task has no such parameter."),
    N_("{fields}: each may not be after the next."),
    N_("{fields}: each is before the next."),
    N_("At least one is needed of {fields}."),
    N_("At most one fits of {fields}."),
    N_("{fields} belong together: give all of them or none."),
    N_("The parameters are larger than {size} KiB together. Use a file input for large values."),
)
_NESTED = (N_("Item {n}: {why}"), N_("Field “{name}”: {why}"))


def local(sentence: str) -> str:
    """`sentence` in the language of the window; unchanged where its shape is not known."""
    if not chinese() or not sentence:
        return sentence
    if found := shaped(_NESTED, sentence):
        return _(found[0]).format(**{**found[1], "why": local(found[1]["why"])})
    if found := shaped(_TEMPLATES, sentence):
        return _(found[0]).format(**found[1])
    return sentence
