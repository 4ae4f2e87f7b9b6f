"""The words of the design as data: statuses, facts, identities, rows and changes. No I/O."""
