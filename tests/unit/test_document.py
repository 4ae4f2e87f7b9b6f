"""The contract document: strict reading, whole writing, one digest (§15)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from actum import canonical, limits
from actum.contracts import document
from actum.contracts.document import digest, load
from actum.errors import WrongUse
from actum.recipes import registry

from tests.helpers.contracts import contract_document


@pytest.mark.parametrize("name", sorted(registry.RECIPES))
def test_the_whole_form_reads_back_equal_and_has_the_same_digest(name: str) -> None:
    given = registry.RECIPES[name].document
    contract = load(given)
    whole = json.loads(json.dumps(contract.to_json()))
    assert load(whole) == contract
    assert digest(given) == digest(whole) == canonical.digest(whole)


def test_what_is_left_out_has_defaults() -> None:
    whole = load(contract_document()).to_json()
    assert whole["policies"]["start_deadline"] == "1m"
    assert (whole["policies"]["stall_after"], whole["policies"]["deadline"]) == ("10m", None)
    assert (whole["title"], whole["outputs"], whole["environment"]["profile"]) == ("sample", ["*"], "inherit")


def test_no_stall_warning_is_something_one_can_say() -> None:
    whole = load(contract_document(policies={"stall_after": None})).to_json()
    assert whole["policies"]["stall_after"] is None
    assert load(whole).policies.stall_after is None


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"name": "Has Space"}, "task's name"),
        ({"schema": "actum.contract/9"}, "schema"),
        ({"work": {"kind": "magic"}}, "work.kind"),
        ({"work": {"kind": "program", "program": "relative"}}, "work.program"),
        ({"work": {"kind": "program", "program": "/x", "arguments": ["{nope}"]}}, "work.arguments"),
        ({"work": {"kind": "program", "program": "/x", "arguments": ["{"]}}, "brace"),
        ({"work": {"kind": "function", "file": "/f.py", "function": "a b", "interpreter": "/py"}}, "work.function"),
        ({"outputs": ["../x"]}, "outputs[0]"),
        ({"required": ["/etc/passwd"]}, "required[0]"),
        ({"rules": [{"rule": "odd", "fields": ["a", "b"]}]}, "rules[0].rule"),
        ({"metrics": [{"name": "m", "rule": "ratio.v9"}]}, "metrics[0].rule"),
        ({"tables": [{"name": "t", "columns": [{"name": "a", "type": "money"}]}]}, "tables[0].columns"),
        ({"tables": [{"name": "a b"}]}, "tables[0].name"),
        ({"tables": [{"name": "t"}, {"name": "t"}]}, "more than once"),
        ({"policies": {"deadline": "2 weeks"}}, "policies.deadline"),
        ({"policies": {"deadline": 7200}}, "policies.deadline"),
        ({"policies": {"grace": "0s"}}, "policies.grace"),
        ({"policies": {"after_exit": "kill"}}, "policies.after_exit"),
        ({"policies": {"accepted_exit_codes": [256]}}, "accepted_exit_codes"),
        ({"policies": {"retry": {"codes": ["boredom"]}}}, "policies.retry.codes"),
        ({"policies": {"retry": {"factor": "0.5"}}}, "policies.retry.factor"),
        ({"policies": {"when_supervisor_is_lost": "panic"}}, "when_supervisor_is_lost"),
        ({"policies": {"limits": {"memory_bytes": 0}}}, "policies.limits"),
        ({"environment": {"profile": "odd"}}, "environment.profile"),
        ({"environment": {"variables": {"ACTUM_RUN": "1"}}}, "environment.variables"),
        ({"environment": {"variables": {"API_KEY": "1"}}}, "API_KEY"),
        ({"polices": {}}, "Probably “policies” is meant"),
        ({"description": 3}, "description"),
    ],
)
def test_a_refusal_names_the_place(change: dict[str, Any], place: str) -> None:
    with pytest.raises(WrongUse) as refused:
        load({**contract_document(), **change})
    assert place in str(refused.value)


def test_what_happens_when_the_supervisor_is_lost_can_be_said() -> None:
    whole = load(contract_document(policies={"when_supervisor_is_lost": {"stop_after": "30m"}})).to_json()
    assert whole["policies"]["when_supervisor_is_lost"] == {"stop_after": "30m"}


def test_at_the_bounds_and_just_above() -> None:
    many = [{"name": f"p{n}", "type": "integer", "default": 1} for n in range(limits.CONTRACT_PARAMETERS_MAX + 1)]
    load(contract_document(*many[:-1]))
    with pytest.raises(WrongUse, match="at most"):
        load(contract_document(*many))
    load(contract_document(policies={"retry": {"maximum": limits.RETRIES_MAX, "factor": limits.RETRY_FACTOR_MAX}}))
    for retry in ({"maximum": limits.RETRIES_MAX + 1}, {"factor": limits.RETRY_FACTOR_MAX + 1}):
        with pytest.raises(WrongUse):
            load(contract_document(policies={"retry": retry}))
    room = limits.CONTRACT_BYTES_MAX - len(canonical.dumps(load(contract_document()).to_json()))
    load(contract_document(description="x" * room))
    with pytest.raises(WrongUse, match="bytes"):
        load(contract_document(description="x" * (room + 1)))


def test_the_code_of_a_task_is_an_input_unless_it_is_ours() -> None:
    assert load(contract_document()).code_path() == "/bin/true"
    assert load(registry.RECIPES["return-and-risk"].document).code_path() is None
    assert document.SCHEMA == "actum.contract/1"
