"""Django's engine for PostgreSQL, with bounded waits for a server that hangs."""
