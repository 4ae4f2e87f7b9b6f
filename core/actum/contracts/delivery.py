"""Export on success: what of a result is written into the user's own folder, and under which readable name (§8).

`{"folder": absolute, "name": "{task} {run} {table}", "tables": [] = all, "format": "csv", "profile": "data"}` in the policies
of a contract; left out, nothing is exported. It is done after SUCCEEDED and cannot change that: what fails is an alert. A name
that is taken gets a number behind it; nothing is overwritten. Values put into a name are data (R19).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from actum import limits
from actum.contracts.reading import Fields

FORMATS = {"csv": ".csv", "json": ".json", "jsonl": ".jsonl", "parquet": ".parquet", "arrow": ".arrow", "xlsx": ".xlsx"}
PROFILES = {"data": ("csv", "json", "jsonl", "parquet", "arrow"), "spreadsheet": ("csv", "xlsx")}
NAME_DEFAULT = "{task} {run} {table}"
FIELDS = ("task", "run", "table", "date")
_FIELD = re.compile(r"\{([a-z]*)\}")
_NOT_IN_NAMES = re.compile(r'[/\\:*?"<>|\x00-\x1f\x7f]')


@dataclass(frozen=True, slots=True)
class ExportOnSuccess:
    """`tables` empty = every table of the result. `name` has no suffix; the format gives it."""

    folder: str
    name: str = NAME_DEFAULT
    tables: tuple[str, ...] = ()
    format: str = "csv"
    profile: str = "data"

    def to_json(self) -> dict[str, Any]:
        return {
            "folder": self.folder,
            "name": self.name,
            "tables": list(self.tables),
            "format": self.format,
            "profile": self.profile,
        }

    def file_name(self, values: Mapping[str, Any]) -> str:
        """The name of one file: `values` has task, run, table, date. Never a path, never hidden, never too long."""
        filled = _FIELD.sub(lambda found: str(values[found[1]]), self.name)
        plain = _NOT_IN_NAMES.sub("_", filled).strip(" .") or "result"
        suffix = FORMATS[self.format]
        content = plain.encode("utf-8", "replace")[: limits.FILE_NAME_BYTES_MAX - len(suffix)]
        return content.decode("utf-8", "ignore") + suffix


def read_export_on_success(document: Any, place: str) -> ExportOnSuccess:
    """Raises WrongUse."""
    fields = Fields(document, place)
    found = ExportOnSuccess(
        folder=fields.text("folder"),
        name=fields.text("name", NAME_DEFAULT),
        tables=fields.texts("tables"),
        format=fields.text("format", "csv"),
        profile=fields.text("profile", "data"),
    )
    fields.done()
    if not PurePath(found.folder).is_absolute():
        raise fields.refuse("folder", f"“{found.folder}” is not an absolute path.")
    if found.profile not in PROFILES:
        raise fields.refuse("profile", f"“{found.profile}” is not one of {', '.join(PROFILES)}.")
    if found.format not in PROFILES[found.profile]:
        known = ", ".join(PROFILES[found.profile])
        raise fields.refuse("format", f"“{found.format}” is not a format of the profile {found.profile}: {known}.")
    strangers = [name for name in _FIELD.findall(found.name) if name not in FIELDS]
    if strangers or not found.name.strip() or len(found.name) > limits.NAME_CHARS_MAX:
        known = ", ".join(f"{{{name}}}" for name in FIELDS)
        raise fields.refuse("name", f"a name of at most {limits.NAME_CHARS_MAX} characters is expected; it may hold {known}.")
    return found
