"""Starting the work: a child in a kernel session of its own, with the environment §7 promises and nothing of the host's.

`posix_spawn` is used instead of fork: no page of the host is copied, no Python runs in the child, and an error of exec
comes back as itself. Every descriptor of the host closes at exec, the alive lock's included, so the work never holds it.
"""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Mapping

from actum import faults, limits
from actum.errors import ActumError
from actum.host.launch import Launch
from actum.model.identity import ProcessIdentity
from actum.processes import identity as identities
from actum.processes.containment import Container


class CannotStart(ActumError):
    """No process came into being."""

    def __init__(self, what: str, why: str, **details: object) -> None:
        super().__init__("start_error", what, why, "Check the task's program, interpreter and folder.", **details)


class Work:
    """The root of the tree. Attributes: pid, identity, pipes (stream 1 and 2 → readable descriptor), status once ended."""

    def __init__(self, pid: int, identity: ProcessIdentity | None, pipes: dict[int, int]) -> None:
        self.pid = pid
        self.identity = identity
        self.pipes = pipes
        self.status: int | None = None  # as waitpid gave it

    @property
    def exit_code(self) -> int | None:
        return os.WEXITSTATUS(self.status) if self.status is not None and os.WIFEXITED(self.status) else None

    @property
    def signal(self) -> int | None:
        return os.WTERMSIG(self.status) if self.status is not None and os.WIFSIGNALED(self.status) else None

    def close_pipe(self, stream: int) -> None:
        os.close(self.pipes.pop(stream))


def environment(launch: Launch, inherited: Mapping[str, str]) -> dict[str, str]:
    """The host's own environment without Actum's variables, the task's variables, then what §7 promises."""
    variables = {name: value for name, value in inherited.items() if not name.startswith("ACTUM_")}
    variables.update((name, value) for name, value in launch.variables.items() if name != "ACTUM_FAULT")
    variables.update(
        ACTUM_RUN=str(launch.run),
        ACTUM_ATTEMPT=launch.attempt,
        ACTUM_KEY=launch.key,
        ACTUM_COOKIE=launch.cookie,
        ACTUM_PARAMETERS=launch.path("parameters.json"),
        ACTUM_INPUTS=launch.path("inputs.json"),
        ACTUM_OUTPUT=launch.path("staging", "files"),
        ACTUM_MESSAGES=launch.path("messages.jsonl"),
    )
    return variables


def start(launch: Launch, container: Container) -> Work:
    """Start the work in its container. Raises CannotStart, which names the program or the folder."""
    variables = environment(launch, os.environ)
    readers: dict[int, int] = {}
    writers: list[int] = []
    try:
        for stream in (1, 2):
            reader, writer = os.pipe2(os.O_CLOEXEC)
            readers[stream] = reader
            writers.append(writer)
            os.set_blocking(reader, False)
            _widen(reader)
        pid = container.start(lambda: _spawn(launch, variables, writers))
    except BaseException:
        for descriptor in readers.values():
            os.close(descriptor)
        raise
    finally:
        for descriptor in writers:
            os.close(descriptor)
    faults.point("host.spawn.after")
    return Work(pid, identities.of(pid), readers)


def _spawn(launch: Launch, variables: dict[str, str], writers: list[int]) -> int:
    program = _find(launch.command[0], variables.get("PATH", os.defpath))
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            os.chdir(launch.cwd)
        except OSError as error:
            why = f"{error.strerror}: {launch.cwd}."
            raise CannotStart("The work's folder cannot be entered.", why, cwd=launch.cwd) from None
        faults.point("host.spawn.before")
        return os.posix_spawn(
            program,
            launch.command,
            variables,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, writers[0], 1),
                (os.POSIX_SPAWN_DUP2, writers[1], 2),
            ],
            setsid=True,
            setsigmask=(),
            setsigdef=(signal.SIGPIPE, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD),
        )
    except (OSError, ValueError) as error:
        why = f"{getattr(error, 'strerror', None) or error}: {program}."
        if isinstance(error, FileNotFoundError) and os.path.exists(program):
            why = f"The interpreter that its first line names is missing: {program}."
        raise CannotStart("The program cannot be started.", why, program=program) from None
    finally:
        os.fchdir(here)
        os.close(here)


def _widen(pipe: int) -> None:
    """Let the pipe hold what one turn reads; where the system allows no more, it stays as it is."""
    try:
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, limits.LOG_READ_BYTES_MAX)
    except OSError:
        pass


def _find(program: str, path: str) -> str:
    """Where `program` is; itself where it is a path or is not on the search path (then exec says so)."""
    if "/" in program:
        return program
    for folder in path.split(os.pathsep):
        candidate = os.path.join(folder, program)
        if os.access(candidate, os.X_OK) and os.path.isfile(candidate):
            return candidate
    return program
