"""How Django connects to PostgreSQL."""

from typing import Any

OUTAGE_SECONDS = 2  # after which a server that does not answer counts as away; libpq takes no less


def options(given: dict[str, Any], *, pool_size: int, are_prepared: bool) -> dict[str, Any]:
    """What DATABASES says beside the address. `given`: the options in DATABASE_URL. Any: libpq's and Django's values.

    A `pool_size` of 0: each thread keeps a connection of its own, which costs nothing to take. Otherwise the threads
    share that many, which suits more threads than the server has connections for.
    """
    pool = {"pool": {"min_size": min(pool_size, 2), "max_size": pool_size, "timeout": 1.5}} if pool_size else {}
    return {
        "CONN_MAX_AGE": 0 if pool_size else None,
        "CONN_HEALTH_CHECKS": not pool_size,  # once a page; what answers API requests replaces an ended one by itself
        "OPTIONS": {
            "connect_timeout": OUTAGE_SECONDS,
            "tcp_user_timeout": OUTAGE_SECONDS * 1000,
            **given,
            "server_side_binding": True,
            # Planning takes longer than running these statements; psycopg prepares what it has sent five times.
            "prepare_threshold": 5 if are_prepared else None,
            **pool,
        },
    }
