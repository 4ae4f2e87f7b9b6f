"""The thread that owns the supervisor, the processes and the local server."""
