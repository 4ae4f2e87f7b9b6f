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
CHECKPOINT_ROWS = 4_000  # rows changed since the log was last folded back: done again, between commits
CONTRACTS_CACHED_MAX = 256  # parsed contracts kept by the store; the oldest goes
AUDIT_FINDINGS_MAX = 1_000  # per check; more are counted, not named
BACKUPS_KEPT_MAX = 5  # older backups made before a migration are removed
SLOTS_MAX = 1_024
UNVERIFIED_FILES_LISTED_MAX = 1_000  # files of an unsuccessful attempt named by `show`; more are counted

# Supervision.
RECONCILE_EVERY_S = 60
RECORDS_EVERY_S = 1.0  # between two readings of an attempt's records
TICK_MS = 250
TICK_LATE_S = 2.0  # beyond this since the tick before, nobody was listening: that time is no silence of a host
ABSENCE_APART_S = 1.0  # two absences count only this far apart
HOST_SILENT_S = 15  # no heartbeat: contact is shown as lost, nothing else follows
HOST_EXIT_GRACE_S = 20  # after an outcome, before the host is ended by identity
LAUNCH_DOUBTED_S = 5.0  # a host that was spawned and says nothing is looked for after this
LOOK_AGAIN_S = 1.0  # between two looks at an attempt that is waited for
PIDS_NAMED_MAX = 8  # of processes that cannot be seen, in what a hold waits for; of those left to a nested attempt
HOLD_BELIEVED_S = 10.0  # an earlier hold on record is not believed for so long, where a new look could tell
HOLD_DOUBLINGS_MAX = 6  # a fresh hold is looked at after 1 s, 2 s, 4 s …; then with every pass
NOTICES_WAITING_MAX = 1_000  # journal rows of one attempt that wait for the store; the oldest are counted
STOP_GRACE_S_DEFAULT = 10
STALL_AFTER_S_DEFAULT = 600
START_DEADLINE_S_DEFAULT = 60
CHANGES_PER_S_MAX = 15
PUBLISH_RETRY_S = 20
HELPER_TRIES_MAX = 3
HELPER_SECONDS_MAX = 24 * 3600  # a helper that says nothing of its call for so long is ended: crashed, no rejection
LOCK_WAIT_S = 30  # a client tries lock or socket this long, then exit 7
TAKE_OVER_FREE_S = 5
STORE_RETRY_S = 5  # a store that could not commit is tried again after this
INPUTS_MAX = 1_000  # of one run; more: exit 2
INPUT_COPY_BYTES_MAX_DEFAULT = 1 << 30  # larger inputs are pinned

# Commands.
CLIENT_HELLO_WAIT_S = 5  # an endpoint that does not greet back within this time is nobody
CLIENT_SEND_WAIT_S = 10  # a frame the other end does not take within this time: the channel is lost
CLIENT_READ_EVERY_S = 0.5  # a waiting command reads the store this often when it hears nothing
INTERRUPT_AGAIN_S = 3  # a second Ctrl-C within this time stops the run
IDLE_LINGER_S = 4  # `supervise --until-idle` leaves after this long with nothing to do
DETACHED_LOG_BYTES_MAX = 1 << 20  # the log of detached supervisors starts afresh above
LOG_PAGE_LINES = 2_000  # `logs` reads this many lines at a time
COMMAND_TRIES_MAX = 3  # a command whose answer is lost is sent this often, with the same key

assert PARAMETERS_BYTES_MAX < FRAME_BYTES_MAX, "a command frame carries the parameters"
assert GROUP_COMMIT_REQUESTS_MAX <= WRITER_QUEUE_REQUESTS_MAX
assert ABSENCE_APART_S < RECONCILE_EVERY_S
assert LOOK_AGAIN_S * 2**HOLD_DOUBLINGS_MAX >= RECONCILE_EVERY_S, "a long hold is looked at with the passes, no oftener"

