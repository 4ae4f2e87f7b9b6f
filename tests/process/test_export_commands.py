"""`actum export` as a person runs it: one table filtered, all tables of many runs, Ctrl-C, trying again (§8, §16)."""

from __future__ import annotations

import csv
import json
import signal
from collections.abc import Iterator
from pathlib import Path

import openpyxl
import pytest
from actum.workspace import create_folders

from tests.helpers import results, workspaces
from tests.helpers.app import App


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    """A workspace with the results of two runs, each with metrics and a table of 749 rows."""
    app = App(tmp_path)
    create_folders(app.ws)
    with workspaces.writing(app.ws) as writer:
        digest = results.define(writer)
        for key in ("one", "two"):
            results.publish_prices(app.ws, writer, workspaces.admit(writer, digest, key=key))
    (tmp_path / "out").mkdir()
    yield app
    app.end()


def whole(folder: Path) -> set[str]:
    names = {path.name for path in folder.iterdir()}
    assert not any(name.startswith(".") for name in names)
    data = {name for name in names if not name.endswith(".actum.json")}
    assert {f"{name}.actum.json" for name in data} == names - data  # each beside its sidecar
    return data


def table(path: Path) -> list[list[str]]:
    with open(path, newline="") as file:
        return list(csv.reader(file))


def test_one_table_is_exported_whole_filtered_and_beside_itself(app: App) -> None:
    out = app.folder / "out"
    answer = app.json("export", "1", "prices", "--where", "volume > 0", "--sort", "close:desc", "-o", str(out / "p.csv"))
    with open(out / "p.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    closes = [float(row["close"]) for row in rows if row["close"]]
    assert closes == sorted(closes, reverse=True)
    assert (answer["exact"], answer["rows"]) == (True, len(rows))
    with app.reader() as reader:
        (row,) = reader.exports(1)
    assert row.options["query"]["order"] == [{"column": "close", "descending": True}]
    refused = app.run("export", "1", "prices", "-o", str(out / "p.csv"), code=4)
    assert "--overwrite" in refused.stderr
    assert "exists" in refused.stderr
    app.run("export", "1", "prices", "-o", str(out / "p.csv"), "--keep-both")
    told = app.run("export", "1", "prices", "-o", str(out / "p.xlsx")).stdout
    assert "note: " in told
    assert openpyxl.load_workbook(out / "p.xlsx").active.max_row == 750
    assert whole(out) == {"p.csv", "p (2).csv", "p.xlsx"}
    wrong = app.run("export", "1", "prices", "-o", str(out / "q.csv"), "--where", "volum > 0", code=2)
    assert "volum" in wrong.stderr
    app.run("export", "1", "prices", "--format", "parquet", "--profile", "spreadsheet", "-o", str(out / "q"), code=2)
    app.run("export", "1", "-o", str(out / "q"), code=2)


def test_chosen_rows_are_those_of_the_view_in_its_order(app: App) -> None:
    out = app.folder / "out"
    asked = ("--where", "volume > 0", "--sort", "close:desc")
    app.run("export", "1", "prices", *asked, "-o", str(out / "all.csv"))
    answer = app.json("export", "1", "prices", *asked, "--rows", "205, 2-100,1", "-o", str(out / "some.csv"))
    everything = table(out / "all.csv")
    assert table(out / "some.csv") == [everything[0], *everything[1:101], everything[205]]
    assert answer["rows"] == 101
    app.run("export", "1", "prices", "--rows", "749", "-o", str(out / "last.csv"))
    app.run("export", "1", "prices", "-o", str(out / "whole.csv"))
    assert table(out / "last.csv")[1] == table(out / "whole.csv")[749]
    nothing = [(wrong, "counted from 1") for wrong in ("0", "3-2", "x", "")]  # an empty variable of a script is not every row
    for wrong, said in (("750", "has 749"), *nothing):
        refused = app.run("export", "1", "prices", "--rows", wrong, "-o", str(out / "no.csv"), code=2)
        assert said in refused.stderr, refused.stderr
    assert whole(out) == {"all.csv", "some.csv", "last.csv", "whole.csv"}
    app.run("export", "1", "--all-tables", "--rows", "1", code=2)


def test_ctrl_c_leaves_whole_files_only_and_the_rest_is_written_later(app: App) -> None:
    out = app.folder / "out"
    words = ("export", "1", "2", "--all-tables", "--metrics", "--format", "jsonl", "-o", str(out))
    command = app.start(*words, "--json", fault="export.rename.before#2:delay=60000")
    assert command.stderr is not None
    for line in command.stderr:
        if line.startswith("2 of 4"):
            break
    while not list(out.glob(".actum-export-*/1.part")):  # the second is written, and held before it has its name
        assert command.poll() is None
    command.send_signal(signal.SIGINT)
    told, _notes = command.communicate(timeout=60)
    assert command.returncode == 130
    outcomes = [json.loads(line) for line in told.splitlines()]
    assert [each["outcome"] for each in outcomes] == ["written", "cancelled", "cancelled", "cancelled"]
    assert whole(out) == {"prices-1.jsonl"}
    (out / "metrics-2.jsonl").write_text("mine")
    later = app.run(*words, "--skip-existing", code=4)
    assert "1 of 4 are not written" in later.stderr
    assert "was there" in later.stdout
    assert (out / "metrics-2.jsonl").read_text() == "mine"
    (out / "metrics-2.jsonl").unlink()
    app.run(*words, "--skip-existing")
    assert whole(out) == {"prices-1.jsonl", "metrics-1.jsonl", "prices-2.jsonl", "metrics-2.jsonl"}


def test_a_batch_needs_a_folder_and_results(app: App) -> None:
    assert app.json("export", "1", "--all-tables", "-o", str(app.folder / "absent"), code=2)["error"]["code"] == "no_folder"
    assert app.json("export", "1", "99", "--all-tables", code=3)["error"]["exit_code"] == 3
    app.run("export", "1", "prices", "--metrics", code=2)
    app.run("export", "1", "--all-tables", "--where", "close > 1", code=2)
