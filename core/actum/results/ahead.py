"""Reading ahead: an iterator's next items are made in a thread of their own while the one before is worked on.

It pays where both sides leave the interpreter lock: decoding, comparing, digesting. At most BATCHES_AHEAD_MAX items wait.
Closing ends the thread, whatever it was at; an exception inside it comes out where its item would have.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Any, TypeVar

from actum import limits

T = TypeVar("T")
_END = object()


def ahead(items: Iterator[T]) -> Iterator[T]:
    """The same items. Close it when it is not read to its end."""
    waiting: queue.Queue[Any] = queue.Queue(limits.BATCHES_AHEAD_MAX)
    closed = threading.Event()

    def put(item: Any) -> bool:
        while not closed.is_set():
            try:
                waiting.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def work() -> None:
        try:
            for item in items:
                if not put((item, None)):
                    return
            put((_END, None))
        except BaseException as error:  # it is raised where it is waited for
            put((_END, error))
        finally:
            close = getattr(items, "close", None)
            if close is not None:
                close()

    thread = threading.Thread(target=work, name="ahead", daemon=True)
    thread.start()
    try:
        while True:
            item, error = waiting.get()
            if error is not None:
                raise error
            if item is _END:
                return
            yield item
    finally:
        closed.set()
        thread.join()
