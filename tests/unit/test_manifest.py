"""Sealing: what is published, what is refused by name, what the manifest says, and what a crash leaves (R13, R14, R15, R18)."""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from actum import faults, limits
from actum.errors import ActumError
from actum.results import digests, handover
from actum.results.manifest import Messages, NotAPackage, Sealed, is_safe_name, read_manifest, read_result, seal
from actum.results.walk import matches, missing

from tests.helpers import packages
from tests.helpers.packages import AT_US, CONTRACT, RETURNS, ROWS, launch, lines, staging, table_message

BARE: dict[str, Any] = {**CONTRACT, "required": [], "tables": [], "metrics": []}


def closed(place: Path, messages: Messages = Messages(), **changes: Any) -> Sealed:  # noqa: B008  # frozen and empty
    document = launch(**{"contract": BARE, "required": [], **changes})
    return seal(place, launch=document, messages=messages, log_folder=place.parent / "log", at_us=AT_US)


def names(place: Path) -> set[str]:
    return {entry["name"] for entry in read_manifest(place)[0]["files"]}


@pytest.fixture
def armed() -> Any:
    yield faults.arm
    faults.arm("")


def test_the_manifest_lists_every_file_with_size_and_digest(tmp_path: Path) -> None:
    made = packages.sample(tmp_path)
    manifest, digest = read_manifest(made.path)
    assert digest == made.sealed.manifest_sha256 == digests.of_file(made.path / "manifest.json").sha256
    on_disk = {path.relative_to(made.path).as_posix() for kind, path in digests.entries(made.path) if kind == "file"}
    assert {e["name"] for e in manifest["files"]} == {n for n in on_disk if not n.startswith(("manifest", "derived/"))}
    for entry in manifest["files"]:
        assert digests.of_file(made.path / entry["name"]) == digests.FileDigest(entry["sha256"], entry["size"])
    assert manifest["authority"] == {"returns": "tables/returns.jsonl", "quotes": "tables/quotes.csv"}
    assert (manifest["run"], manifest["n"], manifest["sealed_at"], manifest["format_version"]) == (17, 1, AT_US, 1)
    assert "store" not in manifest["inputs"][0]


def test_sealed_files_are_read_only(tmp_path: Path) -> None:
    made = packages.sample(tmp_path)
    modes = {stat.S_IMODE(path.stat().st_mode) for kind, path in digests.entries(made.path) if kind == "file"}
    assert modes == {0o444}


def test_without_declared_outputs_everything_is_published(tmp_path: Path) -> None:
    place = staging(tmp_path, {"a.txt": "1", "数据/很长的名字.csv": "2", "sub/deep/b": "3", "name with 'quotes'\n": "4"})
    sealed = closed(place)
    assert names(place) >= {"files/a.txt", "files/数据/很长的名字.csv", "files/sub/deep/b", "files/name with 'quotes'\n"}
    assert sealed.left_out == ()


def test_with_declared_outputs_only_matches_are_published_and_the_rest_is_named(tmp_path: Path) -> None:
    place = staging(tmp_path, {"a.csv": "1", "sub/b.csv": "2", "cache/tmp.bin": "3", "named.bin": "4"})
    sealed = closed(place, Messages(files=[{"file": "named.bin"}]), outputs=["*.csv"])
    assert sealed.left_out == ("cache/tmp.bin",)
    assert names(place) == {"files/a.csv", "files/sub/b.csv", "files/named.bin", "result.json"}
    assert (tmp_path / "left_out" / "cache" / "tmp.bin").read_text() == "3"


def test_a_pattern_crosses_folders_and_is_no_shell_word() -> None:
    assert matches("sub/a.csv", ["*.csv"])
    assert not matches("a.csv; rm -rf", ["*.csv"])
    assert missing(["*.csv", "plot.png"], ["out/a.csv"]) == ["plot.png"]


