"""The first schema: tables, the arrows they allow, and the triggers that refuse the rest."""

import uuid

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _tables_1()
    _tables_2()
    _tables_3()
    _tables_4()
    _tables_5()
    _tables_6()
    _tables_7()
    _tables_8()
    _tables_9()
    for trigger in TRIGGERS_SQLITE:
        op.execute(sa.text(trigger))
    connection = op.get_bind()
    for line in ARROWS.strip().splitlines():
        status, phase, event, next_status, next_phase = line.split()
        connection.execute(
            sa.text("INSERT INTO arrow (status, phase, event, next_status, next_phase) VALUES (:s, :p, :e, :ns, :np)"),
            {"s": status, "p": phase, "e": event, "ns": next_status, "np": next_phase},
        )
    connection.execute(
        sa.text("INSERT INTO setting (name, value, at_us, epoch) VALUES ('database_uuid', :value, 0, 0)"),
        {"value": f'"{uuid.uuid4()}"'},
    )


def _tables_1() -> None:
    op.create_table(
        "arrow",
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("next_status", sa.Text(), nullable=False),
        sa.Column("next_phase", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("status", "phase", "event"),
    )
    op.create_table(
        "service_instance",
        sa.Column("epoch", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("identity", sa.Text(), nullable=False),
        sa.Column("program_version", sa.Text(), nullable=False),
        sa.Column("opened_at_us", sa.Integer(), nullable=False),
        sa.Column("closed_at_us", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("epoch"),
        sa.UniqueConstraint("id"),
    )
    op.create_table(
        "setting",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("at_us", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "task",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("built_in", sa.Integer(), nullable=False),
        sa.Column("disabled", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at_us", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "task_version",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("contract_digest", sa.Text(), nullable=False),
        sa.Column("contract", sa.Text(), nullable=False),
        sa.Column("created_at_us", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["task"],
            ["task.name"],
        ),
        sa.PrimaryKeyConstraint("seq"),
        sa.UniqueConstraint("task", "version", "contract_digest"),
    )


def _tables_2() -> None:
    op.create_table(
        "run",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("task_version", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("request_digest", sa.Text(), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.Column("trigger", sa.Text(), nullable=False),
        sa.Column("labels", sa.Text(), server_default="[]", nullable=False),
        sa.Column("status", sa.Text(), server_default="CREATED", nullable=False),
        sa.Column("current_attempt", sa.Text(), nullable=True),
        sa.Column("created_at_us", sa.Integer(), nullable=False),
        sa.Column("started_at_us", sa.Integer(), nullable=True),
        sa.Column("finished_at_us", sa.Integer(), nullable=True),
        sa.Column("stop_requested_at_us", sa.Integer(), nullable=True),
        sa.Column("retry_at_us", sa.Integer(), nullable=True),
        sa.Column("deletion", sa.Text(), server_default="none", nullable=False),
        sa.Column("rerun_of", sa.Integer(), nullable=True),
        sa.Column("adopted_attempt", sa.Text(), nullable=True),
        sa.Column("admitted_epoch", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.CheckConstraint("deletion IN ('none', 'soft', 'purging', 'purged')", name="run_deletion"),
        sa.ForeignKeyConstraint(
            ["rerun_of"],
            ["run.number"],
        ),
        sa.ForeignKeyConstraint(
            ["task_version"],
            ["task_version.seq"],
        ),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("adopted_attempt"),
        sa.UniqueConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("run_by_status", "run", ["status", "number"], unique=False, sqlite_where=sa.text("deletion = 'none'"))
    op.create_index("run_by_task", "run", ["task", "number"], unique=False, sqlite_where=sa.text("deletion = 'none'"))
    op.create_index(
        "run_by_task_status", "run", ["task", "status", "number"], unique=False, sqlite_where=sa.text("deletion = 'none'")
    )
    op.create_index("run_deleted", "run", ["number"], unique=False, sqlite_where=sa.text("deletion <> 'none'"))
    op.create_index("run_key", "run", ["key"], unique=True)
    op.create_index("run_retrying", "run", ["number"], unique=False, sqlite_where=sa.text("status = 'RETRYING'"))


def _tables_3() -> None:
    op.create_table(
        "alert",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("severity", sa.Text(), nullable=False),
        sa.Column("run", sa.Integer(), nullable=True),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("opened_at_us", sa.Integer(), nullable=False),
        sa.Column("raised_at_us", sa.Integer(), nullable=False),
        sa.Column("cleared_at_us", sa.Integer(), nullable=True),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run"],
            ["run.number"],
        ),
        sa.PrimaryKeyConstraint("seq"),
        sqlite_autoincrement=True,
    )
    op.create_index("alert_by_run", "alert", ["run"], unique=False)
    op.create_index("alert_open", "alert", ["key"], unique=True, sqlite_where=sa.text("cleared_at_us IS NULL"))


def _tables_4() -> None:
    op.create_table(
        "attempt",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("status", sa.Text(), server_default="CREATED", nullable=False),
        sa.Column("phase", sa.Text(), server_default="QUEUED", nullable=False),
        sa.Column("released", sa.Integer(), server_default="0", nullable=False),
        sa.Column("session", sa.Text(), nullable=True),
        sa.Column("cookie", sa.Text(), nullable=True),
        sa.Column("secret_sha256", sa.Text(), nullable=True),
        sa.Column("folder", sa.Text(), nullable=True),
        sa.Column("host_identity", sa.Text(), nullable=True),
        sa.Column("contact", sa.Text(), server_default="none", nullable=False),
        sa.Column("contact_since_us", sa.Integer(), nullable=True),
        sa.Column("contact_why", sa.Text(), nullable=True),
        sa.Column("failure_code", sa.Text(), nullable=True),
        sa.Column("failure_message", sa.Text(), nullable=True),
        sa.Column("failure_details", sa.Text(), nullable=True),
        sa.Column("exit_code", sa.Integer(), nullable=True),
        sa.Column("exit_signal", sa.Integer(), nullable=True),
        sa.Column("created_at_us", sa.Integer(), nullable=False),
        sa.Column("started_at_us", sa.Integer(), nullable=True),
        sa.Column("finished_at_us", sa.Integer(), nullable=True),
        sa.Column("progress", sa.Text(), nullable=True),
        sa.Column("activity", sa.Text(), nullable=True),
        sa.Column("environment", sa.Text(), nullable=True),
        sa.Column("code", sa.Text(), nullable=True),
        sa.Column("stop_stage", sa.Text(), nullable=True),
        sa.Column("records_offset", sa.Integer(), server_default="0", nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.CheckConstraint("contact IN ('none', 'ok', 'lost', 'cannot_tell')", name="attempt_contact"),
        sa.ForeignKeyConstraint(
            ["run"],
            ["run.number"],
        ),
        sa.PrimaryKeyConstraint("seq"),
        sa.UniqueConstraint("id"),
        sa.UniqueConstraint("run", "n"),
        sa.UniqueConstraint("session"),
    )
    op.create_index("attempt_open", "attempt", ["seq"], unique=False, sqlite_where=sa.text("phase <> 'CLOSED'"))


def _tables_5() -> None:
    op.create_table(
        "input",
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("policy", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("store", sa.Text(), nullable=True),
        sa.Column("stat", sa.Text(), nullable=True),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run"],
            ["run.number"],
        ),
        sa.PrimaryKeyConstraint("run", "name"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "schedule_tick",
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("scheduled_at_us", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("decision", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("run", sa.Integer(), nullable=True),
        sa.Column("decided_at_us", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run"],
            ["run.number"],
        ),
        sa.ForeignKeyConstraint(
            ["task"],
            ["task.name"],
        ),
        sa.PrimaryKeyConstraint("task", "scheduled_at_us"),
        sqlite_with_rowid=False,
    )


def _tables_6() -> None:
    op.create_table(
        "export",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("format", sa.Text(), nullable=False),
        sa.Column("profile", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("options", sa.Text(), nullable=False),
        sa.Column("at_us", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt"],
            ["attempt.seq"],
        ),
        sa.ForeignKeyConstraint(
            ["run"],
            ["run.number"],
        ),
        sa.PrimaryKeyConstraint("seq"),
        sqlite_autoincrement=True,
    )
    op.create_index("export_by_run", "export", ["run", "seq"], unique=False)
    op.create_table(
        "fact",
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("fact", sa.Text(), nullable=False),
        sa.Column("at_us", sa.Integer(), nullable=False),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt"],
            ["attempt.seq"],
        ),
        sa.PrimaryKeyConstraint("attempt", "fact"),
        sqlite_with_rowid=False,
    )


def _tables_7() -> None:
    op.create_table(
        "journal",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("run", sa.Integer(), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=True),
        sa.Column("at_us", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt"],
            ["attempt.seq"],
        ),
        sa.ForeignKeyConstraint(
            ["run"],
            ["run.number"],
        ),
        sa.PrimaryKeyConstraint("seq"),
        sqlite_autoincrement=True,
    )
    op.create_index("journal_by_run", "journal", ["run", "seq"], unique=False)
    op.create_table(
        "record",
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at_us", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt"],
            ["attempt.seq"],
        ),
        sa.PrimaryKeyConstraint("attempt", "seq"),
        sqlite_with_rowid=False,
    )


def _tables_8() -> None:
    op.create_table(
        "result",
        sa.Column("attempt", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("derived_digest", sa.Text(), nullable=True),
        sa.Column("metrics", sa.Text(), nullable=False),
        sa.Column("tables", sa.Text(), nullable=False),
        sa.Column("rows_total", sa.Integer(), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("committed_at_us", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt"],
            ["attempt.seq"],
        ),
        sa.ForeignKeyConstraint(
            ["run"],
            ["run.number"],
        ),
        sa.PrimaryKeyConstraint("attempt"),
        sa.UniqueConstraint("id"),
        sa.UniqueConstraint("path"),
        sa.UniqueConstraint("run"),
    )
    op.create_table(
        "result_check",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("level", sa.Text(), nullable=False),
        sa.Column("details", sa.Text(), nullable=False),
        sa.Column("at_us", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.CheckConstraint(
            "state IN ('readable', 'unchecked', 'damaged', 'missing', 'replaced', 'forbidden', 'foreign')",
            name="result_check_state",
        ),
        sa.ForeignKeyConstraint(
            ["attempt"],
            ["attempt.seq"],
        ),
        sa.ForeignKeyConstraint(
            ["run"],
            ["run.number"],
        ),
        sa.PrimaryKeyConstraint("seq"),
        sqlite_autoincrement=True,
    )
    op.create_index("result_check_by_run", "result_check", ["run", "seq"], unique=False)


def _tables_9() -> None:
    op.create_table(
        "result_file",
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=True),
        sa.Column("details", sa.Text(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt"],
            ["result.attempt"],
        ),
        sa.PrimaryKeyConstraint("attempt", "name"),
        sqlite_with_rowid=False,
    )


TRIGGERS_SQLITE = (
    """        CREATE TRIGGER attempt_arrow BEFORE UPDATE OF status, phase ON attempt
        WHEN (OLD.status <> NEW.status OR OLD.phase <> NEW.phase) AND NOT EXISTS (
            SELECT 1 FROM arrow WHERE status = OLD.status AND phase = OLD.phase
            AND next_status = NEW.status AND next_phase = NEW.phase)
        BEGIN SELECT RAISE(ABORT, 'illegal arrow: not a row of the table arrow'); END""",
    """        CREATE TRIGGER attempt_first BEFORE INSERT ON attempt
        WHEN NEW.status <> 'CREATED' OR NEW.phase <> 'QUEUED' OR NEW.released <> 0
        BEGIN SELECT RAISE(ABORT, 'illegal arrow: an attempt begins CREATED / QUEUED'); END""",
    """        CREATE TRIGGER attempt_released BEFORE UPDATE OF status, phase, released ON attempt
        WHEN NEW.released < OLD.released OR (NEW.phase = 'CLOSED' AND NEW.released <> 1)
        BEGIN SELECT RAISE(ABORT, 'illegal release: closed means released, and released is final'); END""",
    """        CREATE TRIGGER attempt_succeeded BEFORE UPDATE OF status ON attempt
        WHEN NEW.status = 'SUCCEEDED' AND OLD.status <> 'SUCCEEDED' AND (
            (SELECT count(*) FROM fact WHERE attempt = NEW.seq) <> 14
            OR NOT EXISTS (SELECT 1 FROM result WHERE attempt = NEW.seq))
        BEGIN SELECT RAISE(ABORT, 'unproven success: it needs 14 facts and a result row'); END""",
    """        CREATE TRIGGER run_final BEFORE UPDATE OF status ON run
        WHEN OLD.status <> NEW.status AND (OLD.status IN ('SUCCEEDED', 'FAILED', 'START_FAILED', 'TIMEOUT', 'STOPPED')
            OR (OLD.status = 'RETRYING' AND NEW.status NOT IN ('CREATED', 'STOPPED')))
        BEGIN SELECT RAISE(ABORT, 'illegal arrow: the status of this run is final'); END""",
    """        CREATE TRIGGER run_first BEFORE INSERT ON run WHEN NEW.status <> 'CREATED'
        BEGIN SELECT RAISE(ABORT, 'illegal arrow: a run begins CREATED'); END""",
    """        CREATE TRIGGER fact_kept BEFORE UPDATE ON fact
        BEGIN SELECT RAISE(ABORT, 'a fact is never edited'); END""",
    """        CREATE TRIGGER fact_not_deleted BEFORE DELETE ON fact
        WHEN NOT EXISTS (SELECT 1 FROM attempt WHERE seq = OLD.attempt AND (SELECT deletion FROM run WHERE number = attempt.run) = 'purging')
        BEGIN SELECT RAISE(ABORT, 'a fact is never deleted'); END""",
    """        CREATE TRIGGER journal_kept BEFORE UPDATE ON journal
        BEGIN SELECT RAISE(ABORT, 'the journal is never edited'); END""",
    """        CREATE TRIGGER journal_not_deleted BEFORE DELETE ON journal
        WHEN OLD.run IS NULL OR NOT ((SELECT deletion FROM run WHERE number = OLD.run) = 'purging')
        BEGIN SELECT RAISE(ABORT, 'the journal is never deleted'); END""",
    """        CREATE TRIGGER run_not_deleted BEFORE DELETE ON run
        BEGIN SELECT RAISE(ABORT, 'a run is never deleted'); END""",
)

ARROWS = """
    CREATED QUEUED slot_granted CREATED FREEZING
    CREATED QUEUED stop_asked STOPPED CLOSED
    CREATED FREEZING inputs_frozen STARTING LAUNCHING
    CREATED FREEZING freeze_failed START_FAILED CLOSED
    CREATED FREEZING stop_asked STOPPED CLOSED
    STARTING LAUNCHING contact_made RUNNING COMPUTING
    STARTING LAUNCHING spawn_failed START_FAILED CLOSED
    STARTING LAUNCHING launch_lost START_FAILED CLEANING_UP
    STARTING LAUNCHING stop_asked STOPPING CLEANING_UP
    RUNNING COMPUTING stop_asked STOPPING CLEANING_UP
    RUNNING COMPUTING work_completed RUNNING SEALING
    RUNNING COMPUTING outcome_sealed RUNNING CLEANING_UP
    RUNNING COMPUTING outcome_failed FAILED CLEANING_UP
    RUNNING COMPUTING deadline_passed TIMEOUT CLEANING_UP
    RUNNING SEALING stop_asked STOPPING CLEANING_UP
    RUNNING SEALING outcome_sealed RUNNING CLEANING_UP
    RUNNING SEALING outcome_failed FAILED CLEANING_UP
    RUNNING SEALING deadline_passed TIMEOUT CLEANING_UP
    RUNNING CLEANING_UP stop_asked STOPPING CLEANING_UP
    RUNNING CLEANING_UP tree_clear RUNNING VERIFYING
    RUNNING VERIFYING stop_asked STOPPING CLEANING_UP
    RUNNING VERIFYING verified RUNNING PUBLISHING
    RUNNING VERIFYING rejected FAILED CLOSED
    RUNNING PUBLISHING stop_asked RUNNING PUBLISHING
    RUNNING PUBLISHING rename_failed RUNNING PUBLISH_PENDING
    RUNNING PUBLISHING recorded SUCCEEDED CLOSED
    RUNNING PUBLISHING package_lost FAILED CLOSED
    RUNNING PUBLISH_PENDING stop_asked STOPPING CLEANING_UP
    RUNNING PUBLISH_PENDING retry_due RUNNING PUBLISHING
    STOPPING CLEANING_UP stop_asked STOPPING CLEANING_UP
    STOPPING CLEANING_UP tree_clear STOPPED CLOSED
    FAILED CLEANING_UP tree_clear FAILED CLOSED
    START_FAILED CLEANING_UP tree_clear START_FAILED CLOSED
    TIMEOUT CLEANING_UP tree_clear TIMEOUT CLOSED
"""
