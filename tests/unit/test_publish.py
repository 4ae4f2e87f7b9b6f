"""Publication step by step: one rename that replaces nothing, read-only, durable, told where it is (R13, R18, P11, P24)."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from actum import faults, limits
from actum.errors import StorageFailed
from actum.model.evidence import PackageSeen
from actum.model.facts import FactName
from actum.model.status import FailureCode, Phase, RunStatus, Status
from actum.results import publish
from actum.results.publish import Recorded
from actum.results.verify import verify
from actum.supervise import effects, events
from actum.workspace import Workspace, create_folders
from actum_desktop.controller import steps

from tests.helpers import packages
from tests.helpers.packages import Made
from tests.helpers.supervised import METHOD, Bench
from tests.helpers.users import as_normal_user, give_to_normal_user

Place = tuple[Workspace, Made, Path, Recorded]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A workspace, a verified package in its attempt's staging, the target, and the digests recorded."""
    ws = Workspace(tmp_path / "ws")
    create_folders(ws)
    folder = ws.attempts / "17" / "1"
    folder.mkdir(parents=True)
    made = packages.sample(folder)
    derived = (made.path / "derived" / "derived.json").read_bytes()
    recorded = Recorded(made.sealed.manifest_sha256, publish.digests.of_bytes(derived))
    yield ws, made, ws.results / "17" / "1", recorded
    for path in tmp_path.rglob("*"):  # what a normal user's clean-up could not remove
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)


def published(place: Place) -> Path:
    ws, made, target, _ = place
    publish.prepare_target(ws, 17)
    publish.make_files_readonly(made.path)
    publish.publish(made.path, target)
    publish.make_durable(target, ws.attempts / "17" / "1")
    return target


def test_a_published_package_is_read_only_throughout(place: Place) -> None:
    target = published(place)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in target.rglob("*") if path.is_file()}
    folders = {stat.S_IMODE(path.stat().st_mode) for path in (target, *target.rglob("*")) if path.is_dir()}
    assert (modes, folders) == ({0o444}, {0o555})


def test_r13_a_normal_user_cannot_write_into_a_published_package(place: Place) -> None:
    target = published(place)
    give_to_normal_user(target)
    attempt = f"touch {target}/files/new; echo x > {target}/files/report.html; rm -f {target}/manifest.json"
    as_normal_user(["sh", "-c", attempt], target)
    assert (target / "manifest.json").exists()
    assert not (target / "files" / "new").exists()
    assert (target / "files" / "report.html").read_text() == "<p>ok</p>"


def file_at(path: Path) -> None:
    path.write_text("")


def empty_folder(path: Path) -> None:
    path.mkdir()


def dangling_link(path: Path) -> None:
    path.symlink_to("nowhere")


@pytest.mark.parametrize("rename", [publish.rename_noreplace, publish._rename_looking_first])
@pytest.mark.parametrize("occupy", [file_at, empty_folder, dangling_link])
def test_p24_the_rename_refuses_whatever_is_at_the_target(
    tmp_path: Path, rename: Callable[[Path, Path], None], occupy: Callable[[Path], None]
) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    (source / "a").write_text("1")
    occupy(target)
    with pytest.raises(FileExistsError):
        rename(source, target)
    assert (source / "a").read_text() == "1"
    assert os.path.lexists(target)


def test_the_rename_moves_and_names_both_ends_of_a_failure(tmp_path: Path) -> None:
    source, target = tmp_path / "源 folder", tmp_path / "target"
    source.mkdir()
    publish.rename_noreplace(source, target)
    assert target.is_dir()
    with pytest.raises(FileNotFoundError) as caught:
        publish.rename_noreplace(source, target.with_name("other"))
    assert caught.value.filename == str(source)


