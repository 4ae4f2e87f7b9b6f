"""Runs one function of a file as the work of a run: `python run_function.py FILE.py:NAME`.

Reads ACTUM_PARAMETERS and ACTUM_INPUTS, calls the function, and says done when it has returned and every thread it started
has ended. Exit codes: 0 returned; 1 raised (the traceback is in the log); 143 ended itself because a stop was asked.
"""

from __future__ import annotations

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _HERE]
sys.path.insert(0, os.path.dirname(os.path.dirname(_HERE)))

import json  # noqa: E402 - the path had to be mended first
import threading  # noqa: E402
import traceback  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any, List  # noqa: E402

from actum.sdk.context import Context  # noqa: E402
from actum.sdk.failing import TaskFailed  # noqa: E402
from actum.sdk.loading import NoSuchFunction, load  # noqa: E402
from actum.sdk.messages import FileSink  # noqa: E402
from actum.sdk.signature import SignatureRefused, arguments_for  # noqa: E402
from actum.sdk.stopping import EXIT_STOPPED, StopFlag, StopRequested  # noqa: E402


def main(arguments: List[str]) -> int:
    """Run the function that `arguments` names; the exit code."""
    stop = StopFlag()
    stop.listen()
    context = Context(FileSink(os.environ["ACTUM_MESSAGES"]), Path(os.environ["ACTUM_OUTPUT"]), stop)
    try:
        function = load(arguments[0])
        values, inputs = _read("ACTUM_PARAMETERS"), _read("ACTUM_INPUTS")
        first, keywords = arguments_for(function, context, values, inputs)
    except (NoSuchFunction, SignatureRefused) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except Exception:
        traceback.print_exc()
        return 1
    return call(context, lambda: function(*first, **keywords))


def call(context: Context, work: Any) -> int:
    """Call `work`, then say done; the exit code."""
    try:
        work()
    except StopRequested:
        sys.stderr.write("Stopped, as asked.\n")
        return EXIT_STOPPED
    except TaskFailed as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except Exception as error:
        own = error.__traceback__.tb_next if error.__traceback__ else None  # without this frame
        traceback.print_exception(type(error), error, own.tb_next if own else None)
        return 1
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    sys.stdout.flush()
    sys.stderr.flush()
    context.done()
    return 0


def _read(variable: str) -> Any:
    with open(os.environ[variable], encoding="utf-8") as file:
        return json.load(file)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
