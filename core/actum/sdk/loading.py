"""Finds a task's function: `FILE.py:NAME`, loaded as a script's neighbour would be, without leaving bytecode beside it."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any, Callable, Tuple


class NoSuchFunction(LookupError):
    """The file has no such function; the message is a sentence."""


def split(spec: str) -> Tuple[str, str]:
    """The absolute path and the name in `FILE.py:NAME`."""
    path, separator, name = spec.rpartition(":")
    if not separator or not path or not name.isidentifier():
        raise NoSuchFunction(f"“{spec}” is not FILE.py:NAME.")
    return os.path.abspath(path), name


def load(spec: str) -> Callable[..., Any]:
    """The function that `FILE.py:NAME` names. Imports the file; its folder is on the path, as for a script."""
    path, name = split(spec)
    folder = os.path.dirname(path)
    if folder not in sys.path:
        sys.path.insert(1, folder)  # after the folder that holds this package
    module_name = os.path.splitext(os.path.basename(path))[0]
    described = importlib.util.spec_from_file_location(module_name, path)
    if described is None or described.loader is None:
        raise NoSuchFunction(f"“{path}” is not a Python file.")
    module = importlib.util.module_from_spec(described)
    sys.modules[module_name] = module
    wrote_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        described.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = wrote_bytecode
    function: Any = getattr(module, name, None)
    if not callable(function):
        raise NoSuchFunction(f"“{path}” has no function “{name}”.")
    return function  # type: ignore[no-any-return]
