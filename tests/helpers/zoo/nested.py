"""Runs Actum itself: `DEN WORKSPACE TASK`; publishes what it answered."""

import os
import subprocess
import sys

_, den, workspace, task = sys.argv
entry = "import sys; from actum_desktop.entry import main; sys.argv[0] = 'actum'; sys.exit(main())"
words = [sys.executable, "-c", entry, "--workspace", workspace, "run", task, "--json"]
done = subprocess.run(words, stdout=subprocess.PIPE, timeout=120, check=False)
with open(os.path.join(os.environ["ACTUM_OUTPUT"], "answer.json"), "wb") as file:
    file.write(done.stdout)
sys.exit(done.returncode)
