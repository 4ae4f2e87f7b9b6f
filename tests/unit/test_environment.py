"""The environment a host starts with: a profile, and nothing of Actum's own but the fault points (§7)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum import limits
from actum.engines import environment
from actum.engines.environment import host_environment
from actum.errors import ActumError

BASE = {
    "PATH": "/opt/bin",
    "HOME": "/base/ada",
    "LC_ALL": "C",
    "MY_VARIABLE": "1",
    "ACTUM_COOKIE": "outer",
    "ACTUM_HOME": "/ws",
    "ACTUM_FAULT": "x:delay=1",
}


@pytest.fixture(autouse=True)
def _nothing_captured() -> Iterator[None]:
    environment._captured.clear()
    yield
    environment._captured.clear()


def test_inherit_strips_actum_s_own_variables_but_the_fault_points() -> None:
    inherited = {"PATH": "/opt/bin", "HOME": "/base/ada", "LC_ALL": "C", "MY_VARIABLE": "1", "ACTUM_FAULT": "x:delay=1"}
    assert host_environment("inherit", BASE) == inherited


def test_clean_keeps_only_what_a_program_needs_to_find_its_home() -> None:
    kept = host_environment("clean", BASE)
    assert kept == {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/base/ada", "LC_ALL": "C", "ACTUM_FAULT": "x:delay=1"}


def shell(folder: Path, text: str) -> str:
    path = folder / "shell"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return str(path)


def test_login_is_asked_once_and_what_its_scripts_print_is_ignored(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    text = f'echo noise=1; echo x >> {asked}; FROM_LOGIN="a\nb" ACTUM_X=1 exec /bin/sh -c "$3"'
    base = {"SHELL": shell(tmp_path, text), "HOME": os.fspath(tmp_path), "MY_VARIABLE": "1"}
    for _ in range(2):
        found = host_environment("login", base)
        assert found["FROM_LOGIN"] == "a\nb"
        assert not {"noise", "MY_VARIABLE", "ACTUM_X"} & set(found)
    assert asked.read_text() == "x\n"


@pytest.mark.parametrize("text", ["exit 3", "echo nothing"])
def test_a_login_shell_that_fails_is_said(tmp_path: Path, text: str) -> None:
    with pytest.raises(ActumError) as failed:
        host_environment("login", {"SHELL": shell(tmp_path, text)})
    assert failed.value.code == "start_error"
    assert "another profile" in failed.value.remedy


def test_a_login_shell_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LOGIN_SHELL_S_MAX", 0.2)
    with pytest.raises(ActumError, match=f"did not answer within {limits.LOGIN_SHELL_S_MAX} s"):
        host_environment("login", {"SHELL": shell(tmp_path, "exec sleep 30")})


def test_a_list_of_variables_at_the_bound_and_just_above(tmp_path: Path) -> None:
    for size, fits in ((limits.LOGIN_SHELL_OUTPUT_BYTES_MAX, True), (limits.LOGIN_SHELL_OUTPUT_BYTES_MAX + 1, False)):
        filler = f"head -c {size - len('A=') - 1} /dev/zero | tr '\\0' x"
        base = {"SHELL": shell(tmp_path, rf"printf '\0ACTUM-ENVIRONMENT\0A='; {filler}; printf '\0'")}
        environment._captured.clear()
        if fits:
            assert len(host_environment("login", base)["A"]) == size - len("A=") - 1
        else:
            with pytest.raises(ActumError, match="did not list"):
                host_environment("login", base)


def test_a_frozen_program_gives_the_user_s_library_path_back() -> None:
    frozen = {"LD_LIBRARY_PATH": "/bundle", "_PYI_ARCHIVE_FILE": "/bundle/actum"}
    assert host_environment("inherit", frozen) == {}
    assert host_environment("inherit", {**frozen, "LD_LIBRARY_PATH_ORIG": "/own"}) == {"LD_LIBRARY_PATH": "/own"}
