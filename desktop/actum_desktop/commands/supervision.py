"""Whoever supervises, as a command sees it: the living supervisor through its channel, or this very process (§3, P22).

Theory. A writing command first tries the socket named by the endpoint file; where nobody greets back it tries the
workspace lock; where it gets that, it supervises here until its own business is done; else it tries both again, for
`limits.LOCK_WAIT_S`, and then cannot tell. A channel that is lost before the answer starts the search anew, with the same
key, so that one request is never two runs (R05). A command that waits for a run and loses its supervisor may thus become
the supervisor. Whoever supervised here leaves a detached supervisor behind if anything is still in flight.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from actum import limits
from actum.errors import Busy, CannotTell
from actum.model.status import Status

from actum_desktop.commands.connection import ChannelLost, Client, reach
from actum_desktop.commands.detached import has_ended, start_supervisor
from actum_desktop.commands.interrupts import Interrupts

if TYPE_CHECKING:
    from actum.lock import Lock
    from actum.workspace import Workspace

    from actum_desktop.controller.events import Update
    from actum_desktop.controller.headless import Headless

# run number → the live state of its attempt, as far as anybody told; the keys are the runs that have news.
News = Mapping[int, Mapping[str, Any] | None]
_SEARCH_EVERY_S = 0.1
EXIT_TERMINATED = 128 + 15  # as the shell reports a SIGTERM


class Supervision(Protocol):
    """One supervisor, near or far."""

    here: bool

    def submit(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The `ok` of the answer, after the commit. Raises the error answered; ChannelLost; KeyboardInterrupt meanwhile."""

    def follow(self, runs: list[int], done: Callable[[], bool], on_news: Callable[[News], None]) -> None:
        """Return when `done`, asked about ten times a second. Raises ChannelLost."""

    def leave(self) -> None:
        """End the dealings with this supervisor."""


class ThroughChannel:
    """The living supervisor, over its socket."""

    here = False

    def __init__(self, client: Client, interrupts: Interrupts) -> None:
        self.client = client
        self._interrupts = interrupts

    def submit(self, body: Mapping[str, Any]) -> dict[str, Any]:
        before = self._interrupts.count

        def look_up() -> None:
            if self._interrupts.count > before:
                raise KeyboardInterrupt

        return self.client.ask(body, waiting=look_up)

    def follow(self, runs: list[int], done: Callable[[], bool], on_news: Callable[[News], None]) -> None:
        def hear(change: Mapping[str, Any]) -> None:
            on_news({int(change["run"]): change.get("live")})

        if runs:
            self.client.ask({"verb": "follow", "runs": runs}, on_change=hear)
        while not done():
            frame = self.client.receive(_SEARCH_EVERY_S)
            if frame is not None and frame["type"] == "change":
                hear(frame["body"])

    def leave(self) -> None:
        self.client.close()