def test_r18_every_step_can_be_taken_again_after_any_crash(place: Place) -> None:
    """Killed at each fault point in turn, the steps taken from the start end in one published package."""
    ws, made, target, recorded = place
    program = (
        "import sys, pathlib; from actum import faults; from actum.results import publish as p; "
        "from actum.workspace import Workspace; faults.i_am('app'); ws = Workspace(pathlib.Path(sys.argv[1])); "
        "s, a = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]); t = p.prepare_target(ws, 17) / '1'; "
        "seen = p.where(ws, s, t, p.Recorded(sys.argv[4], sys.argv[5])); "
        "seen == 'staging' and (p.make_files_readonly(s), p.publish(s, t)); p.make_durable(t, a)"
    )
    steps = ("publish.target.", "publish.readonly.", "publish.rename.", "publish.durable.")
    points = [name for name in faults.CATALOGUE if name.startswith(steps)]
    assert len(points) == 8
    arguments = [str(ws.path), str(made.path), str(made.path.parent), recorded.manifest_sha256, recorded.derived_sha256 or ""]
    for point in points:
        variables = {**os.environ, "ACTUM_FAULT": f"{point}:kill-app"}
        ended = subprocess.run([sys.executable, "-c", program, *arguments], env=variables, check=False, capture_output=True)
        passed_already = target.exists() and not point.startswith(("publish.target", "publish.durable", "publish.rename.after"))
        assert ended.returncode == (0 if passed_already else -9), (point, ended.stderr.decode())
        assert publish.where(ws, made.path, target, recorded) in (PackageSeen.STAGING, PackageSeen.RESULTS)
    subprocess.run([sys.executable, "-c", program, *arguments], check=True)
    assert publish.where(ws, made.path, target, recorded) is PackageSeen.RESULTS
    assert verify(target, made.expected).ok


def test_where_a_package_is(place: Place) -> None:
    ws, made, target, recorded = place
    assert publish.where(ws, made.path, target, recorded) is PackageSeen.STAGING
    assert publish.where(ws, made.path, target, Recorded(recorded.manifest_sha256)) is PackageSeen.STAGING
    assert publish.where(ws, made.path, target, Recorded(recorded.manifest_sha256, "00")) is PackageSeen.DIFFERS
    published(place)
    assert publish.where(ws, made.path, target, recorded) is PackageSeen.RESULTS
    shutil.rmtree(ws.attempts / "17")
    assert publish.where(ws, made.path, target, recorded) is PackageSeen.RESULTS
    packages.writable(target / "manifest.json").write_text("{}")
    assert publish.where(ws, made.path, target, recorded) is PackageSeen.DIFFERS


def test_neither_is_said_only_of_places_that_could_be_listed(place: Place) -> None:
    ws, made, target, recorded = place
    shutil.rmtree(made.path)
    assert publish.where(ws, made.path, target, recorded) is PackageSeen.NEITHER
    shutil.rmtree(made.path.parent)
    assert publish.where(ws, made.path, target, recorded) is PackageSeen.UNKNOWN
    made.path.parent.mkdir()
    ws.results.rename(ws.path / "unmounted")
    assert publish.where(ws, made.path, target, recorded) is PackageSeen.UNKNOWN


def test_a_package_in_quarantine_was_found_to_differ_and_is_not_lost(place: Place) -> None:
    """R18: killed between the move to quarantine and its record, the run says that it was rejected, not that it is gone."""
    ws, made, target, recorded = place
    publish.quarantine(ws, published(place), "17-1", "altered", 5)
    assert publish.where(ws, made.path, target, recorded) is PackageSeen.DIFFERS
    assert publish.where(ws, made.path, target.with_name("2"), recorded) is PackageSeen.NEITHER
    shutil.rmtree(ws.quarantine)
    assert publish.where(ws, made.path, target, recorded) is PackageSeen.NEITHER


def test_derived_tables_replace_an_earlier_try(place: Place) -> None:
    made = place[1]
    (made.path / ".derive-2-1").mkdir()
    (made.path / ".derive-2-1" / "derived.json").write_text("new")
    publish.place_derived(made.path, made.path / ".derive-2-1")
    assert [path.name for path in (made.path / "derived").iterdir()] == ["derived.json"]


def test_a_package_in_quarantine_keeps_its_reason_and_replaces_nothing(place: Place) -> None:
    ws = place[0]
    target = published(place)
    first = publish.quarantine(ws, target, "17-1", "altered", 5)
    again = ws.results / "17" / "1"
    again.mkdir()
    second = publish.quarantine(ws, again, "17-1", "foreign", 6)
    assert (first.name, second.name) == ("17-1", "17-1-2")
    assert (first / "manifest.json").exists()
    note = packages.read_json(ws.quarantine / "17-1.json")
    assert (note["reason"], note["from"]) == ("altered", str(target))


def test_an_unwritable_place_is_a_named_storage_failure(place: Place) -> None:
    faults.arm("publish.target.fsync.before:error=ENOSPC")
    try:
        with pytest.raises(StorageFailed) as caught:
            publish.prepare_target(place[0], 17)
    finally:
        faults.arm("")
    assert (caught.value.code, caught.value.errno) == ("disk_full", errno.ENOSPC)
    assert "Preparing the folder" in caught.value.what


