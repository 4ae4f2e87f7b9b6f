"""§11: the window says that its workspace stands in a doubtful place, in the language of the person."""

from __future__ import annotations

from actum.workspace import PLACES, Workspace, create_folders
from actum_desktop import i18n
from actum_desktop.alerts import alert_words
from pytestqt.qtbot import QtBot

from tests.helpers.desks import Desks


def test_the_window_shows_an_alert_for_a_synced_folder(no_desks: Desks, qtbot: QtBot) -> None:
    no_desks.ws = Workspace(no_desks.ws.path.parent / "Dropbox" / "ws")
    create_folders(no_desks.ws)
    desk = no_desks.open()
    view = desk.window._alerts
    qtbot.waitUntil(lambda: any(item.code == "folder_synced" for item in desk.source.alerts()), timeout=20_000)
    desk.window._go("alerts")
    qtbot.waitUntil(lambda: view.isVisible(), timeout=5_000)
    words = alert_words("folder_synced", "warning", {"place": str(no_desks.ws.path), "sync_program": "dropbox"})
    assert words.title == "The workspace is in a synced folder"
    assert ("Sync program", "dropbox") in words.evidence
    assert ("Place", str(no_desks.ws.path)) in words.evidence


def test_every_doubt_about_a_place_has_words_in_both_languages() -> None:
    said = {}
    try:
        for language in ("en", "zh_CN"):
            i18n.use(language)
            said[language] = [_words(code) for code in PLACES]
    finally:
        i18n.use("en")
    assert not set(said["en"]) & set(said["zh_CN"])
    assert all(all(words) for words in said["en"] + said["zh_CN"])


def _words(code: str) -> tuple[str, str, str, str]:
    words = alert_words(code, "warning", {})
    return words.title, words.happened, words.means, words.remedy