# Contracts and numbers. Above: refused in words, where the contract or the value is read.
DECIMAL_DIGITS_MAX = 76  # what a 256-bit decimal column holds
NUMBER_TEXT_CHARS_MAX = 400  # the longest exact repr of a float64 fits
NAME_CHARS_MAX = 100  # names of tasks, parameters, tables, columns, metrics; reasons
CONTRACT_PARAMETERS_MAX = 200
CONTRACT_BYTES_MAX = 262_144  # a contract document, canonical
TABLE_COLUMNS_MAX = 2_000
SIDECAR_BYTES_MAX = 4 << 20  # what is read of one to see whether an export was finished; a longer one is none of ours
DELIVERY_TRIES_MAX = 3  # of an export on success, one for each start of a supervisor; then only when somebody asks for it
FILE_NAME_BYTES_MAX = 200  # of a file that is exported on success, its suffix included; a longer name is cut
EXTRACT_S_MAX = 20  # importing a user's file to read its contract
EXTRACT_OUTPUT_BYTES_MAX = 1_048_576
EXTRACT_SHOWN_LINES_MAX = 12  # of what a failing import printed, the last ones
RETRIES_MAX = 100
RETRY_FACTOR_MAX = 10
LOGIN_SHELL_S_MAX = 10  # capturing the environment of the login shell
LOGIN_SHELL_OUTPUT_BYTES_MAX = 1_048_576

assert CONTRACT_BYTES_MAX <= EXTRACT_OUTPUT_BYTES_MAX, "an extracted contract can be as long as any"

# Results and helpers.
HASH_BLOCK_BYTES = 1 << 20
HASH_SMALL_BYTES_MAX = 1 << 18  # up to here digesting without OpenSSL is quicker than loading it
CHUNK_BYTES = 1 << 26  # tables longer than this have a digest per chunk in the manifest
PACKAGE_FILES_MAX = 100_000  # more: result_rejected
SETTLED_TOGETHER_FILES = 32  # of more files than this several are waited for at a time
SETTLING_THREADS = 8
OUTPUT_HOLLOW_BYTES = 16 << 30  # a file of at least this size that is almost all holes: result_rejected
OUTPUT_HOLLOW_FACTOR = 256  # almost all: less than one byte in so many is on the disk
PACKAGE_TABLES_MAX = 256  # more: contract_invalid
PACKAGE_METRICS_MAX = 10_000  # more: contract_invalid
MANIFEST_BYTES_MAX = 1 << 28  # a longer manifest.json is not read
NAMES_TOLD_MAX = 20  # files named in one message; the rest is counted
FINDINGS_MAX = 100  # findings kept by one level of a verification; more are counted
TABLE_LINE_BYTES_MAX = 1 << 24  # one row of a JSON lines table; more: contract_invalid
JSON_LINES_ROWS_MAX = 100_000  # a table of more rows is written as Arrow by the task authors' package
JSON_LINES_BYTES_MAX = 1 << 24  # likewise of more bytes
BATCH_ROWS = 65_536  # rows compared, read or written at once
BATCH_BYTES = 1 << 23  # text of one batch, whatever its rows
ROW_GROUP_ROWS_MAX = 131_072
CHUNK_ROWS = 8 * ROW_GROUP_ROWS_MAX  # a table is verified, resumed and named in chunks of so many rows
ZIP64_BYTES = 1 << 31  # a member of a pack that is longer has 64-bit sizes
LINK_BYTES_MAX = 4_096  # the target of a link in a pack; a longer one is refused
DIGESTED_TOGETHER_BYTES = 1 << 20  # of several files longer than this two are digested at a time
DIGESTING_THREADS = 2
BATCHES_AHEAD_MAX = 2  # read while the one before is compared
MAPPED_BYTES_MAX = 16 << 20  # of an Arrow file kept in memory; what was looked at is let go beyond
ROW_GROUPS_CACHED_MAX = 8  # by one open table; the one used longest ago goes
CSV_HEADER_BYTES_MAX = 1 << 20  # a longer header line: contract_invalid
HELPER_REQUEST_BYTES_MAX = 1 << 20  # a longer line is answered with an error and skipped
HELPER_PROGRESS_PER_S_MAX = 10  # more reports are dropped
DIGESTS_CACHED_MAX = 65_536  # the oldest goes
DIGEST_SETTLED_S = 2.0  # a file changed more recently is not put into the digest cache
FREEZE_TRIES_MAX = 3  # an input that changes during each of them: input_changed
GIT_WAIT_S = 5  # slower: the commit is not recorded
GIT_FILE_BYTES_MAX = 1 << 20  # of a file in .git that is read directly; what lies beyond is not looked at
INTERPRETER_WAIT_S = 20  # slower: start_error
ENVIRONMENTS_CACHED_MAX = 64  # the oldest goes

