"""What this user chose for the window: look, language, and where it stood. One small file; unreadable = the defaults."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Preferences:
    """`scheme`: system | light | dark. `language`: system or a code. `geometry`: x, y, width, height or None.
    `told_closing`: the user knows how to come back to a window that was closed with work in flight."""

    scheme: str = "system"
    language: str = "system"
    geometry: tuple[int, int, int, int] | None = None
    told_closing: bool = False


def place() -> Path:
    """The file; ACTUM_CONFIG names another folder."""
    chosen = os.environ.get("ACTUM_CONFIG")
    if chosen:
        return Path(chosen) / "window.json"
    import platformdirs

    return Path(platformdirs.user_config_dir("actum", appauthor=False)) / "window.json"


def load(path: Path) -> Preferences:
    try:
        document = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return Preferences()
    if not isinstance(document, dict):
        return Preferences()
    scheme, language = (str(document.get(name) or "system") for name in ("scheme", "language"))
    kept = Preferences(scheme, language, told_closing=document.get("told_closing") is True)
    geometry = document.get("geometry")
    if isinstance(geometry, list) and len(geometry) == 4 and all(type(part) is int for part in geometry):
        kept = replace(kept, geometry=(geometry[0], geometry[1], geometry[2], geometry[3]))
    return kept


def save(path: Path, preferences: Preferences) -> None:
    """Replaces the file in one step. A place that cannot be written costs the choice, not the program."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh.write_text(json.dumps(asdict(preferences)), "utf-8")
        fresh.replace(path)
    except OSError:
        return
