"""What git says of the code of the work: the commit, and whether the file differs from it.

Theory. Asking costs two processes a run. Where no folder above holds a repository, git is not asked at all. Else an answer
is kept while everything it rests on keeps its stat: the file, what git holds of HEAD, branch and index (git replaces those,
so a change is another inode), its settings, and the files that say what is ignored. It is kept only for a single file in a
repository of the plain kind, and never when one of these changed within DIGEST_SETTLED_S, for a second write in the same tick
of the file system's clock would go unseen. In every other case git is asked each time.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections import OrderedDict
from pathlib import Path

from actum import limits
from actum.ipc import regular

State = tuple[str | None, bool | None]
Stat = tuple[int, ...] | None

NO_REPOSITORY: State = (None, None)
_INSIDE = ("HEAD", "index", "packed-refs", "config", "config.worktree", "info/attributes", "info/exclude")
_SETTINGS = ("config", "attributes", "ignore")  # of the user, in git's folder of settings


class States:
    """Answers by path. Attribute: asked, how often git was called for a commit."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[Path, Path], tuple[list[Path], list[Stat], State]] = OrderedDict()
        self.asked = 0

    def find(self, path: Path) -> State:
        """(commit, dirty) of a file or folder without links in its path; None where git is absent, slow or has no answer."""
        root = _repository(path)
        if root is None:
            return NO_REPOSITORY
        key = (root, path)
        if key in self._known:
            watched, stats, state = self._known[key]
            if _stats(watched) == stats:
                self._known.move_to_end(key)
                return state
            del self._known[key]
        return self._ask(root, path)

    def _ask(self, root: Path, path: Path) -> State:
        self.asked += 1
        watched = _watched(root, path)
        before = _stats(watched)
        commit = _git(path, "rev-parse", "HEAD") or None
        changes = _git(path, "status", "--porcelain", "--ignored", "--", str(path)) if commit else None
        marks = [line[:2] for line in (changes or "").splitlines()]
        state = (commit, None if changes is None else any(mark != "!!" for mark in marks))
        if watched and changes is not None and _settled(before) and _stats(watched) == before:
            self._known[root, path] = (watched, before, state)
            if len(self._known) > limits.ENVIRONMENTS_CACHED_MAX:
                self._known.popitem(last=False)
        return state


def _repository(path: Path) -> Path | None:
    """The nearest folder at or above `path` that has a `.git` or is a repository without a working tree."""
    for folder in (path, *path.parents):
        bare = all(os.path.lexists(folder / name) for name in ("HEAD", "objects", "refs"))
        if bare or os.path.lexists(folder / ".git"):
            return folder
    return None


def _text(path: Path) -> str:
    return regular.content(path, limits.GIT_FILE_BYTES_MAX, follow=True).decode("utf-8")


def _watched(root: Path, path: Path) -> list[Path]:
    """What the answer for a file rests on; empty where that is not known."""
    git = root / ".git"
    special = git.is_symlink() or any(os.path.lexists(git / name) for name in ("reftable", "commondir"))
    if special or not path.is_file() or not (git / "index").is_file():
        return []
    kept = [git / name for name in _INSIDE]
    try:
        head = _text(git / "HEAD")
        if head.startswith("ref: "):
            branch = git / head[5:].strip()
            kept.append(branch)
            if branch.exists() and _text(branch).startswith("ref: "):
                return []
    except (OSError, ValueError):
        return []
    folders = [root / part for part in path.relative_to(root).parents]
    kept += [folder / name for folder in folders for name in (".gitattributes", ".gitignore")]
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser(), "git")
    kept += [Path("/etc/gitconfig"), Path("~/.gitconfig").expanduser(), *(home / name for name in _SETTINGS)]
    ignored = _git(path, "config", "--type=path", "--get", "core.excludesFile")
    return [path, *kept, *([root / ignored] if ignored else [])]


def _stats(paths: list[Path]) -> list[Stat]:
    found: list[Stat] = []
    for path in paths:
        try:
            stat = path.stat()
            found.append((stat.st_dev, stat.st_ino, stat.st_mode, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns))
        except OSError:
            found.append(None)  # that it is absent counts too
    return found


def _settled(stats: list[Stat]) -> bool:
    newest = max((max(stat[-2:]) for stat in stats if stat is not None), default=0)
    return time.time_ns() - newest >= limits.DIGEST_SETTLED_S * 1e9


def _git(path: Path, *arguments: str) -> str | None:
    """What git says, or None. It gets no way to write, to prompt, or to run what the repository configures."""
    folder = path if path.is_dir() else path.parent
    calm = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.devnull]
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "ACTUM_"))}
    try:
        ended = subprocess.run(
            ["git", "-C", str(folder), *calm, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=variables | {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
            timeout=limits.GIT_WAIT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return ended.stdout.decode("utf-8", "replace").rstrip()