assert BATCH_ROWS * 2 == ROW_GROUP_ROWS_MAX, "two batches fill a row group"
assert CHUNK_BYTES % HASH_BLOCK_BYTES == 0
assert CHUNK_ROWS % ROW_GROUP_ROWS_MAX == 0, "a chunk ends where a row group ends"
assert CONTRACT_BYTES_MAX < HELPER_REQUEST_BYTES_MAX, "a request can carry a contract"

# Host and spool. What each does at its bound is said in the module that reads it.
OUTBOX_MESSAGES_MAX = 256  # stages and notices waiting; the oldest notice gives way and is counted
SEND_WAIT_S = 10  # a channel that takes nothing for this long is closed; the spool goes on
HELLO_ACK_WAIT_S = 10  # a channel that answers no hello is closed and tried anew
RECONNECT_FIRST_S = 0.05
RECONNECT_S_MAX = 2.0
ACK_WAIT_S = 10  # after the outcome is on disk, then the host leaves without an answer
ACK_AGAIN_S = 2.0  # the terminal frame is sent again
ALIVE_LOCK_WAIT_S = 2
HOST_LOG_LINES_MAX = 2_000  # of the host's own; further ones are not written
LOCK_PROBE_S = 1.0  # a host without a channel asks this often whether a supervisor holds the workspace's lock
HOST_TURN_S = 0.1  # messages and the stop file are looked at this often
STATE_EVERY_S = 1.0
HEARTBEAT_EVERY_S = 2.0
HISTORY_EVERY_S = 5.0  # between two lines of an attempt's history of progress and activity
HISTORY_LINES_MAX = 1_440  # two hours at first; then every second line goes and the distance doubles
HISTORY_STAGE_CHARS_MAX = 100  # of the stage's name in a line; the rest is cut
HISTORY_FILE_BYTES_MAX = 2 << 20  # what is read of it; lines beyond are not shown
TREE_EVERY_S = 1.0
TREE_FIRST_S = 0.1  # the first look after the work was started
SCAN_SHARE_MAX = 0.01  # of a core: looking at processes takes at most this much of the host's time
SCAN_ROUNDS_MAX = 16  # of one pass over all processes, while some end before they are read; then it tells nothing
ENDING_EVERY_S = 0.05
TREE_MEMBERS_MAX = 4_096  # recorded in tree.json; more are ended all the same
NESTED_RECORDED_MAX = 512  # processes of nested attempts named in tree.json; more are left out all the same
HOST_ARRIVES_S = 30  # a nested host that has no lock by then is of the tree in which it was started
COMMAND_CHARS_MAX = 200
SPOOL_FILE_BYTES_MAX = 4 << 20  # a longer spool file is unreadable
LOG_SEGMENT_BYTES = 16 << 20
LOG_READ_BYTES_MAX = 262_144  # what one turn takes from one stream
LOG_LINE_BYTES_MAX = 65_536  # a longer line is indexed in pieces
PROGRESS_LINE_CHARS_MAX = 400
PROGRESS_LINES_PER_READ_MAX = 8
MESSAGE_LINE_BYTES_MAX = 1 << 20  # a longer line is skipped with a notice
RECORD_LINE_BYTES_MAX = 2 * MESSAGE_LINE_BYTES_MAX  # what the host adds included; a longer line is no record
MESSAGE_LEVELS_MAX = 32  # of objects and lists, the message itself one; a deeper record contradicts the contract (R12)
MESSAGES_READ_BYTES_MAX = 1 << 20  # what one turn reads of messages.jsonl
MESSAGES_BACKLOG_BYTES_MAX = 64 << 20  # unread: the work is paused until half of it is read (R12)
COLLECTED_MESSAGES_MAX = 10_000  # metrics, tables, files, notes each; more contradict the contract
COLLECTED_BYTES_MAX = 32 << 20  # of all of these; more contradict the contract
NOTICES_PER_CODE_MAX = 20
OUTPUT_FILES_COUNTED_MAX = 100_000
DISK_LOW_BYTES = 256 << 20
DISK_LOOK_EVERY_S = 5.0

