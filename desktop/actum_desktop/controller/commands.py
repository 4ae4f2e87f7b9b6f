"""The commands a supervisor takes, each a body with a verb; answered after the commit of what they ask (R04, §16)."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from actum import canonical, clock, settings
from actum.contracts import document as contracts
from actum.errors import ActumError, Busy, CannotTell, Conflict, NotFound, WorkspaceUnusable, WrongUse
from actum.limits import ATTESTED_BY_CHARS_MAX, ERROR_TEXT_CHARS_MAX
from actum.model.changes import (
    AddExport,
    AddTask,
    Admit,
    Answer,
    Persisted,
    RefusalKind,
    Refused,
    Request,
    SetSetting,
)
from actum.model.status import RUN_TERMINAL
from actum.recipes import registry
from actum.supervise import events
from actum.supervise.commands import misplaced

from actum_desktop.controller import admission, adoption, flows
from actum_desktop.controller.availability import Availability
from actum_desktop.controller.awake import KeepAwake
from actum_desktop.controller.deliveries import Deliveries
from actum_desktop.controller.events import Progressed
from actum_desktop.controller.helpers import Asked, HelperAnswer
from actum_desktop.controller.instance import Instance
from actum_desktop.controller.reconciling import Reconciling

Body = Mapping[str, Any]
log = logging.getLogger(__name__)


class Commands:
    """Turns bodies into events, helper calls and requests to the store. Every command is answered exactly once."""

    def __init__(self, instance: Instance, reconciling: Reconciling, awake: KeepAwake, deliveries: Deliveries) -> None:
        self._instance = instance
        self._deliveries = deliveries
        self._reconciling = reconciling
        self._awake = awake
        self._availability = Availability(instance, reconciling.sweep, self._call, self._persist)
        self._admitting: dict[int, flows.Running] = {}  # by the command that asked
        self._watched: dict[str, tuple[Asked, int]] = {}  # calls that can be cancelled, by the word they are watched under

    def handle(self, command: int, body: Body) -> None:
        """One command; what is wrong with it is its answer."""
        verb = _VERBS.get(str(body.get("verb")))
        try:
            if verb is None:
                raise WrongUse("unknown_verb", f"The supervisor does not know the command “{body.get('verb')}”.")
            verb(self, command, body)
        except ActumError as error:
            self._instance.reply(command, None, error)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            wrong = WrongUse("wrong_body", "The command is not complete.", f"{type(error).__name__}: {error}.")
            self._instance.reply(command, None, wrong)
        except Exception as error:
            log.exception("the command “%s” failed", body.get("verb"))
            why = f"{type(error).__name__}: {error}."[:ERROR_TEXT_CHARS_MAX]
            self._instance.reply(command, None, ActumError("bug", "The command failed in a way nobody foresaw.", why))

    def define_built_in_tasks(self) -> None:
        """The tasks that come with the program, in every workspace."""
        for document in registry.documents():
            self._instance.writer.ask(self._add_task(document, built_in=True))

    # Runs

    def _run(self, command: int, body: Body) -> None:
        instance = self._instance
        task = admission.find_task(instance.reader, body)
        copy_bytes_max = int(settings.merged(instance.reader.setting_rows())["input_copy_bytes_max"])

        def admitted(request: Admit | ActumError) -> None:
            self._admitting.pop(command, None)
            if isinstance(request, ActumError):
                instance.reply(command, None, request)
            else:
                instance.tell(events.AdmitAsked(command, request))

        running = flows.run(admission.admit(task, body, copy_bytes_max), instance.helpers, admitted)
        if not running.done:
            self._admitting[command] = running
            instance.helpers["freeze"].warm()  # what is admitted is frozen next

    def admits(self, command: int) -> bool:
        """Whether the inputs of this command are being digested, and nothing is on record yet."""
        return command in self._admitting

    def give_up(self, command: int) -> None:
        """Whoever asked is gone: what nobody waits for is not digested to its end, and not admitted."""
        running = self._admitting.pop(command, None)
        if running is not None:
            running.cancel()
            gone = ActumError("cancelled", "The run was not admitted.", "Whoever asked for it was gone before it was recorded.")
            self._instance.reply(command, None, gone)

    def _adopt(self, command: int, body: Body) -> None:
        """A new run that takes up what an old one sealed and nobody published (R03); asking again finds the same run."""
        instance = self._instance
        run, n = self._run_number(body), body.get("attempt")
        found = adoption.admit(instance.ws, instance.reader, run, None if n is None else int(n))
        if not isinstance(found, Admit):
            instance.reply(command, found, None)
            return

        def admitted(ok: Mapping[str, Any] | None, error: ActumError | None) -> None:
            seen = found.fact.evidence
            told = None if ok is None else {**ok, "adopted": seen["from"], "sealed_by": seen["sealed_by"]}
            instance.reply(command, told, error)

        instance.tell(events.AdmitAsked(instance.expect(admitted), found))

    def _stop(self, command: int, body: Body) -> None:
        run = self._run_number(body)
        if self._instance.reader.run(run).status in RUN_TERMINAL and not self._is_open(run):
            self._instance.reply(command, {"run": run, "answer": "closed"}, None)
            return
        self._instance.tell(events.StopAsked(command, run, insist=body.get("level") == "insist"))

    def _attest(self, command: int, body: Body) -> None:
        """A person's word that nothing of a run that is held is left anywhere (§6)."""
        run = self._run_number(body)
        attempt = self._instance.reader.run(run).current_attempt
        self._instance.tell(events.Attested(attempt, command, str(body.get("by") or "?")[:ATTESTED_BY_CHARS_MAX]))

    def _is_open(self, run: int) -> bool:
        return any(m.row.run == run for m in self._instance.supervisor.machines.values())

    def _run_number(self, body: Body) -> int:
        return self._instance.reader.resolve(body["run"])

    # Tasks

    def _task_add(self, command: int, body: Body) -> None:
        request = self._add_task(body["contract"], built_in=False)
        if registry.find(request.task) is not None:
            what = f"“{request.task}” is the name of a task that comes with Actum."
            raise Conflict("task_exists", what, remedy="Choose another name.")
        named = {"task": request.task, "version": request.version}
        self._persist(command, request, lambda done: {**named, "created": done.created})

    def _add_task(self, document: Mapping[str, Any], *, built_in: bool) -> AddTask:
        contract = contracts.load(document)
        whole = contract.to_json()
        return AddTask(contract.name, contract.version, canonical.digest(whole), whole, built_in, clock.utc_us())

    # Settings

    def _set_setting(self, command: int, body: Body) -> None:
        name, value = str(body["name"]), body["value"]
        settings.check(name, value)
        request = SetSetting(name, value, clock.utc_us())
        self._persist(command, request, lambda done: {"name": name, "value": value})

    # Results

    def _verify(self, command: int, body: Body) -> None:
        self._availability.verify(command, body)

    def _look(self, command: int, body: Body) -> None:
        self._availability.look(command, body)

    def _rebuild(self, command: int, body: Body) -> None:
        self._availability.rebuild(command, body)

    def _pack(self, command: int, body: Body) -> None:
        self._availability.pack(command, body)

    def _export(self, command: int, body: Body) -> None:
        instance = self._instance
        run = self._run_number(body)
        result = instance.reader.result(run)
        if result is None:
            raise NotFound("no_result", f"Run {run} has no result to export.", remedy=f"See why: actum show {run}")
        args: dict[str, Any] = {
            "package": str(instance.ws.path / result.path),
            "name": str(body["name"]),
            "format": str(body["format"]),
            "profile": str(body.get("profile") or "data"),
            "path": str(Path(body["path"]).absolute()),
            "existing": str(body.get("existing") or ("replace" if body.get("overwrite") else "refuse")),
            "options": {} if body.get("query") is None else {"query": dict(body["query"])},
            "published": result.published.to_json(),
        }

        def exported(answer: Any) -> None:
            if answer.ok is None:
                instance.reply(command, None, answer.error or _helper_ended("The export was not finished."))
                return
            made = answer.ok
            row = AddExport(
                run=run,
                attempt=result.attempt,
                name=args["name"],
                format=args["format"],
                profile=args["profile"],
                path=made.get("path") or args["path"],
                sha256=made["sha256"],
                size_bytes=int(made["size_bytes"]),
                rows=int(made["rows"]),
                options=made.get("options") or {},
                at_us=clock.utc_us(),
            )
            self._persist(command, row, lambda done: {"run": run, **made})

        self._call(body, instance.helpers["export"], "export", args, exported)

    def _deliver(self, command: int, body: Body) -> None:
        """What the task of a run wants exported on success, as far as it is not there yet."""
        self._deliveries.again(self._run_number(body), partial(self._instance.reply, command))

    def _call(self, body: Body, helper: Asked, verb: str, args: Body, done: Callable[[HelperAnswer], None]) -> None:
        """One call of a helper; a body with a word to `watch` it under hears of its progress and can cancel it."""
        watch = str(body.get("watch") or "")
        if not watch:
            helper.call(verb, args, done)
            return

        def answered(answer: HelperAnswer) -> None:
            self._watched.pop(watch, None)
            done(answer)

        def progressed(count: int, total: int, unit: str) -> None:
            self._instance.show_progress(Progressed(watch, count, total, unit))

        self._watched[watch] = (helper, 0)
        number = helper.call(verb, args, answered, progressed)
        if watch in self._watched:
            self._watched[watch] = (helper, number)

    def _cancel(self, command: int, body: Body) -> None:
        """Give up what is watched under a word; the command that asked for it is answered `cancelled`."""
        found = self._watched.get(str(body["watch"]))
        if found is not None:
            helper, number = found
            helper.cancel(number)
        self._instance.reply(command, {"cancelled": found is not None}, None)

    # The supervisor itself

    def _reconcile(self, command: int, body: Body) -> None:
        """Verdicts for what is open, and a look at the newest of what is closed (§6)."""
        instance = self._instance

        def judged(ok: Mapping[str, Any] | None, error: ActumError | None) -> None:
            if ok is None:
                instance.reply(command, None, error)
                return
            verdicts = list(ok["verdicts"])
            self._reconciling.begin(lambda found: instance.reply(command, {**ok, "verdicts": verdicts + found}, None))

        instance.tell(events.ReconcileAsked(instance.expect(judged), bool(body.get("resume"))))

    def _pause_queue(self, command: int, body: Body) -> None:
        """No waiting run starts, in this instance and in later ones, until a person says otherwise."""
        self._hold_queue(command, True, events.QueuePaused(command))

    def _resume_queue(self, command: int, body: Body) -> None:
        """What waits may start; with `only_after_crash`, a person's own pause stands; with `runs`, only these may."""
        if body.get("only_after_crash"):
            runs = frozenset(run for run in body.get("runs") or () if type(run) is int)
            self._instance.tell(events.QueueResumed(command, held=False, runs=runs))
        else:
            self._hold_queue(command, False, events.QueueResumed(command))

    def _hold_queue(self, command: int, held: bool, event: events.Event) -> None:
        """Written down first, then in force (R04)."""

        def kept(answer: Answer) -> None:
            if isinstance(answer, Persisted):
                self._instance.tell(event)
            else:
                self._instance.reply(command, None, refusal(answer))

        self._instance.persist(SetSetting("queue_paused", held, clock.utc_us()), kept)

    def _status(self, command: int, body: Body) -> None:
        s = self._instance.supervisor
        told = {
            "instance": s.instance,
            "epoch": s.epoch,
            "pid": os.getpid(),
            "idle": s.idle,
            "slots": s.slots,
            "slots_taken": s.slots_taken,
            "paused": s.paused or s.held,
            "window": self._instance.window,
            "awake": asdict(self._awake.truth),
        }
        self._instance.reply(command, told, None)

    def _take_over(self, command: int, body: Body) -> None:
        """Leave for a successor: answered, then this instance retires after its open commits (P21)."""
        if self._instance.window and not body.get("from_window"):
            raise Conflict("window_supervises", "A window supervises this workspace.", remedy="Close it, or use it.")
        self._instance.reply(command, {"leaving": True}, None)
        self._instance.hand_over()

    def _show_window(self, command: int, body: Body) -> None:
        """A second start shows the window that is there (§3)."""
        if not self._instance.window:
            raise Conflict("no_window", "The supervisor of this workspace has no window.", remedy="Take over from it.")
        self._instance.reply(command, {"shown": True}, None)
        self._instance.show_window()

    # Store

    def _persist(self, command: int, request: Request, told: Callable[[Persisted], Mapping[str, Any]]) -> None:
        self._instance.persist(request, lambda answer: self._instance.reply(command, *_told(answer, told)))


