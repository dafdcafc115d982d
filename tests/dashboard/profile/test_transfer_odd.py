"""Whatever stands anywhere in a file, it is refused by its path or taken: the service falls over nothing."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction

from accounts.models import User
from lookup.transfer import own
from lookup.transfer.reading import LineRefused
from tests.dashboard.profile.transfers import Json

Path = tuple[str | int, ...]


class Undone(Exception):
    """Takes back what one file has changed."""


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """Of each value in it; of the settings, whose rules are one table, the first key. Any: JSON."""
    if path:
        yield path
    if isinstance(value, dict):
        few = list(value.items())[:1] if path[-1:] == ("settings",) else value.items()
        for name, entry in few:
            yield from places(entry, (*path, name))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*path, 0))


@pytest.mark.parametrize("odd", ["a\0b", "\ud800", 10**30, -(2**31) - 1, [[]], None, "x" * 70_000], ids=range(7))
def test_an_odd_value_anywhere_is_refused_or_taken(odd: Any, user: User, line: Json) -> None:
    tried = 0
    for path in places(line):
        given = copy.deepcopy(line)
        at: Any = given
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = odd
        with contextlib.suppress(LineRefused, Undone), transaction.atomic():
            tried += 1
            own.restore(user=user, text=json.dumps(given).encode(), by=user)
            json.loads(own.exported(user))
            raise Undone
    assert tried > 150
    user.refresh_from_db()
    assert json.loads(own.exported(user)) == line
