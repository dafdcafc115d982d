"""What is asked of the database and of Redis while something happens."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import connection

_TABLE = re.compile(r'\b(?:FROM|INTO|UPDATE)\s+"?(\w+)')

_INNERMOST = re.compile(r"\([^()]*\)")


@dataclass(frozen=True)
class Statement:
    """One statement as it was sent. `values`: of its placeholders."""

    sql: str
    values: Any  # a sequence, or None

    @property
    def name(self) -> str:
        """`VERB first_table`; the verb alone of what is about no table."""
        verb: str = self.sql.split(maxsplit=1)[0]
        found = _TABLE.search(self._outer if verb == "SELECT" else self.sql) or _TABLE.search(self.sql)
        return f"{verb} {found[1]}" if found else verb

    @property
    def columns(self) -> list[str]:
        """What it selects."""
        selected = self._outer.split("SELECT", 1)[1].split("FROM", 1)[0]
        return [column.strip() for column in selected.split(",")]

    @property
    def _outer(self) -> str:
        """Without what is in parentheses, such as a SELECT for one column."""
        outer, sql = "", self.sql
        while sql != outer:
            outer, sql = sql, _INNERMOST.sub("", sql)
        return outer


def of(act: Callable[[], object]) -> list[Statement]:
    """The statements that `act` sends, in order."""
    found: list[Statement] = []

    def note(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        """The form that Django calls."""
        found.append(Statement(sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        act()
    return found


def names(act: Callable[[], object]) -> list[str]:
    return [statement.name for statement in of(act)]
