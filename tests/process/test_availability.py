"""What holds of published results now: levels that say no more than was looked at, states with remedies (R14, R16)."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from actum.model.facts import FACTS

from tests.helpers.app import App


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    app = App(tmp_path)
    app.define(gated=False)
    app.run("run", "work")
    yield app
    app.end()


def package(app: App) -> Path:
    return app.ws.result_folder(1, 1)


def opened(path: Path) -> Path:
    """A published file or folder that may be tampered with."""
    path.chmod(0o755 if path.is_dir() else 0o644)
    return path


def journal(app: App, kind: str) -> list[dict[str, Any]]:
    with app.reader() as reader:
        return [dict(entry.data) for entry in reader.journal(1, 0, 500) if entry.kind == kind]


def test_a_level_names_how_far_was_looked_and_its_answer_says_no_more(app: App) -> None:
    assert app.json("verify", "1")["level"] == "content"
    sampled = app.json("verify", "1", "--level", "sample:1")
    assert (sampled["level"], sampled["details"]["content"]["extent"]) == ("sample:1", "sample of 1 of 1 chunks")
    assert sampled["details"]["bytes"]["level"] == "presence"
    said = app.run("verify", "1", "--level", "chunks:1-1").stdout
    assert "content, chunks 1–1 of 1: " in said
    assert "their bytes not read" in said
    assert "as sealed" not in said
    assert app.json("verify", "1", "--level", "bytes")["details"]["level"] == "bytes"
    assert app.json("verify", "1", "--level", "chunks:1-2", code=2)["error"]["code"] == "bad_extent"
    assert app.json("verify", "1", "--level", "glance", code=2)["error"]["code"] == "wrong_use"
    assert app.json("show", "1")["result"]["state"] == "readable"


def test_a_damaged_derived_table_is_made_again_on_request_and_verified(app: App) -> None:
    """R14: from the authority; what stood there is kept aside, the journal says why; history is untouched."""
    path = opened(package(app) / "derived" / "squares.parquet")
    good = path.read_bytes()
    path.write_bytes(good[:-20] + b"x" * 20)
    found = app.json("verify", "1", code=5)
    assert (found["state"], found["rebuildable"]) == ("damaged", True)
    assert "--rebuild" in found["remedy"]
    assert [alert["code"] for alert in app.lines("alerts")] == ["result_changed"]
    made = app.json("verify", "1", "--rebuild")
    assert (made["state"], made["rebuilt"]) == ("readable", True)
    assert (package(app) / "derived" / "squares.parquet").read_bytes() == good
    assert package(app).stat().st_mode & 0o777 == 0o555
    assert (Path(made["kept"]) / "squares.parquet").read_bytes() == good[:-20] + b"x" * 20
    (entry,) = journal(app, "derived_rebuilt")
    assert (entry["as_published"], entry["kept"]) == (True, made["kept"])
    assert app.lines("alerts") == []
    assert app.facts() == [name.value for name in FACTS]
    assert app.json("verify", "1", "--rebuild")["rebuilt"] is False


def test_r18_a_crash_while_rebuilding_leaves_what_can_be_rebuilt(app: App) -> None:
    path = opened(package(app) / "derived" / "squares.parquet")
    path.write_bytes(b"no Parquet")
    app.run("verify", "1", "--rebuild", fault="rebuild.rename.before:kill-app", code=None)
    found = app.json("verify", "1", code=5)
    assert (found["state"], found["rebuildable"]) == ("damaged", True)
    assert app.json("verify", "1", "--rebuild")["state"] == "readable"


def sealed_again(package: Path, table: pa.Table) -> None:
    """Another table in the place of the copy, with digests that fit it."""
    copy = opened(package / "derived" / "squares.parquet")
    pq.write_table(table, copy)
    listed = opened(package / "derived" / "derived.json")
    document = json.loads(listed.read_bytes())
    content = copy.read_bytes()
    document["files"][0] |= {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
    listed.write_text(json.dumps(document))


def test_r14_r16_a_copy_sealed_again_over_another_value_is_not_believed(app: App, tmp_path: Path) -> None:
    """Its digests fit, and are not those on record: the authority is read, and it is said; a pack of it is refused."""
    out = ("-o", str(tmp_path / "squares.csv"), "--overwrite")
    app.run("export", "1", "squares", *out)
    exported, seen = (tmp_path / "squares.csv").read_bytes(), app.run("results", "1", "--table", "squares")
    table = pq.read_table(package(app) / "derived" / "squares.parquet")
    place, name = table.num_columns - 1, table.column_names[-1]
    lie = pa.array(["777777", *table[name].cast("string").to_pylist()[1:]]).cast(table[name].type)
    sealed_again(package(app), table.set_column(place, table.schema.field(place), lie))

    for when in ("before it is verified", "after"):
        made = app.run("export", "1", "squares", *out)
        assert "Read from the authority: the quicker copy is damaged." in made.stderr, when
        assert (tmp_path / "squares.csv").read_bytes() == exported, when
        word = json.loads((tmp_path / "squares.csv.actum.json").read_bytes())
        assert word["source"]["file"] == "tables/squares.csv", when
        shown = app.run("results", "1", "--table", "squares")
        assert shown.stdout == seen.stdout, when
        assert "Read from the authority: the quicker copy is damaged." in shown.stderr, when
        viewed = app.json("export", "1", "squares", *out, "--where", f'{name} = "777777"')
        assert (viewed["rows"], viewed["instead"]) == (0, "damaged"), when
        refused = app.json("pack", "1", "-o", str(tmp_path / "all.actumpack"), code=5)
        assert refused["error"]["code"] == "result_damaged", when
        if when != "after":
            assert app.json("verify", "1", code=5)["state"] == "damaged"

    for level in ("bytes", "presence", "sample:1"):
        assert app.json("verify", "1", "--level", level, code=5)["state"] == "damaged", level

    app.json("verify", "1", "--rebuild")
    assert app.json("export", "1", "squares", *out)["instead"] is None
    assert app.json("verify", "1", "--level", "bytes")["state"] == "readable"


def test_r14_r16_a_copy_made_again_with_other_digests_is_believed_once_it_was_verified(app: App, tmp_path: Path) -> None:
    """What a later library writes differs in bytes: on record is each derived.json whose every row was compared."""
    out = ("-o", str(tmp_path / "squares.csv"), "--overwrite")
    listed = opened(package(app) / "derived" / "derived.json")
    listed.write_text(json.dumps(json.loads(listed.read_bytes())))
    assert app.json("export", "1", "squares", *out)["instead"] == "damaged"
    assert app.json("verify", "1")["state"] == "readable"
    assert app.json("export", "1", "squares", *out)["instead"] is None


def test_r13_r14_a_package_sealed_again_with_a_manifest_of_its_own_is_not_read(app: App, tmp_path: Path) -> None:
    manifest = opened(package(app) / "manifest.json")
    manifest.write_text(json.dumps(json.loads(manifest.read_bytes())))
    for args in (("export", "1", "squares", "-o", str(tmp_path / "s.csv")), ("results", "1", "--table", "squares")):
        assert app.json(*args, code=5)["error"]["code"] == "result_damaged"
    assert list(tmp_path.glob("s.csv*")) == []


def test_a_damaged_authority_is_never_repaired(app: App) -> None:
    path = opened(package(app) / "tables" / "squares.csv")
    path.write_text(path.read_text().replace("81", "82"))
    before = path.read_bytes()
    found = app.json("verify", "1", code=5)
    assert (found["state"], found["rebuildable"]) == ("damaged", False)
    refused = app.json("verify", "1", "--rebuild", code=5)["error"]
    assert refused["code"] == "not_rebuildable"
    assert "never repaired" in refused["why"]
    assert path.read_bytes() == before


def test_r16_each_state_is_told_apart_with_its_remedy(app: App) -> None:
    """Missing, foreign, replaced: each in its own words; the run stays SUCCEEDED."""
    app.run("run", "work")
    first, second = package(app), app.ws.result_folder(2, 1)
    aside = app.folder / "aside"
    opened(first)
    shutil.move(first, aside)
    seen = {"missing": app.json("verify", "1", code=5)}
    shutil.copytree(second, first)
    seen["foreign"] = app.json("verify", "1", code=5)
    shutil.rmtree(first)
    shutil.copytree(aside, first)
    document = json.loads((first / "manifest.json").read_text())
    opened(first / "manifest.json").write_text(json.dumps(document | {"sealed_at": 1}))
    seen["replaced"] = app.json("verify", "1", code=5)
    assert {state: found["state"] for state, found in seen.items()} == {state: state for state in seen}
    assert all(found["remedy"] and not found["rebuildable"] for found in seen.values())
    assert app.json("show", "1")["status"] == "SUCCEEDED"
    done = app.run("verify", "--all", "--level", "bytes", code=5)
    assert "2 results verified (bytes), 1 not as published. Readable: 1. Replaced: 1." in done.stderr


def test_a_pack_is_recorded_and_verified_elsewhere_with_and_without_its_digest(app: App, tmp_path: Path) -> None:
    made = app.json("pack", "1", "-o", str(tmp_path / "elsewhere.actumpack"))
    assert [entry["format"] for entry in journal(app, "exported")] == ["actumpack"]
    elsewhere = App(tmp_path / "nowhere")
    elsewhere.folder.mkdir()
    found = elsewhere.json("verify", made["path"])
    assert (found["state"], found["digest"], found["digest_given"]) == ("readable", made["manifest_sha256"], False)
    assert any("Whose result it is" in sentence for sentence in found["not_proved"])
    known = elsewhere.json("verify", made["path"], "--digest", made["manifest_sha256"])
    assert not any("Whose result it is" in sentence for sentence in known["not_proved"])
    assert len(known["proved"]) == 2
    for level in ("bytes", "sample:1", "chunks:1-1"):  # a look at some of it does not show that nothing was changed
        part = elsewhere.json("verify", made["path"], "--digest", made["manifest_sha256"], "--level", level)
        assert [sentence[:36] for sentence in part["proved"]] == ["Its manifest is the one whose digest"]
    assert elsewhere.json("verify", made["path"], "--digest", "0" * 64, code=5)["state"] == "damaged"
    assert "not shown: Whose result it is" in elsewhere.run("verify", made["path"]).stdout
    assert not elsewhere.ws.path.exists()
    assert app.json("pack", "1", "-o", made["path"], code=4)["error"]["code"] == "file_exists"
    assert app.json("pack", "7", code=3)["error"]["code"]
    again = app.json("pack", str(package(app)), "-o", str(tmp_path / "again.actumpack"))
    assert again["sha256"] == made["sha256"]
