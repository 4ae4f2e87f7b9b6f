"""Each kind of event that host, supervisor and store write has its words in Chinese; others are shown as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum_desktop import i18n
from actum_desktop.models import eventwords

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = re.compile(r'(?:JournalEntry|\bnotice|_notice|\bcondition)\(\s*"([a-z_]+)"')


@pytest.fixture
def chinese() -> Iterator[None]:
    i18n.use("zh_CN")
    yield
    i18n.use("en")


def written() -> set[str]:
    sources = [*(ROOT / "core" / "actum").rglob("*.py"), *(ROOT / "desktop" / "actum_desktop").rglob("*.py")]
    return {kind for path in sources for kind in WRITTEN.findall(path.read_text("utf-8"))}


@pytest.mark.usefixtures("chinese")
def test_every_kind_that_is_written_has_its_words() -> None:
    kinds = written() | {"status_changed"}
    assert len(kinds) > 15
    assert [kind for kind in sorted(kinds) if eventwords.words(kind).isascii()] == []


def test_a_kind_that_is_not_known_is_shown_without_underscores() -> None:
    assert eventwords.words("disk_on_fire") == "disk on fire"
    assert eventwords.words("slot_granted") == "slot granted"
