"""Item models over read-only connections."""