class InThisProcess:
    """A supervisor in this process, which holds the workspace lock until `leave`.

    When a successor takes over, it is lost like a channel: the command goes on as the successor's client. SIGTERM leaves
    in order (SystemExit), and work in flight keeps a supervisor.
    """

    here = True

    def __init__(self, ws: Workspace, lock: Lock, interrupts: Interrupts) -> None:
        self._ws = ws
        self._interrupts = interrupts
        self.headless = take_charge(ws, lock)

    def submit(self, body: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return dict(self.headless.submit(dict(body), interruptible=True))
        except Busy as error:
            self._refuse_retired(error)
            raise
        finally:
            self._interrupts.heard_elsewhere = self.headless.interrupted

    def follow(self, runs: list[int], done: Callable[[], bool], on_news: Callable[[News], None]) -> None:
        def ended() -> bool:
            self._interrupts.heard_elsewhere = self.headless.interrupted
            return done()

        def hear(update: Update) -> None:
            on_news(news_of(update))

        while not ended():
            self._refuse_retired(None)
            self.headless.run_until(ended, hear)

    def leave(self) -> None:
        try:
            if self.headless.controller.supervisor.retired is None:
                self._finish_what_follows()
                self.headless.controller.writer.settle()  # what a signal cut off is on record, or is not
                resume = left_to_do(self._ws, self.headless.controller.supervisor.epoch)
                if resume is not None:
                    start_supervisor(self._ws, resume=resume)
        finally:
            self.headless.leave()

    def finish_left_exports(self) -> None:
        """What an earlier supervisor left unfinished of the exports on success, too."""
        if not self.headless.retired and not self._interrupts.count:
            self.headless.controller.deliveries.begin()
            self._finish_what_follows()

    def _finish_what_follows(self) -> None:
        """Exports on success and offers are there when the command returns; a signal leaves them to the next one."""
        controller = self.headless.controller
        if controller.settling and not self._interrupts.count:
            self.headless.run_until(lambda: not controller.settling)

    def _refuse_retired(self, cause: Busy | None) -> None:
        """Raises ChannelLost when this process supervises no longer, SystemExit when it was asked to end."""
        if self.headless.retired:
            raise ChannelLost(f"This process supervises no longer: {self.headless.retired}.") from cause
        if self.headless.terminated:
            raise SystemExit(EXIT_TERMINATED)


class Session:
    """One command's dealings with whoever supervises, through losses.

    `may_supervise` False: where nobody supervises, a detached supervisor is started instead of supervising here.
    Attributes: asked_for (runs that this command asked for and waits for: no later supervisor pauses them as left over).
    """

    def __init__(self, ws: Workspace, interrupts: Interrupts, *, may_supervise: bool = True) -> None:
        self._ws = ws
        self._interrupts = interrupts
        self._may_supervise = may_supervise
        self._open: Supervision | None = None
        self._lock_not_before_s = 0.0
        self.asked_for: list[int] = []

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    @property
    def here(self) -> bool:
        """Whether this process supervises now."""
        return self._open is not None and self._open.here

    def submit(self, body: Mapping[str, Any], *, repeatable: bool = True) -> dict[str, Any]:
        """The answer to one command. A lost answer is asked for again if the command is `repeatable`.

        Raises the error answered, ChannelLost, CannotTell where nobody could be reached.
        """
        for tries_left in reversed(range(limits.COMMAND_TRIES_MAX)):
            try:
                return self.supervisor().submit(body)
            except ChannelLost:
                self.leave()
                if not repeatable or not tries_left:
                    raise
        raise AssertionError("unreachable: the last try returns or raises")

    def follow(self, runs: list[int], done: Callable[[], bool], on_news: Callable[[News], None]) -> None:
        """Return when `done`; a supervisor that is lost is looked for again.

        Raises CannotTell where none is found, ChannelLost when one after the other is lost before it told anything.
        """
        losses = 0

        def hear(news: News) -> None:
            nonlocal losses
            losses = 0
            on_news(news)

        while not done():
            try:
                supervisor = self.supervisor()
                if self.asked_for:
                    supervisor.submit({"verb": "resume_queue", "only_after_crash": True, "runs": self.asked_for})
                supervisor.follow(runs, done, hear)
            except KeyboardInterrupt:
                continue  # counted: `done` says what it means
            except ChannelLost:
                self.leave()
                losses += 1
                if losses >= limits.COMMAND_TRIES_MAX:
                    raise

    def finish_left_exports(self) -> None:
        """Exports on success that were cut off are finished; a supervisor elsewhere does that by itself."""
        if isinstance(self._open, InThisProcess):
            self._open.finish_left_exports()

    def supervisor(self) -> Supervision:
        if self._open is None:
            self._open = self._search()
        return self._open

    def leave(self) -> None:
        supervision, self._open = self._open, None
        if supervision is not None:
            if isinstance(supervision, InThisProcess) and supervision.headless.handed_over:
                # The successor takes the lock; only if it has not after this time is it taken again (P21).
                self._lock_not_before_s = time.monotonic() + limits.TAKE_OVER_FREE_S
            supervision.leave()

    def _search(self) -> Supervision:
        from actum.lock import Lock
        from actum.workspace import create_folders

        create_folders(self._ws)
        end = time.monotonic() + limits.LOCK_WAIT_S
        busy: Busy | None = None
        may_supervise, started = self._may_supervise, None
        while True:
            try:
                client = reach(self._ws)
            except Busy as error:
                client, busy = None, error
            if client is not None:
                return ThroughChannel(client, self._interrupts)
            if may_supervise and time.monotonic() >= self._lock_not_before_s:
                lock = Lock.try_acquire(self._ws)
                if lock is not None:
                    return InThisProcess(self._ws, lock, self._interrupts)
            elif not may_supervise and started is None:
                started = start_supervisor(self._ws)
            elif not may_supervise and started is not None:
                may_supervise = has_ended(started)  # what it could not do is tried here, where its refusal can be told
            if self._interrupts.count:
                raise KeyboardInterrupt
            if time.monotonic() > end:
                raise busy or _nobody(self._ws)
            time.sleep(_SEARCH_EVERY_S)


def take_charge(ws: Workspace, lock: Lock) -> Headless:
    """Supervise in this process from here on. The lock is let go when that fails. Raises ActumError."""
    try:
        from actum_desktop.controller.headless import Headless

        return Headless(ws, lock)
    except BaseException:
        lock.release()
        raise


def news_of(update: Update) -> dict[int, Mapping[str, Any] | None]:
    """An update of the controller in the form of change frames."""
    from dataclasses import asdict

    news: dict[int, Mapping[str, Any] | None] = dict.fromkeys(update.changes.runs)
    news.update({live.run: asdict(live) for live in update.live})
    return news


def left_to_do(ws: Workspace, epoch: int) -> bool | None:
    """Whether a supervisor should be left behind: None = no; else whether it may resume the queue.

    Runs that an earlier service instance queued and nobody resumed are not in flight: they wait for a person.
    """
    from actum.store.queries import Reader

    with Reader(ws) as reader:
        rows = reader.attempt_rows(open_only=True)
    if any(row.pair.status is Status.CREATED and row.admitted_epoch >= epoch for row in rows):
        return True
    return False if any(row.pair.status is not Status.CREATED for row in rows) else None


def _nobody(ws: Workspace) -> CannotTell:
    from actum.generation import read_endpoint

    endpoint = read_endpoint(ws)
    if endpoint is not None and endpoint.get("socket") is None:
        return CannotTell(
            "no_socket",
            "The supervisor of this workspace cannot be reached by commands.",
            f"It is process {endpoint.get('pid')}, and it could not listen at a local socket; it goes on by files alone.",
            "Use the program it runs in, or end that: work goes on, and the next command supervises.",
        )
    return CannotTell(
        "no_supervisor",
        "The supervisor of this workspace could not be reached.",
        f"Somebody holds the workspace lock, and nobody answered within {limits.LOCK_WAIT_S} s.",
        "Send the same command again; `actum doctor` says who holds the lock.",
    )
