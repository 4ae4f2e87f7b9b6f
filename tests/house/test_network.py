"""R20: everything works with the network off, and nothing phones home: no module of ours can reach beyond this machine."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.house.sources import CORE, DESKTOP, imported_modules, modules, nodes, place

REACHING = (
    "urllib.request", "urllib3", "http", "ftplib", "smtplib", "telnetlib", "xmlrpc", "requests", "httpx", "aiohttp",
    "socketserver", "webbrowser", "ssl",
)  # fmt: skip
CLASSES = {"AF_INET", "AF_INET6", "create_connection", "getaddrinfo", "QTcpSocket", "QTcpServer", "QUdpSocket",
           "QSslSocket", "QNetworkAccessManager", "QNetworkRequest", "QWebSocket"}  # fmt: skip


def reaching(path: Path) -> list[str]:
    found = []
    for name in sorted(imported_modules(path)):
        if name in REACHING or name.startswith(tuple(f"{module}." for module in REACHING)):
            found.append(f"{place(path)} imports {name}")
    for node in nodes(path):
        word = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        if isinstance(node, (ast.Attribute, ast.Name)) and word in CLASSES:
            found.append(f"{place(path, node.lineno)} uses {word}")
    return found


def test_r20_nothing_reaches_beyond_this_machine() -> None:
    found = [line for path in modules(CORE, DESKTOP) for line in reaching(path)]
    assert not found, "Actum works with the network off; local sockets and files only:\n" + "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        "import urllib.request",
        "from urllib.request import urlopen",
        "import http.client",
        "import socket\nsocket.socket(socket.AF_INET)",
        "from PySide6.QtNetwork import QTcpSocket\nQTcpSocket()",
    ],
)
def test_r20_each_way_out_is_seen(tmp_path: Path, source: str) -> None:
    (tmp_path / "tried.py").write_text(source)
    assert reaching(tmp_path / "tried.py")
