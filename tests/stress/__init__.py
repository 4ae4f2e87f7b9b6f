"""The store and its programs under stress: other holders of locks, full disks, damaged files, many at once."""
