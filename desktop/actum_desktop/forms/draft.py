"""A task that is being defined by pointing and clicking: what was said so far, the command it makes, the definition. Pure.

The definition goes through `actum.contracts.define`, as that of `actum task add` does; nothing is defined here that could
not be defined there.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from actum.contracts import commandline
from actum.contracts.define import Definition
from actum.errors import ActumError

PROGRAM, FUNCTION = "program", "function"


@dataclass(frozen=True, slots=True)
class DraftParameter:
    """One row: `default` "" = none."""

    name: str
    type: str
    default: str = ""
    optional: bool = False
    inside: str = ""  # choices of a choice, the member of a list, the file of columns

    def option(self) -> str:
        """As `--param` takes it."""
        inside = f"[{self.inside}]" if self.inside else ""
        given = f"={self.default}" if self.default else ""
        return f"{self.name}:{self.type}{inside}{'?' if self.optional else ''}{given}"


@dataclass(frozen=True, slots=True)
class Draft:
    """What stands in the dialog. `interpreter` with a program runs the program file by it."""

    kind: str = PROGRAM
    name: str = ""
    title: str = ""
    description: str = ""
    program: str = ""
    function: str = ""
    interpreter: str = ""
    arguments: tuple[str, ...] = ()
    cwd: str = ""
    parameters: tuple[DraftParameter, ...] = ()
    outputs: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    timeout: str = ""
    start_timeout: str = ""
    stages: tuple[str, ...] = ()
    stall_after: str = ""
    grace: str = ""
    export_to: str = ""
    profile: str = "inherit"
    variables: Mapping[str, str] = field(default_factory=dict)

    def definition(self) -> Definition:
        program, arguments = self._command()
        is_program = self.kind == PROGRAM
        return Definition(
            name=self.name,
            program=program if is_program else None,
            function=None if is_program else f"{self.program}:{self.function}",
            arguments=arguments if is_program else (),
            cwd=self.cwd or None,
            interpreter=None if is_program else self.interpreter or None,
            outputs=self.outputs,
            required=self.required,
            parameters=tuple(parameter.option() for parameter in self.parameters) if is_program else (),
            title=self.title or None,
            description=self.description or None,
            timeout=self.timeout or None,
            start_timeout=self.start_timeout or None,
            stage_timeouts=self.stages,
            stall_after=self.stall_after or None,
            grace=self.grace or None,
            export_to=self.export_to or None,
            profile=None if self.profile == "inherit" else self.profile,
            variables=self.variables,
        )

    def _command(self) -> tuple[str, tuple[str, ...]]:
        """The program to start and its arguments; a script that needs an interpreter becomes its first argument."""
        if not self.interpreter:
            return self.program, self.arguments
        return self.interpreter, (commandline_text(self.program), *self.arguments)

    def words(self, values: Mapping[str, str]) -> list[str]:
        """The exact words of the command, `{NAME}` filled from `values` or left as it stands."""
        program, arguments = self._command()
        try:
            known = {name: values.get(name, f"{{{name}}}") for name in commandline.names(arguments)}
            return [program, *commandline.fill(arguments, known)]
        except ActumError:
            return [program, *arguments]

    def preview(self) -> str:
        """The command as a shell would be given it; Actum itself uses no shell."""
        samples = {parameter.name: parameter.default for parameter in self.parameters if parameter.default}
        return shlex.join(word for word in self.words(samples) if word) if self.program else ""

    def unnamed(self) -> list[str]:
        """Placeholders that no parameter stands for."""
        try:
            named = commandline.names(self.arguments)
        except ActumError:
            return []
        return sorted(named - {parameter.name for parameter in self.parameters} - {commandline.OUTPUT})


def commandline_text(path: str) -> str:
    """A path as an argument: its braces are no placeholders."""
    return path.replace("{", "{{").replace("}", "}}")


def name_from(path: str) -> str:
    """A task's name from the file's: `Monthly Report.py` → `monthly-report`."""
    stem = os.path.splitext(os.path.basename(path.rstrip("/")))[0].lower()
    return re.sub(r"[^a-z0-9._]+", "-", stem).strip("-._")


def needs_interpreter(path: str) -> bool:
    """A Python file that cannot be started by itself."""
    return path.lower().endswith((".py", ".pyw")) and not os.access(path, os.X_OK)


def patterns(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in re.split(r"[,\n]", text) if part.strip())


def lines(text: str) -> tuple[str, ...]:
    """One argument a line; an empty line is none."""
    return tuple(line for line in text.split("\n") if line != "")


def base_of(draft: Draft) -> Path:
    """Relative paths start at the program's own folder."""
    return Path(draft.program).parent if os.path.isabs(draft.program) else Path.home()


def sample_values(parameters: Sequence[DraftParameter]) -> tuple[dict[str, str], list[str]]:
    """Values for a trial: the defaults; and the names that have none."""
    values = {parameter.name: parameter.default for parameter in parameters if parameter.default}
    return values, [p.name for p in parameters if not p.default and not p.optional]
