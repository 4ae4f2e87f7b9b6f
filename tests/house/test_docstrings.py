"""Every module says in one sentence what it is (STYLE habit 10)."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.house.sources import CORE, DESKTOP, ROOT, TESTS, modules, place, tree


def missing_sentence(path: Path) -> str:
    """What is wrong with the module's first line; "" when nothing is."""
    docstring = ast.get_docstring(tree(path))
    if not docstring:
        return "has no docstring"
    first = docstring.split("\n\n")[0].strip()
    return "" if first[-1] in ".?!:;" else f"begins with {first!r}, which is no sentence"


def test_every_module_begins_with_a_sentence() -> None:
    paths = modules(CORE, DESKTOP, TESTS, ROOT / "resources", ROOT / "packaging")
    wrong = [f"{place(path)} {what}" for path in paths if (what := missing_sentence(path))]
    assert not wrong, "Begin the module with one sentence that says what it is:\n" + "\n".join(wrong)


def test_a_module_without_a_sentence_is_seen(tmp_path: Path) -> None:
    for name, source in {"a.py": "x = 1\n", "b.py": '"""helpers"""\n'}.items():
        (tmp_path / name).write_text(source)
        assert missing_sentence(tmp_path / name)
