"""The state of a published result now, which never rewrites history (R16)."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from actum.errors import WrongUse
from actum.results.check import LEVELS, REBUILD, check

from tests.helpers import packages
from tests.helpers.packages import Made
from tests.helpers.users import as_normal_user


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """A package as it lies in a workspace: results/<run>/<n>."""
    (tmp_path / "results").mkdir()
    made = packages.sample(tmp_path)
    target = tmp_path / "results" / "17" / "1"
    target.parent.mkdir()
    made.path.rename(target)
    return Made(target, made.sealed, made.expected)


def state(made: Made, level: str = "content") -> str:
    return check(made.path, made.sealed.manifest_sha256, level, made.expected).state


@pytest.mark.parametrize("level", LEVELS)
def test_an_untouched_result_is_readable_at_each_level(made: Made, level: str) -> None:
    checked = check(made.path, made.sealed.manifest_sha256, level, made.expected)
    assert (checked.state, checked.level) == ("readable", level)
    assert checked.to_json()["reason"]


def test_an_unknown_level_is_refused(made: Made) -> None:
    with pytest.raises(WrongUse):
        check(made.path, "", "glance")


@pytest.mark.parametrize(("content", "seen"), [("<p>ko</p>", ("authority", "bytes", "content")), ("short", LEVELS)])
def test_changed_bytes_are_damaged_at_the_levels_that_look(made: Made, content: str, seen: tuple[str, ...]) -> None:
    packages.writable(made.path / "files" / "report.html").write_text(content)
    assert {level for level in LEVELS if state(made, level) == "damaged"} == set(seen)


def test_a_lost_file_is_damage_and_is_named(made: Made) -> None:
    (made.path / "files" / "report.html").unlink()
    for level in LEVELS:
        checked = check(made.path, made.sealed.manifest_sha256, level, made.expected)
        assert checked.state == "damaged"
        assert "report.html" in checked.reason


def test_a_lost_manifest_or_derived_json_is_damage(made: Made) -> None:
    (made.path / "derived" / "derived.json").unlink()
    assert state(made, "presence") == "damaged"
    (made.path / "manifest.json").unlink()
    assert state(made, "presence") == "damaged"


@pytest.mark.parametrize("level", ["presence", "bytes", "content"])
def test_whatever_became_of_derived_the_remedy_is_to_make_it_again(made: Made, level: str) -> None:
    """R16: a sound authority asks for no backup, whether derived.json is lost, unreadable or has company."""
    derived = made.path / "derived" / "derived.json"
    whole = derived.read_bytes()
    stranger = derived.with_name("left-over.parquet")
    packages.writable(derived)
    for content, company in ((None, False), (b"{", False), (b"{", True), (whole, True)):
        derived.unlink() if content is None else derived.write_bytes(content)
        stranger.write_bytes(b"") if company else stranger.unlink(missing_ok=True)
        checked = check(made.path, made.sealed.manifest_sha256, level, made.expected)
        assert (checked.state, checked.remedy) == ("damaged", REBUILD) or (level == "presence" and content == whole)


def test_missing_is_said_only_if_the_place_could_be_looked_at(made: Made, tmp_path: Path) -> None:
    shutil.rmtree(made.path)
    assert state(made) == "missing"
    shutil.rmtree(made.path.parent)
    assert state(made) == "missing"
    (tmp_path / "results").rename(tmp_path / "unmounted")
    assert state(made) == "unchecked"


def test_another_package_of_the_run_has_replaced_it(made: Made) -> None:
    packages.writable(made.path / "files" / "report.html").write_text("new")
    packages.reseal(made)
    assert state(made) == "replaced"


def test_a_package_of_another_run_is_foreign(made: Made, tmp_path: Path) -> None:
    shutil.rmtree(made.path)
    packages.sample(tmp_path / "other", run=18).path.rename(made.path)
    assert state(made) == "foreign"


def test_what_is_no_package_is_foreign(made: Made) -> None:
    packages.writable(made.path / "manifest.json").write_text("{}")
    assert state(made) == "foreign"
    shutil.rmtree(made.path)
    made.path.write_text("")
    assert state(made) == "foreign"


def test_what_may_not_be_read_is_forbidden(made: Made) -> None:
    made.path.chmod(0)
    program = (
        "import sys, pathlib; sys.path[:0] = sys.argv[3:]; from actum.results.check import check; "
        "sys.stdout.write(check(pathlib.Path(sys.argv[1]), sys.argv[2], 'bytes').state)"
    )
    places = [path for path in sys.path if path]
    arguments = [str(made.path), made.sealed.manifest_sha256, *places]
    answered = as_normal_user([os.path.realpath(sys.executable), "-c", program, *arguments], made.path)
    made.path.chmod(0o700)
    assert answered.stdout == "forbidden", answered.stderr
