"""Every fuzzing target over real files changed where it hurts, and over any bytes (R03, R07, R11)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from actum.ipc import session
from actum.ipc.framing import encode
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz import corpus, targets
from tests.fuzz.mutation import mutate
from tests.fuzz.targets import TARGETS
from tests.unit import test_session

EXAMPLES = 150


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, bytes]]:
    yield corpus.of_a_run(tmp_path_factory.mktemp("seeds"))
    targets.clear()


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_what_is_real_passes(name: str, run: dict[str, bytes]) -> None:
    assert corpus.seeds(name, run)
    for seed in corpus.seeds(name, run):
        TARGETS[name](seed)


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_what_is_almost_real_is_taken_or_refused(name: str, run: dict[str, bytes]) -> None:
    seeds = corpus.seeds(name, run)

    @settings(max_examples=EXAMPLES, database=None)
    @given(st.integers(0, len(seeds) - 1), st.integers(0, 2**32))
    def tried(which: int, chance: int) -> None:
        TARGETS[name](mutate(seeds[which], chance))

    tried()


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_any_bytes_are_taken_or_refused(name: str) -> None:
    @settings(max_examples=EXAMPLES, database=None)
    @given(st.binary(max_size=300))
    def tried(data: bytes) -> None:
        TARGETS[name](data)

    tried()


def test_a_target_sees_what_it_forbids(monkeypatch: pytest.MonkeyPatch, run: dict[str, bytes]) -> None:
    """Were a foreign outcome taken, or a channel proven without the secret, the targets would say so."""
    foreign = run["outcome.json"].replace(targets.SESSION.encode(), b"ee" * 16)
    targets.outcome(foreign)
    monkeypatch.setattr(targets, "SESSION", "ee" * 16)
    targets.outcome(foreign)
    monkeypatch.undo()
    _channels_that_are_forbidden(monkeypatch)
    real = targets.evidence.gather
    monkeypatch.setattr(targets.evidence, "gather", lambda **asked: real(**{**asked, "session": "ee" * 16}))
    with pytest.raises(AssertionError, match="another session"):
        targets.outcome(foreign)


def _channels_that_are_forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the guard refuses passes the target; with a guard that does not look, the target names what was taken."""
    own = {"session": targets.SESSION}
    guessed = encode(test_session.hello(1, secret="6" * 32, **own))
    opened = encode(test_session.hello(1, **own))
    others = [
        opened + encode(test_session.stage(2, **{**own, name: other}))
        for name, other in (("session", "ee" * 16), ("attempt", "another"), ("run", 8))
    ]
    for data in (guessed, *others):
        targets.guard(data)
    with monkeypatch.context() as blind:
        blind.setattr(session.hmac, "compare_digest", lambda given, kept: True)
        with pytest.raises(AssertionError, match="proven without the secret"):
            targets.guard(guessed)
    with monkeypatch.context() as blind:
        blind.setattr(targets.Guard, "_same_attempt", staticmethod(lambda frame, expected: None))
        for data in others:
            with pytest.raises(AssertionError, match=targets.FOREIGN):
                targets.guard(data)


def test_the_seeds_are_of_a_real_run(run: dict[str, bytes]) -> None:
    assert {"claim", "outcome.json", "state.json", "records.jsonl", "launch.json", "manifest.json", "messages.jsonl"} <= set(
        run
    )
    assert all(targets.SESSION.encode() in run[name] for name in ("claim", "outcome.json", "launch.json", "manifest.json"))


def test_every_target_can_be_named() -> None:
    from tests.fuzz.__main__ import NAMES

    assert set(NAMES) == set(TARGETS)


def test_changing_a_document_changes_it_the_same_way_each_time() -> None:
    data = b'{"a": [1, {"b": "c"}]}'
    assert [mutate(data, seed) for seed in range(50)] == [mutate(data, seed) for seed in range(50)]
    assert len({mutate(data, seed) for seed in range(50)}) > 25


def test_without_the_fuzzer_its_command_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from tests.fuzz.__main__ import main

    assert main(["frames", "--minutes", "0.1", "--tools", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "packaging/fuzz.lock" in said
    assert "pip install" in said


# A target that breaks its promise, driven as the others are.
PLANTED = """
from tests.fuzz import drive

def broken(data):
    raise AssertionError("planted")

drive.targets.TARGETS["frames"] = broken
drive.main()
"""
# As much of the fuzzer as the command relies on: the first input is tried, a crash has the name of its content, and ends it.
STANDING_IN = """
import contextlib, hashlib, sys

def instrument_imports(**asked):
    return contextlib.nullcontext()

def Setup(words, target, **asked):
    global tried, prefix
    tried, prefix = target, next(word.split("=", 1)[1] for word in words if word.startswith("-artifact_prefix="))

def Mutate(data, size):
    return data

def Fuzz():
    print("#1\\tINITED", file=sys.stderr)
    try:
        tried(b"")
    except AssertionError:
        name = prefix + "crash-" + hashlib.sha1(b"").hexdigest()
        open(name, "wb").close()
        print(f"artifact_prefix='{prefix}'; Test unit written to {name}", file=sys.stderr)
        sys.exit(77)
"""


@pytest.mark.parametrize("fuzzer", ["the fuzzer itself", "what stands in for it"])
def test_a_crash_that_is_found_again_is_a_finding_again(tmp_path: Path, fuzzer: str) -> None:
    from tests.fuzz.__main__ import TOOLS, one

    tools = TOOLS
    if fuzzer != "the fuzzer itself":
        tools = tmp_path / "tools"
        tools.mkdir()
        (tools / "atheris.py").write_text(STANDING_IN)
    elif not (TOOLS / "atheris").is_dir():
        pytest.skip("the fuzzer is not installed beside (packaging/fuzz.lock)")
    planted = tmp_path / "planted.py"
    planted.write_text(PLANTED)
    (tmp_path / "corpus" / "frames").mkdir(parents=True)
    first, again = (one("frames", 0.2, tmp_path, tools, drive=(str(planted),)) for _ in range(2))
    assert len(first[1]) == 1
    assert first[1][0].startswith("crash-")
    assert again[1] == first[1], "its file was there before"
    assert [path.name for path in (tmp_path / "findings" / "frames").iterdir()] == first[1]


def test_a_fuzzer_that_ends_badly_without_a_file_is_a_finding(tmp_path: Path) -> None:
    from tests.fuzz.__main__ import one

    planted = tmp_path / "planted.py"
    planted.write_text("print('#9\tpulse', flush=True)\nraise SystemExit(3)")
    assert one("frames", 0.1, tmp_path, tmp_path, drive=(str(planted),)) == (9, ["the fuzzer ended with 3"])
    planted.write_text("raise SystemExit(0)")
    assert one("frames", 0.1, tmp_path, tmp_path, drive=(str(planted),)) == (0, ["the fuzzer did not run"])
