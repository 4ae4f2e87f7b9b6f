"""An adoption that ended without a result does not bar the next: an attempt is adopted once among those open or succeeded (P16).

SQLite cannot drop a UNIQUE that stands in the table's own text, so `run` is made anew by its documented procedure: triggers
aside, a new table, the rows, the old one dropped, the new one renamed, indexes and triggers as they were. Foreign keys are
off meanwhile (`migrations.upgrade` sees to it, and looks at all of them before the commit). The counter of numbers is kept:
a number is never given twice, not even one that no row holds.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    triggers = connection.execute(sa.text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY rowid")).fetchall()
    about_run = "SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'run' AND sql IS NOT NULL ORDER BY name"
    indexes = connection.execute(sa.text(about_run)).fetchall()
    counted = connection.execute(sa.text("SELECT seq FROM sqlite_sequence WHERE name = 'run'")).scalar()
    for name, _ in triggers:
        op.execute(sa.text(f"DROP TRIGGER {name}"))
    op.execute(sa.text(RUN_SQLITE))
    op.execute(sa.text(f"INSERT INTO run_new ({COLUMNS}) SELECT {COLUMNS} FROM run"))
    op.execute(sa.text("DROP TABLE run"))
    op.execute(sa.text("ALTER TABLE run_new RENAME TO run"))
    if counted is not None:
        op.execute(sa.text("DELETE FROM sqlite_sequence WHERE name IN ('run', 'run_new')"))
        connection.execute(sa.text("INSERT INTO sqlite_sequence (name, seq) VALUES ('run', :seq)"), {"seq": counted})
    for (text,) in indexes:
        op.execute(_plain(text))
    for text in INDEXES_SQLITE:
        op.execute(_plain(text))
    for _, text in triggers:
        op.execute(_plain(text))


def _plain(text: str) -> sa.TextClause:
    """The text as it is: no colon in it names a value."""
    return sa.text(text.replace(":", "\\:"))


COLUMNS = (
    'number, id, task, task_version, "key", request_digest, request, parameters, "trigger", labels, status, current_attempt,'
    " created_at_us, started_at_us, finished_at_us, stop_requested_at_us, retry_at_us, deletion, rerun_of, adopted_attempt,"
    " admitted_epoch, epoch"
)
RUN_SQLITE = """CREATE TABLE run_new (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    task TEXT NOT NULL,
    task_version INTEGER NOT NULL,
    "key" TEXT NOT NULL,
    request_digest TEXT NOT NULL,
    request TEXT NOT NULL,
    parameters TEXT NOT NULL,
    "trigger" TEXT NOT NULL,
    labels TEXT DEFAULT '[]' NOT NULL,
    status TEXT DEFAULT 'CREATED' NOT NULL,
    current_attempt TEXT,
    created_at_us INTEGER NOT NULL,
    started_at_us INTEGER,
    finished_at_us INTEGER,
    stop_requested_at_us INTEGER,
    retry_at_us INTEGER,
    deletion TEXT DEFAULT 'none' NOT NULL,
    rerun_of INTEGER,
    adopted_attempt TEXT,
    admitted_epoch INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    CONSTRAINT run_deletion CHECK (deletion IN ('none', 'soft', 'purging', 'purged')),
    UNIQUE (id),
    FOREIGN KEY(task_version) REFERENCES task_version (seq),
    FOREIGN KEY(rerun_of) REFERENCES run (number)
)"""
INDEXES_SQLITE = (
    "CREATE UNIQUE INDEX run_adopted_once ON run (adopted_attempt)"
    " WHERE adopted_attempt IS NOT NULL AND status NOT IN ('FAILED', 'START_FAILED', 'TIMEOUT', 'STOPPED')",
    "CREATE INDEX run_by_adopted ON run (adopted_attempt, number) WHERE adopted_attempt IS NOT NULL",
)
