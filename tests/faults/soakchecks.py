"""What must hold when a soak has come to rest: of each run, of each export, of the workspace, and of what lives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from actum.ipc import spool
from actum.store.audit.running import audit
from actum.store.rows import AttemptDetail, FactRow

from tests.faults import checks
from tests.faults.scenarios import DATA
from tests.faults.soakstage import SoakStage, Spoken

NATURAL = {
    "plain": ("SUCCEEDED", None),
    "quick": ("SUCCEEDED", None),
    "family": ("SUCCEEDED", None),
    "big": ("SUCCEEDED", None),
    "again": ("SUCCEEDED", None),
    "fails": ("FAILED", "work_failed"),
    "stopped": ("STOPPED", None),
    "deadline": ("TIMEOUT", "overall_deadline"),
}
ATTEMPTS_AGAIN = 3  # retries of that task: kills may use them up
NEVER_BEGUN = frozenset({"host_lost", "launch_lost", "start_deadline"})
AFTER_A_KILL = frozenset({"host_lost", "launch_lost", "start_deadline", "work_crashed", "work_failed"})


@dataclass
class Hit:
    """What was killed, so that a failure can be explained by it and by nothing else."""

    hosts: set[tuple[str, str]] = field(default_factory=set)  # (run, n)
    work: set[str] = field(default_factory=set)  # attempts
    count: dict[str, int] = field(default_factory=dict)  # what was done → how often


def violations(stage: SoakStage, kinds: dict[str, str], hit: Hit) -> list[str]:
    """Everything that is not as it must be, in words. `kinds` = key → kind of each run that was asked for."""
    spoken = stage.spoken()
    found = [f"{key}: {each}" for key, kind in kinds.items() for each in _of_run(stage, key, kind, spoken.get(key, {}), hit)]
    found += [f"still alive: {each.role} {each.pid} {each.of}" for each in stage.living()]
    found += [f"{path.name}: {each}" for path in sorted(stage.folder.glob("*.parquet")) for each in checks.whole(path)]
    report = audit(stage.ws)
    found += [f"audit: {each.check}: {each.subject}: {each.what}" for each in report.findings if not each.note]
    return found


def _of_run(stage: SoakStage, key: str, kind: str, spoken: dict[str, Spoken], hit: Hit) -> Iterator[str]:
    number = stage.number(key)
    if number is None:
        if spoken:
            yield "the work was started, and the run is on no record"
        return
    with stage.reader() as reader:
        attempts = reader.attempts(number)
        run = reader.run(number)
        facts = _facts(reader.facts(number))
    last = attempts[-1]
    for each in attempts:
        said = spoken.get(each.id, Spoken())
        yield from _of_attempt(each, said, facts.get(each.id, []))
    if unknown := spoken.keys() - {each.id for each in attempts}:
        yield f"work of attempts that are on no record: {unknown}"
    seen = (str(run.status), last.failure_code)
    if run.status == "SUCCEEDED":
        yield from _of_success(stage, last, spoken.get(last.id, Spoken()), facts.get(last.id, []))
    exhausted = kind == "again" and len(attempts) > ATTEMPTS_AGAIN and last.failure_code == "work_failed"
    if seen != NATURAL[kind] and not exhausted and not _explained(kind, last, run.stop_requested_at_us, spoken, hit):
        yield f"{kind} ended {seen} ({last.failure_message}), the work said {spoken.get(last.id)}"
    outcome = spool.read_outcome(stage.ws.attempt_folder(last.run, last.n))
    sealed = isinstance(outcome, dict) and outcome["kind"] == "sealed"
    if sealed and run.status != "SUCCEEDED" and run.stop_requested_at_us is None:
        yield f"finished work is lost: sealed, and {seen} ({last.failure_message})"


def _facts(rows: Iterable[FactRow]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row.attempt, []).append(str(row.fact))
    return found


def _of_attempt(each: AttemptDetail, said: Spoken, facts: list[str]) -> Iterator[str]:
    if not each.released:
        yield f"attempt {each.n} is {each.status}/{each.phase}, not released"
    if said.words.count("start") > 1:
        yield f"attempt {each.n} was started {said.words.count('start')} times"
    if said.beside:
        yield f"attempt {each.n} computed beside {said.beside}"
    if said.words and "launched" not in facts:
        yield f"the work of attempt {each.n} was started, and its facts are {facts}"
    if each.status != "SUCCEEDED" and ("succeeded" in facts or "reference_committed" in facts):
        yield f"attempt {each.n} is {each.status} with the facts {facts}"


def _of_success(stage: SoakStage, last: AttemptDetail, said: Spoken, facts: list[str]) -> Iterator[str]:
    if said.words != ["start", "end"]:
        yield f"a false success: the work said {said.words}"
    if facts != checks.ALL_FACTS:
        yield f"a success with the facts {facts}"
    tables = [path.read_text() for path in stage.ws.result_folder(last.run, last.n).glob("tables/*.csv")]
    if tables != [DATA]:
        yield f"the published table is not what the work wrote: {tables}"


def _explained(kind: str, last: AttemptDetail, stop_at: int | None, spoken: dict[str, Spoken], hit: Hit) -> bool:
    """Whether a stop that was asked, or a kill of this very attempt, accounts for an end other than the natural one."""
    if last.status == "STOPPED":
        return stop_at is not None
    if last.status == "SUCCEEDED":
        return kind not in ("fails", "stopped", "deadline")
    begun = "start" in spoken.get(last.id, Spoken()).words
    code = last.failure_code or ""
    if (str(last.run), str(last.n)) in hit.hosts or last.id in hit.work:
        return code in AFTER_A_KILL
    return (not begun and code in NEVER_BEGUN) or (kind == "again" and code == "work_failed" and stop_at is not None)
