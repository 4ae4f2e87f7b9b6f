"""The end of an attempt on disk: sealing in a thread of its own, and the outcome, written once (§5.7–8).

The host hashes and fsyncs gigabytes while it seals; its main loop goes on meanwhile, for heartbeats and stops. Nothing
forks after that, and only the main thread reaps.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from actum import clock, faults, limits
from actum.errors import ActumError, storage_code
from actum.host import foreign
from actum.host.judging import Failure
from actum.host.launch import Launch
from actum.host.messages import Collected
from actum.ipc import spool

Document = dict[str, Any]


class Sealing:
    """Sealing under way. Attributes: done, manifest_sha256, details, failure (one of the two when done).

    `folder` leads to the attempt's folder even where it is moved meanwhile.
    """

    def __init__(self, launch: Launch, folder: str, collected: Collected, wake: Callable[[], None]) -> None:
        import threading

        self.done = False
        self.manifest_sha256: str | None = None
        self.details: Document = {}
        self.failure: Failure | None = None
        self._launch, self._folder, self._collected, self._wake = launch, folder, collected, wake
        threading.Thread(target=self._run, name="sealing", daemon=True).start()

    def _run(self) -> None:
        try:
            self._seal()
        except ActumError as error:
            message = " ".join(part for part in (error.what, error.why) if part)
            self.failure = Failure(error.code, message, _plain(error.details))
        except OSError as error:
            self.failure = Failure(storage_code(error), f"Sealing the result failed: {error}.", {})
        except Exception as error:  # a mistake of ours must end as an outcome too, not as a silent host
            self.failure = Failure("io_error", f"Sealing the result failed: {type(error).__name__}: {error}.", {})
        finally:
            self.done = True
            self._wake()

    def _seal(self) -> None:
        from actum.results import manifest

        launch, collected = self._launch, self._collected
        said = manifest.Messages(
            metrics=collected.metrics,
            tables=collected.tables,
            files=collected.files,
            notes=collected.notes,
            done=collected.done,
            records=collected.records,
        )
        records = Path(spool.spool_path(self._folder, "records.jsonl"))
        faults.point("host.seal.before")
        sealed = manifest.seal(
            Path(self._folder, "staging"),
            launch=launch.document,
            messages=said,
            log_folder=Path(self._folder, "log"),
            at_us=clock.utc_us(),
            records=records if records.exists() else None,
        )
        faults.point("host.seal.after")
        self.manifest_sha256 = sealed.manifest_sha256
        self.details = {"files": sealed.files, "size_bytes": sealed.size_bytes, "left_out": list(sealed.left_out)[:50]}


def outcome(
    launch: Launch,
    kind: str,
    *,
    ended: Mapping[str, Any] | None,
    tree: Mapping[str, Any],
    code: str | None = None,
    cause: str | None = None,
    message: str = "",
    details: Mapping[str, Any] | None = None,
    manifest_sha256: str | None = None,
) -> Document:
    """outcome.json as FORMATS has it, with the failure's `message` and `details`."""
    return {
        "v": 1,
        "run": launch.run,
        "attempt": launch.attempt,
        "session": launch.session,
        "kind": kind,
        "code": code,
        "cause": cause,
        "message": message[: limits.ERROR_TEXT_CHARS_MAX],
        "details": _plain(details or {}),
        "ended": dict(ended) if ended is not None else None,
        "tree": dict(tree),
        "manifest_sha256": manifest_sha256,
        "at": clock.utc_us(),
    }


def set_aside_foreign(launch: Launch, document: Document) -> bool:
    """Whether an outcome stood there that is not `document`. The claim is this host's, so no other may have written one: the
    work did. It is kept beside as outcome.foreign. Raises OSError."""
    if not os.path.lexists(spool.spool_path(launch.folder, "outcome.json")):
        return False
    found = spool.read_outcome(launch.folder)
    if isinstance(found, dict) and spool.outcome_digest(found) == spool.outcome_digest(document):
        return False
    foreign.set_aside(spool.spool_path(launch.folder, "outcome.json"))
    return True


def record(launch: Launch, document: Document) -> Document:
    """Make the outcome durable; the one that stands, should there be one already. Raises OSError: try again."""
    if spool.link_outcome(launch.folder, document):
        return document
    found = spool.read_outcome(launch.folder)
    if isinstance(found, dict):
        return found
    raise OSError(5, f"outcome.json exists and cannot be read: {found}", os.fspath(spool.spool_path(launch.folder)))


def _plain(details: Mapping[str, Any]) -> Document:
    """Details that canonical JSON and one frame can carry: floats as text, and short."""
    plain = {str(name): _plain_value(value) for name, value in list(details.items())[:50]}
    if len(repr(plain)) <= limits.FRAME_BYTES_MAX // 4:
        return plain
    return {name: str(value)[: limits.COMMAND_CHARS_MAX] for name, value in plain.items()}


def _plain_value(value: Any) -> Any:
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Mapping):
        return {str(name): _plain_value(member) for name, member in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain_value(member) for member in value]
    return value if value is None or isinstance(value, (str, int)) else str(value)
