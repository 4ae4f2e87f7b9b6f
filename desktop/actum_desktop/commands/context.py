"""What every verb is given: where to print, which workspace, and how to read it.

Readers never take the workspace lock and never create anything: a workspace that does not exist yet is simply empty.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from actum.errors import NotFound, WrongUse

from actum_desktop.commands.output import Output, plain

if TYPE_CHECKING:
    from actum.store.queries import Reader
    from actum.workspace import Workspace

_NUMBER = re.compile(r"#?([0-9]{1,18})")


class Context:
    """One command's surroundings. Attributes: out, and workspace (looked up when first used)."""

    def __init__(self, out: Output, workspace: str | None) -> None:
        self.out = out
        self._stated = workspace

    @cached_property
    def workspace(self) -> Workspace:
        from actum.workspace import locate

        return locate(self._stated)

    @property
    def is_default(self) -> bool:
        """Whether the command line named no workspace of its own."""
        return self._stated is None

    @property
    def begun(self) -> bool:
        """Whether the workspace has a database. Where it has none there is nothing to read."""
        from actum.workspace import unusable

        try:
            return self.workspace.database.exists()
        except OSError as error:
            raise unusable("looking for the database", error, self.workspace.path) from error

    @contextlib.contextmanager
    def reader(self) -> Iterator[Reader]:
        """A read-only connection. Raises NotFound where the workspace has not begun."""
        from actum.store.queries import Reader

        if not self.begun:
            raise nothing_yet(self.workspace)
        with Reader(self.workspace) as reader:
            yield reader

    def say_nothing_yet(self) -> None:
        """For lists: an absent workspace is an empty list, and a note says so."""
        self.out.note(f"There is no workspace at {plain(self.workspace.path)} yet. `actum demo` begins one.")


def nothing_yet(ws: Workspace) -> NotFound:
    return NotFound(
        "no_workspace",
        f"There is no workspace at {ws.path} yet.",
        "Nothing has been run or defined there.",
        "`actum demo` begins one; --workspace DIR or ACTUM_HOME names another.",
    )


def run_number(reader: Reader, text: str) -> int:
    """The number of the run that `text` names, by number or id. Raises NotFound."""
    match = _NUMBER.fullmatch(text.strip())
    return reader.resolve(int(match.group(1)) if match else text.strip().lower())


def wrong_use(what: str, remedy: str, why: str = "") -> WrongUse:
    """A command line that cannot be meant: what is wrong with it, and how it is written."""
    return WrongUse("wrong_use", what, why, remedy)
