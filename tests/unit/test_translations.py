"""Every sentence the program says is translated, with the same placeholders, and the compiled catalogue is the source's."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import types
from pathlib import Path

from actum_desktop import i18n

ROOT = Path(__file__).resolve().parents[2]


def _command() -> types.ModuleType:
    loader = importlib.machinery.SourceFileLoader("translations_command", str(ROOT / "packaging" / "translations"))
    spec = importlib.util.spec_from_loader("translations_command", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_the_chinese_catalogue_is_complete_and_compiled() -> None:
    command = _command()
    path = command.CATALOGUES / "zh_CN" / "LC_MESSAGES" / "actum.po"
    assert command.problems("zh_CN", path) == []


def test_plurals_and_contexts_come_out_of_the_catalogue() -> None:
    i18n.use("zh_CN")
    try:
        assert i18n.pgettext("ledger", "Open") == "未结"
        assert i18n._("Open") == "打开"
        assert i18n.ngettext("{n} run", "{n} runs", 2).format(n=2) == "2 次运行"
    finally:
        i18n.use("en")
    assert i18n.ngettext("{n} run", "{n} runs", 2) == "{n} runs"


def test_the_language_follows_the_environment() -> None:
    assert i18n.preferred({"LANG": "zh_CN.UTF-8"}) == "zh_CN"
    assert i18n.preferred({"LANG": "de_DE.UTF-8"}) == "en"
    assert i18n.preferred({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}) == "en"
    assert i18n.preferred({}) == "en"
