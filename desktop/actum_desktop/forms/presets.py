"""Presets of a task: named raw values, kept as the setting `presets/<task>` of the workspace. Pure; no Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from actum import limits
from actum.contracts.document import Contract
from actum.settings import PRESETS

from actum_desktop.forms import rawvalues


@dataclass(frozen=True, slots=True)
class Preset:
    name: str
    parameters: Mapping[str, Any]


def setting_name(task: str) -> str:
    return f"{PRESETS}{task}"


def read(value: Any) -> tuple[Preset, ...]:
    """The presets a setting holds; what is none is passed over."""
    kept = value if isinstance(value, list) else []
    return tuple(
        Preset(str(each["name"]), dict(each["parameters"]))
        for each in kept
        if isinstance(each, dict) and isinstance(each.get("parameters"), dict) and each.get("name")
    )


def command(task: str, presets: Sequence[Preset]) -> dict[str, Any]:
    """The command that keeps `presets`."""
    value = [{"name": each.name, "parameters": dict(each.parameters)} for each in presets]
    return {"verb": "set_setting", "name": setting_name(task), "value": value}


def with_preset(presets: Sequence[Preset], name: str, raw: Mapping[str, Any]) -> tuple[Preset, ...]:
    """`name` replaced in its place, or put at the end. The name is cut at its bound."""
    made = Preset(name.strip()[: limits.NAME_CHARS_MAX], dict(raw))
    if any(each.name == made.name for each in presets):
        return tuple(made if each.name == made.name else each for each in presets)
    return (*presets, made)


def without(presets: Sequence[Preset], name: str) -> tuple[Preset, ...]:
    return tuple(each for each in presets if each.name != name)


def line(contract: Contract, preset: Preset) -> str:
    """The second line of a preset: what it sets that the task does not set by itself."""
    before = rawvalues.defaults(contract)
    differing = rawvalues.changed(contract, before, preset.parameters)
    words = [rawvalues.shown(p, preset.parameters.get(p.name)) for p in contract.parameters if p.name in differing]
    return ", ".join(word for word in words if word)
