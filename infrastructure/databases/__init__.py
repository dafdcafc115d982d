"""PostgreSQL and Redis: connections, statements, batches and migrations of indexes."""
