"""Alerts in words: what happened, what it means now, the evidence, and what the user can do (UI.md §7). Plain data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from actum_desktop import failures, measures
from actum_desktop.i18n import N_, _


@dataclass(frozen=True, slots=True)
class AlertWords:
    title: str
    icon: str
    tone: str
    happened: str
    means: str
    evidence: tuple[tuple[str, str], ...]
    remedy: str


# code → (title, what happened, what it means now, what one can do)
_KNOWN: dict[str, tuple[str, str, str, str]] = {
    "cannot_tell": (
        N_("cannot tell"),
        N_("Actum looked for the run’s processes and was not allowed to see them, or could not reach their place."),
        N_("The run holds and its slot stays taken. Nothing was signalled. It is looked at again every minute."),
        N_(
            "Give Actum the right to read what it names, put back what is missing, or restart the computer:"
            " a new start is proof. Only if you know that nothing of it is left anywhere, say so."
        ),
    ),
    "host_lost": (
        N_("its host was lost"),
        N_("The host ended without leaving an outcome."),
        N_("The run is recorded as failed. What was left of its tree was looked for and ended by identity."),
        N_("Look at its log, then run it again."),
    ),
    "sealed_late": (
        N_("its package was sealed too late"),
        N_("A package was sealed although the run ended otherwise."),
        N_("The run keeps its status. The package is kept where it is, and is not a result."),
        N_("Adopt it: a new run begins at verification. Or leave it, and run the task again."),
    ),
    "tree_left": (
        N_("processes are left"),
        N_("Processes of this run are alive although it has ended."),
        N_("Actum ends only what it can prove to belong to the run. Its slot stays taken until then."),
        N_("Look at the processes named below. Nothing else is needed if they end by themselves."),
    ),
    "package_rejected": (
        N_("its package was refused"),
        N_("The package was read back and is not what was declared."),
        N_("Nothing was published. The package is kept aside."),
        N_("Look at what differs, then run it again."),
    ),
    "package_lost": (
        N_("its package is gone"),
        N_("The verified package was in neither of its two places."),
        N_("The run is recorded as failed."),
        N_("Look for the folder, or run it again."),
    ),
    "result_changed": (
        N_("its result is not as published"),
        N_("A published result was looked at and is not what was recorded."),
        N_("History stands: the run succeeded. The result now is another matter."),
        N_("Restore the folder from a backup, or run it again."),
    ),
    "export_failed": (
        N_("its tables were not exported"),
        N_("The run succeeded, and its task asks for an export into a folder of yours. That did not work."),
        N_("The result is as it should be. Only the copy in your folder is missing."),
        N_("Look at the folder named above, then export again. It is also tried when Actum starts, a few times."),
    ),
    "publish_pending": (
        N_("its result cannot be published yet"),
        N_("The verified package could not be moved to its place."),
        N_("It is kept, and publishing is tried again by itself."),
        N_("Make room on the disk, or give Actum the right to write there."),
    ),
    "folder_network": (
        N_("the workspace is on a network folder"),
        N_("The database and the results are in a folder that another computer serves."),
        N_("Work goes on. Locks and durable writes may not hold there, so that a crash may cost what is on record."),
        N_("Move the workspace to a disk of this computer, and start Actum with that folder."),
    ),
    "folder_synced": (
        N_("the workspace is in a synced folder"),
        N_("The folder of the workspace seems to belong to a program that copies files to other computers."),
        N_("Work goes on. Such a program can replace files under a running task."),
        N_("Move the workspace out of that folder, and start Actum with its new place."),
    ),
    "folder_volumes": (
        N_("the workspace is on several volumes"),
        N_("The folders of attempts and of results are on different volumes."),
        N_("Work goes on. Publishing copies instead of renaming."),
        N_("Put both folders on one volume while Actum does not run."),
    ),
    "no_socket": (
        N_("commands cannot reach Actum"),
        N_("This start of Actum could not listen at a local socket."),
        N_("Work runs, and is stopped and read through its files. Commands of other programs find nobody who answers."),
        N_("Look at the runtime folder named below (XDG_RUNTIME_DIR), then start Actum again."),
    ),
    "protocol_violation": (
        N_("its host spoke out of turn"),
        N_("Frames of this run’s host broke the protocol, so its channel was closed."),
        N_("The work goes on; its files on disk serve instead."),
        N_("Nothing has to be done for this run."),
    ),
    "disk_low": (
        N_("the disk is nearly full"),
        N_("There is little room left for results and logs."),
        N_("Work goes on. Publishing needs room."),
        N_("Make room while it runs."),
    ),
    "no_progress": (
        N_("no progress"),
        N_("The work has reported no progress for longer than its task expects."),
        N_("It is alive, and Actum will not end it. This goes away by itself when there is progress."),
        N_("Look at its last lines. Stop it if it waits for something that will not come."),
    ),
    "recovery": (
        N_("the workspace was restored from an older copy"),
        N_("The database is older than what was last written here."),
        N_("Nothing is started and nothing is moved aside until that is settled."),
        N_("Put the newer database back, or close Actum and run “actum doctor --accept-restored” to go on with this one."),
    ),
    "no_room": (
        N_("waiting for room on the disk"),
        N_("There is less free space than the settings ask for before a run begins."),
        N_("What computes goes on. What waits begins by itself when there is room."),
        N_("Make room, or ask for less in the settings."),
    ),
    "log_lost": (
        N_("the last records may be missing"),
        N_("Actum was ended from outside, and the write-ahead log that such an end leaves is not there."),
        N_("What was recorded last may be missing. Waiting runs do not start by themselves."),
        N_("Put actum.db-wal back if it was moved. Otherwise look through the newest runs, then resume the queue."),
    ),
    "generation_lost": (
        N_("the file “generation” was gone"),
        N_("There are runs, but not the file that says which folder and which database they belong to."),
        N_("It was written anew. Whether this is a copy or an older backup cannot be told, so waiting runs wait."),
        N_("If this workspace was copied or restored, look through the newest runs. Then resume the queue."),
    ),
    "unknown_host": (
        N_("a host of an unknown run"),
        N_("A host has come forward whose attempt is not in this database."),
        N_("It is left to finish; nothing of it is taken over."),
        N_("Look whether the database was restored from an older copy."),
    ),
    "disk_waits": (
        N_("its host waits for the disk"),
        N_("Log, records or outcome of this run cannot be written now."),
        N_("The work waits, and nothing of it is lost. It goes on by itself."),
        N_("Make room on the disk, or give Actum the right to write there."),
    ),
    "late_host": (
        N_("a host of a closed run came forward"),
        N_("A host has answered whose attempt is closed already."),
        N_("It was told to end without a trace. The status stays as it is."),
        N_("Nothing has to be done."),
    ),
    "remains": (
        N_("something of a closed run is alive"),
        N_("Processes of this run are alive although it is closed and its slot was released."),
        N_("The status stays as it is. Actum ends only what it can prove to be of the run; its journal says what was sent."),
        N_("Nothing has to be done if they end by themselves. Otherwise look at the processes named below."),
    ),
    "folder_moved": (
        N_("the folder it computes in was moved away"),
        N_("The folder of this attempt is not at its place any more; its host still reaches it where it is now."),
        N_("Nothing is concluded meanwhile, and nothing is lost."),
        N_("Put the folder back to where it was; the run then goes on by itself."),
    ),
    "records_unread": (
        N_("its records cannot be read"),
        N_("What the work has declared as records lies in a file that cannot be read now."),
        N_("A run that has ended stays open, and keeps its slot, until its records are read. It is tried again by itself."),
        N_(
            "Look at the disk, and at the rights of spool/records.jsonl in the attempt’s folder. To give up what the file still"
            " holds, move it away. A line that is no record is passed over when nothing of the run is left."
        ),
    ),
    "quarantine_waits": (
        N_("its package cannot be moved aside"),
        N_("The package is not the one that was verified, and it could not be moved into the folder “quarantine”."),
        N_("Nothing is published, and the run stays open until the package is out of the way. It is tried again by itself."),
        N_("Make room on the disk, or give Actum the right to write in the workspace’s folders “quarantine” and “results”."),
    ),
    "stop_unwritten": (
        N_("its stop cannot be written"),
        N_("The stop is on record, and the file that tells its host of it could not be written."),
        N_(
            "A host that is connected hears of it all the same; one that does not obey is ended by identity after its grace."
            " It is tried again by itself."
        ),
        N_("Make room on the disk, or give Actum the right to write in the attempt’s folder “spool”."),
    ),
    "signals_refused": (
        N_("its processes cannot be ended"),
        N_("Actum may not signal processes that are proven to belong to this run."),
        N_("They go on, and the slot stays taken until they have ended. It is tried again by itself."),
        N_("End the processes named above yourself, from where they were started or with the rights of their user."),
    ),
    "helper_crashed": (
        N_("a helper failed three times"),
        N_("A helper of Actum ended unexpectedly, had too little memory or met a defect, three times."),
        N_("The run holds in its phase; nothing was rejected."),
        N_("Make room in memory, then check again; if it happens once more, look at the crash report."),
    ),
    "busy": (
        N_("waits for a helper"),
        N_("More waits for a helper of Actum than may wait."),
        N_("Nothing was rejected. The step is tried again by itself."),
        N_("Nothing has to be done."),
    ),
}
# What is measured, by its name in the evidence.
_MEASURED = {
    "cpu_percent": N_("CPU"),
    "file_system": N_("File system"),
    "place": N_("Place"),
    "sync_program": N_("Sync program"),
    "ever": N_("Progress was seen before"),
    "for_s": N_("Without progress for"),
    "heartbeat_age_s": N_("Age of the last heartbeat"),
}
_SEVERITY = {"bad": ("x-circle-fill", "bad"), "warning": ("warning-fill", "warn"), "info": ("info-fill", "text2")}
_ALIASES = {
    "hold": "cannot_tell",
    "log_waits": "disk_waits",
    "records_wait": "disk_waits",
    "outcome_waits": "disk_waits",
    "held": "cannot_tell",
    "leftover": "tree_left",
    "result_rejected": "package_rejected",
    "package_differs": "package_rejected",
    "result_damaged": "result_changed",
    "result_missing": "result_changed",
    "violation": "protocol_violation",
    "violations": "protocol_violation",
}


def attestation_means() -> str:
    """What a person says who attests that nothing of a held run is left."""
    return _(
        "You attest that every process of it has ended, wherever it was started, and that nothing of it will write again. It is"
        " recorded with your name; the attempt is then closed without a result, its slot is free, and the next attempt starts"
        " if the task retries. If something of it still computes, two of them may write to the same places."
    )


def alert_words(code: str, severity: str, data: Mapping[str, Any], subject: str | None = None) -> AlertWords:
    """The words of one alert; `subject` is the task's title. An unknown code is shown by its own data."""
    known = _KNOWN.get(code) or _KNOWN.get(_ALIASES.get(code, ""))
    icon, tone = _SEVERITY.get(severity, _SEVERITY["info"])
    if code in ("cannot_tell", "hold", "held"):
        icon = "question-fill"
    if known is None and code in failures.FAILURE_CODES:
        known = (failures.failure_short(code), failures.failure_sentence(code), "", failures.failure_remedy(code))
    what = _(known[0]) if known else str(data.get("title") or code.replace("_", " "))
    title = _("{task}: {what}").format(task=subject, what=what) if subject else what[:1].upper() + what[1:]
    said = str(data.get("what") or data.get("message") or "")
    happened = said or (_(known[1]) if known else "")
    means = str(data.get("why") or "") or (_(known[2]) if known and known[2] else "")
    if known and known[2] and data.get("why"):
        means = f"{data['why']} {_(known[2])}"
    remedy = str(data.get("remedy") or "") or (_(known[3]) if known else "")
    shown = {"title", "what", "message", "why", "remedy"}
    items = [(str(key), value) for key, value in sorted(data.items()) if key not in shown and value is not None]
    evidence = tuple(_told(key, value) for key, value in items)
    return AlertWords(title, icon, tone, happened, means, evidence, remedy)


def _told(key: str, value: Any) -> tuple[str, str]:
    """One piece of evidence as a person reads it; what has no words of its own is shown as it is on record."""
    name = _(_MEASURED[key]) if key in _MEASURED else key.replace("_", " ")
    if isinstance(value, bool):
        return name, _("yes") if value else _("no")
    if isinstance(value, int | float) and key.endswith("_s"):
        return name, measures.duration(float(value))
    if isinstance(value, int | float) and key.endswith("_percent"):
        return name, f"{value:.0f} %"
    if isinstance(value, int) and key.endswith("_bytes"):
        return name, measures.size(value)
    return name, _value(value)


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
