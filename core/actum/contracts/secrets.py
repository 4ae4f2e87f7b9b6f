"""What looks like a secret, and the words in which it is refused (§7 of the protocol).

Secrets never enter request, store, log, launch file or a copied command. A parameter of the type secret does not exist
yet, so a name or a value that looks like one is refused where it is read, before it is written anywhere. The refusal never
repeats the value.
"""

from __future__ import annotations

import re

# The last words of a name decide: `api_token` holds one, `max_tokens` and `token_count` count something.
_LAST_WORDS = frozenset(
    {"password", "passwd", "pwd", "passphrase", "passcode", "apikey"}
    | {"secret", "secrets", "token", "credential", "credentials"}
)
_LAST_PAIRS = frozenset(
    {(first, "key") for first in ("api", "access", "private", "secret", "auth", "signing", "encryption", "ssh", "account")}
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_VALUES = (
    ("a private key", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")),
    ("an access key", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("an access token", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,}|glpat-[\w-]{20,})")),
    ("an access token", re.compile(r"\bxox[abprs]-[A-Za-z0-9-]{10,}")),
    ("an API key", re.compile(r"\bsk-[A-Za-z0-9_-]{32,}")),
    ("a signed token", re.compile(r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}")),
    ("a password in an address", re.compile(r"\b[a-z][a-z0-9+.-]*://[^/\s:@]+:[^/\s:@]+@", re.IGNORECASE)),
)
REMEDY = "Let the work read it from a place of its own, such as a file only you can read, and pass the name of that place."


def name_looks_secret(name: str) -> bool:
    """Whether a parameter or variable called `name` would hold a secret."""
    words = [word.lower() for word in _WORD.findall(name)]
    return bool(words) and (words[-1] in _LAST_WORDS or tuple(words[-2:]) in _LAST_PAIRS)


def value_looks_secret(text: str) -> str | None:
    """What `text` looks like (“an access key”), or None."""
    return next((what for what, pattern in _VALUES if pattern.search(text)), None)


def refusal_of_name(name: str) -> str:
    return f"“{name}” sounds like a secret, and parameters are kept and shown in plain text. {REMEDY}"


def refusal_of_value(what: str) -> str:
    return f"This looks like {what}, and parameters are kept and shown in plain text. {REMEDY}"
