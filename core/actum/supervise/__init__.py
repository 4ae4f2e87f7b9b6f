"""The code that decides; it does no I/O."""
