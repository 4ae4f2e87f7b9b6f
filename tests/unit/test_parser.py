"""The command line taken apart: verbs, options before and after them, and errors that exit 2."""

from __future__ import annotations

import importlib

import pytest
from actum.errors import WrongUse
from actum_desktop.commands.parser import VERBS, HelpAsked, asks_for_json, parse


def test_without_a_verb_the_window_is_meant() -> None:
    call = parse(["--workspace", "/w"])
    assert (call.verb, call.run, call.args.workspace) == (None, None, "/w")


@pytest.mark.parametrize(
    "words",
    [
        ["--json", "--workspace", "/w", "show", "3"],
        ["show", "3", "--json", "--workspace", "/w"],
        ["--workspace=/w", "show", "--json", "3"],
    ],
)
def test_options_for_everywhere_stand_before_or_after_the_verb(words: list[str]) -> None:
    call = parse(words)
    assert (call.verb, call.args.run, call.args.json, call.args.workspace) == ("show", "3", True, "/w")


@pytest.mark.parametrize(
    ("words", "first_line", "remedy"),
    [
        (["rnu", "x"], "Actum has no verb “rnu”.", "Did you mean `actum run`?"),
        (["--bogus"], "Actum has no option --bogus.", "`actum --help` lists verbs and options."),
        (["task"], "“task” needs a second word.", "`actum task --help` explains."),
        (["show"], "The following arguments are required: RUN.", "`actum show --help` explains."),
        (["runs", "--limit", "many"], "Argument -n/--limit: invalid int value: 'many'.", "`actum runs --help` explains."),
        (["--workspace"], "--workspace needs a folder.", "For example: actum --workspace ~/actum runs"),
    ],
)
def test_wrong_use_says_what_and_what_to_do(words: list[str], first_line: str, remedy: str) -> None:
    with pytest.raises(WrongUse) as caught:
        parse(words)
    assert (caught.value.what, caught.value.remedy, caught.value.exit_code) == (first_line, remedy, 2)


@pytest.mark.parametrize(
    "words", [["--help"], ["-h"], ["--version"], ["task", "--help"], *([*v.split(), "--help"] for v in VERBS)]
)
def test_help_is_there_for_every_verb(words: list[str]) -> None:
    with pytest.raises(HelpAsked) as caught:
        parse(words)
    assert str(caught.value).strip()


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_a_module_that_keeps_the_shape(verb: str) -> None:
    module = importlib.import_module(f"actum_desktop.commands.{VERBS[verb][0]}")
    assert callable(module.arguments)
    assert callable(module.run)
    assert f"actum {verb}" in (module.__doc__ or ""), "the module's sentence names the verb"


def test_json_is_known_before_anything_is_parsed() -> None:
    assert asks_for_json(["nonsense", "--json"])
    assert not asks_for_json(["run", "x", "--", "--json"])
