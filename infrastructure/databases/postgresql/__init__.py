"""Django's engine for PostgreSQL, with a deadline for a server that hangs."""