assert LOG_LINE_BYTES_MAX < LOG_SEGMENT_BYTES
assert MESSAGE_LINE_BYTES_MAX <= MESSAGES_READ_BYTES_MAX
assert MESSAGES_READ_BYTES_MAX < MESSAGES_BACKLOG_BYTES_MAX
assert ALIVE_LOCK_WAIT_S < HOST_ARRIVES_S
assert HOST_TURN_S <= STATE_EVERY_S <= HEARTBEAT_EVERY_S < HOST_SILENT_S, "a living host is never shown as silent"

# Controller.
CHANNEL_WRITE_BYTES_MAX = 16 * FRAME_BYTES_MAX  # a reader that falls further behind is cut off; the spool serves on
HELPER_CALLS_MAX = 4_096  # further calls are answered "busy"
HELPERS_AT_ONCE_MAX = 8  # that digest what clients ask for, and as many that freeze; what is asked beyond waits
HELPER_END_MS_MAX = 1_000  # how long a helper at work may take to end before it is killed
HELPER_LINE_BYTES_MAX = 16 << 20  # a helper that writes a longer line is ended
OFFERS_AFTER_MS = 2_000  # after the start, so that the first frame does not wait
ADOPTION_OFFERS_MAX = 200  # the newest runs without a result that are looked at for a sealed package; `adopt` looks at any
CLOSED_LOOKED_MAX = 100  # the newest closed attempts of which a pass of reconciliation looks whether something lives
CLOSED_A_TURN_MAX = 20  # of them in one turn of the loop
RESULTS_A_MINUTE_MAX = 20  # the newest results that are looked at with each pass; the first one looks at more
RESULTS_SWEPT_MAX = 200  # the newest results that `reconcile` looks at; `verify --all` looks at every one
PINNED_NAMED_MAX = 3  # names of pinned inputs in the ledger; the rest is …
HOST_POLL_MS = 500  # where the kernel has no pidfd
KEY_CHARS_MAX = 200  # a longer key: exit 2
LABELS_MAX = 50  # more: exit 2
LOCK_LOOK_EVERY_S = 60  # whether the lock file is still the one that was locked
SLEEP_NOTICED_S = 5
AWAKE_TOLD_EVERY_S = 20  # by the helper that holds, so that its silence is noticed
AWAKE_RETRY_S = 300  # a system that refused to be kept awake is asked again
AWAKE_LOOK_EVERY_S = 1.0  # whether work is under way
AWAKE_KEPT_S = 5.0  # after the last work, so that the next run need not ask anew
AWAKE_WHY_CHARS_MAX = 300  # of the reason why nothing holds
CLOCK_SET_NOTICED_S = 5  # what the wall clock gained or lost between two ticks, beyond the time that passed
VERDICTS_BYTES_MAX = 49_152  # of one answer to `reconcile`; further verdicts are counted, not sent
STATE_POLL_S = 1.0  # where no frames come, state.json is read this often
SWEEP_IDLE_S = 60  # nothing computes and nothing is asked for so long: published bytes are looked at again
SWEEP_PAUSE_S = 3_600  # between two passes over all results
SWEEP_STEP_ROWS = 200  # results asked for their last look in one tick
LEAVE_MS_MAX = 10_000  # how long closing the window waits for open commits

assert VERDICTS_BYTES_MAX < FRAME_BYTES_MAX, "an answer carries the verdicts"
assert HELLO_WAIT_S <= HELLO_ACK_WAIT_S, "a host is heard before it gives up"

# Forms and interpreters.
PRESETS_MAX = 100  # of one task; one more is refused in words
PRESETS_BYTES_MAX = 524_288  # all presets of one task, as JSON
INTERPRETERS_MAX = 60  # found on the machine; further ones are left out
INTERPRETER_ASK_S_MAX = 5  # one that does not say its version by then is left out

