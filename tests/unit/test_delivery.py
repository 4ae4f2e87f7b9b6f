"""The policy export on success: its names are data, and contracts without it keep their digest (R19)."""

from __future__ import annotations

import pytest
from actum import limits
from actum.contracts.delivery import ExportOnSuccess, read_export_on_success
from actum.contracts.policies import Policies, read_policies
from actum.errors import WrongUse

VALUES = {"task": "sync", "run": 17, "table": "returns", "date": "2026-01-31"}


@pytest.mark.parametrize(
    ("template", "table", "name"),
    [
        ("{task} {run} {table}", "returns", "sync 17 returns.csv"),
        ("{date}/{table}", "returns", "2026-01-31_returns.csv"),
        ("../{table}", "a\\b:c", "_a_b_c.csv"),
        ("...", "x", "result.csv"),
        ("{table}", "{task}", "{task}.csv"),
    ],
)
def test_r19_a_name_never_leads_out_of_the_folder(template: str, table: str, name: str) -> None:
    assert ExportOnSuccess("/mine", template).file_name({**VALUES, "table": table}) == name


def test_r11_a_name_at_the_bound_is_whole_and_a_longer_one_is_cut() -> None:
    bound = limits.FILE_NAME_BYTES_MAX - len(".csv")
    for length in (bound, bound + 1):
        made = ExportOnSuccess("/mine", "{table}").file_name({**VALUES, "table": "x" * length})
        assert len(made.encode()) == limits.FILE_NAME_BYTES_MAX
    made = ExportOnSuccess("/mine", "{table}").file_name({**VALUES, "table": "中" * 100})
    assert len(made.encode()) <= limits.FILE_NAME_BYTES_MAX


def test_contracts_without_the_policy_are_written_as_before() -> None:
    assert "export_on_success" not in Policies().to_json()
    given = {"folder": "/mine", "format": "arrow", "tables": ["t"]}
    policies = read_policies({"export_on_success": given})
    assert policies.export_on_success == ExportOnSuccess("/mine", tables=("t",), format="arrow")
    assert read_policies(policies.to_json()) == policies


@pytest.mark.parametrize(
    "wrong",
    [
        {"folder": "relative"},
        {"folder": "/m", "profile": "other"},
        {"folder": "/m", "format": "xlsx"},
        {"folder": "/m", "format": "json", "profile": "spreadsheet"},
        {"folder": "/m", "name": "{secret}"},
        {"folder": "/m", "name": " "},
        {"folder": "/m", "name": "x" * (limits.NAME_CHARS_MAX + 1)},
        {"folder": "/m", "more": 1},
    ],
)
def test_what_cannot_be_is_refused_in_words(wrong: dict[str, object]) -> None:
    with pytest.raises(WrongUse, match="export_on_success"):
        read_export_on_success(wrong, "policies.export_on_success")
