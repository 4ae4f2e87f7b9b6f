"""The tables of the store (§10), in SQLAlchemy Core.

Times are UTC microseconds, JSON is canonical text, truth values are 0 and 1, and each row keeps the epoch of the service
instance that wrote it last. Order is by integer sequence (`number`, `seq`, `n`), never by UUID or time: clocks go back.
`attempt.seq` is what other tables refer to; `attempt.id` is the name everyone else uses. Status columns have their first
value from the table's default, so that no INSERT names one (R02). Triggers are in `ddl_sqlite`.
"""

from __future__ import annotations

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

REVISIONS = ("0001", "0002", "0003")  # every schema this program can read or migrate, oldest first; the last is current

metadata = MetaData()

# Open or succeeded: such an adoption is the only one of its attempt. One that was stopped or refused bars no other (P16).
_ADOPTION_STANDS = "adopted_attempt IS NOT NULL AND status NOT IN ('FAILED', 'START_FAILED', 'TIMEOUT', 'STOPPED')"


def _epoch() -> Column[int]:
    return Column("epoch", Integer, nullable=False)


service_instance = Table(
    "service_instance",
    metadata,
    Column("epoch", Integer, primary_key=True, autoincrement=False),
    Column("id", Text, nullable=False, unique=True),
    Column("pid", Integer, nullable=False),
    Column("identity", Text, nullable=False),  # JSON
    Column("program_version", Text, nullable=False),
    Column("opened_at_us", Integer, nullable=False),
    Column("closed_at_us", Integer),  # NULL in an earlier row = that instance did not end in order
)

task = Table(
    "task",
    metadata,
    Column("name", Text, primary_key=True),
    Column("version", Text, nullable=False),  # the newest
    Column("built_in", Integer, nullable=False),
    Column("disabled", Integer, nullable=False, server_default="0"),
    Column("created_at_us", Integer, nullable=False),
    _epoch(),
)

task_version = Table(
    "task_version",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("task", Text, ForeignKey("task.name"), nullable=False),
    Column("version", Text, nullable=False),
    Column("contract_digest", Text, nullable=False),
    Column("contract", Text, nullable=False),  # JSON
    Column("created_at_us", Integer, nullable=False),
    _epoch(),
    UniqueConstraint("task", "version", "contract_digest"),
)

run = Table(
    "run",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("task", Text, nullable=False),
    Column("task_version", Integer, ForeignKey("task_version.seq"), nullable=False),
    Column("key", Text, nullable=False),
    Column("request_digest", Text, nullable=False),
    Column("request", Text, nullable=False),  # canonical JSON
    Column("parameters", Text, nullable=False),  # JSON
    Column("trigger", Text, nullable=False),
    Column("labels", Text, nullable=False, server_default="[]"),  # JSON
    Column("status", Text, nullable=False, server_default="CREATED"),
    Column("current_attempt", Text),  # attempt.id; NULL only inside the admission
    Column("created_at_us", Integer, nullable=False),
    Column("started_at_us", Integer),
    Column("finished_at_us", Integer),
    Column("stop_requested_at_us", Integer),
    Column("retry_at_us", Integer),
    Column("deletion", Text, nullable=False, server_default="none"),
    Column("rerun_of", Integer, ForeignKey("run.number")),
    Column("adopted_attempt", Text),  # attempt.id of the attempt this run adopts (P16)
    Column("admitted_epoch", Integer, nullable=False),
    _epoch(),
    Index("run_key", "key", unique=True),  # the last defence of R05
    Index("run_by_status", "status", "number", sqlite_where=text("deletion = 'none'")),
    Index("run_by_task", "task", "number", sqlite_where=text("deletion = 'none'")),
    Index("run_by_task_status", "task", "status", "number", sqlite_where=text("deletion = 'none'")),
    Index("run_retrying", "number", sqlite_where=text("status = 'RETRYING'")),
    Index("run_deleted", "number", sqlite_where=text("deletion <> 'none'")),
    Index("run_adopted_once", "adopted_attempt", unique=True, sqlite_where=text(_ADOPTION_STANDS)),
    Index("run_by_adopted", "adopted_attempt", "number", sqlite_where=text("adopted_attempt IS NOT NULL")),
    CheckConstraint("deletion IN ('none', 'soft', 'purging', 'purged')", name="run_deletion"),
    sqlite_autoincrement=True,  # a number is never used again
)

attempt = Table(
    "attempt",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("run", Integer, ForeignKey("run.number"), nullable=False),
    Column("n", Integer, nullable=False),
    Column("status", Text, nullable=False, server_default="CREATED"),
    Column("phase", Text, nullable=False, server_default="QUEUED"),
    Column("released", Integer, nullable=False, server_default="0"),
    Column("session", Text, unique=True),
    Column("cookie", Text),
    Column("secret_sha256", Text),
    Column("folder", Text),  # relative to the workspace
    Column("host_identity", Text),  # JSON
    Column("contact", Text, nullable=False, server_default="none"),
    Column("contact_since_us", Integer),
    Column("contact_why", Text),
    Column("failure_code", Text),
    Column("failure_message", Text),
    Column("failure_details", Text),  # JSON
    Column("exit_code", Integer),
    Column("exit_signal", Integer),
    Column("created_at_us", Integer, nullable=False),
    Column("started_at_us", Integer),
    Column("finished_at_us", Integer),
    Column("progress", Text),  # JSON
    Column("activity", Text),  # JSON
    Column("environment", Text),  # JSON
    Column("code", Text),  # JSON
    Column("stop_stage", Text),  # JSON
    Column("records_offset", Integer, nullable=False, server_default="0"),
    _epoch(),
    UniqueConstraint("run", "n"),
    Index("attempt_open", "seq", sqlite_where=text("phase <> 'CLOSED'")),
    CheckConstraint("contact IN ('none', 'ok', 'lost', 'cannot_tell')", name="attempt_contact"),
)

