"""Arrow columns as exact texts, the same in every locale: the values of the Data profile (§8, R19).

Decimals with all digits of their scale and no exponent; floats by their shortest repr (`nan`, `inf`, `-inf`); dates and
times ISO 8601, an instant always in UTC with `Z`; bytes base64. A null stays null. Nested types have no text.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from actum.contracts.numbers import plain
from actum.errors import WrongUse

if TYPE_CHECKING:
    import pyarrow as pa


def of_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """All columns of a batch as strings. Raises WrongUse for a nested column."""
    import pyarrow as pa

    columns = [of_array(name, column) for name, column in zip(batch.schema.names, batch.columns, strict=True)]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def of_array(name: str, array: pa.Array) -> pa.Array:
    """One column as strings. Raises WrongUse for a nested column."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as is_

    kind = array.type
    if is_.is_dictionary(kind):
        return of_array(name, array.dictionary_decode())
    if is_.is_nested(kind):
        raise WrongUse(
            "no_text_form",
            f"The column “{name}” cannot be written as text.",
            f"Its type is {kind}.",
            "Export the table as Parquet.",
        )
    if is_.is_timestamp(kind) and kind.tz is None:
        return pc.strftime(array, "%Y-%m-%dT%H:%M:%S", locale="C")
    if is_.is_timestamp(kind):
        return pc.strftime(array.cast(pa.timestamp(kind.unit, "UTC")), "%Y-%m-%dT%H:%M:%SZ", locale="C")
    if is_.is_decimal(kind):
        return _decimals(array)
    if is_.is_binary(kind) or is_.is_large_binary(kind) or is_.is_fixed_size_binary(kind):
        return _each(array, lambda value: base64.b64encode(value).decode("ascii"))
    return array.cast(pa.string())


def _decimals(array: pa.Array) -> pa.Array:
    """Arrow writes small decimals with an exponent; those are written again."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = array.cast(pa.string())
    return _each(array, plain) if pc.any(pc.match_substring(texts, "E")).as_py() else texts


def _each(array: pa.Array, write: Callable[[Any], str]) -> pa.Array:
    import pyarrow as pa

    return pa.array([None if value is None else write(value) for value in array.to_pylist()], pa.string())
