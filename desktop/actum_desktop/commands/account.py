"""One run on paper: its head, the completion ledger and the foot, as the window draws them (UI.md §4).

The double rule stands only under a closed account: terminal and released.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum_desktop import measures, wording
from actum_desktop.commands.output import Output, plain
from actum_desktop.wording import Kind, LedgerRow

_TIME_COLUMNS = 12
_RULE_COLUMNS = 56
# kind → (mark, letters where the mark cannot be written, tone)
_MARKS: dict[Kind, tuple[str, str, str]] = {
    Kind.ESTABLISHED: ("✓", "x", "ok"),
    Kind.WAITING: ("◉", "o", "accent"),
    Kind.NOT_YET: ("·", ".", "faint"),
    Kind.NEVER: ("–", "-", "faint"),
    Kind.REFUSED: ("✗", "!", "bad"),
    Kind.CANNOT_TELL: ("?", "?", "warn"),
}
_RULES = {"double": ("═", "="), "held": ("─", "-"), "open": ("─", "-")}
_TONES = {"ok": "ok", "bad": "bad", "warn": "warn", "accent": "accent", "text2": "strong", "text": "strong"}


def print_head(out: Output, show: Mapping[str, Any]) -> None:
    """`Run 17  return-and-risk 1  Succeeded`, then the first line in plain words."""
    contact = (show.get("contact") or {}).get("state", "ok")
    word = wording.status(show["status"], show["phase"], show["released"], contact=contact)
    name = f"Run {show['run']}  {plain(show['task'])} {plain(show['task_version'])}"
    out.say(f"{out.toned(name, 'strong')}  {out.toned(word.word, _TONES.get(word.tone, ''))}")
    out.say(plain(wording.sentence(show)))


def print_account(out: Output, show: Mapping[str, Any]) -> None:
    """The head, the ten rows in their two parts, the rule and the foot."""
    print_head(out, show)
    rows = wording.ledger(show)
    part = ""
    for row in rows:
        if row.part != part:
            part = row.part
            out.say()
            count = f"  {wording.on_record(rows)} of 7 on record" if part == "completion" else ""
            out.say(
                " " * (_TIME_COLUMNS + 4) + out.toned({"opened": "Opened", "completion": "Completion"}[part] + count, "faint")
            )
        _print_row(out, row)
    foot = wording.ledger_foot(show)
    rule = out.mark(*_RULES[foot.rule]) * _RULE_COLUMNS
    out.say()
    out.say(out.toned(rule, _TONES.get(foot.tone, "") if foot.rule != "open" else "faint"))
    out.say(f"{out.toned(plain(foot.word), _TONES.get(foot.tone, ''))}  {plain(foot.sentence)}")
    badge = wording.result_badge(show.get("result"))
    if badge is not None:
        where = plain(show["result"].get("path") or "")
        out.say(f"{out.toned('Readable now', 'faint')}  {out.toned(badge.word, _TONES.get(badge.tone, ''))}  {where}")


def _print_row(out: Output, row: LedgerRow) -> None:
    mark, letters, tone = _MARKS[row.kind]
    quiet = row.kind in (Kind.NOT_YET, Kind.NEVER)
    title = plain(row.title)
    written = out.toned(title, "faint") if quiet else title
    out.say(f"{_time(row):>{_TIME_COLUMNS}}  {out.toned(out.mark(mark, letters), tone)} {written}")
    for line in row.evidence:
        out.say(" " * (_TIME_COLUMNS + 4) + out.toned(plain(line), "faint"))


def _time(row: LedgerRow) -> str:
    """When it was established, or how long it has been waited for."""
    if row.at is not None:
        return measures.clock(row.at) + measures.fraction(row.at)
    if row.kind is Kind.NEVER:
        return "never"
    return measures.age(row.since) if row.since is not None else ""


def print_unverified(out: Output, files: Mapping[str, Any]) -> None:
    """Where the files of an unsuccessful attempt are, under the label of R13."""
    out.say()
    out.say(f"Files it left ({files['label']}): {plain(files['folder'])}")
    for file in files["files"]:
        out.say(f"  {plain(file['name'])}, {measures.size(file['size'])}")
    if files.get("more"):
        out.say(f"  and {measures.count(files['more'])} more")
