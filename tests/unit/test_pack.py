"""A result as one file, and read elsewhere: deterministic, safe to open, and what is and is not proved (R19)."""

from __future__ import annotations

import os
import stat
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from actum import limits, open_result
from actum.errors import ActumError, CheckFailed, Conflict, NotFound, StorageFailed, WrongUse
from actum.results import pack
from actum.results.manifest import Messages

from tests.helpers import packages
from tests.helpers.packages import Made, sample


@pytest.fixture
def made(tmp_path: Path) -> Made:
    place = packages.staging(tmp_path / "work", {"report.html": "<p>ok</p>", "t.csv": "n\n1\n2\n"})
    (place / "files" / "latest").symlink_to("report.html")
    return packages.finish(
        place, Messages(tables=[{"table": "t", "path": "t.csv"}]), contract={**packages.CONTRACT, "tables": []}
    )


def test_a_pack_read_elsewhere_is_the_result(made: Made, tmp_path: Path) -> None:
    told = pack.make(made.path, tmp_path / "r.actumpack")
    assert told["manifest_sha256"] == made.sealed.manifest_sha256
    with open_result(tmp_path / "r.actumpack") as result:
        assert (result.run, result.task, result.tables) == (17, "sample", ("t",))
        assert result.table("t").to_arrow().column("n").to_pylist() == ["1", "2"]
        assert result.table("t").to_duckdb().fetchall() == [("1",), ("2",)]
        assert list(result.table("t").to_pandas()["n"]) == ["1", "2"]
        assert sorted(path.name for path in result.files) == ["latest", "report.html"]
        assert (result.path / "files" / "latest").read_text() == "<p>ok</p>"
        assert result.verify().ok
        assert result.verify(digest=made.sealed.manifest_sha256).ok
        assert result.verify(digest="00" * 32).failed_checks == {"manifest_sha256"}
        place = result.path
    assert not place.exists()


def test_the_same_package_gives_the_same_file_whenever_it_is_packed(made: Made, tmp_path: Path) -> None:
    pack.make(made.path, tmp_path / "one.actumpack")
    os.utime(made.path / "files" / "report.html", (1, 1))
    pack.make(made.path, tmp_path / "two.actumpack")
    assert (tmp_path / "one.actumpack").read_bytes() == (tmp_path / "two.actumpack").read_bytes()
    assert {info.compress_type for info in zipfile.ZipFile(tmp_path / "one.actumpack").infolist()} == {zipfile.ZIP_STORED}


def test_a_pack_replaces_nothing_unless_asked_and_leaves_nothing_half_done(made: Made, tmp_path: Path) -> None:
    path = tmp_path / "r.actumpack"
    path.write_text("mine")
    with pytest.raises(Conflict):
        pack.make(made.path, path)
    assert path.read_text() == "mine"
    pack.make(made.path, path, overwrite=True)
    assert pack.is_pack(path)
    with pytest.raises(WrongUse):
        pack.make(made.path, made.path / "inside.actumpack")
    with pytest.raises(WrongUse):
        pack.make(made.path, tmp_path / "nowhere" / "r.actumpack")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["r.actumpack", "work"]


@pytest.mark.parametrize("name", ["files/report.html", "derived/t.parquet", "tables/t.csv"])
def test_a_damaged_package_does_not_travel(made: Made, tmp_path: Path, name: str) -> None:
    packages.writable(made.path / name).write_bytes(b"x")
    with pytest.raises(CheckFailed, match="not packed"):
        pack.make(made.path, tmp_path / "r.actumpack")
    assert not (tmp_path / "r.actumpack").exists()
    (made.path / name).unlink()
    with pytest.raises(CheckFailed, match="missing"):
        pack.make(made.path, tmp_path / "r.actumpack")


