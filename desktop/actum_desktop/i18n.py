"""Translation of every sentence the user sees, by gettext catalogues that ship with the program.

English is the source language and needs no catalogue. `_` looks the sentence up when it is called, never when a module is
loaded, so the language can change while the program runs; whoever keeps translated text asks again after `use`.
"""

from __future__ import annotations

import gettext
import os
import re
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

LANGUAGES = ("en", "zh_CN")
NAMES = {"en": "English", "zh_CN": "简体中文"}

_catalogue: gettext.NullTranslations = gettext.NullTranslations()
_language = "en"


def resources() -> Path:
    """The folder of the package `actum_resources`, without importing it."""
    spec = find_spec("actum_resources")
    places = list(spec.submodule_search_locations or []) if spec else []
    if not places:
        raise RuntimeError("The package actum_resources is not installed beside actum_desktop.")
    return Path(places[0])


def preferred(environment: dict[str, str] | None = None) -> str:
    """The language the user's environment asks for: the first of LANGUAGES it names, else English."""
    variables = os.environ if environment is None else environment
    for name in ("ACTUM_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANGUAGE", "LANG"):
        wanted = variables.get(name, "")
        if not wanted:
            continue
        return "zh_CN" if wanted.lower().startswith("zh") else "en"
    return "en"


def use(language: str | None = None) -> str:
    """Speak `language` from now on (None: what the environment asks for). Returns the language chosen."""
    global _catalogue, _language
    chosen = language if language in LANGUAGES else preferred()
    if chosen == "en":
        _catalogue = gettext.NullTranslations()
    else:
        _catalogue = gettext.translation("actum", str(resources() / "translations"), [chosen], fallback=True)
    _language = chosen
    return chosen


def language() -> str:
    return _language


def chinese() -> bool:
    return _language == "zh_CN"


def _(message: str) -> str:
    return _catalogue.gettext(message)


def ngettext(one: str, many: str, count: int) -> str:
    return _catalogue.ngettext(one, many, count)


def pgettext(context: str, message: str) -> str:
    """For a word that means different things in different places: `context` tells them apart."""
    return _catalogue.pgettext(context, message)


def N_(message: str) -> str:
    """Marks a sentence for translation where it stands in a table; whoever shows it calls `_`."""
    return message


def NP_(context: str, message: str) -> str:
    """As N_, for a word of one context; whoever shows it calls `pgettext` with the same."""
    return message


def shaped(templates: Iterable[str], sentence: str) -> tuple[str, dict[str, str]] | None:
    """The first template that `sentence` is an instance of, and what stands in its places; None if it is of none.

    For sentences that arrive in English from where nothing is translated.
    """
    for template in templates:
        parts = re.split(r"\{(\w+)\}", template)
        pattern = "".join(re.escape(part) if index % 2 == 0 else f"(?P<{part}>.*?)" for index, part in enumerate(parts))
        if found := re.fullmatch(pattern, sentence, re.DOTALL):
            return template, found.groupdict()
    return None
