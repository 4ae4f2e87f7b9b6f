"""Leaves a double-forked daemon in a kernel session of its own: `DEN own|cleared|garbage|foreign SECONDS`.

The second word is its environment: its own, none, or one that says with garbage or a token that it is of another attempt.

The daemon tells that it is ready when the root has ended, of which it hears by a pipe that the root alone holds: a stop that
is asked for then finds the root's exit code already given. Before it ends it writes a file beside the others.
"""

import os
import sys
import time

den, kind, seconds = sys.argv[1:4]
own = dict(os.environ)
environments = {"cleared": {}, "garbage": {**own, "ACTUM_COOKIE": "x"}, "foreign": {**own, "ACTUM_COOKIE": "0" * 32}}
if kind == "daemon":
    output, root = sys.argv[4], int(sys.argv[5])
    open(os.path.join(den, "lives"), "w").close()
    os.read(root, 1)
    open(os.path.join(den, "ready"), "w").close()
    time.sleep(float(seconds))
    with open(os.path.join(output, "late.txt"), "w") as file:
        file.write("written when the root had long ended")
    sys.exit()
root, held = os.pipe()
if os.fork() == 0:
    os.close(held)
    os.set_inheritable(root, True)
    os.setsid()
    if os.fork() == 0:
        words = [sys.executable, __file__, den, "daemon", seconds, os.environ["ACTUM_OUTPUT"], str(root)]
        os.execve(sys.executable, words, environments.get(kind, own))
    os._exit(0)
os.wait()
while not os.path.exists(os.path.join(den, "lives")):
    time.sleep(0.01)