def test_files_made_writable_again_are_closed_before_publication(place: Place) -> None:
    _, made, _, _ = place
    (made.path / "files" / "report.html").chmod(0o666)
    publish.make_files_readonly(made.path)
    assert stat.S_IMODE((made.path / "files" / "report.html").stat().st_mode) == 0o444


@pytest.mark.parametrize(
    ("point", "failure"),
    [("publish.rename.before", "rename"), ("publish.rename.after", "unsure"), ("publish.durable.fsync.before", "unsure")],
)
def test_r18_a_package_that_may_be_published_is_never_told_as_not_renamed(place: Place, point: str, failure: str) -> None:
    """Only what is proven to be in staging may wait as PUBLISH_PENDING, which a stop turns into STOPPED (§4)."""
    ws, made, target, recorded = place
    digests = {"manifest_sha256": recorded.manifest_sha256, "derived_sha256": recorded.derived_sha256}
    bench = Bench()
    bench.admit()
    publishing = bench.to_publishing()
    facts = {**publishing.facts, FactName.CONTENT_VERIFIED: {"recorded": digests}}
    row = replace(publishing, run=17, facts=facts)
    faults.arm(f"{point}:error=EIO")
    try:
        told = steps.publish_now(ws, row)
    finally:
        faults.arm("")
    assert (told.failure, target.exists()) == (failure, failure == "unsure")
    again = steps.publish_now(ws, row)
    assert (again.failure, made.path.exists()) == (None, False)


def test_r01_a_link_is_no_package_wherever_it_leads(place: Place, tmp_path: Path) -> None:
    """What the rename moves must be the package: a link to it would be recorded as a success that lies somewhere else."""
    ws, made, target, recorded = place
    aside = made.path.rename(tmp_path / "aside")
    made.path.symlink_to(aside)
    assert publish.where(ws, made.path, target, recorded) is PackageSeen.DIFFERS
    target.parent.mkdir()
    made.path.rename(target)
    assert publish.where(ws, made.path, target, recorded) is PackageSeen.DIFFERS


def test_r01_a_package_that_became_a_link_just_before_the_rename_is_not_published(place: Place, tmp_path: Path) -> None:
    ws, made, target, recorded = place
    bench = Bench()
    bench.admit()
    digests = {"manifest_sha256": recorded.manifest_sha256, "derived_sha256": recorded.derived_sha256}
    publishing = bench.to_publishing()
    facts = {**publishing.facts, FactName.CONTENT_VERIFIED: {"recorded": digests}}

    def swap() -> None:
        made.path.symlink_to(made.path.rename(tmp_path / "aside"))

    faults.roles["work"] = swap
    faults.arm("publish.rename.before:kill-work")
    try:
        told = steps.publish_now(ws, replace(publishing, run=17, facts=facts))
    finally:
        faults.arm("")
        del faults.roles["work"]
    assert (told.failure, target.is_symlink()) == ("differs", True)


def test_r01_a_staging_folder_that_is_a_link_is_refused_by_name(place: Place, tmp_path: Path) -> None:
    ws, made, _, _ = place
    aside = made.path.rename(tmp_path / "aside")
    made.path.symlink_to(aside)
    bench = Bench()
    bench.admit()
    with pytest.raises(StopIteration) as ended:
        next(steps.derive(ws, replace(bench.to_publishing(), run=17), 3, 1))
    assert ended.value.value.code == FailureCode.RESULT_REJECTED
    assert str(aside) in ended.value.value.error


def test_r18_while_nobody_can_tell_whether_it_is_published_a_stop_waits() -> None:
    bench = Bench()
    bench.admit()
    attempt = bench.to_publishing().attempt
    bench.tell(events.Published(attempt, failure="unsure", message="the disk does not answer"))
    reply = bench.stop()
    assert reply is not None
    assert reply.ok == {"run": 1, "answer": "finishing"}
    assert (bench.pair(), bench.alerts()) == ((Status.RUNNING, Phase.PUBLISHING), {"publish_pending"})
    bench.done.clear()
    bench.wait(limits.PUBLISH_RETRY_S)
    assert bench.kinds(effects.Publish)
    bench.tell(events.Published(attempt, METHOD))
    assert (bench.row().run_status, bench.alerts()) == (RunStatus.SUCCEEDED, set())
