"""The tables that the work hands over, and the metrics it states, put against its contract. Standard library only (R14, R15).

A table is one file: JSON lines (rule `jsonl.v1`), CSV (`csv.v1`), Arrow (`arrow.v1`, also called Feather), or Parquet
(`parquet.v1`), told by the file's ending. Its columns are the contract's where the contract declares them, else those the
work sent; of a CSV, the columns that neither names are text. Of an Arrow file or a Parquet only deriving and the content
check read the columns, since sealing has no reader for them.

JSON lines hold a table of up to JSON_LINES_ROWS_MAX rows and JSON_LINES_BYTES_MAX bytes that they can hold exactly; the task
authors' package writes Arrow above that. `form` says why a table is in the form it is in. A file that the work wrote itself is
taken as it is, whatever its length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from actum import limits
from actum.errors import ActumError
from actum.ipc import regular
from actum.results import walk

if TYPE_CHECKING:
    from actum.contracts.tables import Column

RULES = {
    ".jsonl": "jsonl.v1",
    ".ndjson": "jsonl.v1",
    ".csv": "csv.v1",
    ".tsv": "csv.v1",
    ".arrow": "arrow.v1",
    ".feather": "arrow.v1",
    ".parquet": "parquet.v1",
}
EXTENSIONS = {"jsonl.v1": ".jsonl", "csv.v1": ".csv", "arrow.v1": ".arrow", "parquet.v1": ".parquet"}
SELF_DESCRIBED = ("arrow.v1", "parquet.v1")  # rules whose files say their columns themselves

HANDED_OVER = "handed_over"
FORMS = ("within_limit", "no_arrow_library", "above_limit", "arrow_types", HANDED_OVER)


class Table(NamedTuple):
    """One table handed over. `source` is its path in the output folder, `path` its place in the package.

    `columns` is None for Arrow and Parquet; `rows` is what the work counted, if it did; `delimiter` is None but for CSV.
    `form` is one of FORMS.
    """

    name: str
    source: str
    path: str
    rule: str
    columns: tuple[Mapping[str, Any], ...] | None
    rows: int | None
    delimiter: str | None = None
    form: str = HANDED_OVER


def tables(messages: Sequence[Mapping[str, Any]], contract: Mapping[str, Any], folder: Path) -> list[Table]:
    """The tables of the work's messages; a later message about the same table replaces an earlier one.

    Raises ActumError(contract_invalid) for a table that contradicts the contract, (result_incomplete) for one not there.
    """
    declared = {table["name"]: table for table in contract.get("tables", ())}
    latest = {str(message.get("table")): message for message in messages}
    if len(latest) > limits.PACKAGE_TABLES_MAX:
        raise invalid(f"The work hands over {len(latest)} tables; a result holds at most {limits.PACKAGE_TABLES_MAX}.")
    found = [_table(message, declared.get(name, {}), folder) for name, message in latest.items()]
    sources = [table.source for table in found]
    doubled = sorted({source for source in sources if sources.count(source) > 1})
    if doubled:
        raise invalid(f"“{doubled[0]}” is handed over as two tables.")
    absent = [name for name, table in declared.items() if table.get("required") and name not in latest]
    if absent:
        raise incomplete([f"the table “{name}”" for name in absent])
    return found


def metrics(messages: Sequence[Mapping[str, Any]], contract: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The metrics of the work's messages under their numeric rules, the last word on each; then the declared ones it never
    stated, as not_computed. Raises ActumError(contract_invalid)."""
    declared = {metric["name"]: metric for metric in contract.get("metrics", ())}
    if not messages and not declared:
        return []
    from actum.contracts.metrics import Metric, MetricStatus, from_message  # late, as the rules of tables below

    stated: dict[str, Metric] = {}
    for message in messages:
        name = message.get("metric", message.get("unavailable"))
        try:
            metric = from_message(message, declared.get(name) if isinstance(name, str) else None)
        except ActumError as error:
            raise invalid(error.what, f"{error.why} The metric is “{name}”.".strip(), error.remedy) from error
        stated[metric.name] = metric
    if len(stated) > limits.PACKAGE_METRICS_MAX:
        raise invalid(f"The work states {len(stated)} metrics; a result holds at most {limits.PACKAGE_METRICS_MAX}.")
    for name, told in declared.items():
        if name not in stated:
            reason = "not_reported"
            stated[name] = Metric(
                name, MetricStatus.NOT_COMPUTED, reason=reason, unit=told.get("unit"), title=told.get("title")
            )
    meanings = {name: told.get("meaning") for name, told in declared.items()}
    return [metric.to_json() | {"meaning": meanings.get(name)} for name, metric in stated.items()]


def invalid(what: str, why: str = "", remedy: str = "") -> ActumError:
    return ActumError("contract_invalid", what, why, remedy or "Mend the work or its contract, then run it again.")


def incomplete(missing: Sequence[str]) -> ActumError:
    return ActumError(
        "result_incomplete",
        f"The result lacks {', '.join(missing)}.",
        "The contract requires it.",
        "See the log for why the work did not write it.",
        missing=list(missing),
    )


