"""PostgreSQL, its replicas and Redis: connections, statements, batches and migrations of indexes."""
