"""Messages between hosts, clients and the supervisor, and the files they share."""
