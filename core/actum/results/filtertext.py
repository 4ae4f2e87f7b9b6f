"""The filter as it is typed: a small language of our own, read into a `condition` with the place of whatever is wrong.

```
filter    = every { "or" every }          every = single { "and" single }
single    = "not" single | "(" filter ")" | column what
what      = ( = != < <= > >= ) value | "in" "(" value { "," value } ")" | "not" "in" ( … )
          | "~" text (holds it, in any case) | "^=" text (begins with it) | "is" [ "not" ] ( null | nan )
          | nothing, for a column that is true or false
column    = name | `any name, `` for one backquote`
value     = 12.50 | 2026-03-24 | 2026-03-24T14:30Z | "text, "" for one quote" | 'text' | true | false
```

Words are read in any case; so are names, where only one column fits. `==`, `<>`, `≠`, `≤`, `≥` are read too. What is read
is never SQL: it becomes a tree, whose values are bound (`conditionsql`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from actum import limits
from actum.errors import WrongUse
from actum.results import condition as tree
from actum.results import conditionsql
from actum.results.condition import (
    All,
    Among,
    Any_,
    Begins,
    Compare,
    Condition,
    Contains,
    Holds,
    Leaf,
    Missing,
    Not,
    NotANumber,
)

_TOKEN = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<tick>`(?:[^`]|``)*`?)"
    r'|(?P<text>"(?:[^"]|"")*"?|\'(?:[^\']|\'\')*\'?)'
    r"|(?P<number>[+\-−]?\.?\d[0-9A-Za-z_.:]*(?:(?<=[eE\d])[+\-−][0-9A-Za-z_.:]+)*)"
    r"|(?P<name>[^\W\d][\w.]*)"
    r"|(?P<sign>==|!=|<>|<=|>=|\^=|[=<>≠≤≥~(),])"
    r"|(?P<odd>.)",
    re.DOTALL,
)
_SIGNS = {"==": "=", "<>": "!=", "≠": "!=", "≤": "<=", "≥": ">="}
_NAME = re.compile(r"[^\W\d][\w.]*")
WORDS = frozenset({"and", "or", "not", "in", "is", "null", "nan", "true", "false"})


class FilterWrong(WrongUse):
    """The typed filter cannot be read. `reason` is a word (the keys of `_WHAT`), `said` what it is about, at `start`…`end`.

    `expected`: what may stand there (column, operator, value, joint), `column`: of which column, where one is being asked.
    """

    def __init__(self, reason: str, start: int, end: int, said: str = "", expected: str = "", column: str = "") -> None:
        what = _WHAT[reason].format(said=said[:60], column=column[:60])
        super().__init__("bad_filter", what, reason=reason, start=start, end=end)
        self.reason, self.start, self.end, self.said = reason, start, end, said
        self.expected, self.column = expected, column


_WHAT = {
    "no_column": "There is no column “{said}”.",
    "several_columns": "Several columns are called “{said}” in another case. Write it exactly.",
    "column_expected": "A column is expected here.",
    "operator_expected": "After “{column}”, a condition is expected, for example = or is null.",
    "value_expected": "A value is expected here.",
    "joint_expected": "“and” or “or” is expected here.",
    "quotes_expected": '“{column}” holds text: put the value in quotes, for example "{said}".',
    "parenthesis_expected": "“in” takes its values in parentheses.",
    "not_closed": "A parenthesis is not closed.",
    "not_opened": "This parenthesis was not opened.",
    "quote_not_closed": "The quote is not closed.",
    "no_null_value": "A missing value is asked for with “is null”.",
    "null_expected": "“is” is followed by null, or not null.",
    "bad_value": "“{said}” cannot be compared with “{column}”.",
    "cannot_be_asked": "“{column}” cannot be asked “{said}”.",
    "odd": "“{said}” has no meaning here.",
    "too_long": "The filter is too long.",
    "too_deep": "The filter is nested too deeply.",
    "too_many": "The filter has too many parts.",
}


@dataclass(frozen=True, slots=True)
class Token:
    """kind: tick, text, number, name, sign, odd, end. `said` = what it means (quotes taken away), `raw` as it is typed."""

    kind: str
    said: str
    raw: str
    start: int
    end: int

    def is_word(self, *words: str) -> bool:
        return self.kind == "name" and self.said.lower() in words


def parse(text: str, columns: Sequence[Mapping[str, Any]]) -> Condition | None:
    """The condition that was typed for a table with these columns (`columns.describe`); None for an empty text.

    Raises FilterWrong.
    """
    if len(text) > limits.FILTER_TEXT_CHARS_MAX:
        raise FilterWrong("too_long", limits.FILTER_TEXT_CHARS_MAX, len(text))
    if not text.strip():
        return None
    reader = _Reader(tokens(text), {str(item["name"]): item for item in columns})
    found = reader.any_of(limits.FILTER_DEPTH_MAX)
    reader.end()
    try:
        tree.check_size(found)
    except WrongUse as error:
        raise FilterWrong("too_many", 0, len(text)) from error
    return found


def tokens(text: str) -> list[Token]:
    """All of the text but its spaces, and an end."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        kind, raw = str(match.lastgroup), match.group()
        if kind == "space":
            continue
        said = raw
        if kind in ("tick", "text"):
            quote = raw[0]
            if len(raw) < 2 or raw[-1] != quote or raw.count(quote) % 2:
                kind = "open"
            said = raw[1:-1].replace(quote * 2, quote)
        elif kind == "sign":
            said = _SIGNS.get(raw, raw)
        found.append(Token(kind, said, raw, match.start(), match.end()))
    found.append(Token("end", "", "", len(text), len(text)))
    return found


