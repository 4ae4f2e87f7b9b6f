"""How a table is profiled: reading it, telling the types of its columns, and measuring each."""
