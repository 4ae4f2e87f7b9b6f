"""Places for exports: names that are free, hidden temporary files that become them at once, and room on the disk.

Nothing is overwritten unasked. A file appears under its name only whole; what is unfinished stands in a hidden folder beside
it, which is taken away again; one that a killed export left, by the next export into the same folder. Room is looked at
before the first byte and every so many after it, so that an export never takes the last of a disk on which others work too.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from actum import faults, limits
from actum.errors import Conflict, StorageFailed
from actum.results import durable, exportsaid
from actum.results.exportsaid import SIDECAR_ENDING
from actum.results.publish import rename_noreplace

_ALONE_EVERY_S = 0.02
_ROOM_EVERY_S = 0.1
_SCRATCH, _UNHELD = ".actum-export-", ".actum-exporting-"
REFUSE, REPLACE, KEEP_BOTH, ONCE = EXISTING = ("refuse", "replace", "keep_both", "once")


def sidecar_of(path: Path) -> Path:
    return path.with_name(path.name + SIDECAR_ENDING)


def part_paths(path: Path, parts: int) -> list[Path]:
    """Where each part goes: the path itself, or `returns-1.csv`, `returns-2.csv`."""
    if parts == 1:
        return [path]
    wide = len(str(parts))
    return [path.with_name(f"{path.stem}-{number:0{wide}}{path.suffix}") for number in range(1, parts + 1)]


def settled(path: Path, parts: int, existing: str) -> Path:
    """The path to use: `path`, or with *keep both* (and *once*) the next free name. Raises Conflict."""
    if existing == REPLACE:
        return path
    taken = None
    for tried in names(path) if existing != REFUSE else (path,):
        taken = _taken(tried, parts)
        if taken is None:
            return tried
    remedy = "Choose another name, or ask to replace it or to keep both."
    raise Conflict("file_exists", f"“{path.name}” exists.", f"{taken}.", remedy)


def names(path: Path) -> Iterator[Path]:
    """`returns.csv`, `returns (2).csv`, …: as many as are tried."""
    yield path
    for number in range(2, limits.EXPORT_NAMES_MAX + 1):
        yield path.with_name(f"{path.stem} ({number}){path.suffix}")


def _taken(path: Path, parts: int) -> Path | None:
    return next((each for each in (*part_paths(path, parts), sidecar_of(path)) if os.path.lexists(each)), None)


@contextlib.contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """A hidden folder in `folder`, held by a lock for as long as this export lives, and gone afterwards. Raises OSError."""
    remove_abandoned(folder)
    unheld = Path(tempfile.mkdtemp(prefix=_UNHELD, dir=folder))
    path = unheld.with_name(_SCRATCH + unheld.name.removeprefix(_UNHELD))
    held = None
    try:
        held = _held(unheld)
        os.rename(unheld, path)  # only now others may ask whether it is held
        yield path
    finally:
        for each in (unheld, path):
            shutil.rmtree(each, ignore_errors=True)
        if held is not None:
            os.close(held)


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """While a file and what says of it get their names: of two exports to one name, the file of one and the word of the other
    would stand there. Held briefly; where it cannot be had within EXPORT_ALONE_WAIT_S, it is gone on without."""
    given_up, held = time.monotonic() + limits.EXPORT_ALONE_WAIT_S, None
    while True:
        try:
            held = _held(folder)
            break
        except BlockingIOError:
            if time.monotonic() >= given_up:
                break
            time.sleep(_ALONE_EVERY_S)
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


def remove_abandoned(folder: Path) -> None:
    """What exports that were killed have left here: no one holds it any more. It is finished where its file has its name."""
    with contextlib.suppress(OSError), os.scandir(folder) as listing:
        for entry in listing:
            if not entry.name.startswith(_SCRATCH) or not entry.is_dir(follow_symlinks=False):
                continue
            with contextlib.suppress(BlockingIOError):
                held = _held(Path(entry.path))
                if held is not None:
                    with contextlib.suppress(OSError):
                        exportsaid.finish(Path(entry.path))
                    shutil.rmtree(entry.path, ignore_errors=True)
                    os.close(held)


def wait_for(folder: Path, whose: Mapping[str, Any]) -> None:
    """For another export of the same that is about to give its file a name, or dies of a kill just now: until it has let go,
    EXPORT_ALONE_WAIT_S at most."""
    given_up = time.monotonic() + limits.EXPORT_ALONE_WAIT_S
    remove_abandoned(folder)
    while any(exportsaid.is_about(path, whose) for path in folder.glob(f"{_SCRATCH}*")) and time.monotonic() < given_up:
        time.sleep(_ALONE_EVERY_S)
        remove_abandoned(folder)


def _held(folder: Path) -> int | None:
    """A descriptor that holds the folder; None where nobody can. Raises BlockingIOError where another holds it."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