def forged(path: Path, members: list[tuple[str, bytes, int]], compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as out:
        for name, content, mode in [("manifest.json", b"{}", 0), *members]:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            out.writestr(info, content, compression)
    return path


LINK = stat.S_IFLNK | 0o777


@pytest.mark.parametrize(
    "members",
    [
        [("../out", b"x", 0)],
        [("/etc/out", b"x", 0)],
        [("files//x", b"x", 0)],
        [("files\\..\\x", b"x", 0)],
        [("files/l", b"../../..", LINK), ("files/l/x", b"x", 0)],
        [("files/l", b"/etc/passwd", LINK)],
        [("files/l", b"x" * (limits.LINK_BYTES_MAX + 1), LINK)],
    ],
)
def test_r19_nothing_in_a_pack_is_written_outside_of_it(tmp_path: Path, members: list[tuple[str, bytes, int]]) -> None:
    path = forged(tmp_path / "bad.actumpack", members)
    before = set(tmp_path.iterdir())
    with pytest.raises(CheckFailed), pack.unpacked(path, tmp_path):
        pass
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "names",
    [("files/a", "files/a/b"), ("files/a/b", "files/a"), ("manifest.json/x",), ("files/" + "n" * 300,), ("d/" * 3000 + "x",)],
)
def test_members_that_no_folder_can_hold_are_refused_in_words(tmp_path: Path, names: tuple[str, ...]) -> None:
    path = forged(tmp_path / "bad.actumpack", [(name, b"x", 0) for name in names])
    with pytest.raises(CheckFailed, match="no pack of a result"), pack.unpacked(path, tmp_path):
        pass


def test_names_and_offsets_that_are_none_are_refused_in_words(made: Made, tmp_path: Path) -> None:
    whole, bad = tmp_path / "r.actumpack", tmp_path / "bad.actumpack"
    pack.make(made.path, whole)
    content = whole.read_bytes()
    directory = forged(tmp_path / "é", [("files/é", b"x", 0)]).read_bytes().replace("é".encode(), b"\xff\xfe")
    for damaged in (directory, content[:-3] + b"\xff" + content[-2:], content[:-6] + b"\xff\xff\xff\x7f" + content[-2:]):
        bad.write_bytes(damaged)
        with pytest.raises(CheckFailed, match="no pack of a result"):
            open_result(bad)


