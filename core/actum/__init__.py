"""Actum: a workbench for long-running tasks whose results can be checked."""
