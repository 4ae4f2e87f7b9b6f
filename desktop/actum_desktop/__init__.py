"""Actum's window and commands."""
