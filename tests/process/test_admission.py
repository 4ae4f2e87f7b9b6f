"""One run per key, whoever asks and however often (R05)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum_resources import samples

from tests.helpers.app import App

PROCESSES = 20


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    app = App(tmp_path)
    yield app
    app.end()


def prices(app: App) -> Path:
    """A copy of the sample in the folder that commands are given in."""
    copy = app.folder / "stocks.csv"
    copy.write_bytes(samples.path("stocks.csv").read_bytes())
    return copy


def test_twenty_processes_at_once_on_a_workspace_that_does_not_exist_yet(app: App) -> None:
    """R05: one run; every process is told the same one."""
    path = prices(app)
    arguments = ("run", "return-and-risk", "--set", f"prices={path}", "--set", "symbol=AAPL", "--key", "same", "--json")
    racing = [app.start(*arguments) for _ in range(PROCESSES)]
    answers = []
    for process in racing:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, (out, err)
        answers.append(json.loads(out))
    assert {answer["id"] for answer in answers} == {answers[0]["id"]}
    with app.reader() as reader:
        assert [row.number for row in reader.runs_page(before=None, limit=10)] == [1]
    app.run("audit")


def test_same_key_with_another_request_is_a_conflict_and_creates_nothing(app: App) -> None:
    """R05: exit 4, both digests named, no second run."""
    path = prices(app)
    app.run("run", "return-and-risk", "--set", f"prices={path}", "--set", "symbol=AAPL", "--key", "k")
    other = app.json("run", "return-and-risk", "--set", f"prices={path}", "--set", "symbol=IBM", "--key", "k", code=4)
    assert other["error"]["code"] == "key_conflict"
    assert len(set(other["error"]["details"].values())) >= 2
    path.write_text(path.read_text() + "AAPL,Apr 1 2010,250.0\n")
    app.json("run", "return-and-risk", "--set", f"prices={path}", "--set", "symbol=AAPL", "--key", "k", code=4)
    with app.reader() as reader:
        assert [row.number for row in reader.runs_page(before=None, limit=10)] == [1]


def test_the_same_request_however_it_is_written(app: App) -> None:
    """R05: a default given or left out, a relative or an absolute path: the same canonical request, the same run."""
    path = prices(app)
    forms = (
        ("--set", f"prices={path}", "--set", "symbol=AAPL"),
        ("--set", f"prices={path}", "--set", "symbol=AAPL", "--set", "window=12"),
        ("--set", "prices=./stocks.csv", "--set", "symbol=AAPL", "--set", "periods_per_year=12"),
    )
    answers = [app.json("run", "return-and-risk", *form, "--key", "k") for form in forms]
    assert [answer["run"] for answer in answers] == [1, 1, 1]
    assert len({answer["request_digest"] for answer in answers}) == 1
