"""The demonstration jobs: one works, one stalls until it is stopped, one fails on purpose."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

from actum.contracts.document import load
from actum.recipes import registry

from tests.helpers.functions import command, prepared, read_messages, run_function
from tests.helpers.waiting import wait_until


def spec(name: str) -> str:
    recipe = registry.RECIPES[name]
    return f"{recipe.file}:{recipe.function}"


def test_steps_go_through_three_stages_and_publish_when_each_was_done(tmp_path: Path) -> None:
    ran = run_function(spec("demo-steps"), tmp_path / "run", {"seconds": 1})
    assert ran.code == 0, ran.log
    assert [m["stage"] for m in ran.messages if "stage" in m] == ["load", "compute", "write"]
    assert ran.last("progress")["progress"] == [5, 5]
    assert (ran.last("table")["rows"], ran.last("metric")["value"]) == (5, "5")
    assert ran.messages[-1] == {"done": True}


def test_the_stalling_job_makes_no_progress_and_stops_when_asked(tmp_path: Path) -> None:
    environment = prepared(tmp_path / "run", {}, {})
    with subprocess.Popen(command(spec("demo-stall")), env=environment, stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr is not None
        assert "nothing moves, on purpose" in child.stderr.readline()
        child.send_signal(signal.SIGTERM)
        assert child.wait(20) == 143
    wait_until(lambda: {"progress": [3, 10], "unit": "steps"} in read_messages(tmp_path / "run"))


def test_the_failing_job_fails_with_its_reason_in_the_log(tmp_path: Path) -> None:
    ran = run_function(spec("demo-fails"), tmp_path / "run")
    assert ran.code == 1
    assert "this job fails on purpose" in ran.log
    assert ran.last("progress")["progress"] == [3, 10]
    assert {"done": True} not in ran.messages


def test_every_built_in_task_is_a_contract() -> None:
    assert {load(document).name for document in registry.documents()} == set(registry.RECIPES)
    assert registry.find("no-such-task") is None