# Window.
RUN_LIST_PAGE_ROWS = 200  # one page of history; the next is fetched when it is scrolled to
OVERLAID_CURVES_MAX = 9  # of compared runs, told apart by three colours and three dashes; which are drawn can be chosen
COMPARED_RUNS_MAX = 200  # side by side; more are refused in words
RESULT_LIST_PAGE_ROWS = 200  # results read at once by the list; more when it is scrolled
RUN_LIST_OPEN_ROWS_MAX = PAGE_ROWS_MAX  # more open runs are not listed before the history; the count says so
RUN_LIST_CELLS_KEPT_MAX = 20 * RUN_LIST_PAGE_ROWS  # rows put into words; beyond it they are put into words again
ACTIVE_SHOWN_MAX = 8  # open runs in the sidebar; the list has them all
SAMPLES_PER_RUN_MAX = 1_200  # of progress and activity; beyond it every second one goes, so the whole time stays visible
SAMPLED_RUNS_MAX = 64  # the run sampled longest ago goes first
JOURNAL_SHOWN_ROWS_MAX = 5_000  # of one run, the first ones; that there are more is said
RECORDS_SHOWN_ROWS_MAX = 5_000  # likewise
LOG_LINE_SHOWN_CHARS_MAX = 2_000  # a longer line is cut on the screen, never in the file
LOG_SEARCH_LINES_MAX = 4_000  # looked through in one turn
LOG_SEARCH_BYTES_MAX = 262_144  # likewise, but always one line
LOG_HITS_MAX = 100_000  # lines found are kept up to here; then the search ends and the count has a plus
LOG_WHOLE_LINE_BYTES_MAX = 1 << 20  # of one line opened whole; what follows is not shown, and that is said
VALUE_SHOWN_CHARS_MAX = 4_000  # of one value in a register
TEXT_CACHE_ENTRIES_MAX = 8_192  # elided and wrapped strings; a full cache is emptied
ICON_CACHE_ENTRIES_MAX = 512  # likewise; a window shows about sixty
PALETTE_GROUP_ROWS_MAX = 6  # of one group in the palette; more letters find the rest
SEARCH_STEPS_MAX = 16  # asked for while a text is looked for in a table; beyond it the oldest go
EARLY_COMMANDS_MAX = 16  # given before the supervisor is up; one more is refused in words
VISITED_PLACES_MAX = 100  # for back and forward; the oldest go
CRASH_REPORTS_MAX = 50  # the oldest go
GUI_STALL_S_MIN = 0.2  # a call that holds the GUI thread longer is kept with its stack
STALL_FRAMES_MAX = 40  # of one stack, the innermost
STALLS_WAITING_MAX = 64  # noticed and not yet written; the oldest go
STALL_LOG_BYTES_MAX = 262_144  # the file of stalls starts afresh above

assert RUN_LIST_PAGE_ROWS <= PAGE_ROWS_MAX

# Looking at tables.
TEXT_AUTHORITY_BYTES_MAX = 64 << 20  # of JSON lines or a CSV that is browsed itself; a longer one is refused in words
TABLE_CACHE_BYTES_MAX = 96 << 20  # decoded columns kept by one open table; the one used longest ago goes
TABLE_WINDOW_ROWS_MAX = 100_000  # what the grid holds at once; beyond, its window moves (its coordinates have 32 bits)
TABLE_PAGE_ROWS = 256  # read at once for the grid
TABLE_AHEAD_ROWS = 100  # this far beyond what is in sight the next page is read before it is needed
TABLE_PAGES_CACHED_MAX = 64  # by one grid; the one used longest ago goes
READS_WAITING_MAX = 8  # pages waiting to be read; the oldest gives way and is asked for again
TABLE_COPY_ROWS_MAX = 100_000  # rows put on the clipboard; more are not, and the window says so
TABLE_COPY_CHARS_MAX = 64 << 20  # likewise, whatever the rows
CELL_SHOWN_CHARS_MAX = 400  # of one cell; a longer text is cut with an ellipsis and copied whole
QUERY_MEMORY_BYTES_MAX = 768 << 20  # of one sort or filter; beyond, it goes on on disk
QUERY_THREADS_MAX = 2
STATISTICS_ROWS_MAX = 25_000_000  # beyond, every n-th row is taken and “sample of n” is said
STATISTICS_DISTINCT_ROWS_MAX = 5_000_000  # beyond, distinct values are estimated and “about” is said
STATISTICS_TOP_ROWS = 8  # the most frequent values named
PLOT_POINTS_MAX = 4_000  # of a line; beyond, the least and the greatest value of each step
SCATTER_POINTS_MAX = 5_000  # beyond, a sample
PLOT_GROUPS_MAX = 24  # boxes side by side, of the most frequent texts; how many there are is said
FILTER_CHARS_MAX = 1_000  # a longer value of a filter is refused in words
FILTER_TEXT_CHARS_MAX = 4_000  # of a whole filter as it is typed
FILTER_PARTS_MAX = 400  # conditions and values of one filter
FILTER_DEPTH_MAX = 40  # of its parentheses and words
ARRANGEMENTS_MAX = 500  # tables whose columns a user arranged; the ones used longest ago are forgotten
SEARCH_CHARS_MAX = 200  # of a text that is looked for in a table
VALUE_COUNTS_ROWS = 100  # the most frequent values of a column; the others are summed up
QUERY_ROW_RANGES_MAX = 1_000  # runs of rows chosen of a view, which a command carries; more are refused in words
ORDER_COLUMNS_MAX = 8  # a table is sorted by at most so many columns
SHEET_ROWS_MAX = 1_048_576  # of one sheet, its header included; more rows go to further sheets or files
SHEET_COLUMNS_MAX = 16_384  # of one sheet; more: XLSX is refused, in CSV the loss is named
SHEET_NAME_CHARS_MAX = 31  # of a sheet's name; a longer one is cut
SHEET_CELL_CHARS_MAX = 32_767  # what a spreadsheet's cell holds; longer texts are a named loss
EXPORT_CELLS_MAX = 1 << 20  # read, written or compared at once by one thread
EXPORT_THREADS_MAX = 2  # that make text of rows; they are written in order
BATCH_FILES_MAX = 10_000  # files of one batch of exports; more are refused in words
EXPORT_NAME_BYTES_MAX = 180  # of a table's name in a file's name, which file systems hold to 255 with what is added; cut
EXPORT_NAMES_MAX = 1_000  # names tried to keep both files; beyond, it is refused
EXPORT_ROOM_LEFT_BYTES = 64 << 20  # free space that an export leaves to others: it ends before
EXPORT_ALONE_WAIT_S = 5  # for another export to give its file a name; then it is done all the same
EXPORT_ROOM_EVERY_BYTES = 16 << 20  # written between two looks at the free space
EXPORT_MEMORY_BYTES_MAX = 512 << 20  # of an export of any length: batches shrink where rows are long; measured by tests/bench
EXPORT_COPY_MEMORY_BYTES_MAX = 256 << 20  # of a Parquet that DuckDB writes anew; what needs more is written by pyarrow

