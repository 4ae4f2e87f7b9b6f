"""Columns and cells: what JSON lines carry and what is refused (R14, R15)."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from actum import limits
from actum.contracts import tables
from actum.contracts.tables import CellRefused, Column, TableRefused, decode, encode, line, read_line, schema_from_json

PRICE = Column("price", "decimal", precision=10, scale=2)
ZONED = datetime(2000, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("column", "value", "cell"),
    [
        (Column("c", "text"), "é\n", "é\n"),
        (Column("c", "integer"), 2**53, 2**53),
        (Column("c", "integer"), 2**53 + 1, str(2**53 + 1)),
        (Column("c", "integer"), -(2**63), str(-(2**63))),
        (PRICE, Decimal("1.5"), "1.50"),
        (PRICE, 3, "3.00"),
        (PRICE, Decimal("-0"), "0.00"),
        (Column("c", "float64"), 0.1, 0.1),
        (Column("c", "float64"), math.inf, "inf"),
        (Column("c", "float64"), -math.inf, "-inf"),
        (Column("c", "boolean"), True, True),
        (Column("c", "date"), date(2000, 1, 31), "2000-01-31"),
        (Column("c", "timestamp"), ZONED, "2000-01-01T00:00:00.000000Z"),
        (Column("c", "binary"), b"\0\xff", "AP8="),
        (Column("c", "text"), None, None),
        (Column("c", "text"), float("nan"), None),
    ],
)
def test_cells_as_formats_says(column: Column, value: Any, cell: Any) -> None:
    assert encode(column, value) == cell
    if cell is not None:
        assert decode(column, cell) == value


def test_nan_of_a_float_column_is_a_value_and_travels_as_text() -> None:
    assert encode(Column("c", "float64"), math.nan) == "NaN"
    assert math.isnan(decode(Column("c", "float64"), "NaN"))


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (Column("c", "text"), 3),
        (Column("c", "text"), "\ud800"),
        (Column("c", "integer"), True),
        (Column("c", "integer"), 1.0),
        (Column("c", "integer"), 2**63),
        (PRICE, 1.5),
        (PRICE, Decimal("1.005")),
        (PRICE, Decimal("123456789")),
        (PRICE, Decimal("NaN")),
        (Column("c", "float64"), 2**53 + 1),
        (Column("c", "float64"), "1"),
        (Column("c", "boolean"), 1),
        (Column("c", "date"), datetime(2000, 1, 1, tzinfo=UTC)),
        (Column("c", "timestamp"), datetime(2000, 1, 1)),
        (Column("c", "binary"), "text"),
        (Column("c", "text", nullable=False), None),
    ],
)
def test_a_value_that_does_not_fit_is_refused_in_words(column: Column, value: Any) -> None:
    with pytest.raises(CellRefused, match=column.name):
        encode(column, value)


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        (Column("c", "integer"), "5"),
        (Column("c", "integer"), 2**53 + 1),
        (Column("c", "integer"), 1.0),
        (PRICE, "1.5"),
        (PRICE, 1.5),
        (PRICE, "+1.50"),
        (Column("c", "float64"), "0.1"),
        (Column("c", "float64"), True),
        (Column("c", "boolean"), 1),
        (Column("c", "date"), "20000131"),
        (Column("c", "timestamp"), "2000-01-01T00:00:00Z"),
        (Column("c", "binary"), "AP8"),
        (Column("c", "text"), 3),
        (Column("c", "text", nullable=False), None),
    ],
)
def test_a_cell_in_another_form_is_refused_and_not_repaired(column: Column, cell: Any) -> None:
    with pytest.raises(TableRefused):
        decode(column, cell)


def test_a_float_written_as_a_whole_number_is_taken() -> None:
    assert decode(Column("c", "float64"), 3) == 3.0


def test_a_line_has_the_columns_in_their_order() -> None:
    columns = (Column("b", "text"), Column("a", "integer"))
    text = line(columns, {"a": 1, "b": "x"})
    assert text == '{"b":"x","a":1}'
    assert read_line(columns, text) == {"b": "x", "a": 1}
    for wrong in ('{"a":1,"b":"x"}', '{"b":"x"}', "[]", "{"):
        with pytest.raises(TableRefused):
            read_line(columns, wrong)


def test_rows_that_do_not_belong_are_refused() -> None:
    columns = (Column("a", "integer"),)
    for wrong in ({"z": 1}, (1, 2), "a", 5):
        with pytest.raises(CellRefused):
            line(columns, wrong)


def test_r15_a_value_with_a_reason_for_being_missing_contradicts_itself() -> None:
    columns = (Column("v", "float64"), Column("v__reason", "text"))
    assert line(columns, (None, "too_few")) == '{"v":null,"v__reason":"too_few"}'
    with pytest.raises(CellRefused, match="reason"):
        line(columns, (1.0, "too_few"))
    assert tables.reason_column(columns, "v") == columns[1]


def test_a_schema_survives_json_and_wrong_ones_are_refused() -> None:
    columns = (PRICE, Column("n", "integer", False, "shares"))
    assert schema_from_json(tables.schema_to_json(columns)) == columns
    for wrong in ("x", [3], [{"name": "a"}], [{"name": "a", "type": "money"}], [{"name": "", "type": "text"}]):
        with pytest.raises(TableRefused):
            schema_from_json(wrong)
    with pytest.raises(TableRefused):
        schema_from_json([{"name": "a", "type": "text"}] * 2)
    with pytest.raises(TableRefused):
        schema_from_json([{"name": "d", "type": "decimal", "precision": 2, "scale": 3}])


def test_a_table_of_the_most_columns_and_one_more() -> None:
    most = [{"name": f"c{n}", "type": "text"} for n in range(limits.TABLE_COLUMNS_MAX + 1)]
    assert len(schema_from_json(most[:-1])) == limits.TABLE_COLUMNS_MAX
    with pytest.raises(TableRefused, match="at most"):
        schema_from_json(most)


def test_the_first_difference_between_schemas_is_named() -> None:
    declared = (PRICE, Column("n", "integer"))
    assert tables.missing_from(declared, declared) is None
    assert "Column 2" in (tables.missing_from(declared, (PRICE, Column("n", "text"))) or "")
    assert "2 columns are declared" in (tables.missing_from(declared, (PRICE,)) or "")


def test_columns_are_inferred_from_rows() -> None:
    rows = [{"a": 1, "d": Decimal("1.5"), "t": None}, {"a": 2.5, "d": Decimal("1.25"), "t": "x"}]
    found = tables.infer(rows)
    assert [(column.name, column.type, column.scale) for column in found] == [
        ("a", "float64", None),
        ("d", "decimal", 2),
        ("t", "text", None),
    ]
    with pytest.raises(CellRefused, match="schema"):
        tables.infer([{"a": 1}, {"a": "x"}])
