"""What every reader of a table's rows offers, and how it says that a file cannot be read (R11, R14)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from actum.errors import CheckFailed, StorageFailed

if TYPE_CHECKING:
    import pyarrow as pa


class Rows(ABC):
    """One open file. Attributes: path, schema (as in Parquet), starts (the first row of each group, and the end)."""

    path: Path
    schema: pa.Schema
    starts: list[int]

    @property
    def total(self) -> int:
        return self.starts[-1]

    @abstractmethod
    def piece(self, group: int, number: int, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        """Columns of the rows from `number` · ROW_GROUP_ROWS_MAX on of a group. Raises StorageFailed, ActumError."""

    @abstractmethod
    def stream(self, names: Sequence[str], groups: Sequence[int] | None = None) -> Iterator[pa.RecordBatch]:
        """The rows of these groups (None = all), in order, at most BATCH_ROWS at once. Raises StorageFailed, ActumError."""

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Rows:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def told(path: Path, doing: str = "reading the table") -> Iterator[None]:
    """What a library raises while it reads, in words."""
    import pyarrow as pa

    try:
        yield
    except pa.ArrowException as error:
        raise damaged(path, error) from error
    except OSError as error:
        raise (damaged(path, error) if error.errno is None else StorageFailed(doing, error)) from error


def damaged(path: Path, error: object) -> CheckFailed:
    """Such a file is not what it was published as."""
    said = (str(error).splitlines() or [""])[0] or type(error).__name__
    return CheckFailed("result_damaged", "The table cannot be read.", f"{path.name}: {said}.", "Verify the result.")
