"""Ends at once; its child lives on, holds the output open and goes on printing."""

import os
import time

parent = os.getpid()
os.write(1, b"the parent says goodbye\n")
if os.fork() == 0:
    while os.getppid() == parent:
        time.sleep(0.01)
    for number in range(5):
        time.sleep(0.05)
        os.write(1, b"the orphan says %d\n" % number)
os._exit(0)
