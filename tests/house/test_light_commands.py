"""Commands that only read start light: no Qt, no pydantic, no SQLAlchemy, no Alembic, and none of the table libraries (§3)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from actum import clock
from actum.model.identity import uuid7
from actum.store.writer import Writer
from actum.workspace import Workspace

from tests.bench.stores import add_task, admit

READING = (
    ["runs"], ["show", "1"], ["show", "1", "--json"], ["facts", "1"], ["logs", "1"], ["results", "1"], ["alerts"],
    ["tasks"], ["task", "show", "bench"], ["--help"], ["--version"], ["nothing"],
)  # fmt: skip
HEAVY = ("PySide6", "shiboken6", "pydantic", "alembic", "sqlalchemy", "pyarrow", "duckdb", "pandas", "numpy", "psutil")

# One process calls each verb in turn: what the first one imported would show with every later one, so order is by weight.
SOURCE = """
import io, json, sys
from actum_desktop.entry import main
report, out = [], sys.stdout
for words in json.loads(sys.argv[1]):
    sys.stdout = io.StringIO()
    code = main(words)
    heavy = sorted({m.split(".")[0] for m in sys.modules} & set(json.loads(sys.argv[2])))
    report.append([words, code, heavy])
out.write(json.dumps(report))
"""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ws = Workspace(tmp_path_factory.mktemp("light"))
    writer = Writer(ws)
    writer.start(uuid7(clock.utc_us()))
    add_task(writer)
    admit(writer, 1)
    writer.close()
    return ws.path


def test_reading_commands_import_nothing_heavy(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACTUM_HOME", str(workspace))
    command = [sys.executable, "-c", SOURCE, json.dumps(READING), json.dumps(HEAVY)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    heavy = [f"actum {' '.join(words)}: {', '.join(found)}" for words, _, found in json.loads(shown) if found]
    remedy = "Import what is heavy inside the function that needs it; reading is to start in a blink:\n"
    assert not heavy, remedy + "\n".join(heavy)
