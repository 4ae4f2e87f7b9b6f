"""The program `actum`: takes its words apart, imports the one verb that was asked for, and turns errors into exit codes.

Start time is part of the promise (DESIGN §3): verbs that only read import no Qt, no pydantic and no Alembic. Nothing here
imports a verb, the store or Qt before it is known to be needed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from actum.errors import EXIT_BUG, ActumError

from actum_desktop.commands.context import Context
from actum_desktop.commands.output import Output
from actum_desktop.commands.parser import HelpAsked, asks_for_json, parse

EXIT_INTERRUPTED = 130


def main(words: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code (§16)."""
    given = list(sys.argv[1:] if words is None else words)
    out = Output(as_json=asks_for_json(given))
    try:
        return _run(given, out)
    except HelpAsked as asked:
        out.help(str(asked))
        return 0
    except ActumError as error:
        out.error(error)
        return error.exit_code
    except BrokenPipeError:
        _silence_standard_output()
        return 0
    except KeyboardInterrupt:
        out.note("Interrupted. What was recorded by then stands: `actum runs` shows it.")
        return EXIT_INTERRUPTED
    except Exception as error:
        out.bug(error)
        return EXIT_BUG


def _run(words: Sequence[str], out: Output) -> int:
    call = parse(words)
    context = Context(out, call.args.workspace)
    if call.run is None:
        from actum_desktop.app import main as open_window

        return int(open_window(context.workspace))
    return call.run(call.args, context)


def _silence_standard_output() -> None:
    """The reader of the pipe has left: what is still buffered has nowhere to go."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
