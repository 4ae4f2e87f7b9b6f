"""`actum run` and `actum export` up to what they send: parameters, keys, bounds, paths."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest
from actum import limits
from actum.errors import WrongUse
from actum_desktop.commands.demo import free_name
from actum_desktop.commands.export import chosen_format, target_path
from actum_desktop.commands.run import given_parameters, request


def test_set_stands_over_params_and_reaches_into_records(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    file.write_text('{"window": 12, "price": 0.1000000000000000055, "limits": {"low": 1}}')
    given = given_parameters(["window=24", "limits.high=x=y"], str(file))
    assert given == {"window": "24", "price": "0.1000000000000000055", "limits": {"low": 1, "high": "x=y"}}


def test_params_come_from_standard_input_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO('{"symbol": null}'))
    assert given_parameters([], "-") == {"symbol": None}


@pytest.mark.parametrize("pair", ["window", "=3", "a..b=1", ".a=1"])
def test_what_is_no_parameter_is_refused(pair: str) -> None:
    with pytest.raises(WrongUse) as caught:
        given_parameters([pair], None)
    assert caught.value.what == f"“{pair}” is not a parameter."


@pytest.mark.parametrize("text", ["[1]", "{", '{"a": NaN}', "3"])
def test_params_that_are_no_object_are_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "p.json"
    file.write_text(text)
    with pytest.raises(WrongUse) as caught:
        given_parameters([], str(file))
    assert caught.value.code == "params_not_json"


def test_params_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongUse) as caught:
        given_parameters([], str(tmp_path / "absent.json"))
    assert caught.value.code == "params_unreadable"


def test_r05_a_key_is_made_before_the_first_try() -> None:
    one, two = (request("t", None, {}, None, []) for _ in range(2))
    assert one["key"] != two["key"]
    assert len(one["key"]) == 32
    assert request("t", None, {}, "mine", [])["key"] == "mine"
    with pytest.raises(WrongUse):
        request("t", None, {}, " ", [])


def test_the_body_says_where_relative_paths_start() -> None:
    assert request("t", "2", {"f": "./a.csv"}, "k", ["x"]) == {
        "verb": "run",
        "task": "t",
        "version": "2",
        "parameters": {"f": "./a.csv"},
        "base": os.getcwd(),
        "key": "k",
        "trigger": "command",
        "labels": ["x"],
        "rerun_of": None,
    }


def test_r11_parameters_at_the_bound_go_and_above_it_a_file_is_asked_for() -> None:
    around = len(json.dumps({"v": ""}, separators=(",", ":")))
    request("t", None, {"v": "x" * (limits.PARAMETERS_BYTES_MAX - around)}, "k", [])
    with pytest.raises(WrongUse) as caught:
        request("t", None, {"v": "x" * (limits.PARAMETERS_BYTES_MAX - around + 1)}, "k", [])
    assert (caught.value.exit_code, caught.value.remedy[:16]) == (2, "Use a file input")


@pytest.mark.parametrize(
    ("stated", "path", "form"),
    [(None, None, "csv"), (None, "a.parquet", "parquet"), ("json", "a.csv", "json"), (None, "folder/", "csv")],
)
def test_the_format_is_the_one_stated_or_the_one_of_the_suffix(stated: str | None, path: str | None, form: str) -> None:
    assert chosen_format(stated, path) == form


def test_an_unknown_suffix_is_refused() -> None:
    with pytest.raises(WrongUse):
        chosen_format(None, "a.doc")


def test_r19_a_table_name_is_no_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert target_path("../x/y", "csv", None) == str(tmp_path / ".._x_y.csv")
    assert target_path("returns", "csv", str(tmp_path)) == str(tmp_path / "returns.csv")
    assert target_path("returns", "csv", "out.csv") == str(tmp_path / "out.csv")


def test_exports_of_the_demo_never_take_a_name_that_is_taken(tmp_path: Path) -> None:
    names = []
    for _ in range(3):
        path = free_name(tmp_path, "returns-run-1", ".csv")
        path.touch()
        names.append(path.name)
    assert names == ["returns-run-1.csv", "returns-run-1-2.csv", "returns-run-1-3.csv"]
