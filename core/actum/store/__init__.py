"""The database: one writer, read-only readers, portable SQL."""
