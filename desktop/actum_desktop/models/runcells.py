"""The cells of one row in the list of runs, as words and measures ready to be painted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from actum import clock

from actum_desktop import measures, wording
from actum_desktop.controller.events import Live
from actum_desktop.i18n import _
from actum_desktop.ledger import Strip
from actum_desktop.measures import DASH
from actum_desktop.models.source import RunItem
from actum_desktop.wording import StatusWord

# Phases with a progress of their own: what the work said of itself is no measure of theirs.
MEASURED_APART = ("FREEZING", "VERIFYING", "PUBLISHING", "PUBLISH_PENDING")


@dataclass(frozen=True, slots=True)
class Value:
    """A number cell: its words and its ink."""

    text: str
    token: str = "text"
    weight: int = 400


@dataclass(frozen=True, slots=True)
class RunCells:
    """One row, column by column (see `RunsModel.COLUMNS`). `fraction` None = no bar, the stage alone."""

    status: StatusWord
    title: str
    sub: str
    fraction: float | None
    bar: str
    percent: str
    stage: str
    stage_token: str
    badge: str
    strip: Strip
    time: Value
    heartbeat: Value
    cpu: Value
    memory: Value
    started: Value

    @property
    def sentence(self) -> str:
        """What a screen reader says for the whole row."""
        parts = [self.title, self.sub, self.status.word, self.badge, self.percent, self.stage, self.strip.text]
        return ", ".join(part for part in parts if part and part != DASH)


def document(item: RunItem, live: Live | None) -> dict[str, Any]:
    """A small `show` document of what a list knows, for the wording."""
    return {
        "status": item.status,
        "phase": item.phase,
        "released": item.released,
        "contact": {"state": item.contact},
        "progress": (live.progress if live and live.progress else item.progress),
        "step": live.step if live else None,
        "stop": {**(live.stop if live and live.stop else {}), "asked_at": item.stop_us} if item.stop_us else None,
        "failure": {"code": item.failure} if item.failure else None,
        "started_at": item.started_us or item.created_us,
        "result": item.extra.get("result"),
    }


def fraction_of(show: Mapping[str, Any]) -> float | None:
    """How far the run, or the phase it is in, has come; under 1 until the reference is on record (R10)."""
    if show.get("status") == "SUCCEEDED":
        return 1.0
    measured = show.get("step" if show.get("phase") in MEASURED_APART else "progress") or {}
    done, total = measured.get("done"), measured.get("total")
    if not isinstance(done, int | float) or not isinstance(total, int | float) or total <= 0:
        return None
    return max(0.0, min(0.99, done / total))


def cells(item: RunItem, live: Live | None, facts: tuple[str, ...], now: int) -> RunCells:
    show = document(item, live)
    word = wording.status(item.status, item.phase, item.released, contact=item.contact)
    strip = wording.strip_of(
        item.status, item.phase, item.released, facts, item.failure, item.open and item.contact == "cannot_tell"
    )
    warning = live.warnings[0] if live and live.warnings else None
    fraction = fraction_of(show) if item.open and item.phase not in ("QUEUED",) else None
    stopping = item.status == "STOPPING"
    stage = wording.measure(show, now)
    badge = ""
    if warning and not stopping:
        badge = wording.warning_badge(str(warning.get("code")), warning_data(warning, live, now))
        stage = _short_progress(show) or stage
    return RunCells(
        word,
        item.title or item.task,
        _sub(item),
        fraction,
        "warn" if stopping or warning else "accent",
        measures.percent(fraction) if fraction is not None else "",
        stage,
        "warn" if stopping else "text2",
        badge,
        strip,
        _time(item, show, live, now),
        _heartbeat(item, live, now),
        _cpu(item, live, warning),
        _memory(item, live),
        _started(item, now),
    )


def warning_data(warning: Mapping[str, Any], live: Live | None, now: int) -> dict[str, Any]:
    """What the wording of a warning wants to know, from the warning and the live state around it."""
    data = dict(warning.get("data") or {})
    since = measures.micros(warning.get("since_us"))
    if since is not None:
        data["for_s"] = max(0.0, (now - since) / 1e6)
    if live is not None:
        data.setdefault("cpu_percent", live.cpu_percent)
        if live.heartbeat_at_us is not None:
            data.setdefault("heartbeat_age_s", max(0.0, (now - live.heartbeat_at_us) / 1e6))
    return data


def _sub(item: RunItem) -> str:
    later = _("attempt {n}").format(n=item.n) if item.n > 1 else wording.trigger(item.trigger)
    return f"{item.number} · {later}"


def _short_progress(show: Mapping[str, Any]) -> str:
    progress = show.get("progress") or {}
    if progress.get("total"):
        return f"{measures.count(progress.get('done'))}/{measures.count(progress['total'])}"
    return str(progress.get("stage") or "")


def _time(item: RunItem, show: Mapping[str, Any], live: Live | None, now: int) -> Value:
    started = item.started_us
    if not item.open:
        if started is None or item.finished_us is None:
            return Value(DASH, "text3")
        return Value(measures.duration(_took_s(item, started, item.finished_us), narrow=True), "text2")
    if started is None:
        return Value(DASH, "text3")
    return Value(measures.duration(_took_s(item, started, now), narrow=True), "text")


def _took_s(item: RunItem, since_us: int, until_us: int) -> float | None:
    return clock.passed_s(since_us, until_us, active_s=(item.activity or {}).get("active_s"))


def _heartbeat(item: RunItem, live: Live | None, now: int) -> Value:
    if not item.open:
        return Value(_("ended"), "text3")
    if item.phase in ("VERIFYING", "PUBLISHING", "PUBLISH_PENDING"):
        return Value(_("left"), "text3")
    if live is None or live.heartbeat_at_us is None:
        return Value(DASH, "text3")
    lost = item.contact in ("lost", "cannot_tell")
    return Value(measures.age(live.heartbeat_at_us, now, narrow=True), "warn" if lost else "text")


def _cpu(item: RunItem, live: Live | None, warning: Mapping[str, Any] | None) -> Value:
    if not item.open:
        average = average_cpu(item.activity or {})
        return Value(DASH, "text3") if average is None else Value(_("avg {cpu}").format(cpu=measures.cpu(average)), "text2")
    if live is None or live.cpu_percent is None:
        return Value(DASH, "text3")
    idle = warning is not None and live.cpu_percent < 1
    return Value(measures.cpu(live.cpu_percent), "warn" if idle else "text", 600 if idle else 400)


def _memory(item: RunItem, live: Live | None) -> Value:
    if not item.open:
        peak = (item.activity or {}).get("peak_rss_bytes")
        return Value(_("peak {size}").format(size=measures.size(peak)), "text2") if peak else Value(DASH, "text3")
    rss = live.activity.get("rss_bytes") if live else None
    return Value(measures.size(rss)) if rss else Value(DASH, "text3")


def average_cpu(activity: Mapping[str, Any]) -> float | None:
    """Percent of one core over the whole time of the work; None where it lived too short to be measured."""
    used, active = activity.get("cpu_s"), activity.get("active_s")
    if not isinstance(used, int | float) or not isinstance(active, int | float) or active < 0.5:
        return None
    return 100.0 * used / active


def _started(item: RunItem, now: int) -> Value:
    if item.started_us is None:
        return Value(_("asked {time}").format(time=measures.short_clock(item.created_us)), "text2")
    return Value(measures.when(item.started_us, now), "text2")
