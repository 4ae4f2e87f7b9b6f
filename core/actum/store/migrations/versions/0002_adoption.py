"""Adoption: the arrow by which a run that adopts begins at verification, and the triggers that keep it to its rules (P16)."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for trigger in TRIGGERS_SQLITE:
        op.execute(sa.text(trigger))
    line = {"s": "CREATED", "p": "QUEUED", "e": "adopted", "ns": "RUNNING", "np": "VERIFYING"}
    op.get_bind().execute(
        sa.text("INSERT INTO arrow (status, phase, event, next_status, next_phase) VALUES (:s, :p, :e, :ns, :np)"), line
    )


TRIGGERS_SQLITE = (
    """        CREATE TRIGGER attempt_adopted BEFORE UPDATE OF status ON attempt
        WHEN OLD.status = 'CREATED' AND NEW.status = 'RUNNING'
            AND (SELECT adopted_attempt FROM run WHERE number = NEW.run) IS NULL
        BEGIN SELECT RAISE(ABORT, 'illegal arrow: only a run that adopts begins at verification'); END""",
    """        CREATE TRIGGER run_adopts BEFORE INSERT ON run
        WHEN NEW.adopted_attempt IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM attempt JOIN run AS origin ON origin.number = attempt.run
            WHERE attempt.id = NEW.adopted_attempt AND attempt.released = 1 AND attempt.status IN ('FAILED', 'START_FAILED', 'TIMEOUT', 'STOPPED')
            AND origin.deletion = 'none')
        BEGIN SELECT RAISE(ABORT, 'illegal adoption: only a released, unsuccessful attempt of a run that is kept'); END""",
    """        CREATE TRIGGER run_adopted BEFORE UPDATE OF deletion ON run
        WHEN OLD.deletion = 'none' AND NEW.deletion <> 'none' AND EXISTS (
            SELECT 1 FROM run AS adopter JOIN attempt ON attempt.id = adopter.adopted_attempt
            WHERE attempt.run = OLD.number AND adopter.status NOT IN ('SUCCEEDED', 'FAILED', 'START_FAILED', 'TIMEOUT', 'STOPPED'))
        BEGIN SELECT RAISE(ABORT, 'illegal deletion: an open adoption reads this run'); END""",
)
