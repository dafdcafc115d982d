"""Rows into PostgreSQL by COPY."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from psycopg import Connection, sql


def copy(connection: Connection[Any], table: str, columns: str, rows: Iterable[Sequence[Any]]) -> None:
    """`columns`: their names with spaces between them. Any: each column has a type of its own."""
    names = sql.SQL(", ").join(map(sql.Identifier, columns.split()))
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), names)
    with connection.cursor() as cursor, cursor.copy(statement) as target:
        for row in rows:
            target.write_row(row)
