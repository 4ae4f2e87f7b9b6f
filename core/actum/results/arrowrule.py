"""Rule `arrow.v1`: how each Arrow type stands in the derived Parquet, exactly (R14).

Parquet has no place for some Arrow types; the rule names one for each that loses no value, and the expected batches of the
content check go through it too:

| Arrow                                     | Parquet                       |
|-------------------------------------------|-------------------------------|
| timestamp[s], time32[s]                   | milliseconds                  |
| date64                                    | date32; whole days alone      |
| dictionary of texts or bytes              | itself, with 32-bit offsets   |
| dictionary of anything else, run-end encoded | the values                 |
| views of texts, bytes, lists              | texts, bytes, lists           |
| extension                                 | its storage                   |
| list, map, struct                         | itself, its members by the rule |
| interval, union, struct without members   | refused in words              |
| decimal of a scale below zero             | refused in words              |
| map or list of fixed length of list views | refused in words              |

All other types are what they are; members of lists and maps bear the names that Parquet gives them. Metadata of the table
and its columns is kept; the members `actum.…` are ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actum import limits
from actum.results.handover import invalid

if TYPE_CHECKING:
    import pyarrow as pa


def stored_type(kind: pa.DataType) -> pa.DataType:
    """The type that holds `kind` in Parquet. Raises TypeError naming a type that nothing holds."""
    import pyarrow as pa
    import pyarrow.types as is_

    if isinstance(kind, pa.BaseExtensionType):
        return stored_type(kind.storage_type)
    if is_.is_dictionary(kind):
        return _stored_dictionary(kind)
    if is_.is_run_end_encoded(kind):
        return stored_type(kind.value_type)
    if is_.is_nested(kind):
        return _stored_nested(kind)
    if is_.is_timestamp(kind) and kind.unit == "s":
        return pa.timestamp("ms", kind.tz)
    if is_.is_time32(kind) and kind.unit == "s":
        return pa.time32("ms")
    if is_.is_date64(kind):
        return pa.date32()
    if is_.is_string_view(kind) or is_.is_binary_view(kind):
        return pa.string() if is_.is_string_view(kind) else pa.binary()
    if is_.is_interval(kind) or (is_.is_decimal(kind) and not 0 <= kind.scale <= kind.precision):
        raise TypeError(str(kind))
    return kind


def _stored_dictionary(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa
    import pyarrow.types as is_

    value = stored_type(kind.value_type)
    short = {"large_string": pa.string(), "large_binary": pa.binary()}.get(str(value), value)
    if is_.is_string(short) or is_.is_binary(short):
        return pa.dictionary(kind.index_type, short, kind.ordered)
    return value


def _stored_nested(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa
    import pyarrow.types as is_

    def stored(field: pa.Field) -> pa.Field:
        return field.with_type(stored_type(field.type))

    if (is_.is_map(kind) or is_.is_fixed_size_list(kind)) and _has_list_views(kind):
        raise TypeError(str(kind))
    if is_.is_map(kind):
        return pa.map_(stored(kind.key_field), stored(kind.item_field), kind.keys_sorted)
    if is_.is_fixed_size_list(kind):
        return pa.list_(stored(kind.value_field), kind.list_size)
    if is_.is_list(kind) or is_.is_list_view(kind):
        return pa.list_(stored(kind.value_field))
    if is_.is_large_list(kind) or is_.is_large_list_view(kind):
        return pa.large_list(stored(kind.value_field))
    if is_.is_struct(kind) and kind.num_fields:
        return pa.struct([stored(kind.field(position)) for position in range(kind.num_fields)])
    raise TypeError(str(kind))


def stored_schema(table: str, schema: pa.Schema) -> pa.Schema:
    """The schema of the derived Parquet, without our own metadata. Raises ActumError(contract_invalid)."""
    import pyarrow as pa

    if len(schema) > limits.TABLE_COLUMNS_MAX:
        raise invalid(f"The table “{table}” has {len(schema):,} columns; at most {limits.TABLE_COLUMNS_MAX:,} are possible.")
    if len(set(schema.names)) < len(schema) or not all(0 < len(name) <= limits.NAME_CHARS_MAX for name in schema.names):
        raise invalid(f"The table “{table}” has empty, overlong or equal column names.")
    fields = []
    for field in schema:
        try:
            fields.append(field.with_type(stored_type(field.type)))
        except TypeError as error:
            what = f"The column “{field.name}” of the table “{table}” has a type that no result keeps: {error}."
            raise invalid(what, remedy="Hand it over as another type.") from error
    return pa.schema(fields, metadata=schema.metadata)


def mapped(schema: pa.Schema, stored: pa.Schema) -> list[dict[str, str]]:
    """The columns whose type the rule changes: `{column, authority, parquet}`."""
    return [
        {"column": have.name, "authority": str(have.type), "parquet": str(want.type)}
        for have, want in zip(schema, stored, strict=True)
        if not have.type.equals(want.type)
    ]


def stored_batch(table: str, batch: pa.RecordBatch, stored: pa.Schema, first_row: int) -> pa.RecordBatch:
    """A batch of the authority as the Parquet has it. Raises ActumError(contract_invalid) for a value that would change."""
    import pyarrow as pa

    arrays = []
    for field, array in zip(stored, batch.columns, strict=True):
        if not field.nullable and array.null_count:
            raise invalid(f"“{field.name}” may not be empty in the table “{table}”, from row {first_row:,} on.")
        arrays.append(array if array.type.equals(field.type) else _converted(table, field, array, first_row))
    return pa.RecordBatch.from_arrays(arrays, schema=stored)


def _converted(table: str, field: pa.Field, array: pa.Array, first_row: int) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        plain = array.storage if isinstance(array, pa.ExtensionArray) else array
        plain = pc.run_end_decode(plain) if pa.types.is_run_end_encoded(plain.type) else plain
        plain = _without_list_views(plain) if _has_list_views(plain.type) else plain
        if plain.type.equals(field.type):
            return plain
        converted = plain.cast(field.type)
        if "date64" in str(plain.type) and not converted.cast(plain.type).equals(plain):
            raise pa.ArrowInvalid("a date64 is no whole day")
    except pa.ArrowException as error:
        what = f"The column “{field.name}” of the table “{table}” does not fit its Parquet, from row {first_row:,} on."
        raise invalid(what, f"{str(error).splitlines()[0]}.") from error
    return converted


def _has_list_views(kind: pa.DataType) -> bool:
    import pyarrow.types as is_

    if is_.is_list_view(kind) or is_.is_large_list_view(kind):
        return True
    return is_.is_nested(kind) and any(_has_list_views(kind.field(place).type) for place in range(kind.num_fields))


def _without_list_views(array: pa.Array) -> pa.Array:
    """The same values in lists whose members stand one behind the other. Arrow's own cast leaves out the last offset."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as is_

    kind, missing = array.type, array.is_null() if array.null_count else None
    if not _has_list_views(kind):
        return array
    if is_.is_struct(kind):
        members = [_without_list_views(member) for member in array.flatten()]
        fields = [kind.field(place).with_type(member.type) for place, member in enumerate(members)]
        return pa.StructArray.from_arrays(members, fields=fields, mask=missing)
    wide = is_.is_large_list(kind) or is_.is_large_list_view(kind)
    ends = pc.cumulative_sum(pc.fill_null(pc.list_value_length(array), 0).cast(pa.int64()))
    if len(ends) and ends[-1].as_py() > max(len(array.values), limits.BATCH_ROWS):
        raise pa.ArrowInvalid("its lists share members, and would be much larger without that")
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), ends]).cast(pa.int64() if wide else pa.int32())
    values = _without_list_views(array.flatten())
    name = kind.value_field.with_type(values.type)
    whole = pa.large_list(name) if wide else pa.list_(name)
    return (pa.LargeListArray if wide else pa.ListArray).from_arrays(offsets, values, type=whole, mask=missing)
