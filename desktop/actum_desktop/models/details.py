"""The plain registers of a run page as rows of a list: evidence, events, inputs and parameters, files, attempts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from actum.limits import VALUE_SHOWN_CHARS_MAX
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from actum_desktop import measures, wording
from actum_desktop.i18n import _
from actum_desktop.ledger import attempt_state
from actum_desktop.models import eventwords
from actum_desktop.models.runreader import Seen

Index = QModelIndex | QPersistentModelIndex
DETAIL = int(Qt.ItemDataRole.UserRole)
ROOT = QModelIndex()


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """One line: a label at the left, a value that wraps at the right."""

    label: str
    value: str
    mono: bool = False
    token: str = "text"


Detail = Section | Pair


def plain(value: Any) -> str:
    """A value as text: strings as they are, the rest as JSON; the dash for none."""
    if value is None or value == "":
        return measures.DASH
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= VALUE_SHOWN_CHARS_MAX else f"{text[:VALUE_SHOWN_CHARS_MAX]}…"


def evidence(show: Mapping[str, Any], attempt: str | None = None) -> list[Detail]:
    """All facts on record, raw."""
    rows: list[Detail] = []
    for name, fact in attempt_state(show, attempt)["facts"].items():
        moment = f"{measures.when(fact.get('at'))} · {measures.clock(fact.get('at'))}{measures.fraction(fact.get('at'))}"
        rows.append(Section(wording.fact_name(name), moment))
        for key, value in sorted((fact.get("evidence") or {}).items()):
            rows.append(Pair(str(key), plain(value), mono=not isinstance(value, int)))
    return rows or [Section(_("Nothing is on record yet."))]


def events(journal: Sequence[Mapping[str, Any]], *, more: bool = False) -> list[Detail]:
    rows: list[Detail] = []
    day = ""
    for row in journal:
        today = measures.day(row.get("at"))
        if today != day:
            rows.append(Section(today))
            day = today
        data = {key: value for key, value in (row.get("data") or {}).items() if value not in (None, "")}
        kind = eventwords.words(row.get("kind"))
        text = f"{kind}  {plain(data)}" if data else kind
        rows.append(Pair(measures.clock(row.get("at")) + measures.fraction(row.get("at")), text))
    if more:
        rows.append(Section(_("More events are on record than are shown here.")))
    return rows or [Section(_("No events yet."))]


def records(found: Sequence[Mapping[str, Any]], *, more: bool = False) -> list[Detail]:
    """What the work declared, kept for ever; a head each time the attempt or the day changes."""
    rows: list[Detail] = []
    head = ("", 0)
    for row in found:
        now = (measures.day(row.get("at")), int(row.get("n") or 1))
        if now != head:
            rows.append(Section(now[0], _("attempt {n}").format(n=now[1])))
            head = now
        text = f"{row.get('kind')}  {plain(row.get('data'))}"
        rows.append(Pair(measures.clock(row.get("at")) + measures.fraction(row.get("at")), text))
    if more:
        rows.append(Section(_("More records are kept than are shown here. The file records.jsonl of the result has all.")))
    return rows or [Section(_("No records. What the work declares with record() stands here."))]


def inputs(show: Mapping[str, Any]) -> list[Detail]:
    rows: list[Detail] = [Section(_("Parameters"))]
    for name, value in sorted((show.get("parameters") or {}).items()):
        rows.append(Pair(str(name), plain(value)))
    rows.append(Section(_("Inputs, as they were frozen")))
    for item in show.get("inputs") or []:
        policy = {"copy": _("copied"), "pin": _("pinned")}.get(str(item.get("policy")), str(item.get("policy")))
        rows.append(Pair(str(item.get("name")), plain(item.get("path"))))
        rows.append(Pair("", f"{policy} · {measures.size(item.get('size'))} · sha256 {item.get('sha256')}", token="text2"))
    for title, document in ((_("Code"), show.get("code")), (_("Environment"), show.get("environment"))):
        if document:
            rows.append(Section(title))
            rows.extend(Pair(str(key), plain(value)) for key, value in sorted(document.items()))
    rows.append(Section(_("Request")))
    rows.append(Pair(_("key"), plain(show.get("key")), mono=True))
    rows.append(Pair(_("digest"), plain(show.get("request_digest")), mono=True))
    return rows


def files(show: Mapping[str, Any]) -> list[Detail]:
    """Published files, or what an unsuccessful attempt left: labelled (R13)."""
    result, left = show.get("result"), show.get("unverified_files")
    rows: list[Detail] = []
    if result:
        rows.append(Section(_("Published, read-only"), str(result.get("path") or "")))
        rows.extend(_file(item) for item in result.get("files") or [])
    if left:
        rows.append(Section(_("Not a result, not verified"), str(left.get("folder") or "")))
        rows.extend(_file(item) for item in left.get("files") or [])
        if left.get("more"):
            rows.append(Pair("", _("and {n} more").format(n=measures.count(left["more"])), token="text2"))
    return rows or [Section(_("No files. What the work writes appears here when it is published, or when it has failed."))]


def _file(item: Mapping[str, Any]) -> Pair:
    return Pair(measures.size(item.get("size")), plain(item.get("name")))


def attempts(show: Mapping[str, Any]) -> list[Detail]:
    rows: list[Detail] = []
    for item in show.get("attempts") or []:
        word = wording.status(str(item.get("status")), str(item.get("phase")), bool(item.get("released")))
        rows.append(Section(_("Attempt {n}").format(n=item.get("n")), word.word))
        exits = item.get("exit") or {}
        rows.append(Pair(_("started"), measures.when(item.get("started_at"))))
        rows.append(Pair(_("ended"), measures.when(item.get("finished_at"))))
        rows.append(Pair(_("exit"), wording.exit_text(exits) or measures.DASH))
        rows.append(Pair(_("host"), plain(item.get("pid"))))
        rows.append(Pair(_("session"), plain(item.get("session")), mono=True))
        failure = item.get("failure") or {}
        if failure.get("code"):
            rows.append(Pair(_("failure"), f"{failure['code']}: {failure.get('message') or ''}", token="bad"))
    return rows


def register(key: str, show: Mapping[str, Any], seen: Seen, attempt: str | None) -> list[Detail]:
    """The rows of one part of a run's page."""
    match key:
        case "evidence":
            return evidence(show, attempt)
        case "events":
            return events(seen.journal, more=seen.more_journal)
        case "records":
            return records(seen.records, more=seen.more_records)
        case "inputs":
            return inputs(show)
        case "files":
            return files(show)
        case _:
            return attempts(show)


class DetailsModel(QAbstractListModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[Detail] = []

    def show(self, rows: list[Detail]) -> None:
        if rows == self._rows:
            return
        same = len(rows) >= len(self._rows) and rows[: len(self._rows)] == self._rows
        if same and self._rows:
            self.beginInsertRows(ROOT, len(self._rows), len(rows) - 1)
            self._rows = rows
            self.endInsertRows()
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        row = self._rows[index.row()]
        if role == DETAIL:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            words = (row.title, row.note) if isinstance(row, Section) else (row.label, row.value)
            return ", ".join(word for word in words if word)
        return None

    def as_text(self) -> str:
        return "\n".join(
            f"\n{row.title}  {row.note}" if isinstance(row, Section) else f"{row.label}\t{row.value}" for row in self._rows
        ).strip()
