"""A plot as a file: PNG and SVG as it is seen, CSV with the numbers it is drawn from.

The file is written beside its place, made durable and renamed, so that what stands there is whole (R18).
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from actum.errors import StorageFailed, WrongUse
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPoint, QSize
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QWidget

FORMATS = ("png", "svg", "csv")
_PNG_TITLE = "Title"  # the keyword that PNG has for it
_SCALE = 2.0  # so that a picture is sharp in print


def save(path: Path, seen: QWidget, ground: QColor, title: str, rows: Iterable[Sequence[Any]]) -> None:
    """Write what `seen` shows, in the format that the name of `path` ends with. `rows` are those of the CSV, heads first.

    Raises WrongUse for another ending, StorageFailed.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        known = ", ".join(f".{known}" for known in FORMATS)
        raise WrongUse("bad_format", f"A plot cannot be saved as “{path.suffix}”.", f"Known: {known}.", "Choose one of these.")
    content = as_csv(rows) if kind == "csv" else as_png(seen, ground, title) if kind == "png" else as_svg(seen, ground, title)
    write(path, content)


def write(path: Path, content: bytes) -> None:
    """A file that is whole or not there. Raises StorageFailed."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.writing")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StorageFailed("saving the file", error) from error


def as_png(seen: QWidget, ground: QColor, title: str) -> bytes:
    image = QImage(seen.size() * _SCALE, QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(_SCALE)
    image.fill(ground)
    image.setText(_PNG_TITLE, title)
    painter = QPainter(image)
    QWidget.render(seen, painter, QPoint(), renderFlags=QWidget.RenderFlag.DrawChildren)
    painter.end()
    held = QBuffer()
    held.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(held, "PNG")  # type: ignore[call-overload]
    return bytes(held.data().data())


def as_svg(seen: QWidget, ground: QColor, title: str) -> bytes:
    from PySide6.QtSvg import QSvgGenerator

    content = QByteArray()
    held = QBuffer(content)
    held.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(held)
    generator.setSize(QSize(seen.width(), seen.height()))
    generator.setViewBox(seen.rect())
    generator.setTitle(title)
    painter = QPainter(generator)
    painter.fillRect(seen.rect(), ground)
    QWidget.render(seen, painter, QPoint(), renderFlags=QWidget.RenderFlag.DrawChildren)
    painter.end()
    held.close()
    return bytes(content.data())


def as_csv(rows: Iterable[Sequence[Any]]) -> bytes:
    """UTF-8, RFC 4180; numbers with every digit they have, no value as an empty field."""
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\r\n").writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue().encode()


def points(found: Mapping[str, Any], x: str, y: str) -> list[Sequence[Any]]:
    """The rows of the CSV for the answer of the verb `plot`: points, steps with their counts, or boxes."""
    if found["kind"] == "box":
        heads = ("group", "rows", "least", "lower_quartile", "median", "upper_quartile", "greatest")
        keys = ("low", "lower", "median", "upper", "high")
        boxes = [(box["group"], box["rows"], *(_moment(box[key], found["y_time"]) for key in keys)) for box in found["boxes"]]
        return [heads, *boxes]
    if found["kind"] == "histogram":
        edges = [_moment(edge, found["x_time"]) for edge in found["x"]]
        return [(f"{y} from", f"{y} to", "rows"), *zip(edges, edges[1:], found["y"], strict=False)]
    pairs = zip(found["x"], found["y"], strict=True)
    return [(x, y), *((_moment(a, found["x_time"]), _moment(b, found["y_time"])) for a, b in pairs)]


def _moment(value: float, timed: bool) -> Any:
    """A time as ISO 8601, to the microsecond; beyond the years 1 to 9999 as seconds since 1970."""
    if not timed:
        return value
    try:
        return datetime.fromtimestamp(value, UTC).isoformat().replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return value


def _cell(value: Any) -> Any:
    return repr(value) if isinstance(value, float) else "" if value is None else value
