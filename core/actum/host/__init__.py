"""The small process that starts, watches and cleans up the work of one attempt."""