assert EXPORT_COPY_MEMORY_BYTES_MAX < EXPORT_MEMORY_BYTES_MAX
assert TABLE_PAGE_ROWS <= PAGE_ROWS_MAX
assert TABLE_WINDOW_ROWS_MAX * 200 < 1 << 31, "rows up to 200 pixels high fit into 32-bit coordinates"

# Profiles of tables.
PROFILE_MEMORY_BYTES_MAX = 512 << 20  # of the counting; what does not fit goes to the scratch folder
PROFILE_BLOCK_CELLS_MAX = 1 << 20  # of JSON lines held at once, whatever their bytes
PROFILE_BINS_MAX = 20  # of one histogram
PROFILE_TOP_ROWS_MAX = 1_000  # most frequent values of one column; more: the parameter is refused
PROFILE_TEXT_CHARS_MAX = 200  # of a value shown; a longer one is cut and ends in …
PROFILE_STOOD_ROWS_MAX = 200  # texts of one column that mean missing, or look so; the rarest are left out
TRYOUT_S_MAX = 20  # a trial of a program that is being defined; then it is ended
TRYOUT_FILES_SHOWN_MAX = 50  # names of what it wrote; the rest is not named
FORM_READ_BYTES_MAX = 64 << 20  # a larger file is digested when the run is recorded, not while a form is filled
FORM_FOLDER_FILES_MAX = 20_000  # counted of a chosen folder; beyond, “more than” is said
HEAD_BYTES_MAX = 1 << 20  # read of a table file to find its column names
LIVE_RUNS_KEPT_MAX = 1_000  # newest live states the cards of tasks keep; a full store is emptied and fills again
FIELD_LINES_MAX = 8  # a growing field is at most so high, then it scrolls

# What was tried of the program itself.
EVIDENCE_BYTES_MAX = 1 << 20  # of evidence.json and of the list by hand; a longer file is not read, and that is said
EVIDENCE_NAMES_MAX = 200  # reasons of skips, and words counted, of one kind; the rest is one sum, or not shown
OBSERVED_ROWS_MAX = 20_000  # newest events, and newest checks, counted for observed use; that these are the newest is said
CGROUP_LIST_BYTES_MAX = 1 << 20  # read of one list of members: some 100,000 pids; more are found by the other means
ATTESTED_BY_CHARS_MAX = 64  # of the name of who attests; a longer one is cut
