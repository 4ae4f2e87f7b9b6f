"""A simulated world in which the real supervisor runs unchanged: clocks, store, hosts, processes, files, faults, all seeded."""
