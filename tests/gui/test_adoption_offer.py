"""The offer on a run's page and among the alerts, and keep-awake in the settings: what is pressed is asked for (R03)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from actum_desktop import i18n, measures
from actum_desktop.controller.events import Answered, Awake
from actum_desktop.models.runreader import Seen
from actum_desktop.models.source import AlertItem
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from tests.helpers import showdocs, stage
from tests.helpers.screens import Screens

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")  # offscreen says it of every window
OFFER = {"n": 1, "sealed_by": "manifest", "manifest_sha256": "ab" * 32}


@pytest.fixture
def screens(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[Screens]:
    monkeypatch.setattr(measures, "now_us", lambda: showdocs.NOW)
    made = Screens("light", "en", qapp)
    late = AlertItem("adoptable:a", "sealed_late", "info", showdocs.NOW, 210, "Convert invoices", dict(OFFER))
    made._join(stage.PreparedSource(stage.runs(), [late, *stage.alerts()]))
    yield made
    made.close()
    made.theme.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    i18n.use("en")


def page(screens: Screens, **adoption: Any) -> Any:
    document = {**showdocs.states()["stopped"], "adoption": {"of": None, "by": None, "offer": None, **adoption}}
    screens.window.open_run(document["run"])
    page = screens.window._page
    page.seen(replace(Seen(document["run"]), show=document))
    screens.app.processEvents()
    return page


def bodies(screens: Screens) -> list[Any]:
    return screens.window._sending._bridge.bodies  # type: ignore[union-attr]


def test_r03_the_page_offers_a_sealed_package_and_opens_the_run_that_adopts_it(screens: Screens) -> None:
    shown = page(screens, offer=OFFER)
    banner = shown._failed
    assert banner.isVisibleTo(shown)
    assert "sealed although the run was stopped" in banner.accessibleName()
    banner.adopt.click()
    banner.adopt.click()
    asked = [body for body in bodies(screens) if body["verb"] == "adopt"]
    assert [(body["run"]) for body in asked] == [shown.run], "pressing twice asks once"
    screens.window.on_answered(Answered(len(bodies(screens)), ok={"run": 217, "created": True}))
    assert screens.window._page.run == 217


def test_r03_a_run_whose_package_is_adopted_leads_to_the_run_that_did(screens: Screens) -> None:
    shown = page(screens, by=218)
    assert "Run 218 has adopted its package" in shown._failed.accessibleName()
    assert shown._failed.adopt.text().strip() == "Open run 218"
    assert not page(screens)._failed.isVisibleTo(shown), "nothing is said where nothing is"


def test_p16_an_adoption_that_was_stopped_is_asked_for_again_from_both_pages(screens: Screens) -> None:
    """The page of the old run says who had taken it up; the page of the stopped one asks for the old run, not for itself."""
    shown = page(screens, offer={**OFFER, "after": {"run": 217, "status": "STOPPED"}})
    assert "Run 217 had taken it up and was stopped." in shown._failed.accessibleName()
    shown = page(screens, of={"run": 209, "n": 1, "attempt": "a", "again": True})
    assert "The package of run 209 can be taken up again" in shown._failed.accessibleName()
    assert shown._failed.adopt.text().strip() == "Adopt it again"
    shown._failed.adopt.click()
    assert [body["run"] for body in bodies(screens) if body["verb"] == "adopt"] == [209]
    refused = page(screens, of={"run": 209, "n": 1, "attempt": "a", "again": False})
    assert not refused._failed.isVisibleTo(refused)


def test_the_alert_has_the_same_action_and_others_do_not(screens: Screens) -> None:
    screens.window.go("alerts")
    view = screens.window._alerts
    view._list.setCurrentIndex(view.model.index(0))
    assert view._adopt.isVisibleTo(view)
    view._adopt.click()
    assert bodies(screens)[-1]["verb"] == "adopt"
    assert bodies(screens)[-1]["run"] == 210
    view._list.setCurrentIndex(view.model.index(1))
    assert not view._adopt.isVisibleTo(view)


def test_r09_what_is_held_is_attested_only_after_a_question_that_says_what_it_means(screens: Screens) -> None:
    """The alert of a hold alone has it; one press asks, another says so, and a way out asks for nothing."""
    held = AlertItem("cannot_tell:a", "cannot_tell", "warning", showdocs.NOW, 210, "Convert invoices", {"waiting_for": "x"})
    view = screens.window._alerts
    screens.window.go("alerts")
    view.show_alerts([held, *stage.alerts()])
    view._list.setCurrentIndex(view.model.index(0))
    assert view._attest.isVisibleTo(view)
    view._attest.click()
    assert "every process of it has ended" in view._popover.accessibleName()
    assert view.rect().contains(view._popover.geometry()), "the whole question can be seen"
    view._popover._no.click()
    assert not [body for body in bodies(screens) if body["verb"] == "attest"]
    view._attest.click()
    view._popover._yes.click()
    assert [(body["run"], bool(body["by"])) for body in bodies(screens) if body["verb"] == "attest"] == [(210, True)]
    late = next(row for row, (item, _) in enumerate(view.model.items) if item.code != "cannot_tell")
    view._list.setCurrentIndex(view.model.index(late))
    assert not view._attest.isVisibleTo(view)


def test_keeping_awake_is_set_and_its_truth_stands_in_the_line_at_the_bottom(screens: Screens) -> None:
    window = screens.window
    for truth, words in (
        (Awake(by="org.gnome.SessionManager"), "Awake is held by the GNOME session"),
        (Awake(why="there is no session bus"), "This system gives no way to keep awake: there is no session bus"),
        (Awake(setting=False), "It may sleep while work computes, as set"),
    ):
        window.on_supervising(replace(stage.supervising(), awake=truth))
        assert words in window._status.accessibleName()
        assert window._settings._awake.current == ("on" if truth.setting else "off")
    window.on_supervising(replace(stage.supervising(), awake=Awake(), slots_taken=0))
    assert "wake" not in window._status.accessibleName()
    window._settings._awake._buttons["off"].click()
    assert bodies(screens)[-1] == {"verb": "set_setting", "name": "keep_awake", "value": False}
