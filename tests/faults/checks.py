"""What must hold after a fault and a restart: the record, the files, the outside trace and the processes agree (R01, R18)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as parquet
from actum.ipc import spool
from actum.model.facts import FACTS
from actum.store.audit.running import audit
from actum.store.rows import AttemptDetail

from tests.faults import roles
from tests.faults.scenarios import DATA, Flight

NATURAL = {
    "begins": ("SUCCEEDED", None),
    "succeeds": ("SUCCEEDED", None),
    "fails": ("FAILED", "work_failed"),
    "stopped": ("STOPPED", None),
    "exports": ("SUCCEEDED", None),
    "rejected": ("FAILED", "result_rejected"),
    "robbed": ("SUCCEEDED", None),
}
UNSUCCESSFUL = ("FAILED", "START_FAILED")
NEVER_STARTED = frozenset({"launch_lost", "host_lost", "start_error", "start_deadline"})
REFUSED_BY_THE_SYSTEM = frozenset({"disk_full", "io_error", "input_unreadable"})
BUG = 70
ALL_FACTS = [fact.value for fact in FACTS]


def violations(flight: Flight, scenario: str, action: str, struck: bool) -> list[str]:
    """Everything that is not as it must be, in words; nothing is the right answer."""
    found = list(flight.broken)
    found += [f"{name} ended {flight.codes[name]}: {flight.words[name][-300:]}" for name in _must_be_done(flight)]
    number = flight.run
    if number is None:
        return [*found, *_never_admitted(flight, action if struck else "")]
    with flight.stage.reader() as reader:
        attempts = reader.attempts(number)
        facts = [str(fact.fact) for fact in reader.facts(number)]
        status = reader.run(number).status
    found += _status(flight, scenario, action if struck else "delay", status, attempts)
    if len(attempts) != 1:
        found.append(f"the run has {len(attempts)} attempts")
    found += [f"attempt {each.n} is {each.status}/{each.phase}, not released" for each in attempts if not each.released]
    found += _work(flight, status, facts)
    if status == "SUCCEEDED":
        found += _published(flight, number)
    if scenario == "exports":
        found += exported(flight)
    found += [f"still alive: {role} {pid}" for pid, role in roles.find(flight.stage.ws.path).items()]
    report = audit(flight.stage.ws)
    found += [f"audit: {each.check}: {each.subject}: {each.what}" for each in report.findings if not each.note]
    return found


def _must_be_done(flight: Flight) -> list[str]:
    """What follows a fault succeeds; and no fault is answered as a defect of the program (exit 70)."""
    after = [name for name in ("reconcile", "prepare", "export again") if flight.codes.get(name, 0) != 0]
    return after + [name for name, code in flight.codes.items() if code == BUG and name not in after]


def _never_admitted(flight: Flight, action: str) -> Iterator[str]:
    if flight.stage.said(flight.key):
        yield "the work was started, and the run is on no record"
    if action.startswith("delay") or not action:
        yield f"there is no run: {flight.words}"


def _status(flight: Flight, scenario: str, action: str, status: str, attempts: list[AttemptDetail]) -> Iterator[str]:
    last = attempts[-1]
    seen = (status, last.failure_code)
    natural = NATURAL[scenario]
    if seen == natural:
        return
    said = flight.stage.said(flight.key)
    outcome = spool.read_outcome(flight.stage.ws.attempt_folder(last.run, last.n))
    kind = outcome.get("kind") if isinstance(outcome, dict) else None
    code = last.failure_code or ""
    explained = status in UNSUCCESSFUL and kind != "sealed" and allowed(action, code, started=bool(said))
    if not explained:
        words = f"{status} {code}: {last.failure_message}; the work said {said}; outcome {kind}"
        yield f"expected {natural[0]} {natural[1] or ''}, found {words}"


def allowed(action: str, code: str, *, started: bool) -> bool:
    """Whether a run may end unsuccessfully with this code, for this fault."""
    if action == "kill-work":
        return code == "work_crashed"
    if action.startswith("kill") and not started:
        return code in NEVER_STARTED
    if action in ("kill-host", "kill-all"):
        return code == "host_lost"
    if action.startswith("error="):
        return code in REFUSED_BY_THE_SYSTEM or (not started and code in NEVER_STARTED)
    return False


def _work(flight: Flight, status: str, facts: list[str]) -> Iterator[str]:
    """R18: exactly one start of the work per attempt that was launched; success only of work that came to its end."""
    said = flight.stage.said(flight.key)
    if said.count("start") > 1:
        yield f"the work was started {said.count('start')} times"
    if status == "SUCCEEDED":
        if said != ["start", "end"]:
            yield f"a false success: the work said {said}"
        if facts != ALL_FACTS:
            yield f"a success with the facts {facts}"
    elif "succeeded" in facts or "reference_committed" in facts:
        yield f"{status} with the facts {facts}"
    if said and "launched" not in facts:
        yield f"the work was started, but the facts are {facts}"


def _published(flight: Flight, number: int) -> Iterator[str]:
    package = flight.stage.ws.result_folder(number, 1)
    tables = [path.read_text() for path in package.glob("tables/*.csv")]
    if tables != [DATA]:
        yield f"the published table is not what the work wrote: {tables}"


def exported(flight: Flight) -> Iterator[str]:
    """An export that stands in its place is whole, and is on record."""
    if flight.target.exists():
        yield from whole(flight.target)
        if not Path(f"{flight.target}.actum.json").exists():
            yield "the export has no sidecar"
    else:
        yield "there is no export"
    assert flight.run is not None
    with flight.stage.reader() as reader:
        rows = [row for row in reader.exports(flight.run) if row.path == str(flight.target)]
    if not rows:
        yield "the export is not on record"
    left = [path.name for path in flight.stage.folder.glob(f"*{flight.key}.parquet*") if path.name.startswith(".")]
    if left and "kill" not in flight.fault:
        yield f"the export left {left}"


def whole(path: Path) -> Iterator[str]:
    """The rows of an exported file are the rows of the work."""
    rows = parquet.read_table(path).to_pylist()
    text = "n,square\n" + "".join(f"{row['n']},{row['square']}\n" for row in rows)
    if text != DATA:
        yield f"the export is not whole: {len(rows)} rows"
