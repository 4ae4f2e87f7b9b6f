"""`python -m tests.fuzz [TARGET …] [--minutes N]`: coverage-guided runs of the targets; executions and findings, a line each.

The fuzzer is atheris, pinned in packaging/fuzz.lock; nothing is installed here, the command is said. Corpora stay in
build/fuzz/corpus, what was found in build/fuzz/findings; `--again FILE` runs one target over one finding.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests import evidence
from tests.house.sources import ROOT

PLACE = ROOT / "build" / "fuzz"
TOOLS = PLACE / "tools"
MEMORY_MIB_MAX = 1_024
INPUT_BYTES_MAX = 1 << 17
INPUT_S_MAX = 10
NAMES = (
    "frames", "messages", "guard", "spool", "outcome", "manifest", "result", "launch", "settings", "work", "contract",
    "evidence",
)  # fmt: skip
_RUNS = re.compile(r"stat::number_of_executed_units:\s*(\d+)")
_WRITTEN = re.compile(r"Test unit written to (.+)$", re.MULTILINE)
_PULSE = re.compile(r"^#(\d+)\s", re.MULTILINE)


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(NAMES)}; all without a name")
    parser.add_argument("--minutes", type=float, default=5.0, help="for each target")
    parser.add_argument("--again", type=Path, help="run the one target named over this file")
    parser.add_argument("--tools", type=Path, default=TOOLS, help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    if unknown := sorted(set(options.targets) - set(NAMES)):
        parser.error(f"there is no target {unknown[0]}; there are {', '.join(NAMES)}")
    if options.again:
        return _again(options.targets[0], options.again)
    if not (options.tools / "atheris").is_dir():
        where = TOOLS.relative_to(ROOT)
        sys.stderr.write(
            "The fuzzer is not installed here. The command is:\n"
            f"    .venv/bin/python -m pip install --no-deps --require-hashes --target {where} -r packaging/fuzz.lock\n"
        )
        return 2
    return _run(options.targets or list(NAMES), options.minutes, options.tools)


def _run(names: list[str], minutes: float, tools: Path) -> int:
    code, begun = evidence.Code.now(), time.monotonic()
    counts: Counter[str] = Counter({"executions": 0, "findings": 0})
    _plant(names)
    for name in names:
        executions, found = one(name, minutes, tools=tools)
        counts.update(executions=executions, findings=len(found), targets=1)
        sys.stdout.write(f"{name}: {executions:,} executions in {minutes:g} min; findings: {', '.join(found) or 'none'}\n")
        sys.stdout.flush()
    note = f"coverage-guided, {minutes:g} min each: {', '.join(names)}"
    complete = set(names) == set(NAMES)
    seconds, done = time.monotonic() - begun, counts["executions"]
    evidence.report("fuzz", counts, seconds=seconds, code=code, complete=complete, note=note, extent=done, worth=minutes >= 1)
    return 1 if counts["findings"] else 0


def _plant(names: list[str]) -> None:
    """Seeds from a real run, beside what earlier runs have found worth keeping."""
    import tests.conftest  # noqa: F401 - the user's own folders are never touched
    from tests.fuzz import corpus

    with tempfile.TemporaryDirectory(prefix="actum-fuzz-", ignore_cleanup_errors=True) as folder:
        run = corpus.of_a_run(Path(folder))
        for name in names:
            (PLACE / "corpus" / name).mkdir(parents=True, exist_ok=True)
            for number, seed in enumerate(corpus.seeds(name, run)):
                (PLACE / "corpus" / name / f"seed-{number:03}").write_bytes(seed)


def one(
    name: str, minutes: float, place: Path = PLACE, tools: Path = TOOLS, drive: tuple[str, ...] = ("-m", "tests.fuzz.drive")
) -> tuple[int, list[str]]:
    """Executions of one target, and its findings: each crash of this run, whether or not an earlier one found it too, and an
    end that the fuzzer itself calls none. Its file has the name of its content, so that the same crash has the same file."""
    findings = place / "findings" / name
    findings.mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable, *drive, name, str(place / "corpus" / name),
        f"-max_total_time={round(minutes * 60)}", f"-rss_limit_mb={MEMORY_MIB_MAX}", f"-timeout={INPUT_S_MAX}",
        f"-max_len={INPUT_BYTES_MAX}", f"-artifact_prefix={findings}/", "-print_final_stats=1",
    ]  # fmt: skip
    paths = [str(tools), *(str(ROOT / part) for part in (".", "core", "desktop", "resources"))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    log = place / f"{name}.log"
    with log.open("wb") as said:
        ended = subprocess.run(command, stdout=said, stderr=said, env=environment, cwd=ROOT, check=False)
    text = log.read_text(errors="replace")
    found = sorted({Path(name).name for name in _WRITTEN.findall(text)})
    counted = _RUNS.findall(text) or _PULSE.findall(text) or ["0"]
    executions = int(counted[-1])
    if not executions and not found:
        sys.stderr.write(text[-2_000:])
        return 0, ["the fuzzer did not run"]
    if ended.returncode and not found:
        sys.stderr.write(text[-2_000:])
        found = [f"the fuzzer ended with {ended.returncode}"]
    return executions, found


def _again(name: str, file: Path) -> int:
    from tests.fuzz import targets

    targets.TARGETS[name](file.read_bytes())
    sys.stdout.write(f"{name}: {file.name} holds\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
