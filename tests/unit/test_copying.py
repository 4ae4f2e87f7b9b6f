"""A filled form copied as a command or as JSON is the same run again, through a real shell and the real command (R05, R19)."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

from actum.contracts.document import load
from actum.contracts.parameters import parse
from actum_desktop.commands.run import given_parameters
from actum_desktop.forms import copying

from tests.helpers.everytype import EVERY

CONTRACT = load(
    {
        **EVERY,
        "work": {"kind": "recipe", "name": "x"},
        "rules": [],
        "parameters": [
            {"name": "prices", "type": "file"},
            {"name": "note", "type": "text"},
            {"name": "label", "type": "text", "optional": True},
            {"name": "kept", "type": "text", "optional": True, "default": "x"},
            {"name": "words", "type": "list", "items": {"type": "text"}, "optional": True},
        ],
    }
)
BASE = Path("/data/ada's files")
NASTY = 'it\'s $HOME `x` "q" \\ é 价格\nline two'


def test_text_alone_is_set_word_by_word() -> None:
    raw = {"prices": "p 1.csv", "note": NASTY, "label": None, "kept": "y", "words": None}
    words = shlex.split(copying.as_command(CONTRACT, raw, BASE))
    assert words[:3] == ["actum", "run", "every-type"]
    given = given_parameters([word.removeprefix("--set=") for word in words[3:]], None)
    assert given == {"prices": "/data/ada's files/p 1.csv", "note": NASTY, "kept": "y"}
    assert parse(CONTRACT, given, Path("/")).values == parse(CONTRACT, raw, BASE).values


def test_other_values_go_by_a_pipe_that_a_real_shell_understands() -> None:
    raw = {"prices": "/p.csv", "note": NASTY, "kept": None, "words": ["a", "b c"]}
    command = copying.as_command(CONTRACT, raw, BASE)
    printed, _, rest = command.rpartition(" | ")
    assert rest == "actum run every-type --params -"
    said = subprocess.run(["/bin/sh", "-c", printed], capture_output=True, check=True).stdout
    given = json.loads(said)
    assert given == {"prices": "/p.csv", "note": NASTY, "kept": None, "words": ["a", "b c"]}
    assert parse(CONTRACT, given, Path("/")).values == parse(CONTRACT, raw, BASE).values


def test_json_names_task_version_and_parameters() -> None:
    document = json.loads(copying.as_json(CONTRACT, {"prices": "~/p.csv", "note": ""}, BASE))
    assert document["task"] == "every-type"
    assert document["version"] == "1"
    assert document["parameters"] == {"prices": str(Path("~/p.csv").expanduser()), "note": ""}
