"""A task defined by pointing and clicking goes through the same definition as `actum task add` (§15, R19)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from actum.contracts.define import define
from actum_desktop.forms import draft
from actum_desktop.forms.draft import Draft, DraftParameter


def test_a_program_with_everything_said(tmp_path: Path) -> None:
    script = tmp_path / "my {job}.py"
    script.write_text("")
    made = Draft(
        name="my-job",
        title="My job",
        program=str(script),
        interpreter=sys.executable,
        arguments=("--window={window}", "{prices}"),
        cwd=str(tmp_path),
        parameters=(
            DraftParameter("window", "integer", "12"),
            DraftParameter("prices", "file"),
            DraftParameter("mode", "choice", "a", optional=True, inside="a,b"),
        ),
        outputs=("*.csv",),
        required=("out.csv",),
        timeout="2h",
        start_timeout="30s",
        stages=("load=10m",),
        stall_after="5m",
        profile="clean",
    )
    document = define(made.definition(), draft.base_of(made))
    assert document["work"] == {
        "kind": "program",
        "program": os.path.abspath(sys.executable),
        "arguments": [str(script).replace("{", "{{").replace("}", "}}"), "--window={window}", "{prices}"],
        "cwd": str(tmp_path),
    }
    assert [(p["name"], p["type"], p["default"], p["optional"]) for p in document["parameters"]] == [
        ("window", "integer", "12", False),
        ("prices", "file", None, False),
        ("mode", "choice", "a", True),
    ]
    assert document["parameters"][2]["choices"] == ["a", "b"]
    assert document["policies"]["deadline"] == "2h"
    assert document["policies"]["start_deadline"] == "30s"
    assert document["policies"]["stage_deadlines"] == {"load": "10m"}
    assert document["policies"]["stall_after"] == "5m"
    assert document["environment"]["profile"] == "clean"
    assert (document["outputs"], document["required"]) == (["*.csv"], ["out.csv"])


def test_the_preview_is_the_exact_command() -> None:
    made = Draft(
        program="/opt/my job",
        arguments=("--n={n}", "{{kept}}", "a b", "{later}"),
        parameters=(DraftParameter("n", "integer", "3"), DraftParameter("later", "text")),
    )
    assert made.words({"n": "3"}) == ["/opt/my job", "--n=3", "{kept}", "a b", "{later}"]
    assert made.preview() == "'/opt/my job' --n=3 '{kept}' 'a b' '{later}'"
    assert Draft(program="/x", arguments=("{broken",)).preview() == "/x '{broken'"
    assert Draft().preview() == ""


def test_placeholders_without_a_parameter_are_named() -> None:
    made = Draft(arguments=("{a}", "{b}", "{ACTUM_OUTPUT}", "{{c}}"), parameters=(DraftParameter("a", "text"),))
    assert made.unnamed() == ["b"]


@pytest.mark.parametrize(
    ("path", "name"), [("/x/Monthly Report.py", "monthly-report"), ("/x/价格.sh", ""), ("/x/run_all.tar", "run_all"), ("", "")]
)
def test_a_name_is_offered_from_the_file(path: str, name: str) -> None:
    assert draft.name_from(path) == name


def test_a_trial_uses_the_defaults_and_names_what_has_none() -> None:
    rows = (DraftParameter("a", "text", "x"), DraftParameter("b", "text"), DraftParameter("c", "text", optional=True))
    assert draft.sample_values(rows) == ({"a": "x"}, ["b"])
