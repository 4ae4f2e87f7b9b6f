"""What is under version control: a fixed top level, runnable scripts, and nothing of one particular machine."""

from __future__ import annotations

import re
import stat
import subprocess

from tests.house.sources import ROOT, tracked

TOP = {"pyproject.toml", "README.md", "LICENSE", "requirements.lock", "desktop", "core", "resources", "tests", "packaging"}
SCRIPTS = ("packaging/run", "packaging/test", "packaging/lock", ".ci/run")
BYTES_MAX = 3_000_000

# Written apart, so that this file is not its own finding.
FOREIGN = re.compile(
    "|".join(
        (
            r"/wor[k]/(main|shared|\.)",
            r"/roo[t]/",
            r"/hom[e]/[a-z]+/",
            r"/tmp/actu[m]/",
            r"bash_job[s]",
            r"pypi\.or[g]/simple",
            r"files\.pythonhoste[d]",
            r"--(extra-)?index-ur[l][ =]+(http|file)",
            r"--find-link[s][ =]",
        )
    )
)


def test_the_top_level_is_the_fixed_one() -> None:
    found = {path.parts[0] for path in tracked() if not path.parts[0].startswith(".")}
    assert found <= TOP, f"The top level is fixed (§14). Move these below one of {sorted(TOP)}: {sorted(found - TOP)}"
    assert found >= TOP, f"Missing at the top level: {sorted(TOP - found)}"


def test_packages_begin_one_level_down() -> None:
    for folder in ("core", "desktop", "resources", "packaging"):
        assert not (ROOT / folder / "__init__.py").exists(), f"{folder}/ is no package: remove {folder}/__init__.py"


def test_scripts_can_be_run_from_a_clone() -> None:
    shown = subprocess.run(["git", "ls-files", "-s", *SCRIPTS], cwd=ROOT, capture_output=True, text=True, check=True)
    modes = {line.split("\t")[1]: line.split()[0] for line in shown.stdout.splitlines()}
    wrong = [name for name in SCRIPTS if modes.get(name) != "100755"]
    assert not wrong, f"git update-index --add --chmod=+x {' '.join(wrong)}"
    assert all((ROOT / name).stat().st_mode & stat.S_IXUSR for name in SCRIPTS)


def test_nothing_of_one_machine_is_tracked() -> None:
    found = []
    for path in tracked():
        content = (ROOT / path).read_bytes()
        if b"\0" in content[:4096]:
            continue
        for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
            if FOREIGN.search(line):
                found.append(f"{path}:{number}: {line.strip()[:100]}")
    assert not found, "Another machine has no such path or registry. Take it as an argument:\n" + "\n".join(found)


def test_tracked_files_are_small() -> None:
    large = [str(path) for path in tracked() if (ROOT / path).stat().st_size > BYTES_MAX]
    assert not large, f"Over {BYTES_MAX} bytes; generate it in the test or ship a smaller sample: {large}"


def test_the_rule_sees_what_it_forbids() -> None:
    for text in ("/wor" + "k/main/x", "/roo" + "t/.cache", "https://pypi.or" + "g/simple", "--index-ur" + "l https://x"):
        assert FOREIGN.search(text), text
