"""Actum: a workbench for long-running tasks whose results can be checked.

`actum.open_result(path)` reads a result package anywhere. It is looked up when asked for: importing this package is free,
also in the task authors' interpreters, which get only `actum.sdk`.
"""

__version__ = "0.1.0"


def __getattr__(name):  # type: ignore[no-untyped-def]  # read by any Python >= 3.9
    if name == "open_result":
        from actum.results.package import open_result

        return open_result
    raise AttributeError(f"module 'actum' has no attribute {name!r}")
