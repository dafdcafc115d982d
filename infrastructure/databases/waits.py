"""How long this process waits for PostgreSQL. Settings import this module, which loads no driver."""

from django.conf import settings

OUTAGE_SECONDS = 2  # after which a server that does not answer counts as away; libpq takes no less
LOCK_SECONDS = 10  # for which a statement waits for a lock
# A connection whose server has died without a word ends after 25 seconds, not after the system's two hours.
KEEPALIVES = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}


def bound() -> None:
    """Limit how long this process waits for PostgreSQL: for a long statement, a lock, and one that hangs.

    Call this in web servers and the presence worker, before there is a connection. A pooler by transaction takes no
    options of a session: deploy/pgbouncer.ini limits statements and locks there.
    """
    if settings.EMBEDDED or not settings.DATABASE_STATEMENT_SECONDS:
        return
    from infrastructure.databases.postgresql import base  # loads psycopg

    base.deadline = settings.DATABASE_STATEMENT_SECONDS + OUTAGE_SECONDS
    database = settings.DATABASES["default"]
    if not database["DISABLE_SERVER_SIDE_CURSORS"]:
        limits = f"-c statement_timeout={settings.DATABASE_STATEMENT_SECONDS}s -c lock_timeout={LOCK_SECONDS}s"
        database["OPTIONS"]["options"] = f"{limits} {database['OPTIONS'].get('options', '')}".strip()
