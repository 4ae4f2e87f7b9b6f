"""`python -m tests.faults --all [--jobs 2] [--resume FILE] [--point P] [--action A] [--scenario S]`: run the fault matrix.

`--pairwise point` and `--pairwise part` run a 2-wise cover (tests/faults/pairs.py); `--limit N` runs N of the chosen cases,
picked evenly by `--seed`. `--rare` strikes what no scenario passes, and the runs that are held (tests/faults/rare.py). With
`--resume FILE` each verdict is recorded there as it falls, and what has one is not run again (with `--again`: but violations
are). The cover by point goes first: a matrix that was broken off has met every point with every action soonest. A violation
names its case and keeps its workspace.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from actum.faults import CATALOGUE

from tests import evidence
from tests.faults import matrix, pairs
from tests.faults.account import account
from tests.faults.matrix import Case, Verdict
from tests.faults.record import Record
from tests.faults.running import baselines, judge_all, judged
from tests.faults.scenarios import SCENARIOS


def main() -> int:
    options = _options()
    folder = Path(tempfile.mkdtemp(prefix="actum-f"))
    own_folders(folder)
    begun = time.monotonic()
    record = Record(options.resume)
    if options.rare:
        return _rare(options, folder, record)
    if not record.up_to_date:
        record.add_passages(baselines(folder, options.jobs))
    passages = record.passages
    everything = list(matrix.generate(passages))
    _say(f"{len(CATALOGUE)} points; passed: " + ", ".join(f"{name} {len(passages[name])}" for name in SCENARIOS))
    _say(f"no scenario passes: {', '.join(matrix.unpassed(passages)) or 'none'}")
    cases = _chosen(everything, options)
    missing = record.open_cases(cases, again=options.again)
    _say(f"{len(everything)} cases generated, {len(cases)} chosen, {len(missing)} to run")
    if options.list:
        _say("\n".join(str(case) for case in missing))
        return 0
    judge_all(missing, folder, options.jobs, record, _telling(len(missing)))
    worth = bool(options.all or options.pairwise)
    return _account(cases, everything, missing, record, folder, begun, part="long", worth=worth)


def _account(
    cases: list[Case], everything: list[Case], missing: list[Case], record: Record, folder: Path, begun: float, **how: Any
) -> int:
    """Say what became of the cases, write it down as evidence; 1 where there is a violation."""
    seconds = time.monotonic() - begun
    verdicts = [record.verdicts[case] for case in cases]
    bad = _report(verdicts, seconds)
    told = account(record, cases, of=len(everything), now=len(missing))
    _say(told.note)
    evidence.report("faults", told.counts, seconds=seconds, complete=told.whole, note=told.note, held=told.code, **how)
    if not bad:
        remove(folder)
    return 1 if bad else 0


def _rare(options: argparse.Namespace, folder: Path, record: Record) -> int:
    from tests.faults import rare

    begun, everything = time.monotonic(), rare.cases()
    cases = matrix.chosen(everything, options.point, options.action, None)
    missing = record.open_cases(cases, again=options.again)
    _say(f"{len(everything)} rare cases, {len(cases)} chosen, {len(missing)} to run")
    if options.list:
        _say("\n".join(str(case) for case in missing))
        return 0
    telling = _telling(len(missing))
    with ThreadPoolExecutor(options.jobs) as pool:
        for _ in pool.map(lambda case: judged(lambda: rare.judge(case, folder), record, telling), missing):
            pass
    return _account(cases, everything, missing, record, folder, begun, part="rare", worth=not (options.point or options.action))


def _chosen(everything: list[Case], options: argparse.Namespace) -> list[Case]:
    """What to run, in the order in which it tells most."""
    cases = matrix.chosen(everything, options.point, options.action, options.scenario)
    if options.pairwise:
        return pairs.cover(cases, pairs.by_point if options.pairwise == "point" else pairs.by_part)
    if options.limit and options.limit < len(cases):
        return random.Random(options.seed).sample(cases, options.limit)
    first = dict.fromkeys(pairs.cover(cases, pairs.by_point))
    return [*first, *(case for case in cases if case not in first)]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--all", action="store_true", help="every case (else name what to run)")
    parser.add_argument("--rare", action="store_true", help="the points no scenario passes, and the runs that are held")
    parser.add_argument("--list", action="store_true", help="print the cases, run none")
    parser.add_argument("--pairwise", choices=("point", "part"), help="a cover of all pairs instead of every case")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--resume", type=Path, metavar="FILE", help="record verdicts there, and go on from those it holds")
    parser.add_argument("--again", action="store_true", help="with --resume: judge cases with a violation again")
    parser.add_argument("--point", help="one fault point, or a beginning and *")
    parser.add_argument("--action", help="kill-app, error=ENOSPC, …")
    parser.add_argument("--scenario", choices=list(SCENARIOS))
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    which = (
        options.rare,
        options.all,
        options.list,
        options.pairwise,
        options.point,
        options.action,
        options.scenario,
        options.limit,
    )
    if not any(which):
        parser.error("say --all, or which cases: --pairwise, --point, --action, --scenario, --limit")
    return options


def own_folders(folder: Path) -> None:
    """The user's own folders are never touched."""
    (folder / "home").mkdir()
    (folder / "run").mkdir(mode=0o700)
    os.environ.update(HOME=str(folder / "home"), XDG_RUNTIME_DIR=str(folder / "run"), QT_QPA_PLATFORM="offscreen")
    for name in [name for name in os.environ if name.startswith(("ACTUM_", "XDG_")) and name != "XDG_RUNTIME_DIR"]:
        del os.environ[name]


def _telling(number: int) -> Callable[[Verdict, float], None]:
    counting = itertools.count(1)

    def told(verdict: Verdict, seconds: float) -> None:
        word = "VIOLATION" if verdict.found else "ok" if verdict.reached == "struck" else verdict.reached
        _say(f"{next(counting):5}/{number} {seconds:5.1f} s  {word:11}  {verdict.case}")
        for line in verdict.found:
            _say(f"      {line}")
        if verdict.found:
            _say(f"      kept in {verdict.folder}")

    return told


def _report(verdicts: list[Verdict], seconds: float) -> list[Verdict]:
    reached = Counter(verdict.reached for verdict in verdicts)
    struck = [verdict.case for verdict in verdicts if verdict.reached == "struck"]
    bad = [verdict for verdict in verdicts if verdict.found]
    _say(f"{len(verdicts)} cases in {seconds:.0f} s: {dict(reached)}")
    _say(f"struck: {len({case.point for case in struck})} points; by action {dict(Counter(case.action for case in struck))};")
    _say(f"        by scenario {dict(Counter(case.scenario for case in struck))}")
    _say(f"violations: {len(bad)}")
    for verdict in bad:
        _say(f"  {verdict.case}: {verdict.found[0][:200]}")
    return bad


def remove(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
