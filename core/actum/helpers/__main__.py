"""`python -m actum.helpers`: a helper process, spawned and spoken to by the controller."""

from __future__ import annotations

import sys

from actum.helpers.program import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