class _Reader:
    """Reads tokens from left to right; `at` is the next one."""

    def __init__(self, found: Sequence[Token], columns: Mapping[str, Mapping[str, Any]]) -> None:
        self._tokens, self._columns = found, columns
        self._place = 0

    @property
    def at(self) -> Token:
        return self._tokens[self._place]

    def take(self) -> Token:
        token = self.at
        if token.kind == "open":
            raise _wrong("quote_not_closed", token)
        if token.kind == "odd":
            raise _wrong("odd", token)
        self._place += 1 if token.kind != "end" else 0
        return token

    def sign(self, *signs: str) -> bool:
        """Whether the next token is one of the signs, which is then taken."""
        if self.at.kind == "sign" and self.at.said in signs:
            self._place += 1
            return True
        return False

    def word(self, *words: str) -> bool:
        if self.at.is_word(*words):
            self._place += 1
            return True
        return False

    def end(self) -> None:
        if self.at.kind != "end":
            token = self.take()
            raise _wrong("not_opened" if token.said == ")" else "joint_expected", token, expected="joint")

    # ---- the rules

    def any_of(self, depth: int) -> Condition:
        parts = [self.all_of(depth)]
        while self.word("or"):
            parts.append(self.all_of(depth))
        return parts[0] if len(parts) == 1 else Any_(tuple(parts))

    def all_of(self, depth: int) -> Condition:
        parts = [self.single(depth)]
        while self.word("and"):
            parts.append(self.single(depth))
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def single(self, depth: int) -> Condition:
        if depth <= 0:
            raise _wrong("too_deep", self.at)
        if self.word("not"):
            return Not(self.single(depth - 1))
        opened = self.at
        if self.sign("("):
            inside = self.any_of(depth - 1)
            if self.at.kind == "end":
                raise FilterWrong("not_closed", opened.start, opened.end, expected="joint")
            if not self.sign(")"):
                raise _wrong("joint_expected", self.take(), expected="joint")
            return inside
        return self.asked()

    def column(self) -> str:
        token = self.take()
        if token.kind not in ("name", "tick") or (token.kind == "name" and token.said.lower() in WORDS):
            raise _wrong("column_expected", token, expected="column")
        if token.said in self._columns:
            return token.said
        alike = [name for name in self._columns if name.lower() == token.said.lower()]
        if len(alike) == 1:
            return alike[0]
        raise _wrong("several_columns" if alike else "no_column", token, expected="column")

    def asked(self) -> Condition:
        start = self.at
        name = self.column()
        kind = str(self._columns[name]["type"])
        sign = self.at
        if self.sign("~", "^="):
            made: Leaf = (Contains if sign.said == "~" else Begins)(name, self.text(name))
        elif self.sign(*tree.COMPARISONS):
            made = Compare(name, sign.said, self.value(name, kind))
        elif self.word("is"):
            return self.is_what(name, kind, sign)
        elif self.word("in"):
            made = self.among(name, kind)
        elif self.at.is_word("not") and self._tokens[self._place + 1].is_word("in"):
            self._place += 2
            return Not(self.check(self.among(name, kind), sign))
        elif kind == "boolean":
            made, sign = Holds(name), start
        else:
            raise _wrong("operator_expected", self.take(), expected="operator", column=name)
        return self.check(made, sign)

    def is_what(self, name: str, kind: str, sign: Token) -> Condition:
        negated = self.word("not")
        token = self.take()
        if not token.is_word("null", "missing", "nan"):
            raise _wrong("null_expected", token, expected="null", column=name)
        made = self.check(NotANumber(name) if token.is_word("nan") else Missing(name), sign)
        return Not(made) if negated else made

    def among(self, name: str, kind: str) -> Among:
        if not self.sign("("):
            raise _wrong("parenthesis_expected", self.take(), expected="parenthesis", column=name)
        values = [self.value(name, kind)]
        while self.sign(","):
            values.append(self.value(name, kind))
        if not self.sign(")"):
            raise _wrong("not_closed", self.take(), expected="comma", column=name)
        return Among(name, tuple(values))

    def text(self, name: str) -> str:
        token = self.take()
        if token.kind in ("name", "number"):
            raise _wrong("quotes_expected", token, column=name)
        if token.kind != "text":
            raise _wrong("value_expected", token, expected="value", column=name)
        return token.said

    def value(self, name: str, kind: str) -> str:
        token = self.take()
        if token.is_word("null"):
            raise _wrong("no_null_value", token, column=name)
        if token.kind not in ("text", "number", "name"):
            raise _wrong("value_expected", token, expected="value", column=name)
        if kind == "text" and token.kind != "text":
            raise _wrong("quotes_expected", token, expected="value", column=name)
        if kind != "text" and token.kind == "name" and kind != "boolean":
            raise _wrong("bad_value", token, column=name)
        try:
            if conditionsql.comparable(kind) or kind == "boolean":
                conditionsql.value_of(kind, token.said)
        except WrongUse as error:
            raise _wrong("bad_value", token, column=name) from error
        return token.said

    def check(self, leaf: Leaf, sign: Token) -> Leaf:
        """Raises FilterWrong where the type of the column has no such question."""
        try:
            conditionsql.check_leaf(leaf, self._columns)
        except WrongUse as error:
            raise FilterWrong("cannot_be_asked", sign.start, sign.end, sign.raw, column=leaf.column) from error
        return leaf


