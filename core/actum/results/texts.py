"""Arrow columns as exact texts: the values of the Data profile (§8, R19), lists, structs and maps as JSON.

What has no parts is written by `scalartexts`, what has parts by `jsontexts`. A null stays null.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from actum.results import jsontexts
from actum.results.scalartexts import of_array as of_scalars
from actum.results.scalartexts import unwrapped

if TYPE_CHECKING:
    import pyarrow as pa


def of_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """All columns of a batch as strings."""
    import pyarrow as pa

    columns = [of_array(column) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def of_array(array: pa.Array) -> pa.Array:
    """One column as strings."""
    import pyarrow as pa
    import pyarrow.types as is_

    array = unwrapped(array)
    return pa.array(jsontexts.or_none(array), pa.string()) if is_.is_nested(array.type) else of_scalars(array)