@pytest.mark.parametrize("required", [["report.html"], ["*.csv", "plot.png"]])
def test_missing_required_outputs_are_named(tmp_path: Path, required: list[str]) -> None:
    place = staging(tmp_path, {"a.csv": "1"})
    with pytest.raises(ActumError) as caught:
        closed(place, required=required)
    assert caught.value.code == "result_incomplete"
    assert required[-1] in caught.value.what
    assert not (place / "manifest.json").exists()


def test_missing_required_tables_and_named_files_are_incomplete(tmp_path: Path) -> None:
    place = staging(tmp_path, {"report.html": ""})
    with pytest.raises(ActumError, match="the table “returns”"):
        closed(place, contract=CONTRACT)
    with pytest.raises(ActumError, match=r"“later\.bin”") as caught:
        closed(place, Messages(files=[{"file": "later.bin"}]))
    assert caught.value.code == "result_incomplete"
    with pytest.raises(ActumError, match=r"returns\.jsonl") as caught:
        closed(place, Messages(tables=[table_message(RETURNS)]))
    assert caught.value.code == "result_incomplete"


def test_a_required_output_that_is_a_table_counts(tmp_path: Path) -> None:
    place = staging(tmp_path, {"out.csv": "a\n1\n"})
    closed(place, Messages(tables=[{"table": "t", "path": "out.csv"}]), required=["*.csv"])
    assert names(place) == {"tables/t.csv", "result.json"}


def fifo(path: Path) -> None:
    os.mkfifo(path)


