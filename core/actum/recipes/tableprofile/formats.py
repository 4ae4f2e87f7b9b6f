"""Which kind of table a file is: by its first bytes, and for text by its name."""

from __future__ import annotations

from actum.sdk import InputFile, TaskFailed

PARQUET, JSON_LINES, CSV = "Parquet", "JSON lines", "CSV"
START_BYTES = 4_096

_JSON_ENDINGS = (".jsonl", ".ndjson", ".json")
_CSV_ENDINGS = (".csv", ".tsv", ".txt", ".tab")
_REFUSED = (
    (b"\x1f\x8b", "The file is compressed with gzip. Unpack it and profile the file inside."),
    (b"PK\x03\x04", "The file is a ZIP archive or an Excel workbook. Unpack it, or save the sheet as CSV."),
    (b"BZh", "The file is compressed with bzip2. Unpack it and profile the file inside."),
    (b"\xfd7zXZ\x00", "The file is compressed with xz. Unpack it and profile the file inside."),
    (b"\x28\xb5\x2f\xfd", "The file is compressed with zstd. Unpack it and profile the file inside."),
    (b"\xd0\xcf\x11\xe0", "The file is an old Excel workbook. Save the sheet as CSV."),
    (b"ARROW1", "The file is an Arrow file. Save the table as Parquet."),
    (b"\xff\xfe", "The file is UTF-16 text. Save it as UTF-8."),
    (b"\xfe\xff", "The file is UTF-16 text. Save it as UTF-8."),
)


def format_of(file: InputFile) -> str:
    """The format of `file`. Raises TaskFailed for a file that is known to be something else."""
    with file.path.open("rb") as raw:
        start = raw.read(START_BYTES)
    if start.startswith(b"PAR1"):
        return PARQUET
    for mark, words in _REFUSED:
        if start.startswith(mark):
            raise TaskFailed(words)
    name = file.name.lower()
    if name.endswith(".parquet") and start:
        raise TaskFailed("The file is called Parquet and does not begin like one.")
    if name.endswith(_JSON_ENDINGS):
        return JSON_LINES
    if name.endswith(_CSV_ENDINGS):
        return CSV
    return JSON_LINES if start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{") else CSV
