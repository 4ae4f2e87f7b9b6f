"""Checks of the working folders: attempts, staging, input store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from actum.model.status import Phase, Status
from actum.results import inputs
from actum.store.audit.report import Finding, Look


def attempt_folders(look: Look) -> Iterator[Finding]:
    """Every folder attempts/<run>/<n> belongs to an attempt."""
    if not look.ws.attempts.is_dir():
        return
    for run in sorted(path for path in look.ws.attempts.iterdir() if path.is_dir()):
        for folder in sorted(path for path in run.iterdir() if path.is_dir()):
            look.examined += 1
            numbers = (run.name, folder.name)
            known = look.reader.connection.execute(
                "SELECT 1 FROM attempt WHERE CAST(run AS TEXT) = ? AND CAST(n AS TEXT) = ?", numbers
            ).fetchone()
            if known is None:
                yield look.finding(
                    f"attempts/{run.name}/{folder.name}",
                    "No attempt has this folder.",
                    "Nothing needs it; look whether a program still runs in it, then remove it.",
                )


def staging(look: Look) -> Iterator[Finding]:
    """A closed attempt that succeeded has no staging folder any more: it was renamed into results/."""
    for row in look.each("SELECT run, n, status FROM attempt WHERE phase = ? ORDER BY run, n", Phase.CLOSED.value):
        folder = look.ws.attempt_folder(row["run"], row["n"]) / "staging"
        if row["status"] == Status.SUCCEEDED and folder.exists():
            yield look.finding(
                f"attempts/{row['run']}/{row['n']}/staging",
                "It was published, and a staging folder is there again.",
                "A program may still write there; look for it, then remove the folder.",
            )


def input_store(look: Look) -> Iterator[Finding]:
    """Every kept input has the content its name says."""
    frozen = "Results that used it keep their recorded digest; put the file back, or freeze it anew with a rerun."
    for row in list(look.each("SELECT DISTINCT store, sha256 FROM input WHERE store IS NOT NULL")):
        path = Path(row["store"])
        path = path if path.is_absolute() else look.ws.path / path
        try:
            found = inputs.digest_of(path).sha256
        except OSError as error:
            yield look.finding(str(path), f"The kept input cannot be read: {error.strerror or error}.", frozen)
            continue
        if found != row["sha256"]:
            yield look.finding(str(path), "The kept input is not what was frozen.", frozen)


def input_leftovers(look: Look) -> Iterator[Finding]:
    """The input store holds nothing but inputs of runs and copies that are being made."""
    if not look.ws.inputs.is_dir():
        return
    used = {row[0] for row in look.reader.connection.execute("SELECT DISTINCT sha256 FROM input")}
    newest = look.reader.epoch()
    for entry in sorted(look.ws.inputs.iterdir()):
        look.examined += 1
        if inputs.is_temporary(entry.name):
            epoch = entry.name[1:].partition("-")[0]
            if not epoch.isdigit() or int(epoch) < newest:
                what = "A copy of an input was left unfinished."
                yield look.finding(f"inputs/{entry.name}", what, "Run `actum reconcile`; it removes it.", note=True)
        elif entry.name not in used:
            what = "No run refers to this input."
            yield look.finding(f"inputs/{entry.name}", what, "It may be removed; nothing needs it.", note=True)


CHECKS = (
    ("attempt_folders", "Every attempt folder belongs to an attempt", attempt_folders),
    ("staging", "Nothing writes where a result was published from", staging),
    ("input_store", "Kept inputs are what was frozen", input_store),
    ("input_leftovers", "The input store holds nothing else", input_leftovers),
)