class Temporaries:
    """The hidden files of one export, in its scratch folder. Use in a `with` statement: what is left goes at its end."""

    def __init__(self, targets: Sequence[Path], folder: Path) -> None:
        self.targets = list(targets)
        self.paths = [folder / f"{number}.part" for number in range(1, len(targets) + 1)]

    @contextlib.contextmanager
    def opened(self) -> Iterator[list[IO[bytes]]]:
        """All of them open for writing; durable when the block ends without an error. Raises OSError, StorageFailed."""
        with contextlib.ExitStack() as held:
            files: list[IO[bytes]] = []
            for path in self.paths:
                descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
                files.append(held.enter_context(open(descriptor, "w+b")))
            yield [Watched(file, path.parent) for file, path in zip(files, self.paths, strict=True)]  # type: ignore[misc]
            for file in files:
                file.flush()
                faults.point("export.file.fsync.before")
                os.fsync(file.fileno())
                faults.point("export.file.fsync.after")

    def into_place(self, said: Path | None, sidecar: Path, replace: bool) -> None:
        """Give each its name, and beside them what is said of them; all or nothing of it new. Raises Conflict, OSError."""
        made: list[Path] = []
        try:
            for temporary, target in zip(self.paths, self.targets, strict=True):
                faults.point("export.rename.before")
                _rename(temporary, target, replace)
                made.append(target)
            durable.fsync_folder(sidecar.parent)
            faults.point("export.rename.after")
            if said is None:
                return
            faults.point("export.sidecar.rename.before")
            _rename(said, sidecar, replace)
            made.append(sidecar)
            durable.fsync_folder(sidecar.parent)
            faults.point("export.sidecar.rename.after")
        except BaseException:
            for path in made if not replace else ():
                path.unlink()  # ours, a moment ago, and of no use alone
            raise

    def __enter__(self) -> Temporaries:
        return self

    def __exit__(self, *_: object) -> None:
        for path in self.paths:
            with contextlib.suppress(FileNotFoundError):
                path.unlink()


def _rename(temporary: Path, target: Path, replace: bool) -> None:
    if replace:
        os.replace(temporary, target)
        return
    try:
        rename_noreplace(temporary, target)
    except FileExistsError as error:
        raise Conflict("file_exists", f"“{target.name}” exists.", f"{target}.", "Choose another name.") from error


class Watched:
    """A file being written whose disk is looked at every EXPORT_ROOM_EVERY_BYTES."""

    def __init__(self, file: IO[bytes], folder: Path) -> None:
        self._file, self._folder = file, folder
        self._unseen = 0

    def write(self, content: Any) -> int:
        self._unseen += len(content)
        if self._unseen >= limits.EXPORT_ROOM_EVERY_BYTES:
            self._unseen = 0
            need_room(self._folder, 0)
        return self._file.write(content)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@contextlib.contextmanager
def room_kept(folder: Path, give_up: Callable[[], None]) -> Iterator[None]:
    """While another library writes into `folder`: `give_up` is called when what is left to others would be taken.

    Raises StorageFailed(disk_full) then, instead of what giving up raises, and at once where there is no more left already.
    """
    need_room(folder, 0)
    ended, short = threading.Event(), threading.Event()

    def look() -> None:
        while not ended.wait(_ROOM_EVERY_S):
            try:
                need_room(folder, 0)
            except StorageFailed:
                short.set()
                give_up()
                return

    looking = threading.Thread(target=look, name="room", daemon=True)
    looking.start()
    try:
        yield
    except Exception:
        if short.is_set():
            need_room(folder, 0)
        raise
    finally:
        ended.set()
        looking.join()


def need_room(folder: Path, wanted: int) -> None:
    """Refuse where `wanted` bytes would leave less than EXPORT_ROOM_LEFT_BYTES free. Raises StorageFailed(disk_full)."""
    seen = os.statvfs(folder)
    free = seen.f_bavail * seen.f_frsize
    if free - wanted >= limits.EXPORT_ROOM_LEFT_BYTES:
        return
    told = f"about {wanted:,} bytes are needed, {free:,} are free" if wanted else f"{free:,} bytes are free"
    kept = f"{limits.EXPORT_ROOM_LEFT_BYTES:,} are left to others"
    remedy = "Free some space, or choose a folder on another disk."
    raise StorageFailed("the export", OSError(errno.ENOSPC, f"There is no room: {told}, and {kept}", str(folder)), remedy)
