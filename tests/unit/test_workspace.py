"""Workspace, lock, generation, endpoint, run-time directory, settings (§11, PROTOCOL "Lock")."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from actum import faults, limits, lock, runtime, settings
from actum.errors import StorageFailed, WorkspaceUnusable, WrongUse
from actum.generation import (
    FolderIdentity,
    Generation,
    folder_identity,
    read_endpoint,
    read_generation,
    remove_endpoint,
    write_endpoint,
    write_generation,
)
from actum.lock import Lock
from actum.runtime import runtime_directory, socket_path
from actum.workspace import (
    Workspace,
    create_folders,
    filesystem_type,
    folder_warnings,
    locate,
)

from tests.helpers import workspaces as w
from tests.helpers.waiting import wait_until


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    return w.make(tmp_path / "ws")


def test_the_places_of_an_attempt() -> None:
    ws = Workspace(Path("/w"))
    assert ws.attempt_folder(17, 2) == Path("/w/attempts/17/2")
    assert ws.result_folder(17, 2) == Path("/w/results/17/2")


def test_argument_before_variable_before_the_users_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ACTUM_HOME", str(tmp_path / "variable"))
    assert locate(str(tmp_path / "argument")).path == tmp_path / "argument"
    assert locate().path == tmp_path / "variable"
    monkeypatch.delenv("ACTUM_HOME")
    assert locate().path.parts[-2:] == ("actum", "workspace")
    monkeypatch.chdir(tmp_path)
    assert locate("here").path == tmp_path / "here"


def test_a_file_in_the_way_is_said(tmp_path: Path) -> None:
    (tmp_path / "ws").write_text("")
    with pytest.raises(WorkspaceUnusable) as caught:
        create_folders(Workspace(tmp_path / "ws"))
    assert caught.value.code == "workspace_not_a_folder"


def test_one_holder_at_a_time(place: Workspace) -> None:
    """flock belongs to the open file, so two objects in one process exclude each other as two processes do."""
    first = Lock.try_acquire(place)
    assert first is not None
    assert Lock.try_acquire(place) is None
    assert lock.held_by_someone(place) is True
    first.release()
    first.release()
    assert not first.still_mine()
    assert lock.held_by_someone(place) is False
    second = Lock.try_acquire(place)
    assert second is not None
    second.release()
    assert place.lock.exists()


def test_looking_at_the_lock_makes_nothing(place: Workspace) -> None:
    assert lock.held_by_someone(place) is False
    assert not place.lock.exists()


def test_a_replaced_lock_file_is_noticed(place: Workspace) -> None:
    with Lock.try_acquire(place) or pytest.fail("the lock is free") as held:
        assert held.still_mine()
        place.lock.rename(place.lock.with_name("moved"))
        assert not held.still_mine()
        place.lock.write_text("")
        assert not held.still_mine()


def test_r02_a_lock_whose_file_was_replaced_while_it_was_taken_is_none(place: Workspace) -> None:
    """Between open and flock somebody may put another file there: then two programs could each hold “the” lock."""

    def replace() -> None:
        wait_until(place.lock.exists, what="the file")
        place.lock.rename(place.lock.with_name("moved"))
        place.lock.write_text("")

    replacing = threading.Thread(target=replace)
    replacing.start()
    faults.arm("lock.acquire.after:delay=500")
    try:
        taken = Lock.try_acquire(place)
    finally:
        faults.arm("")
        replacing.join()
    assert taken is None
    assert lock.held_by_someone(place) is False


def test_the_kernel_lets_go_when_the_holder_is_killed(place: Workspace) -> None:
    code = (
        "import sys; from pathlib import Path; from actum.lock import Lock; from actum.workspace import Workspace;"
        "held = Lock.try_acquire(Workspace(Path(sys.argv[1]))); print(held is not None, flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(place.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "True\n"
        assert Lock.try_acquire(place) is None
        child.kill()
        child.wait()
    held = wait_until(lambda: Lock.try_acquire(place), what="the lock")
    assert held is not None
    held.release()


def test_a_child_does_not_inherit_the_lock(place: Workspace) -> None:
    held = Lock.try_acquire(place)
    assert held is not None
    with subprocess.Popen(["sleep", "60"], close_fds=False) as child:
        held.release()
        again = Lock.try_acquire(place)
        assert again is not None
        again.release()
        child.kill()


def test_generation_goes_out_and_comes_back(place: Workspace) -> None:
    assert read_generation(place) is None
    folder = folder_identity(place.path)
    write_generation(place, "uuid", 7, folder)
    assert read_generation(place) == Generation("uuid", 7, folder)
    assert [path.name for path in place.path.iterdir() if path.name.endswith(".new")] == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"epoch": "x"}', '{"database_uuid": "u", "epoch": null}'])
def test_a_generation_that_is_none_reads_as_none(place: Workspace, text: str) -> None:
    place.generation.write_text(text)
    assert read_generation(place) is None


def test_a_full_disk_leaves_the_old_generation(place: Workspace) -> None:
    folder = FolderIdentity(1, 2)
    write_generation(place, "uuid", 7, folder)
    faults.arm("generation.rename.before:error=ENOSPC")
    try:
        with pytest.raises(StorageFailed) as caught:
            write_generation(place, "uuid", 8, folder)
    finally:
        faults.arm("")
    assert caught.value.code == "disk_full"
    assert read_generation(place) == Generation("uuid", 7, folder)


def test_the_identity_of_a_folder_survives_a_move_and_not_a_copy(place: Workspace, tmp_path: Path) -> None:
    before = folder_identity(place.path)
    moved = place.path.rename(tmp_path / "moved")
    assert folder_identity(moved) == before
    shutil.copytree(moved, tmp_path / "copy")
    assert folder_identity(tmp_path / "copy") != before


def test_the_endpoint_in_a_copy_leads_nowhere(place: Workspace, tmp_path: Path) -> None:
    write_endpoint(place, {"socket": "/run/x.sock", "instance": "b", "epoch": 3, "pid": 1})
    shutil.copytree(place.path, tmp_path / "copy")
    assert read_endpoint(Workspace(tmp_path / "copy")) is None
    moved = place.path.rename(tmp_path / "moved")
    assert (read_endpoint(Workspace(moved)) or {})["instance"] == "b"


def test_the_endpoint_is_removed_by_its_own_instance_only(place: Workspace) -> None:
    assert read_endpoint(place) is None
    write_endpoint(place, {"socket": "/run/x.sock", "instance": "b", "epoch": 3, "pid": 1})
    remove_endpoint(place, "a")
    assert read_endpoint(place) == {"v": 1, "socket": "/run/x.sock", "instance": "b", "epoch": 3, "pid": 1}
    remove_endpoint(place, "b")
    remove_endpoint(place, "b")
    assert read_endpoint(place) is None


def test_sockets_live_in_a_private_folder_and_are_short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """SOCKET_PATH_BYTES_MAX: a run-time directory that is too long is passed over for the short one."""
    short = Path("/tmp") / f"a{os.getpid()}"
    short.mkdir(mode=0o700)
    try:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(short))
        path = socket_path()
        assert path.startswith(str(short))
        assert runtime_directory().stat().st_mode & 0o777 == 0o700
        name_bytes = len("/actum/") + 16 + len(".sock")
        for extra, kept in ((0, True), (1, False)):
            long = tmp_path
            wanted = limits.SOCKET_PATH_BYTES_MAX - name_bytes + extra
            long = short / ("x" * (wanted - len(str(short)) - 1))
            long.mkdir()
            monkeypatch.setenv("XDG_RUNTIME_DIR", str(long))
            assert socket_path().startswith(str(long)) is kept
            assert len(os.fsencode(socket_path())) <= limits.SOCKET_PATH_BYTES_MAX
    finally:
        shutil.rmtree(short)


def test_a_run_time_directory_of_a_stranger_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    target = tmp_path / "theirs"
    target.mkdir()
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    monkeypatch.setattr(runtime.tempfile, "tempdir", str(tmp_path) if len(str(tmp_path)) < 60 else None)
    place = Path(runtime.tempfile.gettempdir()) / f"actum-{os.getuid()}"
    if place.exists():
        assert runtime_directory().stat().st_uid == os.getuid()
        return
    place.symlink_to(target)
    with pytest.raises(WorkspaceUnusable) as caught:
        runtime_directory()
    assert caught.value.code == "runtime_directory_foreign"


def test_warnings_about_the_folder(tmp_path: Path) -> None:
    ws = w.make(tmp_path / "Dropbox" / "ws")
    assert any("synced" in warning for warning in folder_warnings(ws))
    assert filesystem_type(tmp_path) != ""
    assert folder_warnings(w.make(tmp_path / "plain")) == []


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs"])
def test_a_network_folder_is_warned_of(tmp_path: Path, kind: str) -> None:
    """As the kernel lists a mount over the workspace's parent, its name with a space in it; the nearest mount counts."""
    ws = w.make(tmp_path / "on the net" / "ws")
    mounts = tmp_path / "mountinfo"
    line = "36 35 98:0 / {} rw,noatime master:1 - {} server:/x rw\n"
    place = str(tmp_path / "on the net").replace(" ", "\\040")
    mounts.write_text(line.format("/", "ext4") + line.format(place, kind) + line.format(f"{place}/ws2", "ext4"))
    assert filesystem_type(ws.path, mounts) == kind
    assert [kind in warning and "network folder" in warning for warning in folder_warnings(ws, mounts)] == [True]


def test_settings_have_defaults_and_are_checked() -> None:
    values = settings.merged({"slots": 3, "keep_awake": "purple", "unknown": 1})
    assert (values["slots"], values["keep_awake"], values["input_copy_bytes_max"]) == (3, True, 1 << 30)
    assert settings.check("slots", limits.SLOTS_MAX) == limits.SLOTS_MAX
    for wrong in (limits.SLOTS_MAX + 1, 0, True, "2"):
        with pytest.raises(WrongUse):
            settings.check("slots", wrong)
    with pytest.raises(WrongUse):
        settings.check("no_such_setting", 1)
    assert settings.slots_default() >= 1
