"""Every bound in the program, unit last; relations between bounds are asserted beside them (R11).

Each has a stated behaviour at the bound, a test at it and one just above it.
"""

from __future__ import annotations

# Frames (ipc). A longer frame is a violation; a longer message is cut by its sender.
FRAME_BYTES_MAX = 65_536
FRAME_HEADER_BYTES = 4
CHANNEL_READ_BYTES_MAX = 4 * FRAME_BYTES_MAX  # what one turn of the loop takes from one channel
SOCKET_PATH_BYTES_MAX = 100
VIOLATIONS_PROVEN_MAX = 3  # the third closes a proven channel; an unproven one is closed at the first
CHANNELS_MAX = 512  # further connections are closed at once
HELLO_WAIT_S = 10  # an unproven channel that says nothing is closed

# Requests. Above: exit 2, "use a file input".
PARAMETERS_BYTES_MAX = 49_152
ERROR_TEXT_CHARS_MAX = 2_000

# Store.
GROUP_COMMIT_REQUESTS_MAX = 256
WRITER_QUEUE_REQUESTS_MAX = 65_536  # further requests are refused with STORAGE
BUSY_TIMEOUT_MS = 10_000
PAGE_ROWS_MAX = 500

# Supervision.
RECONCILE_EVERY_S = 60
TICK_MS = 250
ABSENCE_APART_S = 1.0  # two absences count only this far apart
HOST_SILENT_S = 15  # no heartbeat: contact is shown as lost, nothing else follows
HOST_EXIT_GRACE_S = 20  # after an outcome, before the host is ended by identity
STOP_GRACE_S_DEFAULT = 10
START_DEADLINE_S_DEFAULT = 60
CHANGES_PER_S_MAX = 15
PUBLISH_RETRY_S = 20
HELPER_TRIES_MAX = 3
HELPER_SECONDS_MAX = 24 * 3600
LOCK_WAIT_S = 30  # a client tries lock or socket this long, then exit 7
TAKE_OVER_FREE_S = 5
INPUT_COPY_BYTES_MAX_DEFAULT = 1 << 30  # larger inputs are pinned

assert PARAMETERS_BYTES_MAX < FRAME_BYTES_MAX, "a command frame carries the parameters"
assert GROUP_COMMIT_REQUESTS_MAX <= WRITER_QUEUE_REQUESTS_MAX
assert ABSENCE_APART_S < RECONCILE_EVERY_S
