"""PostgreSQL and SQLite: statements, an engine with a deadline, batches, folded columns, migrations of indexes."""