def listening(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def device(path: Path) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("making a device needs root and CAP_MKNOD")


def outward(path: Path) -> None:
    path.symlink_to("/etc/hostname")


def roundabout(path: Path) -> None:
    """Contained by its letters alone: `deep/a` leads up, and `a/../x` from there leads out."""
    (path.parent / "deep").mkdir()
    (path.parent / "deep" / "a").symlink_to("..")
    path.symlink_to("deep/a/../secret")


@pytest.mark.parametrize(
    ("make", "word"),
    [(fifo, "FIFO"), (listening, "socket"), (device, "device"), (outward, "leads out"), (roundabout, "leads out")],
)
def test_r13_what_no_result_may_hold_is_refused_by_name(make: Any, word: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory(prefix="s") as folder:  # a socket's path is short
        place = staging(Path(folder), {"ok.txt": "1"})
        make(place / "files" / "odd")
        with pytest.raises(ActumError) as caught:
            closed(place)
    assert caught.value.code == "result_rejected"
    assert "“odd”" in caught.value.why
    assert word in caught.value.why


def test_a_name_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    place = staging(tmp_path)
    (place / "files" / os.fsdecode(b"caf\xe9")).write_text("")
    with pytest.raises(ActumError, match="UTF-8") as caught:
        closed(place)
    assert caught.value.code == "result_rejected"


def test_contained_links_are_entries_with_relative_targets(tmp_path: Path) -> None:
    place = staging(tmp_path, {"data/a.txt": "1"})
    (place / "files" / "near").symlink_to("data/a.txt")
    (place / "files" / "far").symlink_to(place / "files" / "data" / "a.txt")
    closed(place)
    links = {e["name"]: e["target"] for e in read_manifest(place)[0]["files"] if e["role"] == "link"}
    assert links == {"files/near": "data/a.txt", "files/far": "data/a.txt"}
    moved = place.rename(tmp_path / "moved")
    assert (moved / "files" / "far").read_text() == "1"


def test_r13_a_hard_link_to_elsewhere_cannot_change_the_package(tmp_path: Path) -> None:
    place = staging(tmp_path, {"a.txt": "sealed"})
    os.link(place / "files" / "a.txt", tmp_path / "other-name")
    closed(place)
    (tmp_path / "other-name").write_text("changed")
    assert (place / "files" / "a.txt").read_text() == "sealed"


def test_the_log_and_the_records_are_part_of_the_package(tmp_path: Path) -> None:
    place = staging(tmp_path)
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "000000.log").write_text("hello\n")
    (tmp_path / "log" / "000000.idx").write_bytes(b"")
    (tmp_path / "records.jsonl").write_text("{}\n")
    document = launch(contract=BARE, required=[])
    records = tmp_path / "records.jsonl"
    seal(place, launch=document, messages=Messages(), log_folder=tmp_path / "log", at_us=1, records=records)
    assert names(place) == {"log/000000.log", "records.jsonl", "result.json"}


def test_r15_metrics_are_rounded_by_their_rule_and_missing_ones_have_a_reason(tmp_path: Path) -> None:
    told = [
        {"metric": "total", "value": "7.5975334", "rule": "ratio.v1", "observations": 122},
        {"unavailable": "sortino", "reason": "insufficient_observations", "observations": 0},
    ]
    place = staging(tmp_path)
    closed(place, Messages(metrics=told), contract={**BARE, "metrics": CONTRACT["metrics"]})
    total, sortino, sharpe = read_result(place)["metrics"]
    assert (total["value"], total["raw"], total["was_rounded"]) == ("7.597533", "7.5975334", True)
    assert (sortino["value"], sortino["status"], sortino["reason"]) == (None, "unavailable", "insufficient_observations")
    assert (sharpe["status"], sharpe["reason"], sharpe["meaning"]) == ("not_computed", "not_reported", "return per risk")


@pytest.mark.parametrize("value", ["NaN", "inf", float("nan"), None, "twelve", True])
def test_r15_a_value_that_is_no_number_is_refused(tmp_path: Path, value: object) -> None:
    with pytest.raises(ActumError) as caught:
        closed(staging(tmp_path), Messages(metrics=[{"metric": "m", "value": value}]))
    assert caught.value.code == "contract_invalid"


def refused_table(tmp_path: Path, files: dict[str, str | bytes], message: dict[str, Any], contract: Any = BARE) -> ActumError:
    with pytest.raises(ActumError) as caught:
        closed(staging(tmp_path, files), Messages(tables=[message]), contract=contract)
    assert caught.value.code == "contract_invalid"
    return caught.value


@pytest.mark.parametrize(
    "message",
    [
        {"table": "../t", "path": "a.csv"},
        {"table": ".t", "path": "a.csv"},
        {"table": "", "path": "a.csv"},
        {"table": "t", "path": "../a.csv"},
        {"table": "t", "path": "/etc/a.csv"},
        {"table": "t", "path": "a.xlsx"},
        {"table": "t", "path": "a.csv", "rows": -1},
        {"table": "t", "path": "a.jsonl"},
        {"table": "t", "path": "a.jsonl", "schema": [{"name": "x", "type": "complex"}]},
        {"table": "t", "path": "empty.csv"},
        {"table": "t", "path": "latin.csv"},
        {"table": "t", "path": "twice.csv"},
    ],
)
def test_r19_tables_handed_over_wrongly_are_refused(tmp_path: Path, message: dict[str, Any]) -> None:
    files: dict[str, str | bytes] = {
        "a.csv": "x\n1\n",
        "a.jsonl": '{"x":1}\n',
        "a.xlsx": "",
        "empty.csv": "",
        "latin.csv": b"caf\xe9\n",
        "twice.csv": "x,x\n1,2\n",
    }
    refused_table(tmp_path, files, message)


def test_a_table_that_contradicts_the_contract_is_refused(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"returns.jsonl": lines(RETURNS, ROWS), "returns.csv": "day,volume\n"}
    contract = {**BARE, "tables": CONTRACT["tables"]}
    other = [{**column, "scale": 2} if column["name"] == "price" else column for column in table_message(RETURNS)["schema"]]
    message = {"table": "returns", "path": "returns.jsonl", "schema": other}
    assert "decimal(18, 2)" in refused_table(tmp_path / "1", files, message, contract).why
    assert "“price”" in refused_table(tmp_path / "2", files, {"table": "returns", "path": "returns.csv"}, contract).what
    assert "4" in refused_table(tmp_path / "3", files, table_message(RETURNS, rows=4)).what


def test_a_csv_is_its_own_authority_with_types_from_the_contract_else_text(tmp_path: Path) -> None:
    contract = {**BARE, "tables": [{"name": "t", "columns": [{"name": "n", "type": "integer"}]}]}
    place = staging(tmp_path, {"t.csv": "\ufeffname,n\nA,1\n".encode(), "u.tsv": "a\tb\n"})
    closed(place, Messages(tables=[{"table": "t", "path": "t.csv"}, {"table": "u", "path": "u.tsv"}]), contract=contract)
    entries = {entry.get("table"): entry for entry in read_manifest(place)[0]["files"]}
    assert [(c["name"], c["type"]) for c in entries["t"]["schema"]] == [("name", "text"), ("n", "integer")]
    assert (entries["t"]["rule"], entries["u"]["dialect"]["delimiter"]) == ("csv.v1", "\t")
    assert entries["u"]["name"] == "tables/u.csv"


def test_a_schema_sent_with_a_csv_types_what_the_contract_does_not(tmp_path: Path) -> None:
    """Columns that neither names are text; two words about one column are a contradiction."""
    contract = {**BARE, "tables": [{"name": "t", "columns": [{"name": "n", "type": "integer"}]}]}
    content = {"t.csv": "name,n,x\nA,1,0.10\n"}
    price = {"name": "x", "type": "decimal", "precision": 9, "scale": 2, "nullable": False, "unit": "USD"}

    def sealed(folder: str, *schema: dict[str, Any]) -> list[dict[str, Any]]:
        place = staging(tmp_path / folder, dict(content))
        closed(place, Messages(tables=[{"table": "t", "path": "t.csv", "schema": list(schema)}]), contract=contract)
        entry = next(each for each in read_manifest(place)[0]["files"] if each["role"] == "table")
        return list(entry["schema"])

    found = sealed("1", price)
    assert [(each["name"], each["type"], each["unit"]) for each in found] == [
        ("name", "text", None),
        ("n", "integer", None),
        ("x", "decimal", "USD"),
    ]
    with pytest.raises(ActumError, match="not the one the contract declares"):
        sealed("2", {"name": "n", "type": "text"})
    with pytest.raises(ActumError, match="lacks the column “y”"):
        sealed("3", {"name": "y", "type": "text"})
    with pytest.raises(ActumError, match="does not describe a column"):
        sealed("4", {"name": "x"})


def test_disk_full_while_sealing_leaves_no_package(tmp_path: Path, armed: Any) -> None:
    for point in (
        "seal.result.fsync.before",
        "seal.file.fsync.before",
        "seal.folders.fsync.before",
        "seal.manifest.fsync.before",
    ):
        place = staging(tmp_path / point, {"a": "1"})
        armed(f"{point}:error=ENOSPC")
        with pytest.raises(ActumError) as caught:
            closed(place)
        assert caught.value.code == "disk_full"
        assert not (place / "manifest.json").exists()


def test_r18_killed_before_the_last_rename_there_is_no_package_and_after_it_a_whole_one(tmp_path: Path) -> None:
    program = (
        "import sys, json, pathlib; from actum import faults; from actum.results.manifest import Messages, seal; "
        "faults.i_am('host'); d = json.loads(sys.argv[2]); "
        "seal(pathlib.Path(sys.argv[1]), launch=d, messages=Messages(), log_folder=None, at_us=1)"
    )
    document = json.dumps(launch(contract=BARE, required=[]))
    points = [name for name in faults.CATALOGUE if name.startswith("seal.")]
    for point in points:
        place = staging(tmp_path / point, {"a": "1"})
        variables = {**os.environ, "ACTUM_FAULT": f"{point}:kill-host"}
        ended = subprocess.run([sys.executable, "-c", program, str(place), document], env=variables, check=False)
        assert ended.returncode == -9, point
        assert (place / "manifest.json").exists() == (point == "seal.manifest.rename.after")


def test_sealing_needs_nothing_but_the_standard_library(tmp_path: Path) -> None:
    place = staging(tmp_path, {"t.csv": "a\n1\n"})
    core = Path(faults.__file__).parents[1]
    program = (
        "import sys, json, pathlib; sys.path.insert(0, sys.argv[1]); "
        "import actum.results.manifest as m; early = 'hashlib' in sys.modules; "
        "m.seal(pathlib.Path(sys.argv[2]), launch=json.loads(sys.argv[3]), log_folder=None, at_us=1,"
        " messages=m.Messages(tables=[{'table': 't', 'path': 't.csv'}], metrics=[{'metric': 'x', 'value': '1'}])); "
        "assert not early and not any('site-packages' in str(getattr(x, '__file__', '')) for x in sys.modules.values())"
    )
    document = json.dumps(launch(contract=BARE, required=[]))
    subprocess.run([sys.executable, "-I", "-S", "-c", program, str(core), str(place), document], check=True)


def test_a_document_that_is_no_manifest_says_why(tmp_path: Path) -> None:
    for content, why in ((b"\xff", "not JSON"), (b"[]", "schema"), (b'{"schema":"actum.manifest/1"}', "lacks files")):
        (tmp_path / "manifest.json").write_bytes(content)
        with pytest.raises(NotAPackage, match=why):
            read_manifest(tmp_path)


def test_safe_names() -> None:
    assert is_safe_name("files/数据/a b.csv")
    assert not any(is_safe_name(name) for name in ("", "/a", "a/../b", "a//b", "./a", "a\0b", 3, None))


def test_r11_the_number_of_files_tables_and_metrics_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PACKAGE_FILES_MAX", 2)
    monkeypatch.setattr(limits, "PACKAGE_TABLES_MAX", 2)
    monkeypatch.setattr(limits, "PACKAGE_METRICS_MAX", 2)
    metrics = [{"metric": f"m{n}", "value": "1"} for n in range(limits.PACKAGE_METRICS_MAX + 1)]
    tables = [{"table": f"t{n}", "path": f"{n}.csv"} for n in range(limits.PACKAGE_TABLES_MAX + 1)]
    files: dict[str, str | bytes] = {f"{n}.csv": "a\n" for n in range(limits.PACKAGE_FILES_MAX + 1)}
    at = {name: files[name] for name in ("0.csv", "1.csv")}
    closed(staging(tmp_path / "at", at), Messages(metrics=metrics[:2], tables=tables[:2]))
    with pytest.raises(ActumError, match="3 files"):
        closed(staging(tmp_path / "files", files))
    with pytest.raises(ActumError, match="3 tables"):
        closed(staging(tmp_path / "tables", at), Messages(tables=tables))
    with pytest.raises(ActumError, match="3 metrics"):
        closed(staging(tmp_path / "metrics", at), Messages(metrics=metrics))


def test_r11_a_message_names_so_many_files_and_counts_the_rest(tmp_path: Path) -> None:
    place = staging(tmp_path)
    for number in range(limits.NAMES_TOLD_MAX + 1):
        (place / "files" / f"p{number:02}").symlink_to("/")
    with pytest.raises(ActumError, match="and 1 more") as caught:
        closed(place)
    assert len(caught.value.details["refused"]) == limits.NAMES_TOLD_MAX


def test_r11_a_csv_header_is_read_up_to_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text('"b\nc",é\n1,2\n', encoding="utf-8")
    length = len('"b\nc",é\n'.encode())
    monkeypatch.setattr(limits, "CSV_HEADER_BYTES_MAX", length)
    assert handover.csv_header("t", path, ",") == ["b\nc", "é"]
    for shorter in (1, 2, 3, 5):
        monkeypatch.setattr(limits, "CSV_HEADER_BYTES_MAX", length - shorter)
        assert length > limits.CSV_HEADER_BYTES_MAX
        with pytest.raises(ActumError) as caught:
            handover.csv_header("t", path, ",")
        assert caught.value.code == "contract_invalid"


def test_r11_a_table_longer_than_a_chunk_has_a_digest_per_chunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HASH_BLOCK_BYTES", 4)
    monkeypatch.setattr(limits, "CHUNK_BYTES", 8)
    for content, chunks in ((b"a\n1\n2\n3\n", 0), (b"a\n1\n2\n3\n4", 2), (b"a\n1\n2\n3\n4\n5\n6\n7\n", 2)):
        place = staging(tmp_path / str(len(content)), {"t.csv": content})
        closed(place, Messages(tables=[{"table": "t", "path": "t.csv"}]))
        entry = next(e for e in read_manifest(place)[0]["files"] if e["role"] == "table")
        wanted = [digests.of_bytes(content[at : at + 8]) for at in range(0, len(content), limits.CHUNK_BYTES)]
        assert entry["chunks"] == (wanted if chunks else [])


def test_a_file_that_is_almost_all_holes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sparse terabyte would be digested for hours: refused by name; one that the disk holds enough of is a file."""
    monkeypatch.setattr(limits, "OUTPUT_HOLLOW_BYTES", 1 << 20)
    monkeypatch.setattr(limits, "OUTPUT_HOLLOW_FACTOR", 256)
    place = staging(tmp_path, {})
    fine, hollow = place / "files" / "fine", place / "files" / "hollow"
    for path, size in ((fine, (1 << 20) - 1), (hollow, 1 << 20)):
        with open(path, "wb") as file:
            file.truncate(size)
    with pytest.raises(ActumError) as caught:
        closed(place)
    assert caught.value.code == "result_rejected"
    assert set(caught.value.details["refused"]) == {"hollow"}
    assert "1,048,576 bytes, of which 0 are on the disk" in caught.value.why
    hollow.write_bytes(b"x" * 8192 + bytes(1 << 20))
    assert {"files/fine", "files/hollow"} <= (closed(place), names(place))[1]


def test_an_output_folder_that_is_gone_is_said_so(tmp_path: Path) -> None:
    place = staging(tmp_path, {})
    shutil.rmtree(place / "files")
    with pytest.raises(ActumError) as caught:
        closed(place)
    assert (caught.value.code, caught.value.what) == ("result_incomplete", "The output folder is gone.")


def test_folders_too_deep_to_be_opened_are_refused(tmp_path: Path) -> None:
    place = staging(tmp_path, {})
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(place / "files")
        for _ in range(50):
            os.mkdir("d" * 100)
            os.chdir("d" * 100)
    finally:
        os.fchdir(here)
        os.close(here)
    with pytest.raises(ActumError) as caught:
        closed(place)
    assert (caught.value.code, "too long" in caught.value.what) == ("result_rejected", True)


@pytest.mark.parametrize("more", [0, 1])
def test_many_files_are_settled_together_and_each_is_durable(tmp_path: Path, armed: Any, more: int) -> None:
    """R18: at SETTLED_TOGETHER_FILES one after the other, above it several at a time; an error of any fails the sealing."""
    count = limits.SETTLED_TOGETHER_FILES - 1 + more  # result.json is one too
    assert limits.SETTLING_THREADS > 1
    place = staging(tmp_path, {f"{number}.txt": b"x" for number in range(count)})
    closed(place)
    assert len(names(place)) >= count
    assert {stat.S_IMODE(path.stat().st_mode) for path in (place / "files").iterdir()} == {0o444}
    again = staging(tmp_path / "again", {f"{number}.txt": b"x" for number in range(count)})
    armed(f"seal.file.fsync.before#{count // 2}:error=EIO")
    with pytest.raises(ActumError) as caught:
        closed(again)
    assert caught.value.code == "io_error"
    assert not (again / "manifest.json").exists()