def test_r11_members_that_lie_in_one_another_are_refused_before_one_is_written(tmp_path: Path) -> None:
    """A small file whose members each hold all the later ones would unfold into a large folder without any compression."""
    data, listed = b"A" * 10_000, b""
    sizes: list[tuple[bytes, int, int]] = []
    for name in [b"manifest.json", *(b"files/%02d" % number for number in range(20))]:
        check = zlib.crc32(data)
        sizes.insert(0, (name, len(data), check))
        data = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 0, 0, 33, check, len(data), len(data), len(name), 0) + name + data
    offset = 0
    for name, size, check in sizes:
        whole = (b"PK\1\2", 20, 20, 0, 0, 0, 33, check, size, size, len(name), 0, 0, 0, 0, 0, offset)
        listed += struct.pack("<4s6H3L5H2L", *whole) + name
        offset += 30 + len(name)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, len(sizes), len(sizes), len(listed), len(data), 0)
    path = tmp_path / "bomb.actumpack"
    path.write_bytes(data + listed + end)
    with pytest.raises(CheckFailed, match="more than it has"):
        pack.unpack(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_link_at_the_bound_is_written_and_a_longer_one_refused(tmp_path: Path) -> None:
    """LINK_BYTES_MAX: the file system may take less; what is refused here is refused before it is tried."""
    target = ("./" * 40 + "a").encode()
    assert len(target) <= limits.LINK_BYTES_MAX
    path = forged(tmp_path / "p", [("files/a", b"x", 0), ("files/l", target, LINK)])
    with pack.unpacked(path, tmp_path) as place:
        assert (place / "files" / "l").read_bytes() == b"x"


def test_a_pack_that_is_compressed_twice_named_cut_off_or_none_is_refused(made: Made, tmp_path: Path) -> None:
    whole = tmp_path / "r.actumpack"
    pack.make(made.path, whole)
    cut = tmp_path / "cut.actumpack"
    cut.write_bytes(whole.read_bytes()[:-40])
    squeezed = forged(tmp_path / "z", [("files/a", b"x" * 1000, 0)], zipfile.ZIP_DEFLATED)
    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = forged(tmp_path / "t", [("files/a", b"x", 0), ("files/a", b"y", 0)])
    bare = tmp_path / "bare"
    with zipfile.ZipFile(bare, "w") as out:
        out.writestr("x", b"")
    for path in (cut, squeezed, twice, bare):
        with pytest.raises(CheckFailed):
            open_result(path)
    with pytest.raises(NotFound):
        open_result(tmp_path / "none")


def test_r11_a_pack_of_too_many_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PACKAGE_FILES_MAX", 1)
    monkeypatch.setattr(limits, "PACKAGE_TABLES_MAX", 0)
    fits = forged(tmp_path / "fits", [(f"files/{number}", b"", 0) for number in range(8)])
    with pack.unpacked(fits, tmp_path):
        pass
    more = forged(tmp_path / "more", [(f"files/{number}", b"", 0) for number in range(9)])
    with pytest.raises(CheckFailed), pack.unpacked(more, tmp_path):
        pass


def test_r11_a_member_at_the_bound_and_above_it_is_packed_and_read(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ZIP64_BYTES: from there on a member has 64-bit sizes."""
    size = (made.path / "files" / "report.html").stat().st_size
    for bound in (size, size + 1):
        monkeypatch.setattr(limits, "ZIP64_BYTES", bound)
        pack.make(made.path, tmp_path / f"{bound}.actumpack")
        with open_result(tmp_path / f"{bound}.actumpack") as result:
            assert result.verify().ok
    assert (tmp_path / f"{size}.actumpack").read_bytes() != (tmp_path / f"{size + 1}.actumpack").read_bytes()


def test_a_disk_without_room_is_said_before_anything_is_written(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack.make(made.path, tmp_path / "r.actumpack")
    monkeypatch.setattr(pack.shutil, "disk_usage", lambda place: os.statvfs_result and type("U", (), {"free": 10}))
    with pytest.raises(StorageFailed), pack.unpacked(tmp_path / "r.actumpack", tmp_path):
        pass


def test_open_result_needs_neither_workspace_nor_window(made: Made, tmp_path: Path) -> None:
    pack.make(made.path, tmp_path / "r.actumpack")
    program = (
        "import sys, actum; r = actum.open_result(sys.argv[1]); assert r.verify().ok; r.close(); "
        "bad = [m for m in sys.modules if m.startswith(('PySide6', 'sqlalchemy', 'sqlite3', 'actum.store', 'actum_desktop'))]; "
        "assert not bad, bad"
    )
    env = {**os.environ, "ACTUM_HOME": str(tmp_path / "nowhere")}
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "r.actumpack")], check=True, env=env)
    assert not (tmp_path / "nowhere").exists()


def test_a_run_of_the_workspace_is_opened_by_its_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACTUM_HOME", str(tmp_path / "home"))
    made = sample(tmp_path)
    target = tmp_path / "home" / "results" / "17" / "1"
    target.parent.mkdir(parents=True)
    made.path.rename(target)
    assert pq.read_table(open_result(17).table("returns").path).num_rows == 3
    with pytest.raises(NotFound):
        open_result(18)


@pytest.mark.parametrize("library", ["pyarrow", "pandas"])
def test_an_interpreter_without_the_libraries_reads_metrics_and_is_told_what_tables_need(
    made: Made, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    """§8: a package is read anywhere; what cannot be done there is said with the command that makes it possible."""
    with open_result(made.path) as result:
        table = result.table("t")
        monkeypatch.setitem(sys.modules, library, None)
        assert (result.task, len(result.files)) == ("sample", 2)
        for ask in (table.to_pandas, *((table.to_arrow, table.batches, result.verify) if library == "pyarrow" else ())):
            with pytest.raises(ActumError) as caught:
                ask()
            assert caught.value.code == "no_library"
            assert library in caught.value.remedy
