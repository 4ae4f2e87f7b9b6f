"""The Context as a function's own tests see it: `Context.local()`, without Actum."""

from __future__ import annotations

import math
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from actum import limits
from actum.sdk import Context, StopRequested, cells
from actum.sdk.messages import LINE_BYTES_MAX, ListSink, Messages, encode_line
from actum.sdk.refusals import Refused


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return Context.local(tmp_path)


def test_what_was_said_is_in_messages(context: Context) -> None:
    context.metric("a", Decimal("1.50"))
    context.metric("b", 3)
    assert context.messages == [{"metric": "a", "value": "1.50"}, {"metric": "b", "value": "3"}]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, Decimal("NaN"), "nan", True])
def test_r15_no_value_is_said_by_missing_and_not_by_a_metric(context: Context, value: float) -> None:
    with pytest.raises(ValueError, match=r"missing|number"):
        context.metric("m", value)
    assert context.messages == []


def test_a_whole_number_of_numpy_is_whole_and_its_truth_value_is_no_number(context: Context) -> None:
    """§9: counts are integers. Through a float, 2^62 + 1 would lose its last digits without a word."""
    context.metric("n", np.int64(2**62 + 1))  # type: ignore[arg-type]
    context.metric("x", np.float32(0.5))  # type: ignore[arg-type]
    assert context.messages == [
        {"metric": "n", "value": str(2**62 + 1)},
        {"metric": "x", "value": "0.5", "conversion": "float64"},
    ]
    with pytest.raises(ValueError, match="is a number"):
        context.metric("b", np.True_)  # type: ignore[arg-type]


def test_numbers_of_numpy_enter_a_column_only_as_they_are() -> None:
    """§9: a float enters a decimal only by a recorded conversion, whatever its width; no whole number is rounded."""
    money, number = cells.Column("m", "decimal", precision=9, scale=2), cells.Column("x", "float64")
    for value in (0.5, np.float16(0.5), np.float32(0.5), np.float64(0.5), np.longdouble(0.5)):
        with pytest.raises(cells.CellRefused, match="not a decimal"):
            cells.encode(money, value)
    assert cells.encode(money, np.int64(5)) == "5.00"
    assert cells.encode(number, np.int64(2**53)) == 2.0**53
    for whole in (np.int64(2**53 + 1), 2**53 + 1):
        with pytest.raises(cells.CellRefused, match="not exactly a float64"):
            cells.encode(number, whole)


def test_r11_a_number_at_the_bound_is_said_and_a_longer_one_is_refused_in_words(context: Context) -> None:
    """Python itself would say “Exceeds the limit (4300 digits) for integer string conversion”."""
    bound = limits.NUMBER_TEXT_CHARS_MAX
    for whole in (10 ** (bound - 1), "1" * bound, Decimal("1" * bound)):
        context.metric("m", whole)
    assert {len(message["value"]) for message in context.messages} == {bound}
    for long in (10**bound, -(10 ** (bound - 1)), 10**5000, -(10**5000), "1" * (bound + 1), Decimal("1" * (bound + 1))):
        with pytest.raises(
            Refused, match=rf"“m” is .* at most {bound} characters .*NUMBER_TEXT_CHARS_MAX.* Round it"
        ) as caught:
            context.metric("m", long)
        assert caught.value.code == "number_too_long"
    for said in (
        lambda: context.metric("m", 1, observations=10**5000),
        lambda: context.missing("m", needed=10**5000),
        lambda: context.record("r", {"deep": [1, {"n": 10**5000}]}),
        lambda: context.stage("s", 10**5000),
        lambda: context.progress(10**5000, 10**5000),
    ):
        with pytest.raises(Refused, match="16,610 bits"):
            said()
    for kind in ("integer", "decimal", "float64"):
        with pytest.raises(cells.CellRefused, match="16,610 bits"):
            context.table(f"t-{kind}", [{"a": 10**5000}], [("a", kind) if kind != "decimal" else ("a", kind, True, None, 9, 2)])


@pytest.mark.parametrize("value", ["abc", "", [1], None, 1j])
def test_what_is_no_number_is_refused_in_words(context: Context, value: object) -> None:
    with pytest.raises(Refused, match=r"“m” is .*no number.*missing") as caught:
        context.metric("m", value)  # type: ignore[arg-type]
    assert caught.value.code == "not_a_number"


def test_a_missing_metric_needs_a_known_status(context: Context) -> None:
    context.missing("m", reason="no_data")
    assert context.messages == [{"unavailable": "m", "status": "unavailable", "reason": "no_data"}]
    with pytest.raises(ValueError, match="status"):
        context.missing("m", status="available")


def test_a_stop_is_no_exception_that_one_catches_by_accident(context: Context) -> None:
    context.check_stop()
    assert not context.stopping
    context.request_stop()
    assert context.stopping
    with pytest.raises(StopRequested):
        next(context.track([1]))
    assert not issubclass(StopRequested, Exception)


def test_a_table_is_written_once_under_a_plain_name(context: Context) -> None:
    assert context.table("t", [{"a": 1}]) == 1
    with pytest.raises(ValueError, match="written once"):
        context.table("t", [{"a": 1}])
    for name in ("", "../x", ".hidden", "a b", "a/b", "x" * 101):
        with pytest.raises(ValueError, match="name"):
            context.table(name, [])


def test_a_value_that_does_not_fit_is_named_by_row_and_column(context: Context) -> None:
    with pytest.raises(ValueError, match=r"Row 2: .*“a”"):
        context.table("t", [{"a": 1}, {"a": "x"}], [("a", "integer")])


def test_only_files_in_the_output_folder_are_results(context: Context, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "r.txt").write_text("x")
    context.file("sub/r.txt")
    context.file(tmp_path / "sub" / "r.txt")
    assert context.messages == [{"file": "sub/r.txt"}] * 2
    for path in ("nope", "/etc/passwd", "../x", "sub"):
        with pytest.raises(ValueError, match="output folder"):
            context.file(path)


def test_a_message_at_the_bound_and_just_above() -> None:
    room = LINE_BYTES_MAX - len(encode_line({"note": ""}))
    assert len(encode_line({"note": "x" * room})) == LINE_BYTES_MAX
    with pytest.raises(ValueError, match="at most"):
        encode_line({"note": "x" * (room + 1)})


def test_the_bounds_of_the_sdk_stay_within_those_of_the_program() -> None:
    assert LINE_BYTES_MAX <= limits.MESSAGE_LINE_BYTES_MAX
    assert cells.DECIMAL_PRECISION_MAX == limits.DECIMAL_DIGITS_MAX
    assert cells.NUMBER_CHARS_MAX == limits.NUMBER_TEXT_CHARS_MAX


def test_progress_is_held_back_and_comes_before_what_follows() -> None:
    now = [0.0]
    sink = ListSink()
    messages = Messages(sink, clock=lambda: now[0])
    for done in range(5):
        messages.progress({"progress": [done, 10]}, last=False)
    assert sink.messages == [{"progress": [0, 10]}]
    messages.send({"note": "x"})
    assert sink.messages[1:] == [{"progress": [4, 10]}, {"note": "x"}]
    now[0] = 1.0
    messages.progress({"progress": [5, 10]}, last=False)
    messages.progress({"progress": [10, 10]}, last=True)
    assert sink.messages[3:] == [{"progress": [5, 10]}, {"progress": [10, 10]}]


@pytest.mark.parametrize("done", [-1, math.nan, math.inf])
def test_progress_counts(context: Context, done: float) -> None:
    with pytest.raises(ValueError, match="count"):
        context.progress(done, 3)
