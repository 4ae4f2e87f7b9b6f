"""What a task asks, promises and measures, as data checked without I/O."""