def _wrong(reason: str, token: Token, expected: str = "", column: str = "") -> FilterWrong:
    return FilterWrong(reason, token.start, token.end, token.said, expected, column)


def name_text(name: str) -> str:
    """A column's name as it is typed."""
    plain = _NAME.fullmatch(name) and name.lower() not in WORDS
    return name if plain else "`" + name.replace("`", "``") + "`"


def value_text(kind: str, value: str) -> str:
    """A value as it is typed."""
    token = tokens(value)
    bare = kind != "text" and len(token) == 2 and token[0].kind == "number" and token[0].raw == value
    if bare or (kind == "boolean" and value.lower() in ("true", "false")):
        return value
    return '"' + value.replace('"', '""') + '"'


def write(condition: Condition, columns: Sequence[Mapping[str, Any]]) -> str:
    """The condition as it would be typed: `parse` reads it back."""
    kinds = {str(item["name"]): str(item["type"]) for item in columns}
    return _written(condition, kinds)


def _written(node: Condition, kinds: Mapping[str, str]) -> str:
    if isinstance(node, Not) and isinstance(node.of, Missing | NotANumber):
        return f"{name_text(node.of.column)} is not {'nan' if isinstance(node.of, NotANumber) else 'null'}"
    if isinstance(node, Not):
        return f"not {_inside(node.of, kinds)}"
    if isinstance(node, All | Any_):
        return (" and " if isinstance(node, All) else " or ").join(_inside(part, kinds) for part in node.of)
    name, kind = name_text(node.column), kinds[node.column]
    if isinstance(node, Compare):
        return f"{name} {node.operator} {value_text(kind, node.value)}"
    if isinstance(node, Among):
        return f"{name} in ({', '.join(value_text(kind, value) for value in node.values)})"
    if isinstance(node, Contains | Begins):
        return f"{name} {'~' if isinstance(node, Contains) else '^='} {value_text('text', node.value)}"
    if isinstance(node, Holds):
        return name
    return f"{name} is {'nan' if isinstance(node, NotANumber) else 'null'}"


def _inside(node: Condition, kinds: Mapping[str, str]) -> str:
    said = _written(node, kinds)
    return f"({said})" if isinstance(node, All | Any_) else said
