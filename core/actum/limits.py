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
PAGE_ROWS_MAX = 500  # a larger page is cut to this
QUICK_CHECK_MS_MAX = 3_000  # after an unclean end; a longer check is cut short, and `audit` does it whole
CHECKPOINT_PAGES = 1_000  # the write-ahead log is folded back between commits when it is this long
CONTRACTS_CACHED_MAX = 256  # parsed contracts kept by the store; the oldest goes
AUDIT_FINDINGS_MAX = 1_000  # per check; more are counted, not named
BACKUPS_KEPT_MAX = 5  # older backups made before a migration are removed
SLOTS_MAX = 1_024

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

# Commands.
CLIENT_HELLO_WAIT_S = 5  # an endpoint that does not greet back within this time is nobody
CLIENT_SEND_WAIT_S = 10  # a frame the other end does not take within this time: the channel is lost
CLIENT_READ_EVERY_S = 0.5  # a waiting command reads the store this often when it hears nothing
INTERRUPT_AGAIN_S = 3  # a second Ctrl-C within this time stops the run
IDLE_LINGER_S = 4  # `supervise --until-idle` leaves after this long with nothing to do
DETACHED_LOG_BYTES_MAX = 1 << 20  # the log of detached supervisors starts afresh above
COMMAND_TRIES_MAX = 3  # a command whose answer is lost is sent this often, with the same key
EXTRACT_WAIT_S = 30  # reading the contract of a Python function

assert PARAMETERS_BYTES_MAX < FRAME_BYTES_MAX, "a command frame carries the parameters"
assert GROUP_COMMIT_REQUESTS_MAX <= WRITER_QUEUE_REQUESTS_MAX
assert ABSENCE_APART_S < RECONCILE_EVERY_S

# Contracts and numbers. Above: refused in words, where the contract or the value is read.
DECIMAL_DIGITS_MAX = 76  # what a 256-bit decimal column holds
NUMBER_TEXT_CHARS_MAX = 400  # the longest exact repr of a float64 fits
NAME_CHARS_MAX = 100  # names of tasks, parameters, tables, columns, metrics; reasons
CONTRACT_PARAMETERS_MAX = 200
CONTRACT_BYTES_MAX = 262_144  # a contract document, canonical
TABLE_COLUMNS_MAX = 2_000
EXTRACT_S_MAX = 20  # importing a user's file to read its contract
EXTRACT_OUTPUT_BYTES_MAX = 1_048_576
LOGIN_SHELL_S_MAX = 10  # capturing the environment of the login shell
LOGIN_SHELL_OUTPUT_BYTES_MAX = 1_048_576

assert CONTRACT_BYTES_MAX <= EXTRACT_OUTPUT_BYTES_MAX, "an extracted contract can be as long as any"
