"""Exits well and has done nothing."""
