"""Does what the supervisor wants done: one method for each effect, answered by an event (§3)."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import platformdirs
from actum import clock, faults
from actum.contracts import document as contracts
from actum.contracts import parameters
from actum.engines import launch
from actum.errors import ActumError, StorageFailed
from actum.ipc import records, spool
from actum.ipc.framing import FrameTooLong
from actum.model.changes import Admit, Change, RecordRow
from actum.model.facts import FactName
from actum.model.identity import ProcessIdentity
from actum.model.run import AttemptRow
from actum.processes import cgroup, evidence, terminate
from actum.store.writer import Writer
from actum.supervise import effects, events
from actum.workspace import Workspace
from PySide6.QtCore import QObject, QTimer

from actum_desktop.controller import flows, steps
from actum_desktop.controller.helpers import Helpers
from actum_desktop.controller.hosts import Hosts
from actum_desktop.controller.server import Channel

Tell = Callable[[events.Event], None]

_SIGNALS = {"ask": signal.SIGTERM, "insist": signal.SIGKILL}


class Performer(QObject):
    """Attributes: channels (proven host channels by attempt). `tell` takes the events that answer effects; `defect` is
    called inside the handler of an exception that nobody foresaw."""

    def __init__(
        self,
        ws: Workspace,
        writer: Writer,
        committed: Callable[[int, Any], None],
        tell: Tell,
        folder_of: Callable[[str], Path | None],
        defect: Callable[[], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._ws = ws
        self._writer = writer
        self._committed = committed
        self._tell = tell
        self._folder_of = folder_of
        self._defect = defect
        self.helpers = Helpers(self, defect)
        self.hosts = Hosts(self._on_host_gone, self)
        self.channels: dict[str, Channel] = {}
        self._looks: list[effects.Look] = []
        self._serial = 0
        self._facts: dict[int, tuple[str, ...]] = {}
        self._flows: dict[str, flows.Running] = {}  # the newest of each attempt

    def perform(self, effect: effects.Effect) -> None:
        """Do one effect. Nothing here waits: what takes long goes to a helper or to a later turn of the loop."""
        _DO[type(effect)](self, effect)

    def close(self) -> None:
        self.hosts.close()
        self.helpers.close()

    # Store

    def _persist(self, effect: effects.Persist) -> None:
        token, request = effect.token, effect.request
        if isinstance(request, Change):
            self._facts[token] = tuple(fact.name for fact in request.facts)
        elif isinstance(request, Admit):
            self._facts[token] = (request.fact.name,)
        self._writer.submit(request, lambda answer: self._committed(token, answer))

    def committed(self, token: int) -> None:
        """The fault points between a fact on record and what follows from it (R01)."""
        for name in self._facts.pop(token, ()):
            faults.point(f"fact.{name}.after")

    # Inputs and launch

    def _freeze(self, effect: effects.Freeze) -> None:
        flow = steps.freeze(self._ws, effect.row, self._epoch, self._next())
        self._run(effect.row, flow)

    def _run(self, row: AttemptRow, flow: flows.Flow[Any]) -> None:
        """One step that helpers do; an attempt has one at a time. It is given up when its attempt is closed."""
        running = flows.run(flow, self.helpers, self._tell, self._progress(row))
        if not running.done:
            self._flows[row.attempt] = running

    def _prepare(self, effect: effects.Prepare) -> None:
        row = effect.row
        folder = self._ws.attempt_folder(row.run, row.n)
        try:
            if folder.exists():
                launch.discard_unlaunched_folder(folder)
            self._write_folder(effect, folder)
        except StorageFailed as error:
            self._tell(events.Prepared(row.attempt, str(error), error.code))
        except (ActumError, OSError) as error:
            self._tell(events.Prepared(row.attempt, str(error)))
        else:
            self._tell(events.Prepared(row.attempt))

    def _write_folder(self, effect: effects.Prepare, folder: Path) -> None:
        row = effect.row
        contract = contracts.load(row.contract)
        typed = parameters.parse(contract, row.parameters, Path("/"))
        cache = Path(platformdirs.user_cache_dir("actum"))
        planned = launch.plan(contract, typed, row.inputs, attempt_folder=folder, sdk_cache=cache)
        document = launch.launch_document(
            planned,
            workspace=self._ws.path,
            workspace_id=self._writer.opened.database_uuid,
            run=row.run,
            attempt=row.attempt,
            n=row.n,
            session=effect.session,
            cookie=effect.cookie,
            task=row.task,
            task_version=row.task_version,
            key=row.key,
            request_digest=row.request_digest,
            contract_digest=row.contract_digest,
            code=effect.code,
            environment=effect.environment,
        )
        launch.write_attempt_folder(folder, document, effect.secret, planned.parameters, planned.inputs)

    def _launch(self, effect: effects.Launch) -> None:
        row = effect.row
        folder = self._ws.attempt_folder(row.run, row.n)
        profile = str((row.contract.get("environment") or {}).get("profile") or "inherit")
        try:
            environment = launch.host_environment(profile, os.environ)
        except ActumError as error:
            self._tell(events.Spawned(row.attempt, str(error)))
            return
        environment["ACTUM_COOKIE"] = row.cookie or ""  # by which the whole tree is found, the host among it
        why = self.hosts.spawn(launch.host_command(folder), folder, environment)
        for name in ("derive", "verify"):
            self.helpers[name].warm()  # while the work computes
        method = {"method": "the spawn returned", "session": row.session}
        self._tell(events.Spawned(row.attempt, why and f"The host could not be started: {why}.", evidence=method))

    def _watch(self, effect: effects.Watch) -> None:
        self.hosts.watch(effect.attempt, effect.identity)

    # Hosts

    def _send(self, effect: effects.Send) -> None:
        channel = self.channels.get(effect.attempt)
        if channel is None:
            return
        try:
            channel.send(effect.type, effect.body)
        except FrameTooLong:
            channel.close()

    def _write_stop(self, effect: effects.WriteStop) -> None:
        row = effect.row
        folder = self._ws.attempt_folder(row.run, row.n)
        error = None
        try:
            spool.write_stop(folder, level=effect.level, cause=effect.cause, at_us=clock.utc_us())
        except (OSError, StorageFailed) as failed:
            error = str(failed)
        self._tell(events.StopWritten(row.attempt, effect.level, error))

    def _look(self, effect: effects.Look) -> None:
        """Looks of one turn share one pass over the processes (1,000 leftovers, one scan)."""
        self._looks.append(effect)
        if len(self._looks) == 1:
            QTimer.singleShot(0, self, self._look_now)

    def _look_now(self) -> None:
        looks, self._looks = self._looks, []
        try:
            found = evidence.gather_many([self._question(each) for each in looks], workspace_path=self._ws.path)
        except Exception:
            self._defect()
            return
        for each, seen in zip(looks, found, strict=True):
            self._tell(events.Looked(each.row.attempt, seen))

    def _question(self, effect: effects.Look) -> evidence.Question:
        row = effect.row
        whose = row.adopts or row  # a run that adopts has no host of its own: the old one is looked for
        return evidence.Question(
            attempt_folder=self._ws.attempt_folder(*row.place),
            session=whose.session or "",
            cookie=whose.cookie,
            host_identity=ProcessIdentity.from_json(whose.host_identity) if whose.host_identity else None,
            package=(lambda: steps.where(self._ws, row)) if effect.package else None,
        )

    def _revoke_claim(self, effect: effects.RevokeClaim) -> None:
        row = effect.row
        folder = self._ws.attempt_folder(row.run, row.n)
        document = {"v": 1, "by": "supervisor", "revoked": True, "epoch": self._epoch, "at": clock.utc_us()}
        try:
            revoked = spool.create_claim(folder, document)
            claim = spool.read_claim(folder)
        except (OSError, StorageFailed) as error:
            self._tell(events.ClaimAnswered(row.attempt, False, error=str(error)))
            return
        if not revoked and not isinstance(claim, dict):  # it may be its host's, and may be nobody's
            why = claim.why if isinstance(claim, spool.Unreadable) else "it is gone again"
            self._tell(events.ClaimAnswered(row.attempt, False, error=f"There is a claim already, and {why}."))
            return
        self._tell(events.ClaimAnswered(row.attempt, revoked, claim if isinstance(claim, dict) else {}))

    def _end_tree(self, effect: effects.EndTree) -> None:
        """The work and its descendants first; the host only when none of them is left, since it is their subreaper."""
        signum = _SIGNALS[effect.level]
        members = [each for each in effect.members if each.identity != effect.host]
        targets = [(each.identity, each.command) for each in members]
        if not targets and effect.host is not None:
            targets = [(effect.host, "host")]
        results = tuple(
            {"pid": identity.pid, "command": command, "signal": signum.name, "result": terminate.signal(identity, signum)}
            for identity, command in targets
        )
        self._tell(events.Signalled(effect.attempt, effect.level, results))

    def _read_records(self, effect: effects.ReadRecords) -> None:
        row = effect.row
        over = FactName.TREE_GONE in row.facts  # nobody writes there any more
        if over and row.session:  # a host that was killed could not remove the group of its tree
            cgroup.sweep(spool.read_tree(self._ws.attempt_folder(row.run, row.n)), row.session)
        try:
            found = records.read(self._ws.attempt_folder(row.run, row.n), row.records_offset, skipping=over)
        except OSError as error:
            self._tell(events.RecordsRead(row.attempt, (), row.records_offset, False, error=str(error)))
            return
        rows = tuple(RecordRow(each["seq"], each["at"], each["kind"], each["data"]) for each in found.records)
        skipped = found.skipped and found.skipped._asdict()
        self._tell(events.RecordsRead(row.attempt, rows, found.offset, found.more, skipped=skipped))

    # Packages

    def _derive(self, effect: effects.Derive) -> None:
        flow = steps.derive(self._ws, effect.row, self._epoch, self._next())
        self._run(effect.row, flow)

    def _verify(self, effect: effects.Verify) -> None:
        flow = steps.verify(self._ws, effect.row, self._writer.opened.database_uuid, effect.published)
        self._run(effect.row, flow)

    def _publish(self, effect: effects.Publish) -> None:
        self._tell(steps.publish_now(self._ws, effect.row))

    def _quarantine(self, effect: effects.Quarantine) -> None:
        self._tell(steps.quarantine(self._ws, effect.row))

    def _forget(self, effect: effects.Forget) -> None:
        """The attempt is closed: nobody waits for what a helper still does of it (a stop of a run that freezes is one)."""
        self.hosts.forget(effect.attempt)
        running = self._flows.pop(effect.attempt, None)
        if running is not None:
            running.cancel()

    # Small things

    @property
    def _epoch(self) -> int:
        return self._writer.opened.epoch

    def _next(self) -> int:
        self._serial += 1
        return self._serial

    def _progress(self, row: AttemptRow) -> flows.Progress:
        return lambda verb, done, total, unit: self._tell(events.Step(row.attempt, verb, done, total, unit))

    def _on_host_gone(self, attempt: str, method: str) -> None:
        channel = self.channels.get(attempt)
        if channel is not None:
            channel.drain()  # its last frames may still wait in the socket
        self._tell_state(attempt)  # what it wrote last counts what its tree used to the end
        self._tell(events.HostGone(attempt, method, self._alive_is_free(attempt)))

    def _tell_state(self, attempt: str) -> None:
        folder = self._folder_of(attempt)
        state = spool.read_state(folder) if folder is not None else None
        if isinstance(state, dict):
            self._tell(events.StateRead(attempt, state, final=True))

    def _alive_is_free(self, attempt: str) -> bool:
        folder = self._folder_of(attempt)
        return folder is not None and spool.probe_alive(folder) == "free"


_DO: Mapping[type, Callable[[Performer, Any], None]] = {
    effects.Persist: Performer._persist,
    effects.Freeze: Performer._freeze,
    effects.Prepare: Performer._prepare,
    effects.Launch: Performer._launch,
    effects.Watch: Performer._watch,
    effects.Send: Performer._send,
    effects.WriteStop: Performer._write_stop,
    effects.Look: Performer._look,
    effects.RevokeClaim: Performer._revoke_claim,
    effects.EndTree: Performer._end_tree,
    effects.ReadRecords: Performer._read_records,
    effects.Derive: Performer._derive,
    effects.Verify: Performer._verify,
    effects.Publish: Performer._publish,
    effects.Quarantine: Performer._quarantine,
    effects.Forget: Performer._forget,
}