arrow = Table(
    "arrow",
    metadata,
    Column("status", Text, primary_key=True),
    Column("phase", Text, primary_key=True),
    Column("event", Text, primary_key=True),
    Column("next_status", Text, nullable=False),
    Column("next_phase", Text, nullable=False),
)

fact = Table(
    "fact",
    metadata,
    Column("attempt", Integer, ForeignKey("attempt.seq"), primary_key=True),
    Column("fact", Text, primary_key=True),  # UNIQUE(attempt, fact): R01
    Column("at_us", Integer, nullable=False),
    Column("evidence", Text, nullable=False),  # JSON
    _epoch(),
    sqlite_with_rowid=False,
)

journal = Table(
    "journal",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("run", Integer, ForeignKey("run.number")),
    Column("attempt", Integer, ForeignKey("attempt.seq")),
    Column("at_us", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("data", Text, nullable=False),  # JSON
    _epoch(),
    Index("journal_by_run", "run", "seq"),
    sqlite_autoincrement=True,
)

record = Table(
    "record",
    metadata,
    Column("attempt", Integer, ForeignKey("attempt.seq"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("at_us", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("data", Text, nullable=False),  # JSON
    _epoch(),
    sqlite_with_rowid=False,
)

input_ = Table(
    "input",
    metadata,
    Column("run", Integer, ForeignKey("run.number"), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("path", Text, nullable=False),
    Column("policy", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("store", Text),  # the path in the input store; NULL when pinned
    Column("stat", Text),  # JSON
    _epoch(),
    sqlite_with_rowid=False,
)

result = Table(
    "result",
    metadata,
    Column("attempt", Integer, ForeignKey("attempt.seq"), primary_key=True, autoincrement=False),
    Column("id", Text, nullable=False, unique=True),
    Column("run", Integer, ForeignKey("run.number"), nullable=False, unique=True),  # one result a run
    Column("path", Text, nullable=False, unique=True),  # relative to the workspace
    Column("digest", Text, nullable=False),  # sha256 of manifest.json
    Column("derived_digest", Text),
    Column("metrics", Text, nullable=False),  # JSON
    Column("tables", Text, nullable=False),  # JSON
    Column("rows_total", Integer, nullable=False),
    Column("size_bytes", Integer, nullable=False),
    Column("committed_at_us", Integer, nullable=False),
    _epoch(),
)

result_file = Table(
    "result_file",
    metadata,
    Column("attempt", Integer, ForeignKey("result.attempt"), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("role", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("rows", Integer),
    Column("details", Text, nullable=False),  # JSON: whatever else the manifest says of the file
    _epoch(),
    sqlite_with_rowid=False,
)

result_check = Table(
    "result_check",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("run", Integer, ForeignKey("run.number"), nullable=False),
    Column("attempt", Integer, ForeignKey("attempt.seq"), nullable=False),
    Column("state", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("level", Text, nullable=False),
    Column("details", Text, nullable=False),  # JSON
    Column("at_us", Integer, nullable=False),
    _epoch(),
    Index("result_check_by_run", "run", "seq"),
    CheckConstraint(
        "state IN ('readable', 'unchecked', 'damaged', 'missing', 'replaced', 'forbidden', 'foreign')",
        name="result_check_state",
    ),
    sqlite_autoincrement=True,
)

export = Table(
    "export",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("run", Integer, ForeignKey("run.number"), nullable=False),
    Column("attempt", Integer, ForeignKey("attempt.seq"), nullable=False),
    Column("name", Text, nullable=False),
    Column("format", Text, nullable=False),
    Column("profile", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("size_bytes", Integer, nullable=False),
    Column("rows", Integer, nullable=False),
    Column("options", Text, nullable=False),  # JSON
    Column("at_us", Integer, nullable=False),
    _epoch(),
    Index("export_by_run", "run", "seq"),
    sqlite_autoincrement=True,
)

schedule_tick = Table(
    "schedule_tick",
    metadata,
    Column("task", Text, ForeignKey("task.name"), primary_key=True),
    Column("scheduled_at_us", Integer, primary_key=True, autoincrement=False),
    Column("decision", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("run", Integer, ForeignKey("run.number")),
    Column("decided_at_us", Integer, nullable=False),
    _epoch(),
    sqlite_with_rowid=False,
)

alert = Table(
    "alert",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("key", Text, nullable=False),
    Column("code", Text, nullable=False),
    Column("severity", Text, nullable=False),
    Column("run", Integer, ForeignKey("run.number")),
    Column("data", Text, nullable=False),  # JSON
    Column("opened_at_us", Integer, nullable=False),
    Column("raised_at_us", Integer, nullable=False),
    Column("cleared_at_us", Integer),
    _epoch(),
    Index("alert_open", "key", unique=True, sqlite_where=text("cleared_at_us IS NULL")),
    Index("alert_by_run", "run"),
    sqlite_autoincrement=True,
)

setting = Table(
    "setting",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),  # JSON
    Column("at_us", Integer, nullable=False),
    _epoch(),
)
