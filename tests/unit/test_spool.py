"""The spool: made once, replaced whole, and absence told apart from not knowing (§6, §7)."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from actum import limits
from actum.ipc import spool

from tests.helpers.hosts import prepare_spool
from tests.unit.test_messages import OUTCOME


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    prepare_spool(tmp_path)
    return tmp_path


def test_absent_means_that_the_folder_was_listed(folder: Path, tmp_path: Path) -> None:
    assert spool.read_outcome(folder) == spool.Absent()
    assert isinstance(spool.read_outcome(tmp_path / "gone"), spool.Unreadable)
    assert isinstance(spool.read_claim(tmp_path / "gone"), spool.Unreadable)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"v": 1}', b" " * (limits.SPOOL_FILE_BYTES_MAX + 1)])
def test_what_is_no_outcome_is_unreadable_never_absent(folder: Path, content: bytes) -> None:
    (folder / "spool" / "outcome.json").write_bytes(content)
    assert isinstance(spool.read_outcome(folder), spool.Unreadable)


def test_a_folder_in_the_place_of_a_file_is_unreadable(folder: Path) -> None:
    (folder / "spool" / "state.json").mkdir()
    assert isinstance(spool.read_state(folder), spool.Unreadable)


def test_an_outcome_is_written_once(folder: Path) -> None:
    other = {**OUTCOME, "kind": "failed"}
    assert spool.link_outcome(folder, dict(OUTCOME))
    assert not spool.link_outcome(folder, other)
    found = spool.read_outcome(folder)
    assert found == OUTCOME
    assert spool.outcome_digest(dict(OUTCOME)) == digest_of(folder / "spool" / "outcome.json")
    assert sorted(os.listdir(folder / "spool")) == ["alive", "outcome.json"]


def digest_of(path: Path) -> str:
    from hashlib import sha256

    return sha256(path.read_bytes()).hexdigest()


def test_of_many_claims_one_wins(folder: Path) -> None:
    """P01."""
    barrier, wins = threading.Barrier(2), []

    def claim(by: str) -> None:
        barrier.wait()
        wins.append(spool.create_claim(folder, {"v": 1, "by": by}))

    claims = [threading.Thread(target=claim, args=(by,)) for by in ("host", "supervisor")]
    for each in claims:
        each.start()
    for each in claims:
        each.join()
    assert sorted(wins) == [False, True]


def test_replaced_files_are_read_back(folder: Path) -> None:
    spool.write_state(folder, {"session": "s", "seq": 1, "active_s": 1.5})
    spool.write_state(folder, {"session": "s", "seq": 2, "active_s": 2.5})
    spool.write_tree(folder, {"v": 1, "members": []})
    spool.write_stop(folder, level="ask", cause="user", at_us=3)
    assert spool.read_state(folder) == {"session": "s", "seq": 2, "active_s": 2.5}
    assert spool.read_tree(folder) == {"v": 1, "members": []}
    assert spool.read_stop(folder) == {"v": 1, "level": "ask", "cause": "user", "at": 3}
    assert sorted(os.listdir(folder / "spool")) == ["alive", "state.json", "stop", "tree.json"]


@pytest.mark.parametrize(
    "members",
    [{"progress": "x"}, {"stage": {"name": 1}}, {"ended": 1}, {"heartbeat_at": 10**30}, {"active_s": float("inf")},
     {"at": None}, {"activity": [1]}, {"phase": "?"}, {"seq": None}],
)  # fmt: skip
def test_a_state_that_cannot_be_understood_is_unreadable(folder: Path, members: dict[str, Any]) -> None:
    """Whoever can write there must not be able to make a supervisor fall."""
    spool.write_state(folder, {"session": "s", "seq": 1, "more": "is no matter"})
    assert isinstance(spool.read_state(folder), dict)
    spool.write_state(folder, {"session": "s", "seq": 1, **members})
    assert isinstance(spool.read_state(folder), spool.Unreadable)


@pytest.mark.parametrize("details", [{"x": 0.5}, {"x": [{"y": float("nan")}]}, []])
def test_an_outcome_that_has_no_canonical_text_is_unreadable(folder: Path, details: Any) -> None:
    """The store keeps no fractions: one that was taken could never be written, and its run never end."""
    (folder / "spool" / "outcome.json").write_text(json.dumps({**OUTCOME, "details": details}))
    assert isinstance(spool.read_outcome(folder), spool.Unreadable)


def test_the_alive_lock_says_held_free_or_unknown(folder: Path) -> None:
    assert spool.probe_alive(folder) == "free"
    held = spool.hold_alive(folder, 0)
    assert held is not None
    assert spool.probe_alive(folder) == "held"
    assert spool.hold_alive(folder, 0.01) is None
    os.close(held)
    assert spool.probe_alive(folder) == "free"
    os.unlink(folder / "spool" / "alive")
    assert spool.probe_alive(folder) == "unknown"


def test_r11_news_that_cannot_be_written_leave_nothing_behind(folder: Path) -> None:
    """R11: a disk that refuses every try does not fill with half-written files."""
    (folder / "spool" / "state.json").mkdir()  # nothing can be renamed onto it
    before = sorted(os.listdir(folder / "spool"))
    for _ in range(3):
        with pytest.raises(OSError):
            spool.write_state(folder, {"v": 1})
    assert sorted(os.listdir(folder / "spool")) == before
