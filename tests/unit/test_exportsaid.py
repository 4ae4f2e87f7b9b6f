"""What an export says of itself is durable before its file has its name: one that was killed is finished, not doubled (R18)."""

from __future__ import annotations

import csv
import fcntl
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from actum import faults, limits
from actum.errors import Conflict, StorageFailed
from actum.results import digests, export, exportplace, exportsaid
from actum.results.manifest import Messages

from tests.helpers import packages

POINTS = [point for point in faults.CATALOGUE if point.startswith("export.")]
PROGRAM = (
    "import sys, pathlib; from actum import faults, limits; from actum.results import export; faults.i_am('host'); "
    "limits.SHEET_ROWS_MAX = 5; export.export(pathlib.Path(sys.argv[1]), 't', 'csv', sys.argv[3], pathlib.Path(sys.argv[2]), "
    "existing='once')"
)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = packages.staging(tmp_path_factory.mktemp("package"))
    with pa.ipc.new_file(str(place / "files" / "t.arrow"), pa.schema([("n", pa.int64())])) as writer:
        writer.write_table(pa.table({"n": range(10)}))
    messages = Messages(tables=[{"table": "t", "path": "t.arrow"}])
    return packages.finish(place, messages, contract={**packages.CONTRACT, "tables": [], "required": []}, required=[]).path


@pytest.fixture
def small_sheets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SHEET_ROWS_MAX", 5)


def killed(package: Path, path: Path, profile: str, fault: str) -> None:
    variables = {**os.environ, "ACTUM_FAULT": f"{fault}:kill-host"}
    ended = subprocess.run([sys.executable, "-c", PROGRAM, str(package), str(path), profile], env=variables, check=False)
    assert ended.returncode == -9


def once(package: Path, path: Path, profile: str = "data") -> export.Exported:
    return export.export(package, "t", "csv", profile, path, existing="once")


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def rows(paths: Iterator[Path]) -> list[int]:
    found = []
    for path in paths:
        with open(path, encoding="utf-8-sig", newline="") as file:
            found += [int(row["n"]) for row in csv.DictReader(file)]
    return found


@pytest.mark.parametrize("point", POINTS)
def test_r18_killed_anywhere_it_is_made_once(package: Path, tmp_path: Path, point: str) -> None:
    path = tmp_path / "t.csv"
    killed(package, path, "data", point)
    made = once(package, path)
    assert names(tmp_path) == ["t.csv", "t.csv.actum.json"]
    assert rows(iter([path])) == list(range(10))
    said = json.loads(exportplace.sidecar_of(path).read_bytes())
    assert said["sha256"] == digests.of_file(path).sha256 == made.sha256
    again = once(package, path)
    assert (again.path, again.sha256, again.rows, again.rule) == (made.path, made.sha256, 10, made.rule)
    assert names(tmp_path) == ["t.csv", "t.csv.actum.json"]


@pytest.mark.parametrize("fault", ["export.rename.before#1", "export.rename.before#2", "export.rename.before#3"])
@pytest.mark.usefixtures("small_sheets")
def test_r18_of_several_parts_all_follow_the_first_one(package: Path, tmp_path: Path, fault: str) -> None:
    path = tmp_path / "t.csv"
    killed(package, path, "spreadsheet", fault)
    made = once(package, path, "spreadsheet")
    parts = exportplace.part_paths(path, 3)
    assert names(tmp_path) == sorted([*(part.name for part in parts), "t.csv.actum.json"])
    assert rows(iter(parts)) == list(range(10))
    assert [part["file"] for part in made.parts] == [part.name for part in parts]
    assert once(package, path, "spreadsheet") == made


