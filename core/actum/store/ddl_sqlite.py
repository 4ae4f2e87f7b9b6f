"""All that is SQLite's own dialect: pragmas and triggers.

The triggers are the database's half of R02 and R01: an arrow that is not a row of `arrow` is refused whatever statement
asks for it, a closed attempt is released, success needs its fourteen facts and its result row, and facts and journal rows
are never edited. They fire only when the guarded columns change.
"""

from __future__ import annotations

from actum.limits import BUSY_TIMEOUT_MS
from actum.model.facts import FACTS

PRAGMAS = (
    f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}",
    "PRAGMA foreign_keys = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA temp_store = MEMORY",
)
WRITER_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA wal_autocheckpoint = 0",  # the writer folds the log back itself, between commits
    "PRAGMA cell_size_check = ON",
)
# Read through a cache of 8 MiB rather than mapped: a mapped file counts as memory of the window (300 MB at 1,000,000 runs), and
# damage below a mapping is a signal that ends the program, where a failed read is an error told in words.
READER_PRAGMAS = ("PRAGMA query_only = ON", "PRAGMA wal_autocheckpoint = 0", "PRAGMA cache_size = -8192")

# A number of a run that this database does not know, but the folders do, is never given to another run.
# The row that keeps count comes with the first run; before that there is nothing to raise.
FIRST_RUN_NUMBER = """
    INSERT INTO sqlite_sequence (name, seq)
    SELECT 'run', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'run')"""
RAISE_RUN_NUMBER = "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'run' AND seq < ?"

_FINAL = "('SUCCEEDED', 'FAILED', 'START_FAILED', 'TIMEOUT', 'STOPPED')"
_UNSUCCESSFUL = "('FAILED', 'START_FAILED', 'TIMEOUT', 'STOPPED')"
_IS_PURGED = "(SELECT deletion FROM run WHERE number = {run}) = 'purging'"

TRIGGERS: dict[str, str] = {
    "attempt_arrow": """
        CREATE TRIGGER attempt_arrow BEFORE UPDATE OF status, phase ON attempt
        WHEN (OLD.status <> NEW.status OR OLD.phase <> NEW.phase) AND NOT EXISTS (
            SELECT 1 FROM arrow WHERE status = OLD.status AND phase = OLD.phase
            AND next_status = NEW.status AND next_phase = NEW.phase)
        BEGIN SELECT RAISE(ABORT, 'illegal arrow: not a row of the table arrow'); END""",
    "attempt_first": """
        CREATE TRIGGER attempt_first BEFORE INSERT ON attempt
        WHEN NEW.status <> 'CREATED' OR NEW.phase <> 'QUEUED' OR NEW.released <> 0
        BEGIN SELECT RAISE(ABORT, 'illegal arrow: an attempt begins CREATED / QUEUED'); END""",
    "attempt_released": """
        CREATE TRIGGER attempt_released BEFORE UPDATE OF status, phase, released ON attempt
        WHEN NEW.released < OLD.released OR (NEW.phase = 'CLOSED' AND NEW.released <> 1)
        BEGIN SELECT RAISE(ABORT, 'illegal release: closed means released, and released is final'); END""",
    "attempt_succeeded": f"""
        CREATE TRIGGER attempt_succeeded BEFORE UPDATE OF status ON attempt
        WHEN NEW.status = 'SUCCEEDED' AND OLD.status <> 'SUCCEEDED' AND (
            (SELECT count(*) FROM fact WHERE attempt = NEW.seq) <> {len(FACTS)}
            OR NOT EXISTS (SELECT 1 FROM result WHERE attempt = NEW.seq))
        BEGIN SELECT RAISE(ABORT, 'unproven success: it needs {len(FACTS)} facts and a result row'); END""",
    "attempt_adopted": """
        CREATE TRIGGER attempt_adopted BEFORE UPDATE OF status ON attempt
        WHEN OLD.status = 'CREATED' AND NEW.status = 'RUNNING'
            AND (SELECT adopted_attempt FROM run WHERE number = NEW.run) IS NULL
        BEGIN SELECT RAISE(ABORT, 'illegal arrow: only a run that adopts begins at verification'); END""",
    "run_adopts": f"""
        CREATE TRIGGER run_adopts BEFORE INSERT ON run
        WHEN NEW.adopted_attempt IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM attempt JOIN run AS origin ON origin.number = attempt.run
            WHERE attempt.id = NEW.adopted_attempt AND attempt.released = 1 AND attempt.status IN {_UNSUCCESSFUL}
            AND origin.deletion = 'none')
        BEGIN SELECT RAISE(ABORT, 'illegal adoption: only a released, unsuccessful attempt of a run that is kept'); END""",
    "run_adopted": f"""
        CREATE TRIGGER run_adopted BEFORE UPDATE OF deletion ON run
        WHEN OLD.deletion = 'none' AND NEW.deletion <> 'none' AND EXISTS (
            SELECT 1 FROM run AS adopter JOIN attempt ON attempt.id = adopter.adopted_attempt
            WHERE attempt.run = OLD.number AND adopter.status NOT IN {_FINAL})
        BEGIN SELECT RAISE(ABORT, 'illegal deletion: an open adoption reads this run'); END""",
    "run_final": f"""
        CREATE TRIGGER run_final BEFORE UPDATE OF status ON run
        WHEN OLD.status <> NEW.status AND (OLD.status IN {_FINAL}
            OR (OLD.status = 'RETRYING' AND NEW.status NOT IN ('CREATED', 'STOPPED')))
        BEGIN SELECT RAISE(ABORT, 'illegal arrow: the status of this run is final'); END""",
    "run_first": """
        CREATE TRIGGER run_first BEFORE INSERT ON run WHEN NEW.status <> 'CREATED'
        BEGIN SELECT RAISE(ABORT, 'illegal arrow: a run begins CREATED'); END""",
    "fact_kept": """
        CREATE TRIGGER fact_kept BEFORE UPDATE ON fact
        BEGIN SELECT RAISE(ABORT, 'a fact is never edited'); END""",
    "fact_not_deleted": f"""
        CREATE TRIGGER fact_not_deleted BEFORE DELETE ON fact
        WHEN NOT EXISTS (SELECT 1 FROM attempt WHERE seq = OLD.attempt AND {_IS_PURGED.format(run="attempt.run")})
        BEGIN SELECT RAISE(ABORT, 'a fact is never deleted'); END""",
    "journal_kept": """
        CREATE TRIGGER journal_kept BEFORE UPDATE ON journal
        BEGIN SELECT RAISE(ABORT, 'the journal is never edited'); END""",
    "journal_not_deleted": f"""
        CREATE TRIGGER journal_not_deleted BEFORE DELETE ON journal
        WHEN OLD.run IS NULL OR NOT ({_IS_PURGED.format(run="OLD.run")})
        BEGIN SELECT RAISE(ABORT, 'the journal is never deleted'); END""",
    "run_not_deleted": """
        CREATE TRIGGER run_not_deleted BEFORE DELETE ON run
        BEGIN SELECT RAISE(ABORT, 'a run is never deleted'); END""",
}