def _table(message: Mapping[str, Any], declared: Mapping[str, Any], folder: Path) -> Table:
    name, source = message.get("table"), message.get("path")
    if not isinstance(name, str) or not 0 < len(name) <= limits.NAME_CHARS_MAX or not _is_file_name(name):
        raise invalid(f"“{str(name)[:40]}” cannot be a table's name; letters, digits, “_”, “-” and “.” can.")
    if not isinstance(source, str) or not walk.is_inside(source):
        raise invalid(f"The table “{name}” names the path “{source}”.", "It is relative to the output folder, without “..”.")
    ending = Path(source).suffix.lower()
    rule = RULES.get(ending)
    if rule is None:
        raise invalid(f"The table “{name}” is handed over as “{source}”.", f"Known endings: {', '.join(RULES)}.")
    if not (folder / source).is_file() or (folder / source).is_symlink():
        raise incomplete([f"“{source}”, the file of the table “{name}”"])
    rows = message.get("rows")
    if rows is not None and (type(rows) is not int or rows < 0):
        raise invalid(f"The table “{name}” states {rows!r} rows.")
    delimiter = {".csv": ",", ".tsv": "\t"}.get(ending)
    columns = _columns(name, rule, message.get("schema"), declared.get("columns") or (), folder / source, delimiter)
    form = message.get("form", HANDED_OVER)
    if form not in FORMS:
        raise invalid(f"The table “{name}” states the form {str(form)[:40]!r}.", f"Known: {', '.join(FORMS)}.")
    return Table(name, source, f"tables/{name}{EXTENSIONS[rule]}", rule, columns, rows, delimiter, form)


def _columns(
    name: str, rule: str, sent: Any, declared: Sequence[Any], path: Path, delimiter: str | None
) -> tuple[dict[str, Any], ...] | None:
    from actum.contracts import tables as contract_tables

    wanted = contract_tables.schema_from_json(declared)
    if rule in SELF_DESCRIBED:
        return None
    if rule == "csv.v1":
        told = wanted if sent is None else _told(name, wanted, contract_tables.schema_from_json(sent))
        found = _csv_columns(name, csv_header(name, path, delimiter or ","), told)
    elif sent is not None:
        found = contract_tables.schema_from_json(sent)
    else:
        found = wanted
    if not found:
        raise invalid(f"Nothing says which columns the table “{name}” has.", "Declare them, or send a schema with it.")
    difference = contract_tables.missing_from(wanted, found) if wanted and rule == "jsonl.v1" else None
    if difference:
        raise invalid(f"The table “{name}” is not the one the contract declares.", difference)
    return tuple(contract_tables.schema_to_json(found))


def _told(name: str, declared: Sequence[Column], sent: Sequence[Column]) -> tuple[Column, ...]:
    """What contract and message say together of a CSV's columns. Raises where they say different things of one."""
    types = {column.name: column for column in declared}
    for column in sent:
        if types.setdefault(column.name, column) != column:
            what = f"The schema sent with the table “{name}” is not the one the contract declares."
            raise invalid(what, f"They differ in the column “{column.name}”.")
    return tuple(types.values())


def _csv_columns(name: str, header: Sequence[str], wanted: Sequence[Column]) -> tuple[Column, ...]:
    from actum.contracts.tables import Column

    absent = [column.name for column in wanted if column.name not in header]
    if absent:
        raise invalid(f"The table “{name}” lacks the column “{absent[0]}”.", f"Its header has: {', '.join(header)[:400]}.")
    if len(set(header)) < len(header) or not all(0 < len(title) <= limits.NAME_CHARS_MAX for title in header):
        raise invalid(f"The header of the table “{name}” has empty, overlong or equal column names.")
    types = {column.name: column for column in wanted}
    return tuple(types.get(title) or Column(title, "text") for title in header)


def csv_header(name: str, path: Path, delimiter: str) -> list[str]:
    """The first record of a CSV. Raises OSError, ActumError(contract_invalid)."""
    import codecs
    import csv
    import io

    start = regular.content(path, limits.CSV_HEADER_BYTES_MAX)
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(start, len(start) < limits.CSV_HEADER_BYTES_MAX)
        stream = io.StringIO(text, newline="")
        header = next(csv.reader(stream, delimiter=delimiter, strict=True), None)
    except (UnicodeDecodeError, csv.Error) as error:
        raise invalid(f"The table “{name}” is not a UTF-8 CSV: {error}.") from error
    if len(start) == limits.CSV_HEADER_BYTES_MAX and not stream.read(1) and not text.endswith("\n"):
        raise invalid(f"The header line of the table “{name}” is longer than {limits.CSV_HEADER_BYTES_MAX:,} bytes.")
    if not header:
        raise invalid(f"The table “{name}” has no header line.", "Its first line names the columns.")
    return header


def _is_file_name(name: str) -> bool:
    return not name.startswith(".") and all(sign.isalnum() or sign in "_-." for sign in name)