@pytest.mark.usefixtures("small_sheets")
def test_a_part_whose_name_a_stranger_took_meanwhile_takes_the_others_back_and_never_his(package: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    killed(package, path, "spreadsheet", "export.rename.before#2")
    first, second, _third = exportplace.part_paths(path, 3)
    assert first.exists()
    second.write_text("mine")
    made = once(package, path, "spreadsheet")
    assert second.read_text() == "mine"
    assert not first.exists()
    assert Path(made.path).name == "t (2).csv"
    assert exportplace.sidecar_of(Path(made.path)).exists()


def test_a_file_that_was_changed_after_the_kill_is_no_longer_ours(package: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    killed(package, path, "data", "export.sidecar.rename.before")
    content = path.read_bytes()
    path.write_bytes(content[::-1])
    made = once(package, path)
    assert path.read_bytes() == content[::-1]
    assert Path(made.path).name == "t (2).csv"
    assert once(package, path) == made, "and is known again under its number"
    assert names(tmp_path) == ["t (2).csv", "t (2).csv.actum.json", "t.csv"]


def test_r18_one_that_is_just_dying_is_waited_for(package: Path, tmp_path: Path) -> None:
    """A kill takes a moment: its file has the name, its folder is held still, and nothing says yet whose it is."""
    path = tmp_path / "t.csv"
    killed(package, path, "data", "export.rename.after")
    (left,) = tmp_path.glob(".actum-export-*")
    held = os.open(left, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    ending = threading.Timer(0.2, os.close, (held,))
    ending.start()
    once(package, path)
    ending.join()
    assert names(tmp_path) == ["t.csv", "t.csv.actum.json"]


def test_what_another_export_left_under_the_name_is_not_taken_for_this_one(package: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    query = {"schema": "actum.query/1", "where": {"op": ">", "column": "n", "value": "3"}, "order": [], "columns": None}
    export.export(package, "t", "csv", "data", path, options={"query": query})
    made = once(package, path)
    assert (Path(made.path).name, made.rows) == ("t (2).csv", 10)
    assert rows(iter([path])) == list(range(4, 10))


def test_an_error_after_the_file_has_its_name_leaves_nothing_of_it(package: Path, tmp_path: Path) -> None:
    """What was said stands in its place or the file does not: else a second try would write it twice."""
    path = tmp_path / "t.csv"
    faults.arm("export.rename.after:error=EIO")
    try:
        with pytest.raises(StorageFailed, match="Exporting failed"):
            once(package, path)
    finally:
        faults.arm("")
    assert names(tmp_path) == []
    exportplace.sidecar_of(path).write_text("mine")
    with pytest.raises(Conflict):
        export.export(package, "t", "csv", "data", path)
    assert exportplace.sidecar_of(path).read_text() == "mine"


def test_r11_a_sidecar_at_the_bound_is_read_and_a_longer_one_is_none_of_ours(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.csv"
    once(package, path)
    size = exportplace.sidecar_of(path).stat().st_size
    for bound, known in ((size, True), (size - 1, False)):
        monkeypatch.setattr(limits, "SIDECAR_BYTES_MAX", bound)
        assert (exportsaid.read(exportplace.sidecar_of(path)) is not None) == known
        assert (Path(once(package, path).path).name == path.name) == known


def test_a_pipe_a_bottomless_document_or_a_path_in_the_place_of_a_sidecar_is_none_of_ours(
    package: Path, tmp_path: Path
) -> None:
    """The folder is the user's: what stands there makes nobody wait, ends nothing, and leads nowhere (R19)."""
    path = tmp_path / "t.csv"
    once(package, path)
    sidecar = exportplace.sidecar_of(path)
    said = json.loads(sidecar.read_bytes())
    sidecar.unlink()
    os.mkfifo(sidecar)
    assert exportsaid.read(sidecar) is None
    sidecar.unlink()
    for text in ("[" * 100_000, "{}", json.dumps({**said, "file": "../t.csv"}), json.dumps({**said, "parts": []})):
        sidecar.write_text(text)
        assert exportsaid.read(sidecar) is None
    for name in ("/etc/passwd", "..", "a/b"):
        sidecar.write_text(json.dumps({**said, "parts": [{**said["parts"][0], "file": name}]}))
        assert exportsaid.read(sidecar) is None
