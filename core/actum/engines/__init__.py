"""Where work runs: the port and the engine of this machine."""
