"""Leaves what no result may hold: `DEN link|chain|fifo|socket|device`."""

import os
import socket
import stat
import sys

os.chdir(os.environ["ACTUM_OUTPUT"])
kind = sys.argv[2]
if kind == "link":
    os.symlink("/etc/hostname", "out")
elif kind == "chain":
    os.symlink("..", "up")
    os.symlink("up/../../secret", "down")
elif kind == "fifo":
    os.mkfifo("pipe")
elif kind == "socket":
    socket.socket(socket.AF_UNIX).bind("door")
else:
    os.mknod("null", stat.S_IFCHR | 0o600, os.makedev(1, 3))