def _told(answer: Answer, told: Callable[[Persisted], Mapping[str, Any]]) -> tuple[Mapping[str, Any] | None, ActumError | None]:
    if isinstance(answer, Persisted):
        return told(answer), None
    return None, refusal(answer)


def refusal(refused: Refused) -> ActumError:
    """A refused request in the words of the commands."""
    if refused.kind is RefusalKind.TASK:
        return Conflict("task_exists", refused.message, remedy="Give the changed task another version.", **refused.details)
    if refused.kind is RefusalKind.EPOCH:
        return Busy("supervisor_left", "Another program supervises this workspace now.", refused.message, "Ask again.")
    if refused.kind is RefusalKind.LOST:
        return CannotTell("commit_lost", "It is not known whether this was recorded.", refused.message, "Ask again.")
    if (error := misplaced(refused)) is not None:
        return error
    return WorkspaceUnusable("not_recorded", "This could not be recorded.", refused.message, "Free some space, then try again.")


def _helper_ended(what: str) -> ActumError:
    return CannotTell("helper_crashed", what, "The helper ended unexpectedly.", "Try again.")


_VERBS: Mapping[str, Callable[[Commands, int, Body], None]] = {
    "run": Commands._run,
    "adopt": Commands._adopt,
    "stop": Commands._stop,
    "task_add": Commands._task_add,
    "set_setting": Commands._set_setting,
    "verify": Commands._verify,
    "look": Commands._look,
    "rebuild": Commands._rebuild,
    "pack": Commands._pack,
    "export": Commands._export,
    "deliver": Commands._deliver,
    "cancel": Commands._cancel,
    "reconcile": Commands._reconcile,
    "attest": Commands._attest,
    "pause_queue": Commands._pause_queue,
    "resume_queue": Commands._resume_queue,
    "status": Commands._status,
    "take_over": Commands._take_over,
    "show_window": Commands._show_window,
}
