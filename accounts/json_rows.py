"""Many rows as one value of a statement: as its parameter, since thousands of placeholders take longer to read than the
rows to write, or as a column of its answer.

The same statement runs on PostgreSQL and SQLite.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from django.db import connection

_ROWS = {"postgresql": "json_array_elements(%s::json) AS n(value)", "sqlite": "json_each(%s) AS n"}
_COLLECTED = {"postgresql": "json_agg(json_build_array({}))", "sqlite": "json_group_array(json_array({}))"}
_CAST = {
    "postgresql": {"timestamp": "CAST(n.value->>{at} AS timestamptz)", "date": "CAST(n.value->>{at} AS date)"},
    "sqlite": {"timestamp": "n.value->>{at}", "date": "n.value->>{at}"},
}


def source() -> str:
    """The source of rows for FROM; the columns are then `n.value->>0` and so on, which are texts."""
    return _ROWS[connection.vendor]


def column(at: int, kind: str) -> str:
    """The column `at` of a row, of kind "timestamp" or "date"."""
    return _CAST[connection.vendor][kind].format(at=at)


def collected(columns: Sequence[str]) -> str:
    """The column that holds all rows of its SELECT, as the text of an array of arrays; PostgreSQL: NULL for none."""
    return f"CAST({_COLLECTED[connection.vendor].format(', '.join(columns))} AS text)"


def parameter(rows: Sequence[Sequence[Any]]) -> str:
    """`rows` (numbers, texts, dates and timestamps) as the statement's parameter."""
    return json.dumps([[_adapted(value) for value in row] for row in rows])


def _adapted(value: Any) -> Any:
    if isinstance(value, datetime):
        return str(connection.ops.adapt_datetimefield_value(value))
    return str(value) if isinstance(value, date) else value
