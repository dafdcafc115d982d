"""How the database reads what it is asked for."""

from __future__ import annotations

from collections.abc import Callable

from django.db import connection

from tests.lookup import statements


def plan_of(act: Callable[[], object]) -> str:
    """Of the last statement. PostgreSQL reads a small table whole and sorts it, unless a setting forbids it."""
    statement = statements.of(act)[-1]
    is_postgresql = connection.vendor == "postgresql"
    steps = ("seqscan", "sort", "bitmapscan") if is_postgresql else ()
    with connection.cursor() as cursor:
        for step in steps:
            cursor.execute(f"SET enable_{step} = off")
        cursor.execute(f"EXPLAIN {'' if is_postgresql else 'QUERY PLAN '}{statement.sql}", statement.values)
        plan = "\n".join(str(row[-1]) for row in cursor.fetchall())
        for step in steps:
            cursor.execute(f"RESET enable_{step}")
    return plan
